"""Sets, frozensets, tuples."""
import collections

import torch
from kit import T, program

SEEN = {"a"}


class P(tuple):
    def __new__(cls, *v):
        return super().__new__(cls, v)

    def dot(self, o):
        return sum(a * b for a, b in zip(self, o))


@program(lambda: (T(), {1, 2}), lambda: (T(), {2, 3, 4}), lambda: (T(), set()))
def members(x, s):
    s.add(9)
    s.discard(1)
    return x + len(s), 2 in s, s


@program()
def global_set(x):
    SEEN.add("b")
    SEEN.add(str(len(SEEN)))
    return x + len(SEEN), sorted(SEEN)


@program(lambda: (T(), {1, 2, 3}, {2, 3, 4}), lambda: (T(), {1}, set()), graphs=0)
def algebra(x, a, b):
    return x + 1, a | b, a & b, a - b, a ^ b, a <= b, a.isdisjoint(b), {*a, *b} == a.union(b)


@program(lambda: (T(), {1, 2, 3}, {2, 3, 4}), lambda: (T(), {5, 6, 40, 80}, {5, 6, 41}))
def algebra_in_place(x, a, b):
    a |= b
    a -= {2}
    a &= {1, 3, 4, 5, 40}
    a ^= {77, 3}
    return x + len(a), list(a)


@program(lambda: (T(), {7}), lambda: (T(), set()))
def pops(x, s):
    try:
        return x + s.pop(), s
    except KeyError as e:
        return x, str(e)


@program(lambda: (T(), frozenset([1, 2])), lambda: (T(), frozenset()))
def frozen(x, f):
    return x + len(f), f | {3}, hash(f) == hash(frozenset(f)), {f: 1}, type(f & {1}).__name__


@program(lambda: (T(), T()), )
def tensors_in_sets(x, y):
    s = {x, y, x}
    s.add(x + 1)
    return len(s), x in s, y in s, x * 2


@program(lambda: (T(), (1, 2.5, "a")), lambda: (T(), (2, 2.5, "a")))
def tuple_basics(x, t):
    return x + t[0], t[1:], t + (1,), t * 2, t.count(2.5), t.index("a"), t == (1, 2.5, "a"), t < (9,), len(t)


@program(lambda: (T(), (1, (2, [3]))))
def nested_tuples(x, t):
    a, (b, c) = t
    c.append(x)
    return x + a + b, t, t[1][1] is c


@program(lambda: (T(), ([],)))
def tuple_item_assignment(x, t):
    try:
        t[0] += [1]
    except TypeError as e:
        return x + 1, str(e), t


@program(lambda: (T(), P(1, 2, 3)), lambda: (T(), P(4, 5)))
def tuple_subclass(x, p):
    return x + p.dot((1, 1, 1)), p, type(p + (1,)).__name__, P(*p, 0)


@program()
def tuple_of_tensors(x):
    t = (x, x + 1, x)
    a, b, c = t
    return t, a is c, torch.stack(t), t[0] is x


@program()
def swaps(x):
    a, b, c = 1, x, 3
    a, b, c = c, a, b
    return a, b, c is x, x + 1


@program(lambda: (T(), {1, 2, 3}))
def changes_while_iterating(x, s):
    try:
        for v in s:
            s.add(v + 100)
    except RuntimeError as e:
        return x + 1, str(e), len(s)


@program(lambda: (T(), [3, 1, 3, 2, 1]), lambda: (T(), []))
def deduplicate(x, l):
    seen, out = set(), []
    for v in l:
        if v not in seen:
            seen.add(v)
            out.append(v)
    return x + len(seen), out, tuple(out), set(l) == seen


@program(lambda: (T(), (0, 1)), lambda: (T(), (-1, 0)))
def tuple_as_index(x, dims):
    y = x.reshape(1, 3)
    return y.permute(dims), y[0, 1:], y[(0,)], y.sum(dims)


@program(lambda: (T(), object()), lambda: (T(), "a"), lambda: (T(), 1.5), lambda: (T(), 2))
def sizes_of_other_things(x, v):
    """torch.Size() looks at what it is given, be the result used or not."""
    said = []
    for join in (lambda s: s + (v,), lambda s: (v,) + s, lambda s: torch.Size((*s, v)), lambda s: s.__add__((v,)), lambda s: s[:0] + (v, v)):
        try:
            join(x.shape)
        except TypeError as e:
            said.append(str(e))
    size = x.shape
    try:
        size += (v,)
    except TypeError:
        x = x + 1
    return x, said, size
