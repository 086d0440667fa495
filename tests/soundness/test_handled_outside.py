"""What is being handled where a generator was resumed is what a function called by the generator finds."""
import sys

import jedlik
import pytest
import torch
from jedlik import _engine


def asks(x):
    seen = [sys.exc_info()[0], repr(sys.exception())]
    try:
        raise KeyError("k")
    except KeyError as error:
        seen.append(repr(error.__context__))
    try:
        raise
    except BaseException as error:
        seen.append(repr(error))
    seen.append(sys.exc_info()[0])
    return x + 1, seen


def resumed(f, x):
    yield f(x)[1]
    yield f(x)[1]


def handles(f, x):
    try:
        raise ValueError("inside")
    except ValueError:
        yield f(x)[1]
    yield f(x)[1], sys.exc_info()[0]


def program(f):
    x = torch.ones(1)
    out = [f(x)[1], *resumed(f, x)]
    waiting = resumed(f, x)
    try:
        1 / 0
    except ZeroDivisionError:
        out += [f(x)[1], *resumed(f, x), *handles(f, x), next(waiting), repr(sys.exc_info()[1])]
    out += [next(waiting), f(x)[1], sys.exc_info()[0]]
    return out


@pytest.mark.parametrize("keep", (False, True))
@pytest.mark.parametrize("at", (0, *range(2, 60, 3)))
def test_handled_where_a_generator_was_resumed(at, keep):
    jedlik.reset()
    _engine.set_config("keep_empty_graphs", keep)
    _engine.set_config("break_at", at)
    try:
        got = program(jedlik.compile(asks, backend="eager"))
    finally:
        _engine.set_config("break_at", 0)
        _engine.set_config("keep_empty_graphs", False)
    assert got == program(asks)
