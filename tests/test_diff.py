"""Programs of tests/diff, plainly and compiled, whole and with a break anywhere: nothing may differ."""
import functools
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "diff"))
import runner  # noqa: E402

PROGRAMS = [pytest.param(p, id=str(p)) for p in runner.programs()]


check = functools.cache(runner.check)


@pytest.mark.parametrize("program", PROGRAMS)
def test_same(program):
    lines, _ = check(program)
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("program", PROGRAMS)
def test_break_anywhere(program, request):
    """With --slow at each instruction, else at the first three and some ten of the others."""
    _, longest = check(program)
    every = 1 if request.config.getoption("--slow") else max(17, longest // 10)
    lines, _ = runner.sweep(program, longest, every)
    assert not lines, "\n".join(lines)


FAMILIES = ("scalars strings calls closures exceptions withs lists dicts sets_tuples comprehensions classes records iteration flow tensors nnmodules "
            "nnhooks aliasing decorators contexts guards").split()


def test_enough_programs():
    """No family is thin, and no program is written twice."""
    bodies = {}
    for name in FAMILIES:
        rows = runner.table(runner.fresh(runner.FOLDER / f"{name}.py"))
        assert len(rows) >= 15, name
        for f, _, _ in rows.values():
            code = f.__code__
            key = code.co_code, code.co_names, repr(code.co_consts)
            assert bodies.setdefault(key, f.__qualname__) == f.__qualname__, (name, f.__qualname__)
    assert len(bodies) >= 300
