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
    every = 1 if request.config.getoption("--slow") else 17
    _, longest = check(program)
    lines, _ = runner.sweep(program, longest, every)
    assert not lines, "\n".join(lines)
