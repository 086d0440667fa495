"""No slope: the families of tests/diff, called again and again and compiled again and again, leave nothing behind.

Programs keep things themselves (a log, a cache), so that what calls leave is compared with what the same calls leave plainly. A
compilation is counted with its whole module, which goes away with it.
"""
import contextlib
import gc
import io
import itertools
import pathlib
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
import jedlik
from jedlik import _engine

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "diff"))
import runner  # noqa: E402

CALLS, THOUSANDS, COMPILATIONS = 1000, 4, 100
DEFAULT = ("aliasing", "classes", "exceptions", "functions", "iteration")
FAMILIES = sorted({p.path for p in runner.programs()})
families = pytest.mark.parametrize("path", [pytest.param(p, id=p.stem, marks=() if p.stem in DEFAULT else pytest.mark.slow) for p in FAMILIES])


@contextlib.contextmanager
def quiet():
    text = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        warnings.simplefilter("ignore")
        yield


def load(path, wrap):
    """The programs of a file, executed anew: (function, makers)."""
    torch.manual_seed(0)
    return [(wrap(f), makers) for f, makers, _ in runner.table(runner.fresh(path)).values()]


def once(programs):
    """Each program with each of its arguments; how many calls that were."""
    n = 0
    for f, makers in programs:
        for make in makers:
            torch.manual_seed(n)
            runner.call(f, make())
            runner.calm()
            n += 1
    return n


def blocks():
    sys._clear_type_cache()  # it holds the names that were looked up last, some thousands
    for _ in range(3):
        gc.collect()
    return sys.getallocatedblocks(), _engine.blocks()


def compiled(f):
    return jedlik.compile(f, backend="eager")


def left_by_calls(path, wrap):
    """Blocks of Python and of the engine after each thousand calls, once nearly all that can be compiled is."""
    programs = load(path, wrap)
    for _ in range(jedlik.config.recompile_limit + 2):
        once(programs)
    before = blocks()
    while True:
        done = 0
        while done < CALLS:
            done += once(programs)
        after = blocks()
        yield after[0] - before[0], after[1] - before[1]
        before = after


@families
def test_calls_leave_nothing(path):
    """A leak shows in each thousand; what the last entries take shows once or twice."""
    seen = []
    with quiet():
        plain, _ = next(left_by_calls(path, lambda f: f))
        for python, engine in itertools.islice(left_by_calls(path, compiled), THOUSANDS):
            seen.append((python - plain, engine))
            if python - plain < 100 and engine <= 0:
                return
    raise AssertionError(f"(blocks more than plainly, blocks of the engine) after each {CALLS} calls: {seen}")


@families
def test_compilations_leave_nothing(path):
    def compile_all():
        jedlik.reset()
        programs = load(path, compiled)
        once(programs)
        return len(programs)

    with quiet():
        for _ in range(3):
            compile_all()
        jedlik.reset()
        before, done = blocks(), 0
        while done < COMPILATIONS:
            done += compile_all()
        jedlik.reset()
        after = blocks()
    python, engine = after[0] - before[0], after[1] - before[1]
    assert python < 300 and engine <= 0, f"{python} blocks, {engine} of the engine, after {done} compilations"
