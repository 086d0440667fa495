"""Containers and iterators asked for odd things: themselves, huge steps, changes while they are walked, lengths that lie, arguments given twice. Exceptions are caught in the trace."""
import collections
import itertools
import operator
import sys


def tried(fn, *args):
    try:
        return "value", fn(*args)
    except Exception as e:
        return type(e).__name__, str(e)


class Items(list):
    pass


class Pair(tuple):
    pass


class Queue(collections.deque):
    pass


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


# -- Slices -----------------------------------------------------------------------------


def set_slice(a, s, v):
    a[s] = v
    return a


def delete(a, s):
    del a[s]
    return a


ENDS = None, 0, 1, -2, 5, 1 << 80, -(1 << 80), sys.maxsize
STEPS = None, 1, 3, -1, -2, 1 << 80, -(1 << 80), sys.maxsize, -sys.maxsize, -sys.maxsize - 1, 0


def sliced(make):
    out = []
    for start in ENDS[::2]:
        for stop in ENDS[1::2]:
            for step in STEPS:
                s = slice(start, stop, step)
                got = tried(lambda: make()[s])
                out.append((got, tried(lambda: set_slice(make(), s, got[1])), tried(lambda: delete(make(), s))))
    return out


def case_slices_of_lists(x, e):
    return sliced(lambda: [0, 1, 2, 3, 4]), x + 1


def case_slices_of_bytearrays(x, e):
    return sliced(lambda: bytearray(b"abcde")), x + 1


# -- Walked and changed -------------------------------------------------------------------


def walked(o, change):
    return [change(o, v) for v in o]


CHANGES = [lambda o, v: o.rotate(1), lambda o, v: o.rotate(0), lambda o, v: o.rotate(-2), lambda o, v: o.reverse(), lambda o, v: operator.setitem(o, 0, 7), lambda o, v: (o.append(1), o.pop()),
           lambda o, v: (o.appendleft(1), o.popleft()), lambda o, v: o.extend([]), lambda o, v: o.clear(), lambda o, v: (o.insert(1, 5), operator.delitem(o, 1)), lambda o, v: o.remove(v)]


def case_deques_changed(x, e):
    return [(tried(walked, o, f), o) for n in (0, 1, 2, 3) for f in CHANGES for o in [collections.deque(range(n))]], x + 1


def case_deque_iterators_at_the_end(x, e):
    d = collections.deque([1, 2])
    there, back = iter(d), reversed(d)
    out = [list(there), list(back)]
    d.append(3)
    out += [tried(next, there), tried(next, there), tried(next, back), tried(next, reversed(d))]
    late = reversed(d)
    next(late)
    d.append(4)
    return out, tried(next, late), tried(next, late), x + 1


def case_ordered_dicts_changed(x, e):
    out = []
    for change in (lambda d, k: d.pop(k), lambda d, k: d.move_to_end(k), lambda d, k: d.update(z=1), lambda d, k: d.popitem()):
        d = collections.OrderedDict(a=1, b=2)
        out.append((tried(walked, d, change), d))
    return out, x + 1


# -- Themselves -----------------------------------------------------------------------------


def plus(a, b):
    a += b
    return a


def case_extended_by_themselves(x, e):
    made = [lambda: [1, 2], lambda: collections.deque([1, 2]), lambda: collections.deque([1, 2], 3), lambda: Items([1, 2]), lambda: Queue([1, 2])]
    return [(tried(f, o), o) for make in made for f in (lambda o: o.extend(o), lambda o: plus(o, o), lambda o: o.extendleft(o), lambda o: set_slice(o, slice(1, 1), o)) for o in [make()]], x + 1


def case_deque_extended_by_its_iterator(x, e):
    d, f = collections.deque([1, 2]), collections.deque([1, 2])
    return tried(d.extend, iter(d)), tried(f.extendleft, iter(f)), d, f, x + 1


class Shows:
    def __repr__(self):
        return repr(self.value)


def case_text_of_themselves(x, e):
    out = []
    for make in (lambda w: [w], lambda w: (w,), lambda w: (w, w), lambda w: {w}, lambda w: frozenset([w]), lambda w: {1: w}, lambda w: {1: w}.values(), lambda w: {1: w}.items(),
                 lambda w: {w: 1}.keys(), lambda w: collections.deque([w]), lambda w: collections.OrderedDict(a=w), lambda w: collections.defaultdict(int, a=w)):
        w = Shows()
        w.value = make(w)
        out.append(repr(w.value))
    return out, x + 1


# -- Views ------------------------------------------------------------------------------------


class NeverEqual:
    def __eq__(self, other):
        raise RuntimeError("compared")


def case_items_compared(x, e):
    made = [lambda: {1: NeverEqual()}.items(), lambda: {1: [2]}.items(), lambda: {1: 2}.items(), lambda: {1: 2, 3: 4}.items(), lambda: {1: [2], 3: {}}.items(), lambda: {(1, 2)},
            lambda: {(1, 2), (3, 4), (5, 6)}, lambda: {(1, 2): 3}.keys()]
    does = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, lambda a, b: a.isdisjoint(b) if hasattr(a, "isdisjoint") else None]
    return [[tried(f, a(), b()) for f in does] for a in made for b in made], x + 1


def case_pop_from_nothing(x, e):
    return [(tried(d.pop, []), tried(d.pop, [], 5), tried(d.get, [])) for d in ({}, {1: 2}, collections.OrderedDict(), collections.defaultdict(list), collections.Counter())], x + 1


# -- Lengths that lie ---------------------------------------------------------------------------


class Length(list):
    def __init__(self, n):
        super().__init__([1])
        self.n = n

    def __len__(self):
        return self.n


class Hint:
    def __iter__(self):
        return iter([1, 2])

    def __length_hint__(self):
        return -1


def case_lengths(x, e):
    return [tried(len, Length(n)) for n in (0, 5, -1, sys.maxsize, sys.maxsize + 1, -sys.maxsize - 10, Index(3), 1.5, True, None, 10**30)], x + 1


def case_length_from_outside(x, e):
    e.size = e.n + sys.maxsize
    return tried(len, Length(e.size)), tried(len, Length(e.n)), x + 1


def case_hints(x, e):
    fs = [list, tuple, sorted, lambda o: list(itertools.product(o)), lambda o: list(itertools.permutations(o)), lambda o: list(itertools.combinations(o, 1)), lambda o: [*o], set, lambda o: list(iter(o))]
    return [tried(f, Length(-1)) for f in fs], [tried(f, Hint()) for f in fs], x + 1


# -- itertools -----------------------------------------------------------------------------------


class Whole(int):
    pass


def case_count_of(x, e):
    takes = [lambda: itertools.count(True), lambda: itertools.count(Whole(3)), lambda: itertools.count(Whole(3), 2), lambda: itertools.count(3, True), lambda: itertools.count(1.5), lambda: itertools.count(1j, 2)]
    bad = [lambda: itertools.count("a"), lambda: itertools.count(None), lambda: itertools.count(1, "a"), lambda: itertools.count([]), lambda: itertools.count(1, step=None)]
    return [[(v, type(v).__name__) for v in itertools.islice(t(), 3)] for t in takes], [tried(t) for t in bad], x + 1


class Reenters:
    def __init__(self):
        self.first = True

    def __iter__(self):
        return self

    def __next__(self):
        first, self.first = self.first, False
        if first:
            return next(self.other)
        raise StopIteration


def case_tee_in_itself(x, e):
    it = Reenters()
    a, it.other = itertools.tee(it)
    return tried(next, a), tried(itertools.tee, 5, 0), tried(itertools.tee, 5), tried(itertools.tee, [], -1), x + 1


def case_tee_of_tee(x, e):
    a, b = itertools.tee("abcd")
    next(a)
    c, d = itertools.tee(a)
    first = next(c), next(c), next(a)
    return c is a, first, list(d), list(b), list(a), x + 1


# -- Given twice ----------------------------------------------------------------------------------


def case_given_twice(x, e):
    calls = [lambda: sum([1], 2, start=3), lambda: round(1.5, 1, ndigits=2), lambda: round(1.5, number=2), lambda: list(enumerate("a", 1, start=2)), lambda: collections.deque([1], 2, maxlen=3),
             lambda: list(enumerate("a", iterable="b")), lambda: collections.deque([1], iterable=[2]), lambda: itertools.count(1, start=2), lambda: itertools.repeat(1, 2, times=3),
             lambda: list(itertools.compress("a", [1], data="b")), lambda: list(itertools.permutations("ab", 1, r=2)), lambda: pow(2, 3, exp=4), lambda: sorted([2, 1], key=None, reverse=1),
             lambda: sum([1], start=3), lambda: round(2.55, ndigits=1), lambda: [2, 1].sort(nothing=1), lambda: zip("a", strict=1, more=2)]
    return [tried(f) for f in calls], x + 1


class WithInit(list):
    def __init__(self, items, more=None):
        super().__init__(items)
        self.more = more


class WithNew(list):
    def __new__(cls, items, more=None):
        self = super().__new__(cls, items)
        self.more = more
        return self


def case_keywords_of_subclasses(x, e):
    return [tried(f) for f in (lambda: WithInit([1], more=2).more, lambda: list(WithNew([1], more=2)), lambda: Items(items=[]), lambda: Items([1], 2), lambda: WithInit(more=1), lambda: WithNew([1], 2, 3))], x + 1


def case_refused(x, e):
    return tried(int, Pair((1, 2))), tried(float, Pair((1, 2))), tried(object.__new__, int), tried(object.__new__, Items), tried(object.__new__, WithNew), x + 1
