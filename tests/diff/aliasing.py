"""Effects on objects that are reached on several ways, deletions, and the order of effects around exceptions."""
import copy

import torch
from kit import T, program

LOG = []
SHARED = [1]
ALSO = SHARED
TABLE = {"list": SHARED, "n": 1}
NUMBER = 5


class Box:
    def __init__(self, **kw):
        self.__dict__.update(kw)


BOX = Box(items=SHARED, table=TABLE)


def same_list():
    v = [1, 2]
    return T(3), v, v


def other_lists():
    return T(3), [1, 2], [1, 2]


def list_and_holder():
    v = [1, 2]
    return T(3), v, Box(v=v)


def knot():
    v = [1]
    v.append(v)
    return T(3), v


def knot_of_dicts():
    d = {"n": 1}
    d["me"] = d
    d["list"] = [d]
    return T(3), d


@program(same_list, other_lists)
def same_list_twice(x, a, b):
    a.append(3)
    n = len(b)
    b[0] = 10
    y = x * a[0] + n
    a += b
    return y, a is b, a == b, a, b


@program(list_and_holder, lambda: (T(3), [1, 2], Box(v=[1, 2])))
def list_in_a_holder(x, v, o):
    o.v.append(len(v))
    v.insert(0, x)
    o.v = o.v[:]
    o.v.append("copy")
    v.pop()
    return x + len(o.v) * len(v), v, o.v


@program(same_list, other_lists)
def swapped_contents(x, a, b):
    a[:], b[:] = b[::-1], a + [x]
    a[0], b[0] = b[0], a[0]
    a, b = b, a
    a.extend([b, a])
    return x + len(a), len(b), a[-1] is a


@program(knot)
def self_containing_list(x, v):
    v.append(x)
    v[1].append(len(v))
    inner = v[1][1][1]
    inner[0] += 1
    w = [v, inner]
    w.append(w)
    return x + v[0], inner is v, w, v in w, v.index(v), repr(v[:1])


@program(knot_of_dicts)
def self_containing_dict(x, d):
    d["me"]["me"]["n"] += 1
    d["list"][0]["x"] = x * d["n"]
    d["list"].append(d["list"])
    e = dict(d)
    e["me"] = e
    del d["me"]
    return d["x"] + 1, e, "me" in d, e["me"] is e, d["list"][1] is d["list"]


@program()
def global_on_many_ways(x):
    SHARED.append(len(ALSO))
    TABLE["list"].append(BOX.items[-1])
    BOX.table["n"] += 1
    globals()["NUMBER"] += TABLE["n"]
    BOX.__dict__["late"] = NUMBER
    vars(BOX)["items"] = ALSO[-2:]
    return x + NUMBER, BOX.late, SHARED is BOX.items, len(SHARED), BOX.items


@program()
def deletions(x):
    global SPARE
    SPARE = [x]
    keep = SPARE
    del SPARE
    b = Box(a=1, b=2, c=x)
    del b.a
    d = {"a": 1, "b": x, "c": 3}
    del d["a"]
    v = list(range(6))
    del v[0], v[1:3], v[-1]
    told = []
    for f in (lambda: b.a, lambda: d["a"], lambda: v[9], lambda: SPARE, lambda: x.nothing):
        try:
            f()
        except (AttributeError, LookupError, NameError) as e:
            told.append(f"{type(e).__name__} {e}")
    del x
    try:
        x
    except UnboundLocalError as e:
        told.append(str(e))
    return keep[0] + d["b"], b, d, v, told


def cells():
    value, gone = 1, 2

    def change(x):
        nonlocal value, gone
        value += 1
        before = gone
        del gone
        try:
            gone
        except NameError as e:
            LOG.append(str(e))
        gone = before + value
        return x * gone
    return change, lambda: (value, gone)


CHANGE, PEEK = cells()


@program()
def nonlocal_deleted(x):
    a = CHANGE(x)
    mid = PEEK()
    b = CHANGE(x)
    return a, mid, b, PEEK()


def step(v, x, fail):
    v.append("start")
    try:
        v.append(x.sum())
        if fail:
            v[0] = "failing"
            raise ValueError(v[:])
        v.append("fine")
    except KeyError:
        v.append("never")
    else:
        v.append("else")
    finally:
        v.append("finally")
    return x + len(v)


@program(lambda: (T(3), [], False), lambda: (T(3), [7], True))
def effects_before_an_exception(x, v, fail):
    try:
        y = step(v, x, fail)
    except ValueError as e:
        v.append(len(e.args[0]))
        y = x - len(v)
    return y, v


@program(lambda: (T(3), [], {}), graphs=0)
def effects_before_an_uncaught_exception(x, v, d):
    global NUMBER
    NUMBER += 1
    v.append(x * 2)
    d["y"] = v[-1] + 1
    BOX.table["failed"] = NUMBER
    x.mul_(3)
    d["gone"].append(1)
    v.append("never")


class Failing(list):
    """Fails on the third item."""

    def append(self, item):
        if len(self) == 2:
            raise OverflowError("full")
        super().append(item)


@program(lambda: (T(3), Failing()), lambda: (T(3), Failing([1])))
def partial_effects(x, v):
    out = []
    try:
        for k in range(5):
            out.append(x + k)
            v.append(k)
            LOG.append(k)
    except OverflowError as e:
        out.append(str(e))
    a, b = [0, 0], {}
    try:
        a[0], b["x"], a[5] = 1, 2, 3
    except IndexError:
        out.append((a, b))
    try:
        a.extend(k // (1 - k) for k in range(3))
    except ZeroDivisionError:
        out.append(a)
    return out, v


def noted(value, name):
    LOG.append(name)
    return value


@program()
def order_of_evaluation(x):
    def f(*args, **kwargs):
        LOG.append("called")
        return args[0]
    d, v = {}, [0, 1]
    f(noted(x, "a"), *noted([1], "b"), k=noted(2, "c"), **noted({"m": 1}, "d"))
    noted(v, "target")[noted(0, "index")] = noted(x, "value")
    noted(v, "aug")[noted(1, "at")] += noted(5, "by")
    d[noted("key", "key")], d[noted("other", "other")] = noted(1, "first"), noted(2, "second")
    noted(1, "l") < noted(0, "m") < noted(3, "never")
    r = {noted(1, "k1"): noted(2, "v1"), noted(3, "k2"): noted(4, "v2")}
    y = noted(x, "x") * noted(2, "two") + (noted(0, "zero") or noted(1, "one"))
    del noted(v, "deleted")[noted(0, "d0")]
    return y, v, d, r


@program(same_list, other_lists)
def defaults_are_kept(x, a, b):
    def add(v, to=[], *, seen={}):
        to.append(v)
        seen[len(to)] = to
        return to
    p, q = add(1), add(x)
    r = add(3, a)
    s = add(4, to=b)
    add.__defaults__[0].append("direct")
    return p is q, p, add.__kwdefaults__, r is a, s is a, x + len(p)


@program(same_list, knot)
def copies(x, a, b=None):
    s, d = copy.copy(a), copy.deepcopy(a)
    s.append(1)
    d.append(x)
    t = copy.copy(x)
    o = Box(a=a, x=x)
    p, q = copy.copy(o), copy.deepcopy(o)
    p.more = 1
    return s, d, t + 1, t is x, p.a is a, q.a is a, q.x is x, len(a), hasattr(o, "more")


@program(lambda: (T(3), Box(n=1)), lambda: (T(3), Box(n=1, next=None)))
def attributes_in_a_ring(x, o):
    p = Box(n=2, next=o)
    o.next = p
    o.next.next.n += 10
    p.next, p.kept = None, p.next
    o.me = o
    o.me.me.x = x * o.n
    if hasattr(o.next, "kept"):
        del o.next.kept
    return o, p, o.x + 1, o.me is o


@program(same_list, other_lists)
def slices_and_sorts(x, a, b):
    a[1:1] = [5, 4, 3]
    a.sort()
    b.reverse()
    c = a
    c *= 2
    a[::2] = [0] * len(a[::2])
    try:
        a[::2] = [1]
    except ValueError as e:
        LOG.append(str(e))
    try:
        b.sort(key=lambda k: b.append(k))
    except (ValueError, TypeError) as e:
        LOG.append(str(e))
    return x + sum(v for v in a if v), a is c, a, b


@program(lambda: (T(3), {"a": [1]}, None), lambda: (T(3), {"a": [1]}, "same"))
def dictionaries_shared(x, d, other):
    e = d if other == "same" else dict(d)
    e["a"].append(2)
    e["b"] = d.setdefault("b", []) or e
    d.setdefault("b", None)
    k = d.pop("a")
    k.append(len(d))
    e.update(d, z=x)
    d.clear()
    return e, k, d is e, x + len(e)


@program(same_list, other_lists)
def iterators_share_lists(x, a, b):
    it, jt = iter(a), iter(b)
    first = next(it)
    a.append(9)
    b.pop(0)
    rest = list(it) + list(jt)
    z = zip(a, b)
    one = next(z)
    a.clear()
    return x + first, rest, one, list(z), a, b


@program()
def tensors_share_names(x):
    a = b = x
    a += 1
    c = b
    b = b + 1
    c *= 2
    v = [x] * 3
    v[0] += 1
    v[1] = v[1] + 1
    (d := {"x": x})["x"] -= 1
    return a is x, b, c is x, v[0] is v[2], v, d, x._version


@program(lambda: (T(3), Box(n=1, log=[])), graphs=0)
def finally_and_state(x, o):
    try:
        try:
            o.n = 2
            o.log.append(x + 1)
            raise KeyError("first")
        finally:
            o.n += 1
            o.log.append("inner")
            o.gone
    except AttributeError as e:
        o.log.append((type(e.__context__).__name__, o.n))
        e.__context__ = None
        raise RuntimeError("second") from e
    finally:
        del o.n
        o.log.append("outer")


class Tracked:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        LOG.append(("eq", self.name, getattr(other, "name", other)))
        return isinstance(other, Tracked) and self.name == other.name

    def __hash__(self):
        LOG.append(("hash", self.name))
        return len(self.name)

    def __bool__(self):
        LOG.append(("bool", self.name))
        return self.name != "no"


@program()
def calls_made_by_containers(x):
    a, b, c = Tracked("aa"), Tracked("bb"), Tracked("no")
    d = {a: 1, b: x}
    d[Tracked("aa")] = 2
    v = [a, b, c]
    found = Tracked("bb") in v, v.index(Tracked("no")), v.count(a), c or 5, a and b is b, len({a, b, Tracked("aa")})
    v.remove(Tracked("bb"))
    return d[b] + 1, len(d), found, [t.name for t in v], (a, b) == (a, c), any(v), all(v)
