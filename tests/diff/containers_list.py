"""Lists, tuples, deques and slices."""
import collections

import torch

KEPT = [5, 6, 7]
Point = collections.namedtuple("Point", "a b c", defaults=[9])


class Stack(list):
    def push(self, v):
        self.append(v)
        return self

    def __getitem__(self, i):
        return super().__getitem__(i)


class Odd:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return isinstance(other, Odd) and self.k % 2 == other.k % 2

    def __lt__(self, other):
        return self.k < other.k

    __hash__ = None


def tried(fn, *args):
    try:
        return fn(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def case_append(x, e):
    l = []
    for i in range(5):
        l.append(i * 2)
    l.append(x)
    l.extend((1, 2))
    l.extend(l)
    l.insert(0, "a"), l.insert(-1, "b"), l.insert(100, "c"), l.insert(-100, "d")
    return l, x + len(l)


def case_append_existing(x, e):
    e.log.append(1)
    e.log.append(x + 1)
    e.items.append(len(e.items))
    return x * len(e.items)


def case_extend_existing(x, e):
    e.items.extend([7, 8])
    e.items += (9,)
    a = e.items[0], e.items[-1], e.items[3]
    e.items[1] = 100
    return a, x + 1, e.items


def case_pop(x, e):
    l = [1, 2, 3, 4, 5, x]
    out = [l.pop(), l.pop(0), l.pop(-2), l.pop(1)]
    return out, l, tried(l.pop, 7), tried([].pop), e.items.pop(), e.items.pop(0), x * 2


def case_pop_push(x, e):
    l = [1, 2, 3]
    l.pop()
    l.append(4)
    l.pop()
    l.append(5)
    e.items.pop()
    e.items.append(x.sum())
    return l, x + 1


def case_remove(x, e):
    l = [1, 2, 3, 2, 1]
    l.remove(2)
    e.items.remove(1)
    return l, tried(l.remove, 9), l.index(2), l.index(1, 1), tried(l.index, 7), l.count(1), x + l.index(3)


def case_index_bounds(x, e):
    l = [0, 1, 2, 3, 2, 1]
    return (l.index(2, 3), l.index(1, -2), tried(l.index, 0, 1), tried(l.index, 5, -3, 100), (1, 2, 3).index(3), tried((1, 2).index, 5),
            (1, 1, 2).count(1), x + 1)


def case_clear_copy(x, e):
    l = [x, 1]
    m = l.copy()
    l.clear()
    e.log.clear()
    n = m[:]
    n.append(l)
    e.items.clear()
    return l, m, n, x - 1


def case_reverse(x, e):
    l = [1, 2, 3]
    l.reverse()
    e.items.reverse()
    return l, list(reversed(l)), x + l[0]


def case_slices_get(x, e):
    l = list(range(10))
    return (l[2:5], l[::-1], l[::2], l[-3:], l[:-3], l[5:2], l[7:1:-2], l[100:], l[slice(1, None, 4)], e.items[1:], x[1:])


def case_slices_set(x, e):
    l = list(range(10))
    l[2:5] = [20]
    l[:0] = (1, 2)
    l[::3] = "abcd"[:len(l[::3])]
    m = [1, 2, 3]
    m[5:] = [9, x]
    m[1:1] = m
    e.items[1:2] = [5, 5, 5]
    return l, m, x + 1


def case_slices_errors(x, e):
    l = [1, 2, 3, 4]

    def bad_size():
        l[::2] = [1, 2, 3]

    def not_iterable():
        l[0:1] = 3

    def not_iterable_step():
        l[::2] = 3

    def bad_key():
        l["a"] = 1

    def bad_index():
        l[9] = 1

    def zero():
        return l[::0]

    def bad_part():
        return l["a":]
    return [tried(f) for f in (bad_size, not_iterable, not_iterable_step, bad_key, bad_index, zero, bad_part)], l, x + 1


def case_slices_del(x, e):
    l = list(range(10))
    del l[0], l[-1], l[2:4], l[::3]
    m = list(range(6))
    del m[::-2]
    del e.items[0]
    return l, m, x + 1


def case_errors(x, e):
    l = [1, 2]
    return (tried(lambda: l[5]), tried(lambda: l["a"]), tried(lambda: l[1.0]), tried(lambda: l + 3), tried(lambda: l + (1,)), tried(lambda: l * 1.5),
            tried(lambda: l * [1]), tried(lambda: l < 3), tried(lambda: hash(l)), tried(lambda: l.insert("a", 1)), tried(lambda: list(5)), x + 1)


def case_operators(x, e):
    l = [1, 2]
    m = l
    m += [3]
    m *= 2
    return l is m, l, l + [9], l * 2, 2 * l, [0] * 3, l * -1, e.items + [1], e.items * 2, l == [1, 2, 3, 1, 2, 3], l != m, x + len(l)


def case_compare(x, e):
    return ([1, 2] < [1, 3], [1, 2] <= [1, 2], [1] < [1, 0], [2] > [1, 9], [] >= [], [1, 2] == (1, 2), (1, 2) < (1, 2, 3), (1,) != (1,),
            e.items == [3, 1, 2], e.items < [3, 2], (e.n, 1) == (4, 1), (e.n, 2) < (4, 3), x + 1)


def case_compare_user(x, e):
    a, b = Odd(1), Odd(3)
    l = [a, b]
    return l == [b, a], a in l, Odd(2) in l, l.index(Odd(5)), l.count(Odd(7)), (a,) == (b,), x + 1


def case_contains(x, e):
    return 3 in [1, 2, 3], 3 not in (1, 2), "a" in ["b"], e.n in [4, 5], e.n in (1, 2), 1 in e.items, None in [None], x is x, x * 2


def case_contains_tensor_identity(x, e):
    l = [x, x + 1]
    return x in l, l.index(x), x + 1


def case_truth(x, e):
    return bool([]), bool([0]), not e.log, not e.items, bool(()), bool((0,)), (1 if e.items else 2), x + 1


def case_truth_after_append(x, e):
    e.log.append(1)
    if e.log:
        return x + 1
    return x - 1


def case_sort(x, e):
    l = [3, 1, 2]
    l.sort()
    m = ["bb", "a", "ccc"]
    m.sort(key=len, reverse=True)
    n = [(1, "b"), (0, "z"), (1, "a")]
    n.sort(key=lambda p: p[0])
    e.items.sort(reverse=True)
    return l, m, n, sorted([3, 1, 2], reverse=True), sorted("hello"), sorted({3: 1, 1: 2}), sorted((5, 4), key=None), x + l[0]


def case_sort_stable(x, e):
    l = [(i % 3, i) for i in range(20)]
    return sorted(l, key=lambda p: p[0]), sorted(l, key=lambda p: p[0], reverse=True), x + 1


def case_sort_user(x, e):
    calls = []

    class K:
        def __init__(self, k):
            self.k = k

        def __lt__(self, other):
            calls.append((self.k, other.k))
            return self.k < other.k
    l = [K(k) for k in (5, 2, 8, 1, 9, 3, 3)]
    l.sort()
    return [k.k for k in l], calls, x + 1


def case_sort_scalars(x, e):
    l = [e.n, e.count, 7, e.rate]
    l.sort()
    return l, min(l), max(e.n, 3), x + l[0]


def case_sort_errors(x, e):
    l = [1, "a", 2]
    k = [3, 2, 1]

    def bad_key(v):
        if v == 2:
            raise ValueError("two")
        return v

    def grows(v):
        k.append(v)
        return v
    return tried(l.sort), l, tried(lambda: k.sort(key=bad_key)), k, tried(lambda: k.sort(key=grows)), k, tried(lambda: sorted(3)), x + 1


def case_list_from(x, e):
    return (list(), list("abc"), list((1, 2)), list({"a": 1}), list(range(3)), list(e.items), list(e.table), list(x for x in (1, 2)), list(map(str, [1])), x + 1)


def case_tuple_from(x, e):
    t = (1, x)
    return tuple(), tuple([1, 2]), tuple(t) is t, tuple(e.items), tuple(v + 1 for v in (1, 2)), tuple("ab"), (*e.items, 4), x + 1


def case_tuple(x, e):
    t = (1, x, "a")
    a, *b = t
    return t[0], t[-1], t[1:], t + (2,), t * 2, len(t), "a" in (1, "a"), a, b, tried(lambda: t[5]), tried(lambda: t + [1]), tried(lambda: t["a"]), x + 1


def case_tuple_mixed(x, e):
    t = (e.n, 2)
    return (1,) + t, t + (1,), t * 2, 2 * t, t == (4, 2), (4, 2) == t, t[::-1], {t: 1}, hash((1, 2)) == hash((1, 2)), x * t[0]


def case_namedtuple(x, e):
    p = Point(1, x)
    q = p._replace(a=5)
    r = Point._make([1, 2, 3])
    a, b, c = q
    return p.a, p.c, q, r, q._asdict()["a"], a, c, r == (1, 2, 3), r[1:], len(p), p._fields, repr(r), x + p.a


def case_namedtuple_existing(x, e):
    e.point = Point(4, 5)
    return e.point.a + x, e.point.b, e.point[2]


def case_size(x, e):
    s = x.shape
    return s, s[0], s[1:], s + (3,), (3,) + s, s * 2, s.numel(), len(s), list(s), tuple(s), s == (2, 3), torch.Size([1, 2]), isinstance(s, tuple), x + 1


def case_size_views(x, e):
    b, n = x.shape
    return x.reshape(n, b), x.new_zeros(x.shape), x.view(*x.shape, 1), x.shape[-1] * 2


def case_unpack(x, e):
    a, b, c = e.items
    (d, f), g = [(1, 2), 3]
    *h, i = range(4)

    def short():
        p, q = [1]

    def long():
        p, q = [1, 2, 3]

    def none():
        p, q = 5
    return a, b, c, d, f, g, h, i, tried(short), tried(long), tried(none), x + a


def case_comprehension(x, e):
    return [i * i for i in range(5) if i % 2], [[j for j in range(i)] for i in range(3)], [v + x for v in e.items], [k for k in e.table], x + 1


def case_nested_mutation(x, e):
    l = [[1], [2]]
    l[0].append(3)
    m = l[:]
    m[1].append(x)
    e.log.append(l[0])
    e.log[0].append(4)
    return l, m, l[0] is m[0], x + 1


def case_self_reference(x, e):
    l = [1]
    l.append(l)
    return l[1] is l, repr(l), x + 1


def case_repr(x, e):
    return repr([1, "a", None, 2.5]), str((1,)), repr(()), f"{[1, (2, 3)]}", repr({"a": [1]}), repr([]), str(x.shape), x + 1


def case_grow_while_iterating(x, e):
    l = [1, 2, 3]
    out = []
    for v in l:
        out.append(v)
        if v < 3 and len(l) < 6:
            l.append(v + 10)
    return out, l, x + 1


def case_shrink_while_iterating(x, e):
    l = [1, 2, 3, 4, 5, 6]
    for v in l:
        l.remove(v)
    for v in e.items:
        e.log.append(v)
        e.items.remove(v)
    return l, x + 1


def case_subclass(x, e):
    s = Stack([1, 2])
    s.push(3).push(x)
    s[0] = 9
    s += [1]
    return s[0], len(s), s, isinstance(s, list), s[1:], list(s), s == [9, 2, 3, x, 1] if False else 1, x + len(s)


def case_subclass_existing(x, e):
    e.stack = Stack([1, 2])
    e.stack.push(5)
    e.stack[0] = x + 1
    return len(e.stack), e.stack[-1], x * 2


def case_deque(x, e):
    d = collections.deque([1, 2, 3])
    d.append(4), d.appendleft(0), d.extend([5, 6]), d.extendleft([-1, -2])
    d.rotate(2), d.rotate(-1)
    d.insert(1, "i")
    d.remove(5)
    return (d, d.pop(), d.popleft(), len(d), d[0], d[-1], list(d), list(reversed(d)), d.count(2), d.index(2), 3 in d, d.copy(), d.maxlen, bool(d),
            d == collections.deque(d), x + 1)


def case_deque_maxlen(x, e):
    d = collections.deque(maxlen=3)
    for i in range(5):
        d.append(i)
    d.appendleft(9)
    d += [7]
    m = collections.deque([1, 2, 3, 4], 2)
    m.extend("abc")
    z = collections.deque([1], maxlen=0)
    z.append(1)
    return (d, m, z, d.maxlen, tried(lambda: d.insert(0, 1)), d + collections.deque([1]), d * 2, tried(lambda: collections.deque(maxlen=-1)),
            tried(collections.deque().pop), tried(lambda: d[7]), tried(lambda: d.index(99)), x + 1)


def case_deque_existing(x, e):
    e.queue = collections.deque([1, 2, 3], maxlen=4)
    e.queue.append(x)
    e.queue.append(5)
    e.queue.popleft()
    e.queue.rotate(1)
    e.queue[0] = 7
    return e.queue[0], len(e.queue), x + 1


def case_deque_iteration(x, e):
    d = collections.deque([1, 2, 3])

    def mutate():
        for v in d:
            d.append(v)
    return tried(mutate), d, [v for v in collections.deque("ab")], repr(d), repr(collections.deque([1], 2)), x + 1


def case_reductions(x, e):
    return (min(3, 1, 2), max([1, 5, 2]), min("b", "a"), min([], default=4), max([1, -3], key=abs), sum([1, 2, 3]), sum([[1], [2]], []), sum([1.5], start=2),
            any([0, 1]), all([]), any(v > 2 for v in [1, 2, 3]), all(v for v in [1, 0]), sum(e.items), max(e.items), len(e.items), x + sum([1, 2]))


def case_reduction_errors(x, e):
    return (tried(lambda: max([])), tried(lambda: min(1)), tried(lambda: max(1, 2, default=3)), tried(lambda: sum(["a"])), tried(lambda: sum([], "")),
            tried(lambda: max([1, "a"])), tried(lambda: any(3)), tried(lambda: sum(3)), tried(lambda: len(3)), tried(lambda: min()), x + 1)


def case_reduce_tensors(x, e):
    return sum([x, x, x]), sum(x * k for k in range(3)), torch.stack([x, x + 1]).sum(0)


def case_slice_objects(x, e):
    s = slice(1, None, 2)
    t = slice(e.n)
    return s.start, s.stop, s.step, [1, 2, 3, 4][s], t.stop, (1, 2, 3, 4, 5)[t], s == slice(1, None, 2), s.indices(5), tried(lambda: hash(s)), "abcdef"[s], x[:, s]


def case_global_list(x, e):
    KEPT.append(len(KEPT))
    n = KEPT.pop()
    return n, KEPT[0], x + n


def case_break_between(x, e):
    l = [1, 2]
    l.append(x + 1)
    print(end="")
    l.append(3)
    l[0] += 5
    e.items.append(l[0])
    print(end="")
    e.items.append(len(l))
    return l, x * 2


def case_loop_with_break(x, e):
    out = []
    for v in e.items:
        x = x + v
        print(end="")
        out.append(v)
    for i, v in enumerate(e.items):
        print(end="")
        x = x * (i + 1)
    for a, b in zip(e.items, [1, 2, 3]):
        print(end="")
        x = x - a * b
    for i in range(3):
        print(end="")
        x = x + i
    return x, out


def case_loop_with_break_dict(x, e):
    for k in e.table:
        print(end="")
        e.log.append(k)
        x = x + 1
    for k, v in e.table.items():
        print(end="")
        e.log.append((k, v))
    return x


def case_break_mutating_under_iterator(x, e):
    for v in e.items:
        print(end="")
        if v == 1:
            e.items.append(9)
        x = x + v
    return x


class Window(collections.deque):
    def __init__(self, size):
        super().__init__(maxlen=size)
        self.total = 0

    def append(self, v):
        self.total += 1
        super().append(v)

    def mean(self):
        return sum(self) / len(self)


def case_deque_subclass(x, e):
    w = Window(3)
    for v in (1, 2, 3, 4.0):
        w.append(v)
    e.window = w
    e.window.append(x.sum())
    return w.mean(), len(w), w.total, list(w), w.maxlen, w[0], x + w.total


def case_deque_subclass_existing(x, e):
    e.window = Window(2)
    print(end="")
    e.window.append(1)
    e.window.append(x)
    e.window.append(2)
    return len(e.window), e.window[-1], e.window.mean(), x + 1


class Dies:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("died")


def case_finalizers(x, e):
    e.held = [Dies(e.log), 1]
    e.map = {"k": Dies(e.log)}
    print(end="")
    y = x + 1
    e.held[0] = 2
    n = len(e.log)
    e.map["k"] = 3
    m = len(e.log)
    return y, n, m
