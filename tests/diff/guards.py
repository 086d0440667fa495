"""What may differ from call to call: each program has to notice."""
import enum
import collections
import dataclasses

import torch
from kit import T, program

LOG = []
SCALE = 2
FLAG = None
MODE = {"name": "add"}
STEP = 0


def turn(n):
    """0, 1, … n-1 in turn, kept in a global."""
    global STEP
    STEP += 1
    return STEP % n


class Box:
    kind = "box"

    def __init__(self, **kw):
        self.__dict__.update(kw)

    def go(self, x):
        return x + 1


class SubBox(Box):
    def go(self, x):
        return x - 1


def args(*rest):
    return lambda: (T(3), *rest)


@program(args(1), args(1.0), args(True), args(2), args(-0.0), args(0), args("1"), args(None))
def values_and_types(x, v):
    if isinstance(v, str):
        return x, v * 2
    if v is None:
        return x + 1
    return x * v, v == 1, type(v).__name__, str(v), 1 / (v or 1), f"{v!r}"


@program(lambda: T(2, 3), lambda: T(2, 3).double(), lambda: T(2, 3).long(), lambda: T(2, 3).bool(), lambda: T(2, 3).to(torch.bfloat16), lambda: T(2, 3) + 1j)
def dtypes(x):
    y = x + 1
    if x.dtype.is_floating_point:
        y = y / 2
    return y, y.dtype, x.dtype == torch.int64, x.is_complex(), x.element_size()


@program(lambda: T(2, 3), lambda: T(3, 2), lambda: T(1, 3), lambda: T(3), lambda: T(0, 3), lambda: torch.tensor(2.0), lambda: T(2, 1, 3))
def shapes(x):
    y = x * 2
    if x.dim() == 0:
        return y + 1, x.shape
    out = [v.sum() for v in y]
    return y.reshape(-1), out, len(x), x.shape[-1], x.numel() == 6, y.sum(0)


@program(lambda: T(3, 3), lambda: T(3, 3).t(), lambda: T(6, 3)[::2], lambda: T(3, 1).expand(3, 3), lambda: T(4, 3)[1:], lambda: T(3, 3).clone().as_strided((3, 3), (1, 1)))
def strides(x):
    y = x + 1
    told = x.is_contiguous(), x.stride(), x.storage_offset(), y.stride()
    if not x.is_contiguous():
        y = y.contiguous() * 2
    return y, told, x.contiguous() is x, x.t().stride()


@program(lambda: T(3), lambda: T(3, grad=True), lambda: T(3, grad=True) * 1, lambda: torch.nn.Parameter(T(3)), lambda: (T(3, grad=True) * 2).detach())
def requires_grad(x):
    y = x * 2
    with torch.no_grad():
        z = x + 1
    if y.requires_grad and x.is_leaf:
        y.sum().backward()
    return y, z, x.is_leaf, y.grad_fn is None, isinstance(x, torch.nn.Parameter), x.grad if x.is_leaf else None


class Sub(torch.Tensor):
    pass


@program(lambda: T(3), lambda: T(3).as_subclass(Sub), lambda: torch.nn.Parameter(T(3), requires_grad=False), lambda: torch.nn.Buffer(T(3)))
def tensor_classes(x):
    y = x + 1
    return y, type(y).__name__, type(x) is torch.Tensor, isinstance(x, Sub), y.sum().item()


@program()
def global_changes(x):
    global SCALE, FLAG
    k = turn(4)
    y = x * SCALE
    if FLAG:
        y = y + FLAG
    SCALE = [2, 2.0, "a", torch.tensor(3.0)][k] if k != 2 else 7
    FLAG = [None, 1, 0, [5][0]][k]
    MODE["name"] = ["add", "mul"][k % 2]
    return (y + 1 if MODE["name"] == "add" else y * 2), SCALE


def make(n):
    def get(x, by=1):
        return x * n + by

    def put(v):
        nonlocal n
        n = v
    return get, put


GET, PUT = make(2)


@program()
def closure_and_defaults_change(x):
    k = turn(3)
    y = GET(x)
    PUT([2, 2.5, torch.ones(3)][k])
    GET.__defaults__ = ([1, 1.0, True][k],)
    return y, GET(x), GET.__defaults__


def pick_a(x):
    return x + 1


def pick_b(x):
    return x * 5


ACT = pick_a


@program()
def function_replaced(x):
    global ACT
    y = ACT(x)
    ACT = pick_b if ACT is pick_a else pick_a
    code = pick_a.__code__
    if turn(2):
        pick_a.__code__ = pick_b.__code__
    z = pick_a(x)
    pick_a.__code__ = code
    return y, z, pick_a(x)


BOX = Box(scale=1, inner=Box(v=2))


@program()
def attributes_change(x):
    k = turn(5)
    y = x * BOX.scale + BOX.inner.v
    if k == 0:
        BOX.scale = 2
    elif k == 1:
        BOX.inner = Box(v=3.5)
    elif k == 2:
        BOX.inner.v = x.sum()
    elif k == 3:
        BOX.go = lambda v: v * 100
    else:
        BOX.__dict__.pop("go", None)
    return y, BOX.go(x), BOX.kind


@program(args(Box()), args(SubBox()), args(Box(go=lambda v: v * 9)), args(type("Box", (), {"go": Box.go, "kind": 3})()))
def classes_flip(x, o):
    return o.go(x), o.kind, isinstance(o, SubBox), isinstance(o, Box), type(o).__name__, type(o) is Box


@program(args({"a": 1, "b": 2}), args({"b": 2, "a": 1}), args({"a": 1}), args({"a": 1, "b": 2, "c": 3}), args({"a": 1.0, "b": 2}), args(collections.OrderedDict(b=2, a=1)), args({}))
def dict_keys(x, d):
    for k, v in d.items():
        x = x * 2 + v
    first = next(iter(d), None)
    return x, first, list(d), d.get("b"), "c" in d, len(d), type(d).__name__


@program(args([1, 2]), args([1, 2, 3]), args([]), args([2, 1]), args((1, 2)), args([1, [2]]), args([None, 2]), args(range(1, 3)))
def list_lengths(x, v):
    for k in v:
        if isinstance(k, int):
            x = x + k
    last = v[-1] if v else "none"
    return x, last, len(v), isinstance(v, list), [*v][:1], sum(k for k in v if type(k) is int)


@program(args(None), args(T(3)), args(0), args([]), args(False), args(Box()), args(torch.zeros(1)), args(torch.tensor(True)))
def none_flips(x, v):
    y = x if v is None else x + 1
    z = 1 if (v if not isinstance(v, torch.Tensor) or v.numel() == 1 else None) else 2
    return y * z, v is None, v is False, isinstance(v, (int, list)), v == 0 if not isinstance(v, (Box, torch.Tensor)) else None


NETS = [torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(3)]


@program(args(NETS[0]), args(NETS[1]), args(torch.nn.Dropout(0.0).eval()))
def training_flags(x, net):
    x = torch.stack([x, x + 1])
    a = net(x)
    net.train(not net.training)
    b = net(x)
    return a, b, net.training, "train" if net.training else "eval"


def same():
    x = T(3)
    return x, x, Box(x=x)


@program(same, lambda: (T(3), T(3), Box(x=T(3))), lambda: (*[T(3)] * 2, Box(x=T(3))))
def identity(x, y, o):
    if x is y:
        z = x * 2
    else:
        z = x + y
    w = z + 1 if o.x is x else z - 1
    return z, w, x is o.x, y is o.x, [y, x].index(x) if x is y else -1


@program(args(3, 3), args(257, 257), args(257, 2), args("a" * 3, "aaa"), args((), ()), args(None, 0), args([], []))
def identity_and_equality(x, a, b):
    same = a is b
    c = a
    return x + len(str(a)), a == b, c is a, (a is None, b is None), same if a in (3, ()) else None


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Data:
    a: object
    b: object


@program(args((1, 2)), args(Pair(1, 2)), args(Data(1, 2)), args((1, 2, 3)), args(Pair(1, (2, 3))), args([1, 2]), args(Pair(T(3), 2)))
def containers_flip(x, v):
    a, b = (v.a, v.b) if hasattr(v, "a") else v[:2]
    if isinstance(b, tuple):
        b = b[0]
    return x * b + a, type(v).__name__, isinstance(v, tuple), isinstance(v, tuple) and len(v)


@program(args(0, 10), args(1, 10), args(2, 10), args(2, 11), args(-1, 4), args(5, 3))
def integers(x, n, m):
    out = [x + k for k in range(n, min(m, n + 3))]
    told = n < m, n % 3 == 2, n in (1, 2), m - n > 8, divmod(m, 3), -n ** 2, n & 1, n << 2, (n or m), bin(n)
    try:
        return out, told, m // n, [10, 20, 30][n]
    except (ZeroDivisionError, IndexError) as e:
        return out, told, str(e)


@program(args(0.5), args(1.5), args(float("nan")), args(float("inf")), args(-0.0), args(0.0), args(1e300), args(2))
def floats(x, f):
    told = f > 1, f != f, f == 0, str(f), f * f, f.is_integer() if isinstance(f, float) else None
    try:
        return x * f, told, int(f), round(f, 1), 1.0 / f
    except (ValueError, OverflowError, ZeroDivisionError) as e:
        return x, told, str(e)


@program(args("relu"), args("gelu"), args("re" + "lu"), args("RELU"), args(""), args("tanh:2"), args("ünïcode"))
def strings(x, name):
    f = getattr(torch, name, None) or {"gelu": torch.nn.functional.gelu}.get(name)
    head, sep, tail = name.partition(":")
    y = f(x) if f else x
    return y * (int(tail) if tail else 1), name.upper() == name, head, bool(sep), len(name), name[:2] == "re", name.lower() in "relu"


@program(args(torch.relu), args(torch.sin), args(lambda v: v + 1), args(pick_b), args(torch.nn.ReLU()), args(Box().go), args(str), args(abs))
def functions_as_arguments(x, f):
    y = f(x)
    return y if isinstance(y, str) else y + 1, f is torch.relu, callable(f), getattr(f, "__name__", "none") == "<lambda>"


class Meta(type):
    def __instancecheck__(cls, v):
        return hasattr(v, "quack")


class Duck(metaclass=Meta):
    pass


DUCKS = [Box(), Box(quack=1)]


@program()
def isinstance_flips(x):
    o = DUCKS[turn(2)]
    y = x + 1 if isinstance(o, Duck) else x - 1
    if hasattr(DUCKS[0], "quack"):
        del DUCKS[0].quack
    else:
        DUCKS[0].quack = 2
    return y, isinstance(DUCKS[0], Duck), isinstance(x, (Duck, torch.Tensor))


@program(args({"x": [1, {"k": T(2)}]}), args({"x": [1, {"k": T(3)}]}), args({"x": [2, {"k": None}]}), args({"x": [1, {}]}), args({"x": (1, {"k": T(2)})}), args({"x": [1]}))
def nested_inputs(x, d):
    try:
        n, inner = d["x"]
        k = inner["k"]
    except (KeyError, ValueError) as e:
        return x, str(e)
    return x * n + (0 if k is None else k.sum()), k is None or k.shape[0]


class Mode(enum.Enum):
    SUM = 1
    MEAN = 2
    MAX = 3


class Held:
    first = []
    second = Mode.SUM

    def __init__(self, kind):
        self.kind = kind


@program(lambda: (T(3), Mode.MEAN), lambda: (T(3), Mode.MAX), lambda: (T(3), Mode.SUM))
def members_of_an_enumeration(x, mode):
    if mode == Mode.SUM:
        return x.sum()
    if mode == Mode.MEAN:
        return x.mean()
    return x.max(), mode.name


@program(lambda: (T(3), Mode.MEAN), lambda: (T(3), Mode.MAX), lambda: (T(3), Mode.SUM), lambda: (T(3), 1))
def patterns_of_an_enumeration(x, mode):
    match mode:
        case Mode.SUM:
            return x.sum()
        case Mode.MEAN:
            return x.mean()
        case Mode.MAX:
            return x.max()
    return x


@program(lambda: (T(3), Held(Held.first)), lambda: (T(3), Held([])), lambda: (T(3), Held(Mode.SUM)), lambda: (T(3), Held(Mode.MAX)))
def what_a_class_has_too(x, held):
    kind = held.kind
    same = kind is Held.first, kind is Held.second, kind == Held.second, kind in (Held.second,), kind == Mode(3)
    return x + sum(same), same


@program(lambda: (T(3), [Mode.MEAN, Mode.MEAN]), lambda: (T(3), [Mode.MAX, Mode.MEAN]), lambda: (T(3), [Mode.SUM, Mode.SUM]))
def members_in_a_list(x, modes):
    counts = {}
    for m in modes:
        counts[m] = counts.get(m, 0) + 1
    return x * len(counts), {Mode.SUM: 1, Mode.MEAN: 2}.get(modes[0]), modes.count(Mode.MEAN), modes[0] in {Mode.SUM, Mode.MAX}


class Named:
    mode = "".join(["re", "flect"])
    pair = tuple([1, 2])


NAMES = "".join(["refl", "ect"]), Named.mode, "zeros"


@program(lambda: (T(3), Named.mode, Named.pair), lambda: (T(3), NAMES[0], tuple([1, 2])), lambda: (T(3), NAMES[2], (1, 3)))
def constants_of_a_class_by_identity(x, mode, pair):
    return x + 1, mode is Named.mode, mode == Named.mode, pair is Named.pair, pair == Named.pair, Named.mode


@program(lambda: (T(3), 0), lambda: (T(3), 1), lambda: (T(3), 0))
def a_constant_of_a_class_that_gives_way_to_an_equal_one(x, k):
    Named.mode = NAMES[k]
    return x + 1, Named.mode is NAMES[0], Named().mode is NAMES[1], [Named.mode], id(Named.mode) == id(NAMES[k])
