"""heapq, bisect, re with functions, whole numbers from objects, keys that are subclasses of str and int."""
import bisect
import collections
import functools
import heapq
import math
import re
import weakref

import torch
from kit import T, program

LOG = []


class Item:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        LOG.append((self.n, other.n))
        return self.n < other.n


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        LOG.append(self.n)
        return self.n


class Name(str):
    pass


class Code(int):
    pass


class Odd(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


@functools.lru_cache(typed=True)
def typed(n, pair=None):
    return type(n).__name__, pair


@program()
def heap(x):
    h = [5, 3, 8, 1, 9, 2]
    heapq.heapify(h)
    heapq.heappush(h, 0)
    out = [heapq.heappop(h), heapq.heapreplace(h, 7), heapq.heappushpop(h, 4), heapq.heappushpop(h, -1)]
    return x + len(h), out, h


@program()
def heap_of_objects(x):
    h = []
    for n in (3, 1, 2, 5, 4):
        heapq.heappush(h, Item(n))
    order = [heapq.heappop(h).n for _ in range(4)]
    return x + order[0], order, h


@program(lambda: (T(), [4, 2, 9]), lambda: (T(), [1]))
def heap_that_exists(x, h):
    heapq.heapify(h)
    heapq.heappush(h, 3)
    try:
        for _ in range(5):
            LOG.append(heapq.heappop(h))
    except IndexError as e:
        return x + 1, str(e), h


@program()
def heap_library(x):
    return x + 1, heapq.nsmallest(2, [5, 1, 4]), heapq.nlargest(2, [5, 1, 4], key=lambda v: -v), list(heapq.merge([1, 4], [2, 3]))


@program()
def bisection(x):
    a = [1, 3, 3, 5, 7]
    bisect.insort(a, 4)
    bisect.insort_left(a, 3)
    return x + bisect.bisect(a, 3), bisect.bisect_left(a, 3), bisect.bisect_right(a, 3, 1, 4), bisect.bisect_left(a, -5, key=lambda v: -v), a


@program()
def bisection_of_objects(x):
    a = [Item(n) for n in (1, 4, 6)]
    bisect.insort(a, Item(5))
    try:
        bisect.bisect(a, Item(1), lo=-1)
    except ValueError as e:
        text = str(e)
    return x + a[2].n, [i.n for i in a], text


@program()
def substitution(x):
    def double(match):
        LOG.append(match.group())
        return match.group() * 2
    text = re.compile(r"\d+").sub(double, "a1b22c")
    return x + len(text), text, re.compile("x*").sub(lambda m: "-", "abxd"), re.compile("q").sub(double, "abc")


@program()
def whole_numbers(x):
    n = Index(12)
    try:
        hex(1.5)
    except TypeError as e:
        text = str(e)
    return x + math.gcd(n, 8), hex(n), oct(n), bin(n), chr(Index(65)), list(range(Index(1), Index(4))), math.comb(Index(5), 2), text


@program()
def keys_of_subclasses(x):
    d = {"a": 1, 7: 2}
    found = d[Name("a")], d[Code(7)], Name("zz") in d
    d[Name("b")] = 3
    d[Name("a")] = 4
    return x + sum(found[:2]), found, d, [type(k).__name__ for k in d], {Code(1), 1, Name("c")} == {1, "c"}


@program()
def key_with_its_own_equality(x):
    d = {"a": 1}
    d[Odd("a")] = 2
    return x + len(d), Odd("q") in d


@program()
def caches(x):
    return x + 1, typed(1), typed(1.0), typed(True), typed(1, pair=(int, (str, 2))), typed.cache_info()


ONE, SEVEN = 1, 7


@program(lambda: (T(), 1, 1), lambda: (T(), 1, 2), lambda: (T(), 1, True), lambda: (T(), 1.5, 2.5), lambda: (T(), 7, 7))
def identity_of_numbers(x, a, b):
    return x + 1, a is b, a is ONE, b is not ONE, a is SEVEN


@program(lambda: (T(), 100000), lambda: (T(), int("100000")))
def identity_of_large_numbers(x, n):
    m = n
    return x + 1, n is m, n is not None, n is ONE


class Line(collections.deque):
    pass


class Kept:
    pass


@program()
def deques_of_a_subclass(x):
    d = Line([1, 2])
    e = d
    e += [3]
    return x + len(d), d * 2, d + collections.deque([4]), d.copy(), e is d


PLACES = [Item(1), Item(2), Item(3)]
REFERENCES = [weakref.ref(o) for o in PLACES]


@program(graphs=1)
def weak_references_beside_a_local_that_moves_on(x):
    for i, r in enumerate(REFERENCES):
        o = PLACES[i]
        x = x + 1 if r() is o else x * 2
    return x


class Ring:
    def __init__(self):
        self.all = [self, self, 3]
        self.named = {"a": self, "b": self}


@program(graphs=1)
def iterators_over_what_is_in_a_ring(x):
    """The list refers to its holder: where a loop over it breaks, it is made empty and filled later."""
    r, n = Ring(), 0
    for v in r.all:
        print(end="")
        n += 1 if v is r else v
    for k, v in r.named.items():
        print(end="")
        n += len(k)
    return x + n, r.all[0] is r, n


@program(graphs=0)
def weak_reference_behind_a_drop(x):
    o = Kept()
    print(end="")
    r = weakref.ref(o)
    print(end="")
    there = r() is o
    del o
    return x + 1, there, r()
