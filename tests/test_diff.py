"""Programs of tests/diff, plainly and compiled: nothing may differ."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent / "diff"
sys.path.insert(0, str(HERE))
import same  # noqa: E402

CASES = [pytest.param(function, id=f"{path.stem}-{name}") for path in sorted(HERE.glob("*.py")) if path.stem != "same"
         for name, function in same.cases(path).items()]


@pytest.mark.parametrize("function", CASES)
def test_same(function):
    lines, _ = same.differences(function)
    assert not lines, "\n".join(lines)
