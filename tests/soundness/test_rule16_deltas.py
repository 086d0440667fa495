"""Rule 16: containers keep a delta until they are opened: appends are replayed as appends, sets replay their history."""
import collections

import pytest
import torch
from follow import X, follow, follows

import jedlik


@follows(graphs=1, sweep=False)
def test_append_to_a_log(compile):
    """`LOG.append(n)` is one graph whatever the length."""
    log = []

    def f(x, n):
        log.append(n)
        return x + 1

    f = compile(f)
    for k in range(40):
        yield f(X, k), list(log)
    log[:] = range(1000)
    yield f(X, -1), log[-3:], len(log)


@follows(graphs=1, sweep=False)
def test_length_is_lazy(compile):
    """`len` is len0 + 1."""
    log = []

    def f(x, n):
        log.append(n)
        log.extend([n, n])
        return x + 1, len(log)

    f = compile(f)
    for k in range(20):
        yield f(X, k), list(log)


def test_a_hundred_thousand_items_are_not_rewritten():
    """What a call writes does not grow with the list."""
    log = list(range(300_000))

    def f(x):
        log.append(1)
        return x + 1

    fast = jedlik.compile(f, backend="eager")
    fast(X), fast(X)
    before = log[5]
    for _ in range(200):
        fast(X)
    assert log[5] is before and len(log) == 300_202
    writes = [line for line in jedlik.dump(f, (X,), "e").splitlines() if line]
    assert len(writes) == 1 and writes[0].startswith("append ") and len(writes[0]) < 80


@pytest.mark.parametrize("make", (list, collections.deque))
def test_appends_of_others_in_between(make):
    """What others put there between two calls stays."""
    def program(compile):
        log = make()

        def f(x, n):
            log.append(n)
            return x + 1

        f = compile(f)
        for k in range(6):
            log.append("other")
            yield f(X, k), list(log)
    follow(program)


@follows()
def test_the_same_list_on_two_paths(compile):
    a = []
    b = {"a": a}

    def f(x, c):
        a.append(1)
        b["a"].append(2)
        c.append(3)
        return x + len(a), len(c)

    f = compile(f)
    for c in (a, [], a, [1]):
        yield f(X, c), list(a), list(c)


@follows()
def test_an_iterator_over_what_is_appended_to(compile):
    log = [1, 2]

    def f(x, it):
        log.append(5)
        return x + 1, next(it, None)

    f = compile(f)
    it = iter(log)
    for _ in range(5):
        yield f(X, it), list(log)
    yield list(it)


OPERATIONS = {
    "add": lambda s: s.add(3),
    "discard": lambda s: s.discard(2),
    "add discard add": lambda s: (s.add(100), s.discard(100), s.add(100)),
    "update": lambda s: s.update([9, 17, 25, 33]),
    "in place or": lambda s: s.__ior__({40, 41}),
    "difference": lambda s: s.difference_update({1, 2}),
    "intersection": lambda s: s.intersection_update({1, 2, 3}),
    "clear and fill": lambda s: (s.clear(), s.update([3, 1, 2])),
    "pop": lambda s: s.pop() if s else None,
    "symmetric": lambda s: s.symmetric_difference_update({2, 99}),
    "grow and shrink": lambda s: ([s.add(k * 8) for k in range(20)], [s.discard(k * 8) for k in range(2, 20)]),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("iterate", (False, True))
def test_sets_replay_their_history(name, iterate):
    """The order of iteration afterwards is the one of the history, not of the final state."""
    op = OPERATIONS[name]

    def program(compile):
        def f(x, s):
            op(s)
            return x + 1, list(s) if iterate else len(s)

        f = compile(f)
        for content in ([1, 2], [1, 2], [2, 1], [9, 1, 17], [], ["a", "b"], [1, 2]):
            s = set()
            for v in content:
                s.add(v)
            yield f(X, s), list(s)
        s = set(range(50))
        for k in range(3, 50):
            s.discard(k)
        yield f(X, s), list(s)
    follow(program, sweep=not iterate and name in ("add discard add", "pop"))


@follows()
def test_sets_of_odd_history(compile):
    """Two equal sets with other histories iterate in other orders: copies and unions keep that."""
    def f(x, s):
        return x + 1, list(s), list(s.copy()), list(s | {100}), list(s - {1}), [v for v in s], sorted(s), list(set(s)), list(frozenset(s))

    f = compile(f)
    for order in ([1, 9, 17], [17, 9, 1], [9, 17, 1], [1, 9, 17]):
        s = set()
        for v in order:
            s.add(v)
        yield f(X, s)
    s.update(range(1000))
    for k in range(18, 1000):
        s.discard(k)
    yield f(X, s)


@follows()
def test_slice_assignment(compile):
    def f(x, p):
        p[1:2] = [7, 8]
        p[::2] = [0] * len(p[::2])
        del p[-1:]
        return x + len(p)

    f = compile(f)
    for p in ([1, 2, 3], [1, 2, 3], [], [1], list(range(10))):
        yield f(X, p), p


@follows()
def test_dict_order(compile):
    def f(x, d):
        d["new"] = 1
        d.pop("a", None)
        d["a"] = 2
        d.setdefault("z", 3)
        return x + len(d)

    f = compile(f)
    for d in ({}, {"a": 1}, {"b": 1, "a": 2}, {"z": 0, "a": 1, "new": 5}, {}):
        yield f(X, d), list(d.items())


@follows(graphs=(1, 2))
def test_appends_of_tensors(compile):
    """A history of states, kept by the program."""
    history = []

    def f(x):
        y = x * 2
        history.append(y)
        history.append(x)
        return y

    f = compile(f)
    for k in range(5):
        t = torch.full((3,), float(k))
        how, y = f(t)
        yield how, y, history[-2] is y, history[-1] is t, len(history)


@follows()
def test_append_that_reads_itself(compile):
    log = []

    def f(x):
        log.append(len(log))
        log.append(log)
        log.append(log[0])
        return x + len(log)

    f = compile(f)
    for _ in range(3):
        yield f(X), len(log), log[0], log[1] is log


@follows()
def test_equal_frozensets_of_other_orders(compile):
    """Known to be equal is not known to be iterated alike; also inside tuples, as defaults, keys and constants."""
    def f(x, fs, t, d=frozenset()):
        return x + len(fs), list(fs), [v for v in t[0]], sorted(fs), fs in {fs}, {fs: 1}, hash(fs), list(fs | {100}), list(fs.copy()), fs == frozenset([1, 9, 17]), \
            list(fs - {1}), tuple(fs), list(map(str, fs)), dict.fromkeys(fs), t, d, str(fs), max(fs)

    g = compile(f)
    for order in ([1, 9, 17], [17, 9, 1], [9, 17, 1], [1, 9, 17], [17, 1], [1], []):
        fs, other = frozenset(order), frozenset(list(order))
        yield g(X, fs, (other, (fs,)))
        f.__defaults__ = (fs,)
        yield g(X, fs, (other, (fs,)))
