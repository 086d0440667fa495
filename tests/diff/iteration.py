"""Iterators, itertools, generators."""
import collections
import contextlib
import itertools
import operator

import torch
from kit import T, program

LOG = []


def two():
    return T(2, 3)


def long():
    return T(5, at=-2)


def numbers(n):
    LOG.append(("start", n))
    try:
        for k in range(n):
            got = yield k
            if got is not None:
                LOG.append(("got", got))
    except GeneratorExit:
        LOG.append("exit")
        raise
    except ValueError as e:
        LOG.append(str(e))
        yield -1
    finally:
        LOG.append("finally")
    return n * 10


def outer(n, x):
    a = yield from numbers(n)
    yield x + a
    b = yield from [x, "from a list"]
    return a, b


def running_sum():
    total, value = 0, 0
    while True:
        total = total + value
        value = yield total


KEPT = numbers(4)
COUNT = itertools.count(5)
DATA = [1, 2, 3]
ITER = iter(DATA)


@program(T, long)
def yield_from(x):
    out = []
    g = outer(2, x)
    while True:
        try:
            out.append(next(g))
        except StopIteration as e:
            out.append(e.value)
            break
    return out, next(g, "over"), x + out[0]


@program(T, long)
def send(x):
    g = running_sum()
    next(g)
    a = [g.send(x), g.send(x * 2), g.send(1)]
    h = numbers(3)
    try:
        h.send(1)
    except TypeError as e:
        LOG.append(str(e))
    b = next(h), h.send("hello"), next(h, None), next(h, "none")
    return a, b


@program(T, long)
def throw(x):
    g = numbers(5)
    first = next(g)
    a = g.throw(ValueError("thrown in"))
    told = []
    try:
        next(g)
    except StopIteration as e:
        told.append(("stop", e.value))
    try:
        g.throw(KeyError("late"))
    except KeyError as e:
        told.append(str(e))
    h = numbers(1)
    try:
        h.throw(RuntimeError("before the start"))
    except RuntimeError as e:
        told.append(str(e))
    return x + first + a, told


def stubborn():
    try:
        yield 1
    finally:
        yield 2


@program(T, graphs=0)
def close(x):
    g = numbers(3)
    y = x + next(g) + next(g)
    g.close()
    h = numbers(3)
    h.close()
    told = [next(g, "closed"), next(h, "closed")]
    s = stubborn()
    next(s)
    try:
        s.close()
    except RuntimeError as e:
        told.append(str(e))
    return y, told, list(s)


def failing(x):
    yield x
    yield x / 2
    raise LookupError("inside")


def stopping(x):
    yield x
    raise StopIteration("not like this")


@program(T, long)
def exceptions_inside(x):
    out = []
    try:
        for v in failing(x):
            out.append(v + 1)
    except LookupError as e:
        out.append(str(e))
    try:
        out.extend(stopping(x))
    except RuntimeError as e:
        out.append((str(e), type(e.__cause__).__name__, e.__cause__.value))
    return out


@program(T, graphs=0)
def exception_through(x):
    y = x + 1
    for v in failing(y):
        LOG.append(v)
    return y


@program(T, long)
def kept_generator(x):
    a = next(KEPT, "end")
    b = next(COUNT)
    c = next(ITER, None)
    DATA.append(b)
    return x + b, a, c, x * (c or 100)


@program(T, long)
def enumerate_and_zip(x):
    out = [(k, v + k) for k, v in enumerate(x, start=2)]
    pairs = list(zip(x.tolist(), "abcdefg", itertools.count()))
    try:
        for a, b in zip([1, 2], [3, 4, 5], strict=True):
            out.append(x + a * b)
    except ValueError as e:
        out.append(str(e))
    try:
        list(zip([1, 2, 3], (1,), strict=True))
    except ValueError as e:
        out.append(str(e))
    it = iter([1, 2, 3, 4])
    return out, pairs, list(zip(it, it)), [*zip()], dict(zip("ab", (x, x)))


@program(T, long)
def map_and_filter(x):
    sizes = list(map(operator.mul, [1, 2, 3], [x, x + 1]))
    kept = list(filter(None, [0, x.dim(), "", "a", None, [], [0]]))
    odd = [v for v in filter(lambda k: k % 2, range(7))]
    lazy = map(LOG.append, ["a", "b"])
    before = len(LOG)
    next(lazy)
    return sizes, kept, odd, len(LOG) - before, sum(map(torch.sum, [x, x])), lazy


@program(T, long)
def reversed_and_sorted(x):
    r = reversed([x, x + 1, 3])
    first = next(r)
    d = {"a": 1, "b": 2}
    backwards = list(reversed(d)), list(reversed(d.items())), list(reversed(range(1, 8, 3))), [*reversed((1, x))][0] is x
    order = sorted([3, 1, 2], key=lambda k: -k), sorted("bca", reverse=True), sorted([(1, "b"), (0, "z"), (1, "a")])
    return first, list(r), backwards, order


class Feed:
    def __init__(self, items):
        self.items = list(items)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.items.pop(0) if self.items else None


FEED = Feed([])


@program(T, long)
def iter_with_sentinel(x):
    f = Feed([1, x.dim() + 1, 3, "stop", 5])
    out = [x * v for v in iter(f, "stop")]
    FEED.items += [1, 2]
    rest = list(iter(FEED, None))
    again = iter(f, None)
    return out, f.calls, f.items, rest, next(again), list(again), list(again)


class Countdown:
    """Its own iterator."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Letters:
    """Iterated by __getitem__."""

    def __init__(self, n):
        self.n = n

    def __getitem__(self, k):
        if k >= self.n:
            raise IndexError(k)
        return "abcdef"[k]

    def __len__(self):
        return self.n


DOWN = Countdown(20)


@program(T, long)
def own_iterators(x):
    y = x
    for k in Countdown(3):
        y = y * 2 + k
    letters = Letters(3)
    for k in DOWN:
        if k % 3 == 0:
            break
    return y, list(letters), "b" in letters, [*reversed(letters)], k, DOWN.n, list(zip(letters, Countdown(9))), max(Countdown(4))


@program(T, long)
def itertools_finite(x):
    a, b = itertools.tee([x, x + 1, x * 2])
    total = sum(a)
    next(b)
    return (total, list(b), list(itertools.chain([x], (1,), "s")), list(itertools.chain.from_iterable([[1, 2], [3]])),
            list(itertools.islice(range(20), 2, 12, 3)), list(itertools.accumulate([1, 2, 3], initial=x)),
            list(itertools.zip_longest("ab", [1], fillvalue=x.dim())), list(itertools.pairwise([1, 2, 3])))


@program(T, long)
def itertools_combined(x):
    grid = [x + a * b for a, b in itertools.product((1, 2), (3, 4))]
    return (grid, list(itertools.permutations("abc", 2)), list(itertools.combinations([1, 2, 3], 2)),
            [(k, list(g)) for k, g in itertools.groupby("aabbb")], list(itertools.starmap(pow, [(2, 3), (3, 2)])),
            list(itertools.takewhile(lambda k: k < 3, itertools.count())), list(itertools.dropwhile(bool, [1, 0, 2])),
            list(itertools.compress("abcd", [1, 0, 1, 0])), list(itertools.repeat(x, 2))[0] is x,
            list(itertools.islice(itertools.cycle([1, 2]), 5)))


@program(T, long)
def star_targets(x):
    a, *b, c = (x + k for k in range(4))
    (d, (e, *f)), g = (1, [2, 3, 4]), "z"
    *h, = x
    try:
        i, j = numbers(3)
    except ValueError as ex:
        told = str(ex)
    [k, l] = {"one": 1, "two": 2}
    return a, b, c, d, e, f, g, h, told, k + l


@program(T, graphs=0)
def generator_returned(x):
    y = x + 1
    g = (y * k for k in range(3))
    first = next(g)
    h = outer(1, y)
    next(h)
    return first, g, h, LOG


def tree(depth, x):
    if depth:
        yield from tree(depth - 1, x + 1)
        yield x
        yield from tree(depth - 1, x - 1)


@program(T, long)
def recursive_generator(x):
    out = list(tree(3, x))
    return sum(out), len(out), out[3] is x, next(tree(1, x)) is x


def shared(log):
    n = 0
    while True:
        n += 1
        log.append(n)
        yield log


@program(lambda: (T(3), []), lambda: (T(4), [9]))
def generator_over_an_argument(x, log):
    g = shared(log)
    next(g)
    log.append("between")
    same = next(g) is log
    for k, _ in zip(range(2), g):
        x = x + k + len(log)
    return x, same, log


@program(T, long)
def changed_while_iterated(x):
    out, d = [1, 2], {"a": 1}
    for k in out:
        if len(out) < 5:
            out.append(k * 2)
    try:
        for key in d:
            d[key + "a"] = 2
    except RuntimeError as e:
        told = str(e)
    it = iter(out)
    next(it)
    out.clear()
    return x + len(d), out, told, list(it), operator.length_hint(iter([1, 2, 3]))


@program(T, long)
def generator_expressions_late(x):
    k, n = 1, [1, 2]
    g = (v * k + x for v in n)
    k = 10
    n.append(3)
    n = None
    out = list(g)
    return out, any(v > 1 for v in (0, 1, 2)), all(LOG.append(v) is None for v in "ab"), sum(v for v in range(x.dim() + 3))


@contextlib.contextmanager
def guarded(x):
    LOG.append("in")
    try:
        yield x * 2
    finally:
        LOG.append("out")


def inside(x):
    with guarded(x) as y:
        yield y
        yield y + 1


@program(T, long)
def with_inside_a_generator(x):
    g = inside(x)
    y = next(g)
    LOG.append("between")
    z = next(g)
    out = [*g]
    h = inside(x)
    next(h)
    h.close()
    return y + z, out, len(LOG)


@program(T, long)
def deque_and_windows(x):
    window, out = collections.deque(maxlen=2), []
    for k, v in enumerate(x.unbind()):
        window.append(v)
        out.append(sum(window) * k)
    window.rotate(1)
    return out, window, window[0] + 1, [*reversed(window)][0] is window[-1]


@program(T, long)
def consumed_in_part(x):
    it = iter([1, 2, 3, 4, 5, 6])
    has = 3 in it
    a, b = next(it), list(itertools.islice(it, 1))
    m = map(lambda k: x + k, it)
    e = enumerate(m, 7)
    first = next(e)
    return has, a, b, first, list(it), list(e), next(m, "over")


@program(T, long)
def unpacked_calls(x):
    def f(*args, **kwargs):
        return args, kwargs
    g = (k for k in (x, 2))
    return x + 1, f(*g, *"ab", *{"k": 1}, **{"a": 1}, b=x), [*range(2), *map(str, range(2))], {*"aa", 1}, (*numbers(2), *()), f(*Countdown(3))


def first_of(n):
    for k in numbers(n):
        return k


@program(T, long)
def left_while_waiting(x):
    for k in numbers(3):
        break
    LOG.append("left by break")
    g = numbers(2)
    next(g)
    g = None
    LOG.append("overwritten")
    m = map(str, numbers(2))
    next(m)
    del m
    LOG.append("deleted with its map")
    return x + first_of(3), any(k == 1 for k in numbers(3)), list(itertools.islice(numbers(4), 2)), LOG


@program(T, long)
def waiting_in_containers(x):
    v = [numbers(2), numbers(3)]
    next(v[0]), next(v[1])
    v.pop()
    LOG.append("popped")
    d = dict(zip("ab", numbers(9)))
    LOG.append("zipped")
    v.clear()
    return x + 1, d, LOG


@program(T, long)
def waiting_when_an_exception_passes(x):
    def f():
        for k in numbers(3):
            raise KeyError(k)
    try:
        f()
    except KeyError as e:
        LOG.append(("caught", str(e)))
    kept = numbers(2)
    next(kept)
    return x + 1, kept


class Names(list):
    def __iter__(self):
        raise AssertionError("never asked")

    def __reversed__(self):
        raise AssertionError("never asked")


class Row(dict):
    pass


class Sorted(collections.OrderedDict):
    pass


class Counts(collections.defaultdict):
    pass


class Marks(set):
    pass


class Turn(collections.deque):
    pass


@program(lambda: (T(2), list), lambda: (T(2), Names), graphs=0)
def walks_of_new_lists(x, kind):
    l = kind([1, 2, 3])
    forth, back = list.__iter__(l), list.__reversed__(l)
    seen = [next(forth), next(back)]
    l[1] = 7
    l.append(9)
    return x + 1, seen, list(forth), list(back), l[:], type(l)


@program(lambda: (T(2), dict), lambda: (T(2), Row), lambda: (T(2), Sorted), lambda: (T(2), lambda d: Counts(int, d)), graphs=0)
def walks_of_new_dicts(x, kind):
    d = kind({1: 2, 3: 4})
    items, keys, values, first = iter(d.items()), d.keys(), d.values(), iter(d)
    seen = [next(items), next(first)]
    d[3] = 5
    seen += items
    d[9] = 1
    try:
        seen.append(next(first))
    except RuntimeError as e:
        seen.append(str(e))
    return x + 1, seen, list(keys), list(values), type(keys), d, keys.mapping == d


@program(lambda: (T(2), set), lambda: (T(2), Marks), lambda: (T(2), collections.deque), lambda: (T(2), Turn), graphs=0)
def walks_of_what_grows(x, kind):
    s = kind([1, 2, 3])
    it = iter(s)
    seen = [next(it)]
    s.extend([4]) if hasattr(s, "extend") else s.add(4)
    try:
        seen.append(next(it))
    except RuntimeError as e:
        seen.append(str(e))
    return x + 1, seen, s


@program(lambda: (T(2), "abcba", "cdc"), lambda: (T(2), "ab", "xyz"), graphs=0)
def new_sets_of_a_subclass(x, a, b):
    s, t = Marks(a), Marks(a)
    s.update(set(b))
    t &= set(b)
    u = Marks(a)
    u.symmetric_difference_update(frozenset(b))
    v = Marks(a)
    v.difference_update(set(b), a[:1])
    return x + 1, s, t, u, v, list(s), [type(k) for k in (s, t, u, v)]
