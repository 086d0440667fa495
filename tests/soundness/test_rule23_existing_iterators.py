"""Rule 23: existing iterators are read by their structs; others are never peeked at: FOR_ITER is the break."""
import collections
import io
import itertools

import pytest
import torch
from follow import X, follow, follows

LOG = []


class Own:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        LOG.append(self.n)
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def noisy(n):
    for k in range(n):
        LOG.append(k)
        yield k
    LOG.append("end")


KINDS = {
    "list": lambda: iter([1, 2, 3, 4]),
    "tuple": lambda: iter((1, 2, 3, 4)),
    "range": lambda: iter(range(4)),
    "long range": lambda: iter(range(10 ** 20, 10 ** 20 + 4)),
    "dict": lambda: iter({1: 2, 3: 4, 5: 6}),
    "dict values": lambda: iter({1: 2, 3: 4, 5: 6}.values()),
    "dict items": lambda: iter({1: 2, 3: 4, 5: 6}.items()),
    "set": lambda: iter({1, 2, 3}),
    "str": lambda: iter("abcd"),
    "bytes": lambda: iter(b"abcd"),
    "deque": lambda: iter(collections.deque([1, 2, 3])),
    "reversed list": lambda: reversed([1, 2, 3, 4]),
    "reversed range": lambda: reversed(range(4)),
    "reversed dict": lambda: reversed({1: 2, 3: 4}),
    "enumerate": lambda: enumerate([5, 6, 7]),
    "enumerate from": lambda: enumerate("abc", 10),
    "enumerate of a generator": lambda: enumerate(noisy(3)),
    "zip": lambda: zip([1, 2, 3], (4, 5, 6)),
    "zip uneven": lambda: zip([1, 2], (4, 5, 6)),
    "zip strict": lambda: zip([1, 2], (4, 5, 6), strict=True),
    "zip with a generator": lambda: zip(noisy(3), [1, 2]),
    "map": lambda: map(lambda v: LOG.append(v) or v * 2, [1, 2, 3]),
    "filter": lambda: filter(lambda v: LOG.append(v) or v % 2, [1, 2, 3]),
    "file": lambda: io.StringIO("a\nb\nc\n"),
    "own": lambda: Own(3),
    "generator": lambda: noisy(3),
    "generator expression": lambda: (LOG.append(v) or v for v in [1, 2, 3]),
    "sequence protocol": lambda: iter(type("S", (), {"__getitem__": lambda self, i: LOG.append(i) or [7, 8][i]})()),
    "callable": lambda: iter([3, 2, 1, 0].pop, 3),
    "count": lambda: itertools.islice(itertools.count(5), 3),
    "cycle": lambda: itertools.islice(itertools.cycle([1, 2]), 5),
    "chain": lambda: itertools.chain([1], noisy(2), (3,)),
    "tee": lambda: itertools.tee([1, 2, 3])[0],
    "accumulate": lambda: itertools.accumulate([1, 2, 3]),
    "product": lambda: itertools.product([1, 2], repeat=2),
    "groupby": lambda: itertools.groupby([1, 1, 2]),
    "exhausted": lambda: iter([]),
    "half way": lambda: (lambda it: (next(it), it)[1])(iter([1, 2, 3])),
}


def shown(value):
    return type(value).__name__ if isinstance(value, itertools._grouper) else value


@pytest.mark.parametrize("kind", KINDS)
def test_loop_over_an_existing_iterator(kind):
    """All of it, some of it, one step, with a break inside; what is left is left."""
    def program(compile):
        def whole(x, it):
            out = []
            for v in it:
                out.append(shown(v))
                x = x + 1
            return x, out

        def some(x, it):
            out = []
            for v in it:
                out.append(shown(v))
                x = x + 1
                if len(out) == 2:
                    break
            return x, out

        def step(x, it):
            return x + 1, shown(next(it, "none"))

        def broken(x, it):
            out = []
            for v in it:
                out.append(shown(v))
                x = x * 2
                print(end="")
                x = x + 1
            return x, out

        def unpacked(x, it):
            return x + 1, [shown(v) for v in it]

        for f in map(compile, (whole, some, step, broken, unpacked)):
            for _ in range(2):
                it = KINDS[kind]()
                LOG.clear()
                yield f(X, it), list(LOG)
                yield [shown(v) for v in itertools.islice(it, 6)] if kind != "zip strict" else None, list(LOG)
    follow(program, sweep=kind in ("list", "enumerate", "generator", "map", "dict items"))


@follows()
def test_other_kinds_at_the_same_place(compile):
    """One loop, called with iterators of all kinds in turn."""
    def f(x, it):
        n = 0
        for v in it:
            n += 1
            x = x + 1
        return x, n

    f = compile(f)
    for name in ("list", "tuple", "own", "range", "dict", "generator", "enumerate", "zip", "map", "exhausted", "list"):
        LOG.clear()
        yield f(X, KINDS[name]()), list(LOG)


@follows()
def test_container_changes_under_the_iterator(compile):
    """Lists may grow and shrink; dicts and sets notice."""
    def f(x, it, act):
        out = []
        for v in it:
            out.append(v)
            x = x + 1
            if len(out) == 2:
                act()
            if len(out) > 6:
                break
        return x, out

    f = compile(f)
    for _ in range(2):
        for make, changes in (([1, 2, 3], "append"), ([1, 2, 3], "pop"), ([1, 2, 3], "clear"), ({1: 1, 2: 2, 3: 3}, "popitem"), ({1, 2, 3}, "pop")):
            c = make.copy()
            act = (lambda: c.append(9)) if changes == "append" else getattr(c, changes)
            yield f(X, iter(c), act), c


@follows()
def test_the_same_iterator_twice(compile):
    """zip(it, it), next() in the loop body, nested loops over one iterator."""
    def f(x, it):
        pairs = list(zip(it, it))
        return x + len(pairs), pairs

    def g(x, it):
        out = []
        for v in it:
            out.append((v, next(it, None)))
            x = x + 1
        return x, out

    def h(x, it):
        out = []
        for a in it:
            for b in it:
                out.append((a, b))
                break
            x = x + 1
        return x, out

    for fn in map(compile, (f, g, h)):
        for kind in ("list", "range", "generator", "own", "tuple"):
            LOG.clear()
            yield fn(X, KINDS[kind]()), list(LOG)
            yield fn(X, KINDS[kind]()), list(LOG)


@follows(graphs=(1, 4))
def test_iterator_kept_in_an_object(compile):
    """A data loader's position moves from call to call; the loop compiles once."""
    class Box:
        pass

    o = Box()
    o.it = iter([torch.full((3,), float(k)) for k in range(6)])

    def f(x):
        batch = next(o.it)
        return x + batch

    f = compile(f)
    for _ in range(8):
        yield f(X)


@follows()
def test_iterators_that_raise(compile):
    class Bad:
        def __iter__(self):
            return self

        def __next__(self):
            LOG.append("next")
            if len(LOG) > 2:
                raise ValueError("in the iterator")
            return 1

    def f(x, it):
        try:
            for v in it:
                x = x + v
        except ValueError as e:
            return x, str(e)
        return x

    f = compile(f)
    for _ in range(3):
        LOG.clear()
        yield f(X, Bad()), list(LOG)
        yield f(X, iter([1, 2]))
        yield f(X, (1 // v for v in (1, 0)))
