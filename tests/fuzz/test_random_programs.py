"""Random programs, plainly and compiled in some ways: nothing may differ.

With --slow, JEDLIK_FUZZ programs from JEDLIK_FUZZ_FIRST on (2000 from 1000). `python tests/fuzz/shrink.py SEED` makes a failure smaller.
"""
import os
import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "diff")]
import generate  # noqa: E402
import play  # noqa: E402

BLOCK = 5
SOME = 30


def many():
    first = int(os.environ.get("JEDLIK_FUZZ_FIRST", 1000))
    return range(first, first + int(os.environ.get("JEDLIK_FUZZ", 2000)), BLOCK)


def check(first):
    for seed in range(first, first + BLOCK):
        lines, _ = play.one(seed)
        assert not lines, "\n".join([f"seed {seed}", *lines])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("first", [*range(0, SOME, BLOCK), *range(generate.NEWER, generate.NEWER + SOME, BLOCK)])
def test_some(first):
    check(first)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("first", many())
def test_many(first):
    check(first)


def test_programs_do_run():
    """Most calls return, and graphs are captured: programs that raise at once or capture nothing would show little."""
    returned = graphs = calls = 0
    for seed in (*range(10), *range(generate.NEWER, generate.NEWER + 10)):
        code = compile(generate.module(seed), "program", "exec")
        with play.Settings({"keep_empty_graphs": True}):
            seen = play.play(code, play.compiler({}))
            graphs += play.jedlik.stats()["graphs"]
        calls += len(seen) - 1
        returned += sum("returned" in row for row in seen)
    assert calls >= 30 and returned > 0.6 * calls and graphs > 30
