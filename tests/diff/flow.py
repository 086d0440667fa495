"""Control flow and pattern matching."""
import collections
import dataclasses
import enum

import torch
from kit import T, program

LOG = []
LIMIT = 3


def minus():
    return T(3, at=-4)


def two():
    return T(2, 3)


@program(T, minus)
def branch_on_data(x):
    if x.sum() > 0:
        y = x * 2
    elif x.min() < -3:
        y = x - 1
    else:
        y = x
    sign = "up" if (y[0] < y[-1]).item() else "down"
    return y, sign, not x.any(), bool(x.sum() > 0 and x.max() > 1)


@program(T, minus)
def while_on_data(x):
    n = 0
    while x.abs().sum() < 40:
        x = x * 2
        n += 1
        if n > 5:
            break
    else:
        LOG.append(("grown", n))
    return x, n


@program(T, two)
def while_else(x):
    n, out = x.dim() * 3, []
    while n:
        n -= 1
        if n == 4:
            continue
        out.append(x + n)
        if n == 1 and len(out) > 3:
            break
    else:
        out.append("else")
    return out, n


@program(T, two)
def for_else(x):
    found = []
    for limit in (2, 10):
        for k in range(limit):
            if k * k > LIMIT + x.dim():
                found.append(k)
                break
        else:
            found.append(x + limit)
    return found, k, limit


@program(T, two)
def break_in_finally(x):
    out = []
    for k in range(4):
        try:
            out.append(x / k)
            if k == 1:
                continue
            if k == 2:
                raise ValueError(k)
        except ValueError:
            out.append("caught")
        finally:
            LOG.append(k)
            if k == 2:
                break
    return out, k


@program(T, two)
def finally_swallows(x):
    def f(n):
        for k in range(3):
            try:
                if n == 0:
                    raise KeyError("lost")
                if n == 1:
                    return "body"
                if n == 2:
                    break
            finally:
                LOG.append((n, k))
                if n == 0:
                    break
                if n == 1:
                    return "finally"
                if n == 3:
                    continue
        return "end", k
    return [f(n) for n in range(4)], x + len(LOG)


@program(T, minus)
def nested_loops(x):
    total, trace = x, []
    for i in range(3):
        for j in range(i, 3):
            if i == j == 1:
                continue
            total = total + i * j
            if total.sum() > 12:
                trace.append((i, j))
                break
        else:
            trace.append(i)
            continue
        if i:
            break
    return total, trace


def leave(x, how):
    for k in range(3):
        try:
            with torch.no_grad():
                if how == "return":
                    return x + k
                if how == "raise":
                    raise RuntimeError(how)
                if how == "break":
                    break
        finally:
            LOG.append((how, k, torch.is_grad_enabled()))
    else:
        return x * 3
    return x - k


@program(T, two)
def ways_to_leave(x):
    out = [leave(x, how) for how in ("return", "break", "none")]
    try:
        leave(x, "raise")
    except RuntimeError as e:
        out.append(str(e))
    return out


@program(T, minus)
def boolean_chains(x):
    a = x.dim() or LOG.append("never")
    b = x.dim() > 1 and LOG.append("never")
    c = 0 < x.dim() < LIMIT < 10
    d = (None or {} or x) is x
    e = not (x.dim() == 1 and x.shape[0] != 3)
    f = x.sum() > 0 or "no"
    return a, b, c, d, e, f, x + (1 if c else 0), (x if f is True else "text")


@program(T, two)
def walrus(x):
    out = []
    while (n := len(out)) < 3:
        out.append(x * n)
    found = [last := k for k in range(5) if (sq := k * k) < 9]
    if (m := x.dim()) > 1 and (s := x.sum()) > m:
        out.append(s)
    return out, n, found, last, sq


@program(T, two)
def many_branches(x):
    out = []
    for k in range(6):
        if k == 0:
            pass
        elif k == 1:
            x = x + 1
        elif k in (2, 3):
            x = x * k
        elif k % 2 == 0 and x.dim() == 2:
            x = x.t()
        else:
            out.append(k)
        out.append(x.shape[0])
    return x, out


@program(lambda: (T(3), 3), lambda: (T(3), -1), lambda: (T(3), 0))
def early_returns(x, n):
    LOG.append(n)
    if n < 0:
        return None
    if not n:
        return x
    for k in range(n):
        if k == 2:
            return x + k, "loop"
    return x


@program(T, graphs=0)
def assertion(x):
    assert x.dim() == 1, "fine"
    y = x + 1
    try:
        assert not y.dim(), f"dim {y.dim()}"
    except AssertionError as e:
        LOG.append(str(e))
    assert y is x, ("message", y.dim())
    return y


# -- match ----------------------------------------------------------------------------


def literal(v):
    match v:
        case 1 | 2:
            return "small"
        case -3:
            return "minus"
        case 2.5:
            return "float"
        case "text" | b"bytes":
            return "text"
        case None:
            return "none"
        case True:
            return "true"
        case 1 + 2j:
            return "complex"
        case _:
            return "other"


@program(T, two)
def match_literals(x):
    values = 1, 2, True, -3, 2.5, "text", b"bytes", None, 1 + 2j, [], x.dim(), 1.0
    return [literal(v) for v in values], x + 1


def sequence(v):
    match v:
        case []:
            return "empty"
        case [a]:
            return "one", a
        case [a, b] if a is b:
            return "twice", a
        case (a, [b, *rest], *_):
            return "nested", a, b, rest
        case [a, *middle, "end"]:
            return "end", a, middle
        case [_, _, *others]:
            return "many", others
        case _:
            return "none", v


@program(T, two)
def match_sequences(x):
    values = [], (x,), [x, x], [1, (x, 2, 3), 4, 5], (1, x, "end"), [1, 2, 3], "ab", b"ab", {1: 2}, {1}, range(2), collections.deque([1, 2]), x
    return [sequence(v) for v in values], x * 2


def mapping(v):
    match v:
        case {"kind": "scale", "x": x, "by": by}:
            return x * by
        case {"kind": str(kind), **rest}:
            return kind, rest
        case {1: _, "items": [first, *_]}:
            return first
        case {None: inner}:
            return mapping(inner)
        case {}:
            return "any"
        case _:
            return "none"


class Missing(dict):
    def __missing__(self, key):
        LOG.append(("asked", key))
        return "missing"


@program(T, two)
def match_mappings(x):
    values = ({"kind": "scale", "x": x, "by": 3}, {"kind": "other", "x": x, "more": 1}, {1: 2, "items": [x, 1]}, {None: {"kind": "scale", "x": x, "by": 2}},
              {}, {"kind": 3}, [("kind", 1)], collections.OrderedDict(kind="o"), Missing(x=x), collections.defaultdict(list))
    return [mapping(v) for v in values], values[-1]


class Shape:
    __match_args__ = ("w", "h")

    def __init__(self, w, h):
        self.w, self.h = w, h

    @property
    def area(self):
        LOG.append("area")
        return self.w * self.h


class Square(Shape):
    __match_args__ = ("w",)

    def __init__(self, w):
        super().__init__(w, w)


@dataclasses.dataclass
class Op:
    name: str
    args: list


class Kind(enum.Enum):
    A = 1
    B = 2


def classes(v):
    match v:
        case Square(w=1):
            return "unit"
        case Square(side):
            return "square", side
        case Shape(area=12):
            return "twelve"
        case Shape(w, h) if w > h:
            return "wide", w
        case Shape():
            return "shape"
        case Op("add", [a, b]):
            return classes(a), classes(b)
        case Op(name, args=[*_] as args):
            return name, len(args)
        case bool() | None:
            return "flag"
        case int(n) | float(n):
            return "number", n
        case str() as s:
            return s
        case torch.Tensor(shape=(n,), dtype=torch.float32):
            return "vector", n
        case torch.Tensor() as t:
            return t + 1
        case Kind.A | Kind.B as k:
            return k.name
        case tuple((a, b)):
            return "pair", a
        case list() | dict():
            return type(v).__name__
        case _:
            return "unknown"


@program(T, two)
def match_classes(x):
    values = (Square(1), Square(x), Shape(3, 4), Shape(5, 2), Shape(1, 2), Op("add", [1, 2.5]), Op("neg", [1]), Op("other", ()), True, None, 7, 0.5, "s", x,
              Kind.A, Kind.B, (1, x), [1], {}, object, x.long())
    return [classes(v) for v in values]


class BadMatch:
    __match_args__ = ("gone", "gone")

    def __init__(self):
        self.asked = 0

    def __getattr__(self, name):
        if name == "asked":
            raise AttributeError(name)
        self.asked += 1
        return name


@program(T)
def match_that_raises(x):
    told = []
    for n in range(3):
        try:
            match Shape(1, 2):
                case Shape(1, 2, 3) if n == 0:
                    pass
                case int(1, 2) if n:
                    pass
                case Shape(a, w=b) if n == 1:
                    told.append((a, b))
                case Shape(w=c, none=d):
                    told.append(d)
                case _:
                    told.append("default")
        except TypeError as e:
            told.append(str(e))
    match BadMatch():
        case BadMatch(one=a, two=b):
            told.append((a, b))
    return x + len(told), told


@program(T, two)
def match_binds_and_falls_through(x):
    a = b = None
    match [1, 2, (3, x)]:
        case [a, b, (4, c)]:
            pass
        case [1 as one, (2 | 3) as b, (three, y)] if LOG.append("guard") or y is not x:
            pass
        case [*_, (3, z)] if z is x:
            LOG.append("third")
    return a, b, y is x, z + 1, one, three, "c" in locals()


@program(lambda: (T(3), "relu"), lambda: (T(3), ("scale", 2)), lambda: (T(3), {"op": "pow", "n": 3}), lambda: (T(3), None), lambda: (T(3), ("scale", 2.5)))
def match_an_argument(x, command):
    match command:
        case "relu" | "silu":
            return torch.relu(x - 1)
        case ("scale", int(by)):
            return x * by
        case ("scale", float(by)):
            return x / by
        case {"op": "pow", "n": n}:
            return x ** n
        case None:
            LOG.append("none")
    return x


@program(T, minus)
def match_on_data(x):
    match x.sum().item():
        case float(s) if s > 0:
            y = x * s
        case s:
            y = -x
            LOG.append(s)
    match x.tolist():
        case [0.0, *rest]:
            return y, rest
        case [first, _, last]:
            return y, first, last


@program(T, minus)
def state_machine(x):
    state, steps = "start", []
    while state != "done":
        steps.append(state)
        match state, x.sum() > 5:
            case "start", _:
                state = "grow"
            case "grow", flag if not flag:
                x = x + 3
            case "grow", _:
                state = "end"
            case "end", _:
                x, state = x / 2, "done"
    return x, steps


@program(T, minus)
def exceptions_as_flow(x):
    class Found(Exception):
        pass
    try:
        for i in range(3):
            for j in range(3):
                if (x + i * j).sum() > 4:
                    raise Found(i, j)
    except Found as f:
        i, j = f.args
        return x * j, i
    else:
        return "nothing"
    finally:
        LOG.append((i, j))


class Twice:
    __match_args__ = ("a", "a")
    a = 1


class Unnamed:
    __match_args__ = ("a", 5)
    a = 1


class Listed:
    __match_args__ = ["a"]


class Keys:
    KEY = "a"


@program()
def patterns_that_are_wrong(x):
    out = []

    def first(c):
        match c:
            case Twice(p, q):
                return p, q

    def second(c):
        match c:
            case Unnamed(p, q):
                return p, q

    def third(c):
        match c:
            case Listed(p):
                return p

    def fourth(c):
        match c:
            case {Keys.KEY: p, "a": q}:
                return p, q

    def fifth(c):
        match c:
            case Twice(1, a=2):
                return "twice"

    def sixth(c):
        match c:
            case {Keys.KEY: p, "b": q, **rest}:
                return p, q, rest
    for f, c in ((first, Twice()), (second, Unnamed()), (third, Listed()), (fourth, {"a": 1}), (fourth, {}), (fifth, Twice()), (sixth, {"a": 1, "b": 2, 3: 4})):
        try:
            out.append(f(c))
        except (TypeError, ValueError) as e:
            out.append((type(e).__name__, str(e)))
    return x + len(out), out
