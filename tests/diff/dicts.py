"""Dictionaries."""
import enum
import collections

import torch
from kit import Env, T, program

CONFIG = {"lr": 0.5, "steps": 2}


class Key:
    def __init__(self, k):
        self.k = k

    def __hash__(self):
        return hash(self.k)

    def __eq__(self, other):
        return isinstance(other, Key) and self.k == other.k


class Defaulting(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return self[key]


@program()
def built(x):
    d = {"a": x, "b": x + 1}
    d["c"] = d["a"] * 2
    return d, list(d), len(d)


@program(lambda: (T(), {"a": 1}), lambda: (T(), {"a": 2, "b": 3}), lambda: (T(), {}))
def defaults(x, d):
    return x + d.get("a", 10), d.get("zz"), d.setdefault("n", []), d.pop("gone", "none"), d


@program(lambda: (T(), {"a": 1, "b": 2}))
def order_after_delete(x, d):
    del d["a"]
    d["c"] = 3
    d["a"] = 4
    d["b"] = 5
    return x + len(d), list(d.items())


@program()
def global_config(x):
    CONFIG["steps"] += 1
    return x * CONFIG["lr"] + CONFIG["steps"], CONFIG


@program(lambda: (T(), {"k": 1}), lambda: (T(), {}))
def missing_key(x, d):
    try:
        return x + d["k"]
    except KeyError as e:
        return x, e.args


@program(lambda: (T(), {"a": 1}, {"b": 2, "a": 3}))
def merged(x, a, b):
    c = a | b
    d = {**b, **a, "z": 0}
    a |= b
    return x + 1, c, d, a, dict(a, q=1)


@program(lambda: (T(), {"x": T(), "y": T(at=3)}), lambda: (T(), {"y": T()}))
def over_tensors(x, d):
    out = {k: v * 2 for k, v in d.items()}
    total = sum(d.values())
    return out, total + x, sorted(d)


@program(lambda: (T(), {1: "i", True: "b", 1.0: "f"}), lambda: (T(), {0: "z"}))
def equal_keys(x, d):
    d[1.0] = "new"
    return x + 1, d, d.get(True), list(map(type, d))


@program(lambda: (T(), {Key(1): "one"}), lambda: (T(), {Key(2): "two"}))
def user_keys(x, d):
    d[Key(1)] = "again"
    return x + 1, len(d), Key(1) in d, d.get(Key(2))


@program(lambda: (T(), {}))
def tensor_keys(x, d):
    d[x] = 1
    y = x + 1
    d[y] = 2
    return d[x], y in d, len(d), d


@program(lambda: (T(), {"a": 1, "b": 2}))
def views(x, d):
    keys, values, pairs = d.keys(), d.values(), d.items()
    d["c"] = 3
    return x + len(keys), list(values), ("c", 3) in pairs, keys & {"a", "q"}, keys


@program()
def counting(x):
    c = collections.Counter("abracadabra")
    dd = collections.defaultdict(list)
    dd["k"].append(x)
    dd["j"]
    return x + c["a"], c.most_common(1), dd, list(dd)


@program(lambda: (T(), Defaulting(a=1)), lambda: (T(), Defaulting()))
def missing_method(x, d):
    return x + d["new"], d["a"], d


@program(lambda: (T(), {"a": 1, "b": 2}))
def changed_size(x, d):
    try:
        for k in d:
            d[k + "!"] = 1
    except RuntimeError as e:
        return x + 1, str(e), d


@program(lambda: (T(), {"a": {"b": {"c": 3}}}))
def deep_write(x, d):
    d["a"]["b"]["c"] += 1
    d["a"]["b"]["new"] = x
    return x * d["a"]["b"]["c"]


@program(lambda: (T(), {"a": 1}), lambda: (T(), {"a": 1, "b": 2}), lambda: (T(), {}))
def popping(x, d):
    try:
        k, v = d.popitem()
    except KeyError as e:
        return x, str(e)
    d.clear()
    d["only"] = k
    return x + v, d


@program(lambda: (T(), {"b": 1, "a": 2}, {"a": 2, "b": 1}), lambda: (T(), {}, {}))
def equality(x, a, b):
    return x + 1, a == b, list(a) == list(b), a is b, not a, {"t": x} == {"t": x}


@program()
def unhashable(x):
    out = []
    for k in ([], {}, {1}):
        try:
            {k: 1}
        except TypeError as e:
            out.append(str(e))
    return x + 1, out


class Up:
    pass


class Down(Up):
    pass


BY_CLASSES = {(Up, Up): 1, (Up, Down): 2, (Down, Down): 3}


@program()
def keys_of_classes(x):
    found = [(p, q) for p, q in BY_CLASSES if issubclass(Down, p) and issubclass(q, Up)]
    members = sorted(c.__name__ for pair in {(Up, Down), (Down, Up)} for c in pair if isinstance(c(), Up))
    return x + BY_CLASSES[Down, Down], len(found), [p.__name__ for p, _ in found], members


class Name(str, enum.Enum):
    NATIVE = "native"
    OTHER = "other"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@program()
def keys_with_a_part(x):
    table = {Name.NATIVE: 1, Level.HIGH: 2}
    return x + NAMED[Name.NATIVE] + NAMED["other"] + LEVELS[Level.LOW] + LEVELS[2], table["native"], table[2], 1 in table


NAMED = {Name.NATIVE: 10, Name.OTHER: 20}
LEVELS = {Level.LOW: 100, Level.HIGH: 200}
