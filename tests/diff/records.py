"""Dataclasses, named tuples, enums, dictionaries that are objects, namespaces."""
import collections
import dataclasses
import enum
import typing
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace

import torch
from kit import T, program

LOG = []


def two():
    return T(2, 3)


@dataclass
class Batch:
    x: torch.Tensor
    scale: float = 1.0
    tags: list = field(default_factory=list)
    total: typing.ClassVar[int] = 0

    def scaled(self):
        Batch.total += 1
        return self.x * self.scale


@dataclass
class Tagged(Batch):
    name: str = "none"
    shape: tuple = field(init=False, repr=False, compare=False)
    seed: dataclasses.InitVar[int] = 3

    def __post_init__(self, seed):
        self.shape = tuple(self.x.shape)
        self.tags.append(seed)


@dataclass(frozen=True, order=True)
class Key:
    layer: int
    head: int = 0
    extra: object = field(default=None, compare=False)


@dataclass(slots=True, kw_only=True)
class Slim:
    a: int
    b: object = None


BATCH = Batch(torch.ones(3), tags=["old"])


@program(T, two)
def made_and_changed(x):
    b = Batch(x, tags=["t"])
    c = Batch(x + 1, 2)
    c.tags.append(len(c.tags))
    b.scale = c.scale * 2
    b.extra = "attribute"
    return b.scaled() + c.scaled(), b, c, b.tags is not c.tags, Batch.total


@program(T, two)
def post_init(x):
    t = Tagged(x, name="n", seed=9)
    u = Tagged(x * 2, 3.0, t.tags)
    return u.scaled(), t, u.tags is t.tags, t.shape, u.seed, isinstance(t, Batch)


@program(T, two)
def frozen(x):
    k = Key(x.dim(), extra=x)
    told = []
    for change in (lambda: setattr(k, "head", 2), lambda: delattr(k, "layer")):
        try:
            change()
        except dataclasses.FrozenInstanceError as e:
            told.append(str(e))
    object.__setattr__(k, "head", 5)
    table = {Key(1): "one", Key(2): "two"}
    return k, told, table.get(Key(k.layer)), Key(1) < Key(1, 2), sorted([Key(3), k])[0] is k, k.extra + 1, hash(Key(1)) == hash(Key(1))


@program(T, two)
def replaced_and_listed(x):
    b = Batch(x, 2.0)
    c = dataclasses.replace(b, x=x + 1)
    names = [f.name for f in dataclasses.fields(b)]
    d = {n: getattr(c, n) for n in names}
    return c, d, names, c.tags is b.tags, dataclasses.is_dataclass(c), dataclasses.asdict(Key(1, 2)), Batch.__match_args__


@program(T, two)
def slim(x):
    s = Slim(a=1, b=x)
    t = Slim(a=2)
    t.b, s.b = s.b, t.b
    try:
        t.c = 3
    except AttributeError as e:
        told = type(e).__name__
    return s, t, t.b * t.a, told, s == Slim(a=1), repr(s)


@program(T)
def old_dataclass(x):
    BATCH.scale += 1
    BATCH.tags.append(BATCH.scale)
    y = BATCH.scaled()
    BATCH.x = x + BATCH.x
    return y + BATCH.x, BATCH.tags[-1]


class Pair(typing.NamedTuple):
    first: object
    second: object = 7

    def swapped(self):
        return Pair(self.second, self.first)

    @property
    def both(self):
        return self.first + self.second


Triple = collections.namedtuple("Triple", "a b c", defaults=(3,))


class Named(Triple):
    __slots__ = ()

    def __new__(cls, a, b=2):
        LOG.append("made")
        return super().__new__(cls, a, b, a + b)


PAIR = Pair(1, torch.ones(3))


@program(T, two)
def namedtuples(x):
    p = Pair(x)
    q = p.swapped()
    a, b = q
    t = Triple(x, b=2)
    u = t._replace(c=x + 1)
    return p, q.both, b is x, u, t._asdict(), Triple._make([1, 2, 3]), len(u), u[-1] is u.c, isinstance(u, tuple), Triple._fields


@program(T)
def namedtuple_subclass(x):
    n = Named(x)
    m = Named(1, b=5)
    try:
        n.a = 3
    except AttributeError as e:
        told = type(e).__name__
    return n, m, m == (1, 5, 6), (*m,), told, m + (1,), PAIR.second + n.c, type(m[:2]).__name__, max(m), m.index(5)


@program(T)
def namedtuple_from_torch(x):
    m = torch.stack([x, x + 1]).max(dim=0)
    s = x.sort(descending=True)
    values, indices = s
    return m.values + values, m, s.indices is indices, type(m).__name__, len(s), s[0] is values


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1

    def mix(self, x):
        return x * self.value

    @classmethod
    def default(cls):
        return cls.GREEN

    @property
    def low(self):
        return self.name.lower()


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()
    C = A | B


class Mode(str, enum.Enum):
    FAST = "fast"
    SLOW = "slow"


WAYS = {Color.RED: 2, Color.GREEN: 3}


@program(T, two)
def enums(x):
    c = Color(x.dim())
    y = c.mix(x) + WAYS[c]
    try:
        Color(9)
    except ValueError as e:
        told = str(e)
    return y, c, c is Color.RED, c.low, Color["GREEN"], Color.CRIMSON is Color.RED, [m.name for m in Color], len(Color), told, c in WAYS


@program(T, two)
def int_and_str_enums(x):
    mode = Mode("fast" if x.dim() == 1 else "slow")
    y = x * Level.HIGH + Level.LOW
    return (y, Level.HIGH + 1, Level.LOW < Level.HIGH, mode == "fast", mode.upper(), {"fast": 1}.get(mode, 0), Level(10), max(Level),
            isinstance(mode, str), sum(Level))


@program(T, two)
def flags(x):
    f = Flags.A
    if x.dim() == 2:
        f |= Flags.B
    return x + f.value, f, Flags.B in f, f & Flags.B, bool(f & Flags.B), f is Flags.C, ~f


def of_calls():
    return T(3), Color.GREEN, Mode.SLOW


@program(lambda: (T(3), Color.RED, Mode.FAST), of_calls, of_calls)
def enums_as_arguments(x, color, mode):
    match color:
        case Color.RED:
            x = x + 1
        case Color.GREEN if mode is Mode.SLOW:
            x = x * 2
    return x, color.value, color == Color.GREEN, {color: mode}[color] is mode, getattr(Color, color.name) is color


class Output(collections.OrderedDict):
    """As the outputs of model libraries: a dictionary, attributes, and a tuple of what is not None."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def __post_init__(self):
        names = [f.name for f in dataclasses.fields(self)]
        for name in names:
            v = getattr(self, name)
            if v is not None:
                self[name] = v

    def __getitem__(self, k):
        if isinstance(k, str):
            return dict(self.items())[k]
        return self.to_tuple()[k]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __delitem__(self, key):
        raise TypeError(f"no deleting of {key} from {type(self).__name__}")

    def to_tuple(self):
        return tuple(self[k] for k in self.keys())


@dataclass
class Result(Output):
    loss: typing.Optional[torch.Tensor] = None
    logits: torch.Tensor = None
    hidden: typing.Optional[tuple] = None


@program(T, two)
def model_output(x):
    r = Result(logits=x + 1, hidden=(x, x * 2))
    first, hidden = r.to_tuple()
    r.loss = x.sum()
    r["logits"] = r.logits * 2
    return r, r[0] is r.logits, hidden[0] is x, "loss" in r, len(r), list(r), r.get("hidden") is hidden, r[:1]


@program(T, two)
def model_output_hostile(x):
    r = Result(loss=None, logits=x)
    try:
        del r["logits"]
    except TypeError as e:
        told = str(e)
    r.logits = None
    a = r["logits"] is x, r.logits
    r.move_to_end("logits")
    r["more"] = x * 2
    try:
        r["absent"]
    except KeyError as e:
        return r.more + 1, told, a, list(r.items())[0][1] is x, str(e), [k for k in reversed(r)], isinstance(r, dict)


RESULT = Result(logits=torch.ones(3))


@program(T)
def old_model_output(x):
    y = x * RESULT.logits
    RESULT.logits = y
    RESULT["seen"] = len(RESULT)
    if len(RESULT) > 2:
        RESULT.popitem()
    return y, RESULT[0] is y, {**RESULT}, dict(RESULT) == RESULT


class Movie(typing.TypedDict, total=False):
    name: str
    x: torch.Tensor


@program(T, two)
def typed_dicts(x):
    m = Movie(name="n", x=x)
    n: Movie = {"x": m["x"] * 2}
    n.update(m, name="other")
    return m, n, x + len(n), type(m) is dict, n["x"] is x, Movie.__total__, {**m, "x": 1} | n


SPACE = SimpleNamespace(a=1, deep=SimpleNamespace(items=[1]))


@program(T, two)
def namespaces(x):
    s = SimpleNamespace(x=x, n=2)
    s.y = s.x * s.n
    del s.n
    SPACE.a += 1
    SPACE.deep.items.append(SPACE.a)
    SPACE.deep.x = x
    t = SimpleNamespace(**vars(s), more=1)
    return t, s == SimpleNamespace(x=x, y=s.y), hasattr(s, "n"), x + SPACE.a, getattr(SPACE, "zz", None), sorted(vars(SPACE))


class AttrDict(dict):
    """Items as attributes, in both directions."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Dotted(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


@program(T, two)
def dotted(x):
    d = Dotted(x=x)
    d.y = d.x + 1
    d["z"] = d.missing
    del d.x
    return d, d.y * 2, "x" in d, d.z, list(d)


@program(T)
def dictionary_as_attributes(x):
    d = AttrDict(x=x)
    d.y = x + 1
    d["z"] = d.y * 2
    del d.x
    return d.z, sorted(d), d["y"] is d.y, vars(d) is d


@program(T, two)
def counters_and_defaults(x):
    c = collections.Counter("abca")
    c["a"] += x.dim()
    d = collections.defaultdict(list)
    d["x"].append(x)
    d["y"].append(x * c["a"])
    for name in d:
        c[name] -= 1
    m = collections.ChainMap({"a": x}, {"a": 1, "b": 2})
    return c, d, c.most_common(1), m["a"] + m["b"], c["none"], "none" in c, c + c


FIXED = MappingProxyType({"rate": 2, "deep": {"k": 3}})


@program(T)
def mapping_proxies(x):
    y = x * FIXED["rate"] + FIXED["deep"]["k"]
    try:
        FIXED["rate"] = 3
    except TypeError as e:
        told = str(e)
    return y, told, list(FIXED.items()), "none" in FIXED, {**FIXED}["rate"], Batch.__dict__["scale"]


@dataclass
class Node:
    value: object
    next: "Node" = None

    def __iter__(self):
        node = self
        while node is not None:
            yield node.value
            node = node.next

    def push(self, value):
        return Node(value, self)


@program(T, two)
def linked_records(x):
    n = Node(x).push(x + 1).push(2)
    total = sum(n)
    ring = Node(1)
    ring.next = Node(2, ring)
    n.next.next.value = total
    return n, ring, total, [*n][1] is n.next.value, len(list(n))


@program()
def fields_of_a_new_named_tuple(x):
    P = collections.namedtuple("P", "a b")
    out = [P.a.__doc__, P.b.__doc__, type(P.a).__name__, hasattr(P.a, "__isabstractmethod__"), hasattr(P.a, "__func__"), P(1, 2).a, P.__doc__]
    return x + P(1, 2).b, out
