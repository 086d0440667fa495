"""Rule 12: nothing is loaded through a source after the graph call: inputs, targets of writes, returned and saved values come before."""
import gc
import signal
import threading

import pytest
import torch
from follow import X, follow, follows

import jedlik


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)


@follows(graphs=(1, 2))
def test_read_then_overwritten(compile):
    """`t = o.a; o.a = 0; return t`."""
    o = Box(a=5)

    def f(x):
        t = o.a
        o.a = 0
        return x + 1, t

    f = compile(f)
    for a in (5, [1], "text", None, 0, torch.ones(1)):
        o.a = a
        yield f(X), o.a


@follows(graphs=1)
def test_target_of_a_write_is_moved_away(compile):
    """`l = o.a; o.a = None; l.append(1)`."""
    o = Box()

    def f(x):
        items = o.a
        o.a = None
        items.append(1)
        return x + 1

    f = compile(f)
    for k in range(3):
        kept = o.a = [k]
        yield f(X), o.a, kept


@follows(graphs=1)
def test_swap(compile):
    o = Box(a=1, b=2)

    def f(x):
        o.a, o.b = o.b, o.a
        return x + 1, o.a, o.b

    f = compile(f)
    for _ in range(3):
        yield f(X), o.a, o.b
    o.a, o.b = [1], "b"
    yield f(X), o.a, o.b


@follows(graphs=(1, 2))
def test_path_that_is_cut(compile):
    """The parent of what is returned is replaced, deleted, emptied."""
    o = Box()

    def f(x):
        v = o.p.q["k"][0]
        o.p.q["k"].clear()
        o.p.q.clear()
        o.p = None
        return x + 1, v

    f = compile(f)
    for k in range(3):
        inner = [Box(n=k)]
        d = {"k": inner}
        o.p = Box(q=d)
        how, value = f(X)
        yield how, value[1].n, o.p, d, inner


@follows(graphs=(1, 2))
def test_graph_input_overwritten(compile):
    """A tensor that is an input, overwritten and returned."""
    o = Box()

    def f(x):
        t = o.h
        o.h = t + x
        o.old = t
        return t, t * 2

    f = compile(f)
    o.h = torch.zeros(3)
    for _ in range(4):
        before = o.h
        how, value = f(X)
        yield how, value, value[0] is before, o.old is before, o.h


@follows(graphs=(1, 3))
def test_saved_in_an_exit(compile):
    """Values that live across a break were loaded before it."""
    o = Box(a=1)

    def f(x):
        t = o.a
        items = o.items
        y = x + 1
        o.a = 100
        o.items = ()
        print(end="")
        items.append(t)
        return y * 2, t, items, o.a

    f = compile(f)
    for k in range(3):
        o.a, o.items = k, [k]
        yield f(X), o.a, o.items


@follows(graphs=(1, 2))
def test_dict_entry_of_a_replaced_dict(compile):
    o = Box()

    def f(x):
        d = o.d
        o.d = {"k": 0}
        d["k"] += 1
        return x + 1, d["k"], o.d["k"]

    f = compile(f)
    for k in range(3):
        kept = o.d = {"k": k}
        yield f(X), o.d, kept


@follows(graphs=(1, 2))
def test_globals_and_cells(compile):
    space = {}
    exec("def f(x):\n    global A, B\n    t = A\n    A = B\n    B = t\n    del globals()['C']\n    return x + 1, A, B\n", space)
    f = compile(space["f"])
    for k in range(3):
        space.update(A=[k], B={"k": k}, C=1)
        yield f(X), space["A"], space["B"], "C" in space
    cell = 1

    def g(x):
        nonlocal cell
        t = cell
        cell = 5
        return x + 1, t

    g = compile(g)
    for v in (1, [2], None):
        cell = v
        yield g(X), cell


@follows(graphs=(1, 3))
def test_iterator_that_moves_on(compile):
    def f(x, it, items):
        a = next(it)
        items[0] = "new"
        b = next(it)
        return x + 1, a, b, list(it)

    f = compile(f)
    for _ in range(3):
        items = [Box(n=1), 2, 3, 4]
        how, value = f(X, iter(items), items)
        yield how, value[1:] if how == "raised" else (value[1].n, value[2:]), items


def switching(gm, inputs):
    """A backend whose graph, as it runs, changes what the segment is about to write to."""
    def run(*args):
        if switching.do:
            switching.do()
        return gm.forward(*args)
    return run


switching.do = None


@pytest.mark.parametrize("collect", (False, True))
def test_the_world_moves_during_the_graph(collect):
    """Another list is put in the place; the write goes to the one that was there, as plainly with the calls in that order."""
    o = Box()

    def f(x):
        y = x + 1
        o.a.append(1)
        return y

    fast = jedlik.compile(f, backend=switching)
    switching.do = None
    o.a = []
    fast(X)
    first = [0]
    o.a = first

    def move():
        o.a = [7]
        if collect:
            gc.collect()
    switching.do = move
    fast(X)
    switching.do = None
    assert first == [0, 1] and o.a == [7]


def test_a_signal_handler_during_the_graph():
    """A handler that runs in the middle frees what the segment holds."""
    o = Box(a=[1])

    def f(x):
        t = o.a
        y = x + 1
        return y, t

    def handler(*args):
        o.a = None
        gc.collect()

    fast = jedlik.compile(f, backend=switching)
    switching.do = None
    fast(X)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        switching.do = lambda: signal.raise_signal(signal.SIGUSR1)
        _, t = fast(X)
    finally:
        switching.do = None
        signal.signal(signal.SIGUSR1, before)
    assert t == [1] and o.a is None


def test_another_thread_replaces_what_guards_walk():
    """Results fit one of the two worlds, never a mixture: value and tag lie in one object."""
    worlds = Box(n=2, tag="two"), Box(n=3, tag="three")
    o = Box(w=worlds[0])
    fast = jedlik.compile(lambda x: (x * o.w.n, o.w), backend="eager")
    stop, wrong = threading.Event(), []

    def flip():
        k = 0
        while not stop.is_set():
            k += 1
            o.w = worlds[k % 2]
    t = threading.Thread(target=flip)
    t.start()
    try:
        for _ in range(3000):
            y, w = fast(X)
            if y[0].item() not in (2.0, 3.0) or w not in worlds:
                wrong.append((y, w))
    finally:
        stop.set()
        t.join()
    assert not wrong
