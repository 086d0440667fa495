"""Iterators: built-in ones, itertools, generators over them."""
import itertools
import operator


class Count:
    def __init__(self, n):
        self.n = n
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration("end")
        self.i += 1
        return self.i


class Items:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Both(Items):
    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return iter(["rev"])


def tried(fn, *args, **kw):
    try:
        return fn(*args, **kw)
    except Exception as e:
        return type(e).__name__, str(e)


def case_next(x, e):
    it = iter([1, 2])
    return next(it), next(it), next(it, "end"), tried(next, it), tried(next, iter([])), tried(next, [1]), tried(next, 3), next(iter("ab")), x + 1


def case_exhausted(x, e):
    l = [1]
    it = iter(l)
    a = list(it)
    l.append(2)
    b = list(it)
    z = zip([1, 2], [3])
    return a, b, list(z), list(z), iter(it) is it, x + 1


def case_iter_kinds(x, e):
    return (list(iter((1, 2))), list(iter("ab")), list(iter(b"ab")), list(iter(range(3))), list(iter({"a": 1})), list(iter({5})), list(iter(e.items)), tried(iter, 3),
            type(iter([])).__name__, type(iter(())).__name__, type(iter({})).__name__, type(iter(range(1))).__name__, type(iter("")).__name__, x + 1)


def case_zip(x, e):
    return (list(zip()), list(zip([1, 2], "ab")), list(zip([1], [2, 3], strict=False)), dict(zip("ab", [x, 1])), list(zip(*[(1, 2), (3, 4)])),
            tried(lambda: list(zip([1], [1, 2], strict=True))), tried(lambda: list(zip([1, 2], [1], strict=True))), tried(lambda: list(zip([1], [1], [1, 2], strict=True))),
            tried(lambda: list(zip([1, 2], [1, 2], [1], strict=True))), tried(zip, 3), list(zip([1, 2], [3, 4], strict=True)), x + 1)


def case_zip_consumes(x, e):
    a, b = iter([1, 2, 3, 4]), iter([5])
    return list(zip(a, b)), list(a), list(zip(iter([1]), Count(3))), x + 1


def case_map_filter(x, e):
    return (list(map(lambda a, b: a + b, [1, 2], [10, 20, 30])), list(map(str, range(3))), list(filter(None, [0, 1, "", "a"])), list(filter(lambda v: v > 1, [1, 2, 3])),
            tried(map, abs), tried(map, abs, 3), tried(filter, None, 3), list(map(operator.add, (1, 2), (3, 4))), sum(map(len, ["a", "bc"])), x + 1)


def case_map_lazy(x, e):
    def f(v):
        e.log.append(v)
        return v * 2
    m = map(f, [1, 2, 3])
    a = next(m)
    e.log.append("between")
    return a, list(m), x + 1


def case_map_stop(x, e):
    def f(v):
        if v == 2:
            raise StopIteration
        return v
    return tried(lambda: list(map(f, [1, 2, 3]))), x + 1


def case_enumerate(x, e):
    return (list(enumerate("ab")), list(enumerate("ab", 5)), list(enumerate(["a"], start=e.n)), list(enumerate(iterable="q", start=-1)), tried(enumerate, 3),
            tried(enumerate, [], "a"), [(i, v) for i, v in enumerate(e.items)], x + 1)


def case_reversed(x, e):
    return (list(reversed([1, 2, 3])), list(reversed((1, 2))), list(reversed("ab")), list(reversed(range(5))), list(reversed(range(0, 10, 3))), list(reversed({"a": 1, "b": 2})),
            list(reversed(Items([1, 2]))), list(reversed(Both([1, 2]))), tried(reversed, {1}), tried(reversed, 3), list(reversed(e.items)), x + 1)


def case_reversed_live(x, e):
    l = [1, 2, 3]
    it = reversed(l)
    a = next(it)
    l.append(4)
    b = next(it)
    l.clear()
    return a, b, list(it), x + 1


def case_callable(x, e):
    values = [1, 2, 0, 3]
    it = iter(lambda: values.pop(0), 0)
    return list(it), values, list(it), tried(iter, 3, 4), x + 1


def case_user_iterators(x, e):
    c = Count(3)
    a = next(c)
    return (a, list(c), list(c), tried(next, c), next(c, "d"), sum(Count(4)), list(zip(Count(2), "ab")), [v for v in Both([1, 2])], [v for v in Items([5, 6])], list(Items("ab")),
            5 in Items([5]), max(Count(3)), x + 1)


def case_range(x, e):
    n = 0
    for i in range(e.n):
        n += i
    r = range(10**7)
    return (n, r[5], len(r), 10**6 in r, list(range(3)), list(range(5, 0, -2)), list(range(0)), tried(range, "a"), tried(range, 1, 2, 0), range(3) == range(0, 3), next(iter(r)),
            x + n)


def case_chain(x, e):
    return (list(itertools.chain([1], (2, 3), "a")), list(itertools.chain()), list(itertools.chain.from_iterable([[1, 2], [3]])), tried(lambda: list(itertools.chain([1], 3))),
            list(itertools.chain(e.items, e.table)), x + 1)


def case_islice(x, e):
    it = iter(range(10))
    return (list(itertools.islice(it, 3)), next(it), list(itertools.islice(it, 1, 4, 2)), next(it), list(itertools.islice("abc", None)), list(itertools.islice([], 5)),
            list(itertools.islice(range(20), 2, None, 5)), tried(itertools.islice, [], -1), tried(itertools.islice, [], 1, 2, 0), tried(itertools.islice, [], "a"), x + 1)


def case_infinite(x, e):
    c = itertools.count(3, 2)
    a = [next(c) for _ in range(3)]
    y = itertools.cycle([1, 2])
    b = [next(y) for _ in range(5)]
    return (a, b, list(itertools.repeat(7, 3)), list(zip(itertools.count(), "ab")), list(itertools.islice(itertools.repeat(1), 2)), list(itertools.repeat(x, 0)), list(itertools.cycle([])),
            list(itertools.takewhile(lambda v: v < 3, itertools.count())), x + 1)


def case_functional(x, e):
    big = lambda v: v > 2
    data = [1, 3, 2, 5, 1]
    return (list(itertools.accumulate(data)), list(itertools.accumulate(data, max)), list(itertools.accumulate(data, lambda a, b: a * b, initial=2)), list(itertools.accumulate([])),
            list(itertools.accumulate([], initial=5)), list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.takewhile(big, [3, 4, 1, 5])), list(itertools.dropwhile(big, [3, 1, 5])),
            list(itertools.filterfalse(big, data)), list(itertools.filterfalse(None, [0, 1])), list(itertools.compress("abcd", [1, 0, 1, 0])), x + 1)


def case_several(x, e):
    return (list(itertools.pairwise([1, 2, 3])), list(itertools.pairwise([1])), list(itertools.zip_longest([1, 2], "a", fillvalue="-")), list(itertools.zip_longest([1], [])),
            list(itertools.zip_longest()), x + 1)


def case_combinations(x, e):
    return (list(itertools.product([1, 2], "ab")), list(itertools.product([0, 1], repeat=2)), list(itertools.product()), list(itertools.product([])),
            list(itertools.permutations([1, 2, 3], 2)), list(itertools.permutations("ab")), list(itertools.combinations([1, 2, 3], 2)), list(itertools.combinations_with_replacement("ab", 2)),
            tried(itertools.combinations, [1], -1), len(list(itertools.product([x], [1, 2]))), x + 1)


def case_tee(x, e):
    a, b = itertools.tee(Count(3))
    first = next(a)
    return first, list(b), list(a), x + 1


def case_generators(x, e):
    def gen(n):
        for i in range(n):
            yield i * x
        return "done"
    g = gen(2)
    a, b = next(g), next(g)
    try:
        next(g)
    except StopIteration as s:
        c = s.value
    return a, b, c, tried(next, g), list(zip(gen(2), "ab")), [v for v in enumerate(gen(1))], x + 1


def case_unpack_iterators(x, e):
    a, b = map(int, "12")
    c, *d = enumerate("xyz")
    print(*[], end="")
    f, g = zip([1, 2], [3, 4])
    return a, b, c, d, f, g, [*reversed([1, 2])], (*filter(None, [0, 3]),), {**dict(enumerate("a"))}, x + 1


def case_contains(x, e):
    it = iter([1, 2, 3])
    return 2 in it, list(it), 5 in iter([1]), 3 in map(abs, [-3]), x + 1


def case_dict_iterator_sized(x, e):
    d = {"a": 1}
    it = iter(d)
    d["b"] = 2
    return tried(next, it), x + 1


def case_partial_then_return(x, e):
    it = iter([1, 2, 3])
    next(it)
    e.log.append(next(it))
    return list(it), x + 1


def case_break_inside(x, e):
    out = []
    for i, (a, b) in enumerate(zip([1, 2, 3], itertools.count(10))):
        x = x + a
        print(end="")
        out.append((i, a, b))
    for v in map(lambda q: q + 1, [1, 2]):
        print(end="")
        out.append(v)
    for v in reversed([1, 2, 3]):
        print(end="")
        x = x * v
    return out, x


def case_break_held_iterator(x, e):
    it = iter(e.items)
    a = next(it)
    print(end="")
    b = next(it)
    x = x + b
    print(end="")
    return a, b, list(it), x


def case_iterator_in_object(x, e):
    e.it = iter(e.items)
    next(e.it)
    x = x + 1
    print(end="")
    return next(e.it), x


def case_next_method(x, e):
    it = iter([1, 2])
    m = map(str, [5])
    return it.__next__(), next(it), tried(it.__next__), m.__next__(), it.__iter__() is it, x + 1


def case_loop_views(x, e):
    for v in e.table.values():
        print(end="")
        e.log.append(v)
    for v in reversed(e.items):
        print(end="")
        x = x + v
    return x
