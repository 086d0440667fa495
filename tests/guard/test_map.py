"""Maps under the journal behave as dicts, and a rewind restores them."""

import random

from guard_engine import selftest


def reference(ops):
    d, marks = {}, []
    for op in ops:
        if op[0] == "put":
            d[op[1]] = op[2]
        elif op[0] == "del":
            d.pop(op[1], None)
        elif op[0] == "clear":
            d.clear()
        elif op[0] == "mark":
            marks.append(dict(d))
        elif op[0] == "rewind" and marks:
            d = marks.pop()
    return list(d.items())


class Thing:
    pass


def test_random_operations():
    rnd = random.Random(7)
    keys = [0, 1, True, 1.0, 2, "a", "b", "ab", b"a", None, (1, 2), (1.0, 2), (1, "a"), 2.5,
            frozenset([1]), *range(10, 60), *[Thing() for _ in range(5)]]
    for _ in range(300):
        ops, depth = [], 0
        for _ in range(rnd.randrange(200)):
            kind = rnd.choice(["put"] * 6 + ["del"] * 3 + ["mark", "rewind"] + ["clear"] * (rnd.random() < .1))
            if kind == "mark" and depth > 200:
                continue
            depth += kind == "mark"
            ops.append((kind, rnd.choice(keys), rnd.random()) if kind == "put"
                       else (kind, rnd.choice(keys)) if kind == "del" else (kind,))
        got, want = selftest.map_items(ops), reference(ops)
        assert got == want
        assert [type(k) for k, _ in got] == [type(k) for k, _ in want]


def test_a_replaced_value_keeps_the_first_key():
    (key, value), = selftest.map_items([("put", True, "x"), ("put", 1, "y")])
    assert key is True and value == "y"


def test_nan_is_found_by_identity_only():
    nan, other = float("nan"), float("nan")
    assert len(selftest.map_items([("put", nan, 1), ("put", nan, 2), ("put", other, 3)])) == 2
