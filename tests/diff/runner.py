"""Runs programs plainly and compiled, whole and with a break anywhere, and says where the two differ.

Takes: the files beside this one. A program is a function marked with `@program(makers…, graphs=n)`, each maker giving fresh arguments,
or a function `case_…(x, e)`, or a row of a list CASES. SETTINGS_ON in a file: settings that its programs want on. Each file is executed anew for each run, so that a run has globals and
classes of its own. Gives: `programs()`, `check(program)`, `sweep(program)`: lines that say what differs.

    python tests/diff/runner.py [--sweep] [--every N] [FILE[:NAME] …]
"""
import contextlib
import gc
import hashlib
import io
import logging
import mmap
import os
import pathlib
import pickle
import signal
import sys
import time
import traceback
import types
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads that wait for work cost more than small tensors
import torch  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import jedlik  # noqa: E402
from seen import Seen, data_of, describe  # noqa: E402
from jedlik import _engine  # noqa: E402

FOLDER = pathlib.Path(__file__).parent
NOT_PROGRAMS = ("runner.py", "seen.py", "kit.py")
SECONDS = 120
logging.getLogger("jedlik").setLevel(logging.CRITICAL)  # the recompile limit is no difference
where = mmap.mmap(-1, 80)  # what a child is at, for the parent
limit = 0  # seconds a run of a child may take


# -- Programs ------------------------------------------------------------------------


class Program:
    """A name in a file. What it is made of is looked up in each fresh execution of the file."""

    def __init__(self, path, name, graphs):
        self.path, self.name, self.graphs = path, name, graphs

    def __str__(self):
        return f"{self.path.stem}:{self.name}"


codes = {}


def fresh(path):
    """The file, executed as a new module. One that says ONCE registers something for good: it is executed once."""
    known = sys.modules.get(path.stem)
    if getattr(known, "ONCE", False) and known.__file__ == str(path):
        return known
    if path not in codes:
        codes[path] = compile(path.read_text(), str(path), "exec")
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(codes[path], module.__dict__)
    return module


def table(module):
    """name -> (function, makers, graphs) of all programs in a module."""
    rows = {f.__name__: (f, makers, graphs) for f, makers, graphs in vars(module).get("PROGRAMS", ())}
    for name, f in vars(module).items():
        if name.startswith("case_"):
            rows[name] = f, [lambda k=k: (torch.arange(6.0).reshape(2, 3) + k, kit().Env()) for k in range(2)], 0
    for f, make in vars(module).get("CASES", ()):
        rows[f.__name__] = f, [make], 0
    return rows


def kit():
    import kit as module
    return module


def programs(*wanted):
    """All programs, or those of "file" or "file:name"."""
    out = []
    for path in sorted(FOLDER.glob("*.py")):
        names = [w.partition(":")[2] for w in wanted if w.partition(":")[0] == path.stem]
        if path.name not in NOT_PROGRAMS and (names or not wanted):
            out += [Program(path, name, row[2]) for name, row in table(fresh(path)).items() if "" in names or name in names or not wanted]
    return out


# -- One run ----------------------------------------------------------------------------


def ambient():
    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"),
            str(torch.get_autocast_dtype("cpu")), str(torch.get_default_dtype()), torch.are_deterministic_algorithms_enabled(),
            hashlib.md5(torch.get_rng_state().numpy().tobytes()).hexdigest(), sys.exc_info()[0] is None)


def calm():
    """What a program may have left behind does not reach the next call."""
    torch.set_grad_enabled(True), torch.set_default_dtype(torch.float32), torch.use_deterministic_algorithms(False)
    torch.set_autocast_enabled("cpu", False), torch.set_autocast_dtype("cpu", torch.bfloat16)


def call(f, args):
    try:
        return "returned", f(*args)
    except BaseException as e:
        return "raised", e


def observe(f, args, module):
    """One call: name -> what can be seen of it."""
    text = io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        warnings.simplefilter("always")
        how, result = call(f, args)
        after = ambient()
        seen = Seen()
        out = {"arguments": describe(args, seen), "globals": data_of(module, seen), how: describe(result, seen), "ambient": after}
    out["output"] = text.getvalue()
    out["warnings"] = [(w.category.__name__, str(w.message), pathlib.Path(w.filename).name, w.lineno)
                       for w in told if not str(w.message).startswith("jedlik:")]
    calm()
    return out


def sequence(makers):
    """Each maker twice, then from the start again."""
    return [m for m in makers for _ in range(2)] + list(makers) * (len(makers) > 1)


def run(program, wrap):
    """What all calls of a program show."""
    torch.utils.hooks.RemovableHandle.next_id = 0  # numbers hooks through the whole process
    torch.manual_seed(0)
    module = fresh(program.path)
    f, makers, _ = table(module)[program.name]
    f = wrap(f)
    out = []
    for k, make in enumerate(sequence(makers)):
        torch.manual_seed(k)
        out.append(observe(f, make(), module))
    gc.collect(0)
    return out


def compiled(program, break_at=0, keep=True):
    """The same, compiled, and the counts of the engine."""
    jedlik.reset()
    signal.alarm(limit)
    where[:] = f"break_at={break_at} keep={keep}".encode().ljust(80)
    _engine.set_config("keep_empty_graphs", keep)
    _engine.set_config("break_at", break_at)
    wanted = getattr(fresh(program.path), "SETTINGS_ON", ())
    for name in wanted:
        _engine.set_config(name, True)
    try:
        return run(program, lambda f: jedlik.compile(f, backend="eager")), _engine.stats()
    finally:
        _engine.set_config("break_at", 0)
        _engine.set_config("keep_empty_graphs", False)
        for name in wanted:
            _engine.set_config(name, False)


# -- Comparison ---------------------------------------------------------------------------


def first_difference(a, b, path=""):
    """Where two descriptions part."""
    if type(a) is type(b) and isinstance(a, (tuple, list)) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, f"{path}[{k}]")
    elif type(a) is type(b) and isinstance(a, (tuple, list)):
        k = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        path, a, b = f"{path}[{k}:]", a[k:], b[k:]
    return f"{path}\n      plain    {a}\n      compiled {b}"


def differences(plain, other):
    """The first difference, and how many more there are."""
    lines = []
    for k, (p, c) in enumerate(zip(plain, other)):
        for name in [*p, *(n for n in c if n not in p)]:
            if p.get(name) != c.get(name):
                lines.append(f"    call {k}, {name}{first_difference(p.get(name), c.get(name))}")
    more = [f"      and {len(lines) - 1} more"] if len(lines) > 1 else []
    return ["\n".join(lines[:1] + more)] if lines else []


def check(program):
    """Compiled as usual, and with graphs without operations kept. The longest trace comes last."""
    plain, longest, lines = run(program, lambda f: f), 0, []
    for keep in (False, True):
        other, stats = compiled(program, keep=keep)
        lines += [f"  keep_empty_graphs={keep}:\n{line}" for line in differences(plain, other)]
        longest = max(longest, stats["longest_trace"])
        if stats["graphs"] < program.graphs:
            lines.append(f"  {stats['graphs']} graphs instead of at least {program.graphs}; breaks: {stats['breaks']}")
    return lines, longest


def sweep(program, longest, every=1, keeps=(True,)):
    """With a break at the n-th instruction of each trace, for each n; beyond the first few, each `every`-th."""
    plain, found, done = run(program, lambda f: f), {}, 0
    for n in range(1, longest + 1):
        if n > 3 and n % every:
            continue
        for keep in keeps:
            other, _ = compiled(program, n, keep)
            for line in differences(plain, other):
                found.setdefault((keep, line), []).append(n)
            done += 1
    lines = [f"  break_at={','.join(map(str, at))} keep={keep}:\n{line}" for (keep, line), at in found.items()]
    return lines, done


def both(program, every):
    """Lines, and how many runs with breaks there were."""
    lines, longest = check(program)
    if not every:
        return lines, 0
    more, done = sweep(program, longest, every)
    return lines + more, done


# -- Apart ------------------------------------------------------------------------------------


def serve(work, jobs, pipe):
    """In the child: one result a job, until the first crash or endless loop."""
    global limit
    limit = SECONDS
    for job in jobs:
        try:
            result = work(*job)
        except BaseException:
            result = ["  " + traceback.format_exc()], 0
        pickle.dump(result, pipe)
        pipe.flush()


def apart(work, jobs):
    """work(*job) for each job, in a child process; where that ends early, another takes over behind the job."""
    gc.freeze()
    while jobs:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                serve(work, jobs, pipe)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            for done in range(len(jobs)):
                try:
                    yield pickle.load(pipe)
                except EOFError:
                    break
            else:
                done = len(jobs)
        _, status = os.waitpid(child, 0)
        if done < len(jobs):
            what = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"status {status}"
            yield [f"  the process ended with {what} at {where[:].decode().strip()}"], 0
        jobs = jobs[done + 1:]


def main(*args):
    wanted, every = [], 0
    args = list(args)
    while args:
        a = args.pop(0)
        if a == "--sweep":
            every = every or 1
        elif a == "--every":
            every = int(args.pop(0))
        else:
            wanted.append(a)
    wrong = total = runs = 0
    start = time.time()
    jobs = [(program, every) for program in programs(*wanted)]
    for (program, _), (lines, done) in zip(jobs, apart(both, jobs)):
        total, wrong, runs = total + 1, wrong + bool(lines), runs + done
        if lines:
            print(f"DIFFERS {program}", *lines[:4 if not wanted else 40], sep="\n", flush=True)
    print(f"{total} programs, {runs} runs with breaks, {wrong} differ, {time.time() - start:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.modules["runner"] = sys.modules["__main__"]
    sys.exit(main(*sys.argv[1:]))
