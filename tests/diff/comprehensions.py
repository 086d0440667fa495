"""Comprehensions, generator expressions, generators."""
import itertools

import torch
from kit import T, program

LOG = []


def numbers(n):
    LOG.append("start")
    for i in range(n):
        got = yield i * 2
        if got is not None:
            LOG.append(got)
    LOG.append("end")
    return "value"


def delegating(n):
    r = yield from numbers(n)
    LOG.append(r)
    yield 99


def tensors(x):
    yield x
    try:
        yield x + 1
    finally:
        LOG.append("closed")


@program()
def list_comprehension(x):
    return [x * i for i in range(3) if i != 1], [[i + j for j in range(2)] for i in range(2)]


@program(lambda: (T(), 3), lambda: (T(), 4))
def closure_in_comprehension(x, n):
    return [x + i * n for i in range(2)], {i: n for i in range(2)}, {n % 3, n}


@program()
def generator_expression(x):
    return sum(i for i in range(5)) + x, any(v > 2 for v in [1, 2, 3]), max(v * -1 for v in (3, 1)), ",".join(str(i) for i in range(3))


@program()
def consumed_generator(x):
    return x + sum(numbers(4)), list(numbers(2))


@program()
def half_consumed(x):
    g = numbers(5)
    a = next(g)
    b = next(g)
    return x + a + b, g


@program()
def sending(x):
    g = numbers(3)
    next(g)
    v = g.send("hello")
    try:
        while True:
            next(g)
    except StopIteration as e:
        return x + v, e.value


@program()
def delegation(x):
    return x + 1, list(delegating(2))


@program()
def closing(x):
    g = tensors(x)
    a = next(g)
    b = next(g)
    g.close()
    return a, b, list(g)


@program()
def throwing(x):
    def g():
        try:
            yield 1
        except ValueError as e:
            yield str(e)
    it = g()
    next(it)
    return x + 1, it.throw(ValueError("in")), next(it, "done")


@program()
def generator_over_tensors(x):
    return [t * 2 for t in tensors(x)], LOG


@program()
def lazy_order(x):
    def note(v):
        LOG.append(v)
        return v
    g = (note(i) for i in range(3))
    LOG.append("made")
    y = x + next(g)
    LOG.append("one")
    return y, list(g)


@program()
def leaked_variable(x):
    i = "outer"
    squares = [i * i for i in range(3)]
    return x + squares[2], i


@program()
def walrus(x):
    out = [y for v in range(4) if (y := v * v) > 1]
    return x + y, out


@program()
def stop_inside(x):
    def bad():
        yield 1
        raise StopIteration("inside")
    try:
        list(bad())
    except RuntimeError as e:
        return x + 1, str(e), type(e.__cause__).__name__


@program()
def error_inside(x):
    def bad():
        yield 1
        yield {}["k"]
    got = []
    try:
        for v in bad():
            got.append(v)
    except KeyError as e:
        return x + 1, got, str(e)


@program()
def infinite(x):
    def count():
        n = 0
        while True:
            yield n
            n += 1
    return x + sum(itertools.islice(count(), 4)), list(zip(count(), "ab"))


@program(lambda: (T(), (i for i in range(3))), lambda: (T(), iter([4, 5])))
def existing_iterator(x, it):
    first = next(it)
    return x + first, list(it)


@program(lambda: (T(2, 3),))
def rows(x):
    return [r.sum() for r in x], [a + b for a, b in zip(x, x)], {i: r for i, r in enumerate(x)}
