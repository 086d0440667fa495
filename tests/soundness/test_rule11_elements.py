"""Rule 11: `layers[i](x)` with a varying i is guarded by range and by what was asked of the element, not by the value of i."""
import collections

import pytest
import torch
from follow import X, follow, follows


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


@follows(graphs=1)
def test_tensors_of_a_list(compile):
    ts = [torch.full((3,), float(k)) for k in range(5)]
    f = compile(lambda x, i: x + ts[i])
    for i in (0, 1, 4, -1, -5, 2, 0):
        yield f(X, i)


@follows(graphs=(1, 3))
def test_out_of_range(compile):
    ts = [torch.full((3,), float(k)) for k in range(3)]
    f = compile(lambda x, i: x + ts[i])
    for i in (0, 2, 3, -3, -4, 10 ** 20, 1):
        yield f(X, i)
    ts.pop()
    yield f(X, 2)
    ts.append(torch.ones(1))
    yield f(X, 2)


@pytest.mark.parametrize("make", (list, tuple, collections.deque))
def test_unused_element(make):
    """`items[i]` whose result nobody uses still raises."""
    def program(compile):
        items = make([1, "a", None])

        def f(x, i):
            items[i]
            return x + 1

        f = compile(f)
        for i in (0, 1, 2, 3, -3, -4, 0):
            yield f(X, i)
        if make is list:
            items.clear()
            yield f(X, 0)
    follow(program)


@follows(graphs=(1, 8))
def test_answers_that_differ(compile):
    """Elements of several types, asked for their type: still right."""
    items = [1, 2.5, "text", None, torch.ones(3), [1], Scale(2)]

    def f(x, i):
        v = items[i]
        if isinstance(v, (int, float)):
            return x + v
        if callable(v):
            return v(x)
        if v is None:
            return x
        return x * 2

    f = compile(f)
    for i in (0, 1, 2, 3, 4, 5, 6, 0, 6, 4):
        yield f(X + 0, i)


@follows(graphs=(1, 2))
def test_layers(compile):
    layers = [Scale(torch.full((3,), float(k))) for k in range(5)]
    f = compile(lambda x, i: layers[i](x))
    for i in (0, 1, 2, 3, 4, 0, -1):
        yield f(X, i)
    layers[1] = lambda x: x - 7
    yield f(X, 1)


@follows()
def test_modules(compile):
    torch.manual_seed(1)
    net = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3), torch.nn.ReLU()])
    f = compile(lambda x, i: net[i](x))
    for i in (0, 1, 2, -1, 0, 3):
        yield f(X, i)


@follows(graphs=(1, 3))
def test_two_indices_into_one_list(compile):
    """a[i] and a[j] may be the same element."""
    items = [[k] for k in range(4)]

    def f(x, i, j):
        items[i].append(10)
        return x + len(items[j]), items[i] is items[j]

    f = compile(f)
    for i, j in ((0, 1), (1, 1), (2, 3), (3, 3), (0, 1)):
        yield f(X, i, j), [list(v) for v in items]


@follows()
def test_write_through_an_index(compile):
    items = [Scale(k) for k in range(4)]

    def f(x, i, j):
        items[i].k = 100
        return x * items[j].k

    f = compile(f)
    for i, j in ((0, 1), (1, 1), (2, 3), (3, 2), (0, 0)):
        yield f(X, i, j), [o.k for o in items]
        for k, o in enumerate(items):
            o.k = k


@follows()
def test_store_then_read_at_another_index(compile):
    items = [0, 1, 2, 3]

    def f(x, i, j):
        items[i] = 50
        return x + items[j]

    f = compile(f)
    for i, j in ((0, 1), (1, 1), (2, 3), (3, -1), (-4, 0), (0, 4)):
        yield f(X, i, j), list(items)
        items[:] = [0, 1, 2, 3]


@follows(graphs=(1, 6))
def test_bool_and_other_indices(compile):
    items = [torch.zeros(3), torch.ones(3)]

    class Index:
        def __init__(self, n):
            self.n = n

        def __index__(self):
            return self.n

    f = compile(lambda x, i: x + items[i])
    for i in (0, 1, True, False, Index(1), torch.tensor(1), 1.0, "0", None, 0):
        yield f(X, i)


@follows()
def test_nested(compile):
    table = [[torch.full((3,), float(r * 10 + c)) for c in range(3)] for r in range(3)]
    f = compile(lambda x, r, c: x + table[r][c] + table[c][r])
    for r, c in ((0, 0), (0, 1), (2, 1), (1, 2), (3, 0), (0, 3), (-1, -1)):
        yield f(X, r, c)
