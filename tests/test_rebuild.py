"""Values and effects made again after the graph are what plain Python leaves behind, whole and with a break anywhere."""

import pathlib
import sys

import pytest

jedlik = pytest.importorskip("jedlik")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "diff"))
import rebuild  # noqa: E402


def outcome(f, make):
    rebuild.fresh()
    return rebuild.run(f, make)


@pytest.mark.parametrize("f, make", rebuild.CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_case(f, make):
    compiled = jedlik.compile(f, backend="eager")
    for _ in range(3):
        assert outcome(compiled, make) == outcome(f, make)


@pytest.mark.filterwarnings("ignore:jedlik")
@pytest.mark.parametrize("f, make", rebuild.CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_break_anywhere(f, make, monkeypatch):
    plain = outcome(f, make)
    for at in range(1, 80, 3):
        monkeypatch.setenv("JEDLIK_BREAK_AT", str(at))
        compiled = jedlik.compile(f, backend="eager", isolate_recompiles=True)
        for _ in range(2):
            assert outcome(compiled, make) == plain, at
