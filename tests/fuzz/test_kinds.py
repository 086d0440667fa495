"""Expressions over values of many kinds, several calls each: nothing may differ. With --slow, more of them."""
import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent)]
import kinds  # noqa: E402

SOME, MANY = 8, 400


def check(seed):
    lines = kinds.differences(seed)
    assert not lines, "\n".join(lines)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(SOME))
def test_some(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(SOME, MANY))
def test_many(seed):
    check(seed)


def test_most_calls_return():
    """Expressions that raise with all values would show little."""
    returned = total = 0
    for text in kinds.EXPRESSIONS:
        f = eval(f"lambda a, b: ({text})", vars(kinds))
        for make in kinds.KINDS:
            total += 1
            returned += not isinstance(kinds.call(f, make(1), make(1), make(1))[0], str)
    assert returned > total / 2
