"""The dumps of small programs are what tests/golden says."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import golden  # noqa: E402


@pytest.mark.parametrize("path", golden.cases(), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_golden(path):
    diff = golden.compare(path)
    assert not diff, "\n" + "\n".join(diff)
