"""Hostile programs, followed plainly, compiled, and compiled with a break anywhere: nothing may differ.

Takes: a generator function `program(compile)`. It makes its world, compiles functions of it and yields, as often as it likes, what can
be seen: results of calls and whatever they may have touched. Calls of what `compile` gives return ("returned", value) or
("raised", exception). Gives: a test of it, by the decorator `follows(graphs=n)`: n operations' graphs, no more and no fewer, are
captured in the whole run, so that a program that ran plainly proves nothing and one that compiles at every call is found.
"""
import functools
import pathlib
import sys
import warnings

import torch

import jedlik
from jedlik import _engine

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "diff"))
import seen as looks  # noqa: E402

looks.HERE += (__file__,)
X = torch.ones(3)


def guarded(function):
    """Its calls, with an exception as a value."""
    def call(*args, **kwargs):
        try:
            return "returned", function(*args, **kwargs)
        except Exception as e:
            return "raised", e
    return call


def plainly(function, **options):
    return guarded(function)


def compiled(function, **options):
    return guarded(jedlik.compile(function, **{"backend": "eager", **options}))


def play(program, compile):
    """What each step shows."""
    out = []
    torch.manual_seed(0)
    for value in program(compile):
        out.append(looks.describe(value, looks.Seen()))
    torch.set_grad_enabled(True)
    return out


def first_difference(a, b, path=""):
    if type(a) is type(b) and isinstance(a, (tuple, list)) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, f"{path}[{k}]")
    return f"step {path}:\n  plain    {a}\n  compiled {b}"


def run(program, plain, break_at=0, keep=False):
    """Once, compiled; the engine's counts."""
    jedlik.reset()
    _engine.set_config("keep_empty_graphs", keep)
    _engine.set_config("break_at", break_at)
    try:
        got = play(program, compiled)
    finally:
        _engine.set_config("break_at", 0)
        _engine.set_config("keep_empty_graphs", False)
    assert got == plain, f"break_at={break_at} keep={keep} {first_difference(plain, got)}\n  {_engine.stats()}"
    return _engine.stats()


def follow(program, graphs=None, breaks=None, sweep=True):
    """See above. `graphs`: a number, or a pair (least, most). `breaks`: ids that must be among the reasons. `sweep`: breaks anywhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = play(program, plainly)
        stats = run(program, plain)
        told = f"{stats['graphs']} graphs; breaks {stats['breaks']}; recompiles {stats['recompiles']}"
        if graphs is not None:
            least, most = graphs if isinstance(graphs, tuple) else (graphs, graphs)
            assert least <= stats["graphs"] <= most, told
        for name in breaks or ():
            assert name in str(stats["breaks"]), told
        if sweep:
            longest = run(program, plain, keep=True)["longest_trace"]
            for n in range(1, min(longest, 400) + 1):
                run(program, plain, n, True)


def follows(**wanted):
    """The decorator."""
    def test_of(program):
        def test():
            follow(program, **wanted)
        test.__name__, test.__doc__ = program.__name__, program.__doc__
        return test
    return test_of
