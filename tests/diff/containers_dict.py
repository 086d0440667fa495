"""Dictionaries and their views."""
import collections
import enum

import torch


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Defaults(dict):
    def __missing__(self, key):
        self.asked = key
        return key * 2


class Loud(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, (value, "loud"))

    def get(self, key, default="none"):
        return super().get(key, default)


class Ordered(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.move_to_end(key)


class Thing:
    def __init__(self):
        self.a = 1
        self.b = 2


TABLE = {"x": 1, 2: "two", (1, 2): "pair", None: 0, 2.5: "f", b"k": 3}
REGISTRY = {}


def tried(fn, *args, **kw):
    try:
        return fn(*args, **kw)
    except Exception as e:
        return type(e).__name__, str(e), repr(e.args)


def case_basic(x, e):
    d = {"a": 1, 2: x}
    d["b"] = 3
    d["a"] = 9
    del d[2]
    d[2] = "again"
    return d, len(d), "a" in d, 5 in d, d["b"], list(d), list(d.values()), list(d.items()), x + d["a"]


def case_existing_closed(x, e):
    e.table["new"] = 1
    e.table["a"] += 1
    return e.table["a"], e.table["c"], e.table.get("zz"), "b" in e.table, "nope" in e.table, x + 1


def case_existing_open(x, e):
    e.table["new"] = x
    del e.table["a"]
    e.table["a"] = 5
    return list(e.table), len(e.table), list(e.table.items())[-1], x + 1


def case_existing_len(x, e):
    n = len(e.table)
    e.table["q"] = 1
    return n, len(e.table), bool(e.table), bool({}), not e.table, x + n


def case_methods(x, e):
    d = {"a": 1}
    return (d.get("a"), d.get("z"), d.get("z", 4), d.setdefault("a", 5), d.setdefault("b", 6), d.setdefault("n"), d.pop("a"), d.pop("zz", 7),
            tried(d.pop, "zz"), d.popitem(), d, d.copy() is d, d.copy() == d, x + 1)


def case_methods_existing(x, e):
    t = e.table
    return (t.get("a"), t.get("z"), t.setdefault("a", 5), t.setdefault("new", x), t.pop("a"), t.pop("zz", 7), tried(t.pop, "zz"), t.popitem(), t.popitem(), x + 1)


def case_update(x, e):
    d = {"a": 1}
    d.update({"b": 2, "a": 3})
    d.update([("c", 4), ("d", 5)], e=6)
    d.update(f=7)
    d.update(e.table)
    e.table.update(d)
    e.table.update(zip("pq", [1, 2]))
    return d, tried(d.update, 5), tried(d.update, [1]), tried(d.update, [(1, 2, 3)]), tried(d.update, ["ab", "c"]), d, x + 1


def case_constructor(x, e):
    return (dict(), dict(a=1), dict({"a": 1}, b=2), dict([("a", 1)]), dict(zip("ab", [1, 2])), dict(e.table), dict(e.table, a=9), dict.fromkeys("ab"),
            dict.fromkeys([1, 2], 0), {**e.table, "k": 1}, {k: v for k, v in [(1, 2)]}, x + 1)


def case_clear(x, e):
    d = {"a": 1}
    d.clear()
    d["z"] = 1
    e.table.clear()
    e.table["only"] = x
    return d, len(e.table), x + 1


def case_merge(x, e):
    d = {"a": 1} | {"b": 2, "a": 3}
    d |= {"c": 4}
    d |= [("q", 5)]
    f = e.table | d
    e.table |= {"zz": 1}
    return d, f, tried(lambda: {} | 3), tried(lambda: [] | {}), x + 1


def case_compare(x, e):
    return ({"a": 1} == {"a": 1}, {"a": 1} == {"a": 2}, {"a": 1, "b": 2} == {"b": 2, "a": 1}, {} != {"a": 1}, e.table == {"a": 1, "b": 2.5, "c": "text"},
            {"n": e.n} == {"n": 4}, tried(lambda: {} < {}), {} == [], x + 1)


def case_errors(x, e):
    d = {}
    return (tried(lambda: d["k"]), tried(lambda: d[1, 2]), tried(lambda: {}.popitem()), tried(lambda: {[]: 1}), tried(lambda: d.pop()), tried(lambda: d[{}]),
            tried(lambda: hash(d)), tried(lambda: e.table["nope"]), tried(lambda: dict(5)), tried(dict.fromkeys, 3), x + 1)


def case_delete_missing(x, e):
    def new():
        d = {}
        del d["x"]

    def old():
        del e.table["zz"]
    return tried(new), tried(old), x + 1


def case_views(x, e):
    d = {"a": 1, "b": 2}
    k, v, i = d.keys(), d.values(), d.items()
    d["c"] = 3
    return (list(k), list(v), list(i), len(k), "c" in k, 3 in v, ("a", 1) in i, ("a", 2) in i, list(reversed(k)), list(reversed(d)), list(reversed(v)), list(reversed(i)),
            k == {"a", "b", "c"}, k == d.keys(), repr(k), repr(v), repr(i), tried(hash, k), x + 1)


def case_view_sets(x, e):
    a, b = {"a": 1, "b": 2, "c": 3}.keys(), {"b": 5, "d": 6}.keys()
    return (sorted(a & b), sorted(a | b), sorted(a - b), sorted(a ^ b), a.isdisjoint(b), a.isdisjoint(["z"]), a >= {"a"}, a < b, sorted(a & ["b", "q"]),
            sorted(a | "xy"), sorted({"a"} | b), sorted({"a", "b"} - b), {"a": 1}.items() & {"a": 1}.items(), type(a & b).__name__, tried(lambda: a | 3), x + 1)


def case_view_order(x, e):
    a = {k: 1 for k in "qwertyuiop"}
    b = {k: 1 for k in "asdfgqwe"}
    return list(a.keys() & b.keys()), list(a.keys() | b.keys()), list(a.keys() - b.keys()), list(a.keys() ^ b.keys()), list(set(a) & set(b)), list(set(a)), x + 1


def case_views_existing(x, e):
    out = []
    for k, v in e.table.items():
        out.append((k, v))
    for v in e.table.values():
        out.append(v)
    e.table["z"] = 1
    return out, list(e.table.keys()), "z" in e.table.keys(), x + len(out)


def case_iterate_change(x, e):
    def grow(d):
        for k in d:
            d[k + "x"] = 1

    def shrink(d):
        for k in d:
            del d[k]

    def store(d):
        for k in d:
            d[k] = 5
        return d
    d = {"a": 1, "b": 2}
    return tried(grow, d), tried(shrink, d), store(d), tried(grow, e.table), store(dict(e.table)), store(e.table), x + 1


def case_iterate_swap(x, e):
    d = {"a": 1, "b": 2}
    out = []
    try:
        for k in d:
            out.append(k)
            del d[k]
            d[k + "1"] = 1
            if len(out) > 8:
                break
    except RuntimeError as err:
        out.append(str(err))
    return out, d, x + 1


def case_keys(x, e):
    d = {1: "int", "1": "str", (1, "a"): "tuple", None: "none", 2.5: "float", b"b": "bytes", frozenset([1]): "fs", Color.RED: "enum", int: "type", len: "fn"}
    return (d[1], d[1.0], d[True], d["1"], d[1, "a"], d[None], d[2.5], d[b"b"], d[frozenset([1])], d[Color.RED], d[int], d[len], Color.BLUE in d, x + 1)


def case_keys_existing(x, e):
    return TABLE["x"], TABLE[2], TABLE[1, 2], TABLE[None], TABLE[2.5], TABLE[b"k"], TABLE.get(7), 2.0 in TABLE, list(TABLE), x + TABLE["x"]


def case_scalar_key(x, e):
    d = {4: "four", "env": "name"}
    d[e.n + 1] = 5
    return d[e.n], d[e.name], d, x + 1


def case_object_keys(x, e):
    a, b = Thing(), Thing()
    d = {a: 1}
    d[b] = 2
    d[e] = 3
    d[x] = 4
    return d[a], d[b], d[e], d[x], a in d, Thing() in d, len(d), list(d.values()), d.pop(a), len(d), x + 1


def case_global_registry(x, e):
    REGISTRY.clear()
    REGISTRY["k"] = x
    REGISTRY.setdefault("l", []).append(1)
    REGISTRY["l"].append(2)
    return REGISTRY["l"], len(REGISTRY), x + 1


def case_ordered(x, e):
    d = collections.OrderedDict(a=1, b=2, c=3)
    d.move_to_end("a")
    d["d"] = x
    d.move_to_end("c", last=False)
    p = d.popitem(last=False)
    return (d, p, d.popitem(), list(d), list(reversed(d)), d == {"b": 2, "a": 1}, d == collections.OrderedDict(a=1, b=2), repr(d), repr(collections.OrderedDict()), d.pop("b"),
            tried(d.move_to_end, "zz"), tried(collections.OrderedDict().popitem), d.copy(), type(d | {"z": 1}).__name__, collections.OrderedDict.fromkeys("ab"), x + 1)


def case_ordered_existing(x, e):
    e.od = collections.OrderedDict([("p", 1), ("q", 2), ("r", 3)])
    e.od.move_to_end("p")
    e.od["s"] = 4
    e.od.popitem(last=False)
    return list(e.od.items()), x + 1


def case_ordered_moved(x, e):
    """Nothing moves in the dict below, which dict.items() shows."""
    e.od = Ordered(a=1, b=2, c=3)
    d, o, new = e.od, Ordered(), collections.OrderedDict(a=x, b=2, c=3)
    d["n"] = len(d)
    d.move_to_end("a")
    d["b"] = x + 1
    d.move_to_end("b", last=False)
    d.pop("c", None)
    d["c"] = 7
    new.move_to_end("a")
    new["z"] = o
    new.move_to_end("c", last=False)
    o["p"], o["q"], o["r"] = 1, new, 3
    o.move_to_end("p")
    return d, new, o


def case_ordered_subclass(x, e):
    d = Ordered()
    d["a"] = 1
    d["b"] = 2
    d["a"] = 3
    return list(d.items()), x + 1


def case_defaultdict(x, e):
    d = collections.defaultdict(list)
    d["a"].append(1)
    d["a"].append(x)
    d["b"]
    n = collections.defaultdict(int)
    for c in "hello":
        n[c] += 1
    plain = collections.defaultdict(None)
    return (d, n, d.get("zz"), "zz" in d, tried(lambda: plain["k"]), n.default_factory is int, collections.defaultdict(lambda: 7, a=1)["q"], n.copy(), repr(n),
            tried(collections.defaultdict, 5), x + 1)


def case_defaultdict_existing(x, e):
    e.dd = collections.defaultdict(list, a=[1])
    e.dd["a"].append(2)
    e.dd["n"].append(x)
    return e.dd["a"], len(e.dd), x + 1


def case_counter(x, e):
    c = collections.Counter("hello")
    c.update("lo")
    c["z"] += 2
    return c, c["h"], c["nope"], c.most_common(2), sum(c.values()), c + collections.Counter("l"), x + c["l"]


def case_missing(x, e):
    d = Defaults(a=1)
    return d["a"], d["zz"], d.asked, d.get("q"), "zz" in d, len(d), x + 1


def case_subclass(x, e):
    d = Loud()
    d["a"] = 1
    d.update(b=2)
    return d["a"], d["b"], d.get("a"), d.get("q"), len(d), list(d), d, isinstance(d, dict), dict(d), x + 1


def case_subclass_existing(x, e):
    e.loud = Loud(q=1)
    e.loud["r"] = 2
    return e.loud["r"], e.loud["q"], len(e.loud), x + 1


def case_instance_dict(x, e):
    t = Thing()
    t.__dict__["c"] = 3
    t.d = 4
    vars(t)["a"] = 10
    del t.b
    return t.c, t.a, list(t.__dict__), "b" in t.__dict__, t.__dict__, x + t.d


def case_instance_dict_existing(x, e):
    e.__dict__["fresh"] = x
    e.count += 1
    d = vars(e)
    d["n"] = 40
    return e.n, e.fresh, d["count"], "rate" in d, list(d)[-1], len(d), x + e.n


def case_instance_dict_update(x, e):
    e.__dict__.update(n=7, late=1)
    return e.n, e.late, sorted(e.__dict__), x + 1


def case_chainmap(x, e):
    c = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
    c["z"] = 5
    return c["a"], c["b"], c.get("q"), len(c), sorted(c), x + 1


def case_kwargs(x, e):
    def f(*args, **kw):
        kw["more"] = 1
        return args, kw
    k = {"p": 1, "q": x}
    r = f(1, *[2, 3], **k, r=5)
    return r, k, tried(lambda: f(**{"a": 1}, **{"a": 2})), tried(lambda: f(**{1: 2})), x + 1


def case_repr(x, e):
    d = {"a": [1, {"b": (2,)}], 3: None}
    d["self"] = d
    return repr(d), str({}), f"{ {1: 2} }", x + 1


def case_unpacking_order(x, e):
    d = {}
    for k in "cab":
        d[k] = len(d)
    d.pop("a")
    d["a"] = 9
    return [*d], {**d, "c": 1}, list(zip(*d.items())), x + 1


def case_state_like(x, e):
    state = {}
    for i, p in enumerate([x, x + 1]):
        s = state.setdefault(i, {})
        if len(s) == 0:
            s["step"] = 0
            s["avg"] = torch.zeros_like(p)
        s["step"] += 1
        s["avg"] = s["avg"] * 0.9 + p
    return state, x + 1


def case_break_between(x, e):
    d = {"a": x}
    e.table["a"] = 7
    print(end="")
    d["b"] = x + 1
    e.table["z"] = d["b"]
    del e.table["b"]
    print(end="")
    e.table["b"] = 1
    return d, list(e.table), x * 2


class Tree(collections.defaultdict):
    def __init__(self, *args):
        super().__init__(Tree, *args)
        self.depth = 0

    def put(self, *path):
        node = self
        for p in path:
            node = node[p]
        node.depth = len(path)
        return self


def case_defaultdict_subclass(x, e):
    t = Tree().put("a", "b").put("a", "c")
    t["z"] = x
    return list(t), list(t["a"]), t["a"]["b"].depth, isinstance(t, dict), "q" in t, len(t), type(t["new"]).__name__, x + 1


def case_defaultdict_subclass_existing(x, e):
    e.tree = Tree()
    e.tree.put("p", "q")
    e.tree["r"]["s"]["t"]
    return list(e.tree), e.tree["p"]["q"].depth, x + 1

