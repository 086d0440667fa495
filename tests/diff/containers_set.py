"""Sets: content, algebra, and the order of iteration."""
import torch

SEEN = {"a", "b"}
FROZEN = frozenset(["p", "q", "r", "s"])


class Thing:
    pass


class Tags(set):
    def add(self, v):
        super().add(str(v))


def tried(fn, *args):
    try:
        return fn(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def case_basic(x, e):
    s = {1, 2, 3}
    s.add(4), s.add(2), s.discard(1), s.discard(99), s.remove(3)
    return s, len(s), 2 in s, 9 in s, bool(s), bool(set()), tried(s.remove, 50), tried(set().pop), tried(s.add, []), tried(hash, s), x + len(s)


def case_order(x, e):
    s = set()
    for w in "the quick brown fox jumps over the lazy dog and runs away from here".split():
        s.add(w)
    a = list(s)
    for w in ["fox", "dog", "over"]:
        s.discard(w)
    s.update(["zebra", "yak", "fox"])
    return a, list(s), [v for v in s], sorted(s), x + 1


def case_order_numbers(x, e):
    s = {i * 37 % 101 for i in range(40)}
    t = {i * 53 % 97 for i in range(30)}
    return list(s), list(s | t), list(s & t), list(s - t), list(t - s), list(s ^ t), list(s.union(range(200, 220))), list(set(list(s))), x + 1


def case_order_in_place(x, e):
    s = {i * 37 % 101 for i in range(40)}
    t = {i * 53 % 97 for i in range(30)}
    u = set(s)
    u |= t
    v = set(s)
    v &= t
    w = set(s)
    w -= t
    y = set(s)
    y ^= t
    s.difference_update(range(0, 50))
    t.intersection_update(range(0, 50))
    return [list(q) for q in (u, v, w, y, s, t)], x + 1


def case_pop(x, e):
    s = {i * 7 for i in range(10)}
    out = [s.pop() for _ in range(4)]
    s.add(1000)
    out.append(s.pop())
    return out, list(s), x + 1


def case_algebra(x, e):
    a, b = {1, 2, 3}, {2, 3, 4}
    return (a | b, a & b, a - b, a ^ b, a.union([9], (8,)), a.intersection([1, 2], {2}), a.difference([1]), a.symmetric_difference([3, 7]), a <= b, {2} < a, a >= {1},
            a.issubset([1, 2, 3, 4]), a.issuperset([1]), a.isdisjoint(b), a.isdisjoint([77]), a == {3, 2, 1}, a != b, a == frozenset(a), x + 1)


def case_algebra_errors(x, e):
    return (tried(lambda: {1} | [1]), tried(lambda: {1} < [1]), tried(lambda: {1} - (1,)), tried(lambda: set(5)), tried(lambda: {1}.union(3)), {1} == [1], x + 1)


def case_in_place(x, e):
    a = b = {1, 2, 3}
    a |= {4}
    a &= {2, 3, 4}
    a -= {2}
    a ^= {3, 9}
    b.update([10], [11])
    b.symmetric_difference_update([10, 50])
    return a is b, a, x + 1


def case_self(x, e):
    a = {1, 2}
    a |= a
    b = {1, 2}
    b -= b
    c = {1}
    c ^= c
    return a, b, c, a & a, a.difference(a), x + 1


def case_frozenset(x, e):
    f = frozenset([1, 2, 3])
    g = frozenset([e.n, 1])
    return (f, f | {4}, {4} | f, f & {1}, f - {1}, hash(f) == hash(frozenset([3, 2, 1])), frozenset(f) is f, {f: 1}[frozenset([1, 2, 3])], 2 in f, f in {f}, {1, 2, 3} in {f},
            g, sorted(FROZEN), list(FROZEN), "p" in FROZEN, FROZEN | {"z"} > FROZEN, type(f | {1}).__name__, type({1} | f).__name__, x + 1)


def case_existing_add(x, e):
    e.seen = {"a"}
    e.seen.add("b")
    e.seen.add("a")
    return "b" in e.seen, "zz" in e.seen, len(e.seen), x + 1


def case_existing_modify(x, e):
    e.seen = {1, 2, 3, 4}
    e.seen.discard(2)
    e.seen |= {9}
    e.seen -= {1}
    e.seen.update([20, 21])
    return len(e.seen), 9 in e.seen, x + 1


def case_existing_iterate(x, e):
    e.seen = {"k", "l", "m"}
    out = [v for v in e.seen]
    return sorted(out) == sorted(e.seen), list(e.seen), x + 1


def case_existing_iterate_after_add(x, e):
    e.seen = {"k", "l", "m"}
    e.seen.add("z")
    return list(e.seen), x + 1


def case_existing_clear(x, e):
    e.seen = {1, 2}
    e.seen.clear()
    e.seen.add(5)
    return e.seen, x + 1


def case_global(x, e):
    SEEN.add("c")
    r = "c" in SEEN, "a" in SEEN, len(SEEN)
    SEEN.discard("c")
    return r, x + 1


def case_objects(x, e):
    a, b = Thing(), Thing()
    s = {a, b, x}
    s.add(a)
    return len(s), a in s, Thing() in s, x in s, e in {e}, x + 1


def case_tensor_members(x, e):
    y = x + 1
    s = {x}
    s.add(y)
    s.add(x)
    return len(s), y in s, x * 2


def case_from(x, e):
    return (set(), set("abc") == {"a", "b", "c"}, set(e.items), set(e.table), set({"a": 1}.keys()), set(range(3)), {v % 3 for v in range(10)}, set([(1, 2)]),
            frozenset(), set(e.table.items()), {*e.items, 4}, x + 1)


def case_from_dict_order(x, e):
    d = {k: 1 for k in "qwertyuiopasdfghjklzxcvbnm"}
    return list(set(d)), list({*d}), list(set(d.keys())), list(set(list(d))), list({*"qwerty", *"asdf"}), x + 1


def case_iterate_change(x, e):
    def grow():
        s = {1, 2}
        for v in s:
            s.add(v + 10)
    return tried(grow), x + 1


def case_copy(x, e):
    s = {3, 1, 2}
    t = s.copy()
    t.add(9)
    return s, t, set(s) == s, s is not t, x + 1


def case_repr(x, e):
    return repr({1}), repr(set()), repr(frozenset([2])), str(frozenset()), repr({"k"}), x + 1


def case_subclass(x, e):
    t = Tags()
    t.add(1)
    t.add(2)
    return "1" in t, len(t), sorted(t), isinstance(t, set), x + 1


def case_sorted_min(x, e):
    s = {5, 3, 9}
    return sorted(s), min(s), max(s), sum(s), any(s), x + min(s)


def case_nested(x, e):
    memo = set()
    out = []

    def visit(n):
        if n in memo:
            return
        memo.add(n)
        out.append(n)
        for m in (n // 2, n - 3):
            if m > 0:
                visit(m)
    visit(20)
    return out, len(memo), x + len(out)


def case_break_between(x, e):
    s = {1, 2}
    s.add(3)
    print(end="")
    s.add(4)
    s.discard(1)
    e.seen = s
    print(end="")
    e.seen.add(5)
    return s, x + len(s)
