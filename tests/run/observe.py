"""What can be observed of a call: result, effects in order, exception with its chain and
traceback, sys.exc_info() afterwards."""

import gc
import inspect
import sys
import types

import corpus
import pytest


OURS = (__file__, __file__.replace("observe.py", "test_compiled_corpus.py"))


def slots_of(fn, args, kwargs):
    """Values of the argument slots: positional, keyword-only, *args, **kwargs."""
    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    kinds = [p.kind for p in inspect.signature(fn).parameters.values()]
    values = list(bound.arguments.values())
    order = [inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD,
             inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL,
             inspect.Parameter.VAR_KEYWORD]
    rank = {k: (0 if i < 2 else i) for i, k in enumerate(order)}
    return tuple(v for _, v in sorted(zip(kinds, values), key=lambda kv: rank[kv[0]]))


def trace_of(tb):
    lines = []
    while tb is not None:
        if tb.tb_frame.f_code.co_filename not in OURS:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti))
        tb = tb.tb_next
    return lines


def describe(exc, seen=()):
    if exc is None or id(exc) in seen:
        return None
    seen = (*seen, id(exc))
    return (type(exc).__name__, str(exc), trace_of(exc.__traceback__),
            describe(exc.__context__, seen), describe(exc.__cause__, seen),
            exc.__suppress_context__)


def show(v):
    if isinstance(v, types.FrameType):
        return ("frame", v.f_code.co_name, v.f_lineno, v.f_code is v.f_code, sorted(v.f_locals),
                v.f_back and v.f_back.f_code.co_name)
    if isinstance(v, BaseException):
        return ("exc", repr(v), [n for n, *_ in trace_of(v.__traceback__)])
    if isinstance(v, (tuple, list)):
        return type(v).__name__, [show(x) for x in v]
    if isinstance(v, types.FunctionType):
        return v.__qualname__
    return type(v).__name__, repr(v) if " at 0x" not in repr(v) else ""


def observe(call):
    corpus.LOG.clear()
    value = exc = None
    try:
        value = call()
    except BaseException as e:
        exc = describe(e)
        del e
    gc.collect(0)
    return show(value), show(corpus.LOG), exc, sys.exc_info()


def arguments(case):
    fn, args, kwargs = case
    args = args() if callable(args) else args
    return slots_of(fn, args, kwargs)


def plain(case):
    fn, args, kwargs = case

    def call():
        return fn(*(args() if callable(args) else args), **kwargs)

    return observe(call)


def observe_slots(case, run, *more):
    """run(fn, slots, ...) in a frame that looks like the plain call's."""

    def call():
        return run(case[0], arguments(case), *more)

    return observe(call)


IDS = [f"{i}-{c[0].__name__}" for i, c in enumerate(corpus.CASES)]
each_case = pytest.mark.parametrize("case", corpus.CASES, ids=IDS)


def same(got, want):
    if got != want:
        for g, w in zip(got, want):
            assert g == w
    assert got == want
