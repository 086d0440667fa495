"""More themes of random programs, as in themes.py: classes that change, exceptions, hooks in Python, the library, torch."""
from themes import Theme

CLASSES = Theme("K", '''
class Meta(type):
    count = 0

    def __call__(cls, *args):
        Meta.count += 1
        return super().__call__(*args)

    def __len__(cls):
        return 4

    def __contains__(cls, v):
        return v == 1

    @property
    def meta(cls):
        return cls.__name__


class Base:
    x, y = 1, 2
    shared = []

    def f(self):
        return self.x

    def g(self, t):
        return t + self.x

    def __repr__(self):
        return "Base"


class Mid(Base):
    y = 3

    def f(self):
        return super().f() + 10


class Alt:
    x, y, z = 5, 6, 7

    def f(self):
        return -1

    def g(self, t):
        return t * 2


class Leaf(Mid):
    def g(self, t):
        return super().g(t) * 2


class Made(metaclass=Meta):
    x = 1

    def __init__(self, v=1):
        self.v = v


class Desc:
    def __get__(self, obj, kind):
        return 5 if obj is None else obj.__dict__.get("_d", 0)

    def __set__(self, obj, v):
        obj.__dict__["_d"] = v


class NonData:
    def __get__(self, obj, kind):
        return "nondata"


class Hold:
    d, nd = Desc(), NonData()
    __slots__ = "a", "__dict__"
    subs = []

    def __init_subclass__(cls, tag=None, **kw):
        cls.tag = tag
        Hold.subs.append(cls.__name__)

    def __class_getitem__(cls, k):
        return k


class Sub(Hold, tag="t"):
    pass


def free(self):
    return self.x * 100


def twice(self, t):
    return t * 3


OB, OM, OL, OH = Base(), Mid(), Leaf(), Sub()
KINDS = [Base, Mid, Leaf, Made]
''', ["OB", "OM", "OL", "OH", "Base()", "Mid()", "Leaf()", "Made()", "Sub()", "Hold()"], [
    "Base()", "Mid()", "Leaf()", "Made({v})", "Sub()", "KINDS[{i} % 3]()", "type({K})()", "{K} if {b} else {K}", "unknown({K})", "copy.copy({K})", "type('Dyn', (Mid,), {{'x': {i}}})()", "{K}.__class__()", "object.__new__(Leaf)", "type('Two', (Base, Hold), {{}})()",
], {
    "i": ["{K}.x", "{K}.y", "{K}.f()", "Base.x", "Mid.y", "Leaf.x", "len(Made)", "Meta.count", "Made.x", "{K}.d", "Sub.d", "len(type({K}).__mro__)", "{K}.v", "Hold[{i}]", "super(Mid, OM).x", "super(Leaf, {K}).f()", "Base.f({K})", "getattr({K}, 'z', {i})", "type({K}).x", "len(Base.__subclasses__()) * 0", "Base.__dict__['x']", "vars(Mid).get('x', 0)", "len(Hold.subs)"],
    "b": ["isinstance({K}, Base)", "isinstance({K}, (Alt, Mid))", "issubclass(type({K}), Mid)", "issubclass(Leaf, Alt)", "hasattr({K}, 'z')", "hasattr(type({K}), 'f')", "{i} in Made", "type({K}) is Mid", "{K}.__class__ is Base", "{K}.f == {K}.f", "type({K}).f is Base.f", "{K} == {K}", "Base in type({K}).__mro__", "callable({K})", "type({K}).__bases__ == (Base,)"],
    "t": ["{K}.g({t})", "{t} * {K}.x", "{t} + {K}.f()", "Base.g({K}, {t})", "{t} * Leaf.x", "type({K}).g({K}, {t})", "{t} + len(Made)", "functools.partial(Base.g, {K})({t})"], "s": ["type({K}).__name__", "{K}.nd", "repr({K})", "Made.meta", "str(type({K}).__mro__)", "Leaf.__qualname__", "{K}.__doc__ or ''", "type({K}).__module__", "Sub.tag"],
    "l": ["Base.shared", "{K}.shared", "[c.__name__ for c in type({K}).__mro__]", "[k.x for k in KINDS]", "Hold.subs", "[getattr(k, 'y', None) for k in KINDS]"], "o": ["{K}", "{K}"], "p": ["type({K}).__mro__", "type({K}).__bases__", "(Base.x, Mid.x, {K}.x)"], "d": ["vars({K})", "dict(vars({K}))"],
}, ["Base.x = {v}", "Base.x += 1", "Mid.x = {i}", "del Mid.x", "Mid.y = {i}", "{K}.x = {v}", "del {K}.x", "{K}.y = {i}", "Leaf.f = free", "del Leaf.f", "Base.f = free", "Base.g = twice", "Mid.f = lambda self: {i}", "{K}.f = len", "{K}.f = lambda: {i}", "Base.z = {v}", "del Base.z", "Base.shared.append({v})", "{K}.shared = {l}", "{K}.__class__ = Mid", "{K}.__class__ = Alt", "Leaf.__bases__ = (Alt,)", "Leaf.__bases__ = (Mid,)", "Leaf.__bases__ = (Mid, Alt)", "Base.__name__ = {s}",
    "LOG.append(Base.__name__)", "Base.__call__ = lambda self, k=0: k", "LOG.append({K}({i}))", "Base.__eq__ = lambda self, other: {b}", "Base.__len__ = lambda self: 2", "del Base.__len__", "LOG.append(bool({K}))", "Base.__getattr__ = lambda self, name: len(name)", "del Base.__getattr__", "LOG.append({K}.nope)", "Mid.x = property(lambda self: {i})", "Mid.x = Desc()", "{K}.d = {i}", "OH.nd = {v}", "Hold.nd = {v}", "OH.a = {v}", "LOG.append({K}.a)", "Base.__add__ = lambda self, o: o", "out.append({K} + {v})",
    "out.append({K}.g({t}))", "LOG.append(({K}.x, {K}.y))", "LOG.append({K}.f())", "Made.x = {v}", "Made.v = {v}", "Meta.x = {v}", "Meta.__len__ = lambda cls: {i} % 5", "setattr(KINDS[{i} % 3], 'x', {v})", "for {new} in KINDS: LOG.append(({new}.__name__, {new}.x))", "{=K} = {K}", "out.append({K})", "class New(Mid, Hold if {b} else Alt):\n    x = {v}\n    def f(self): return super().f()\nout.append((New().f(), New.x, New().y))", "class Tag(Hold, tag={v}): pass\nLOG.append(Tag.tag)",
    "Base.made = classmethod(lambda cls: cls.x)\nLOG.append(Leaf.made())", "Base.stat = staticmethod(lambda k={i}: k)\nLOG.append({K}.stat())", "Leaf.__doc__ = {s}", "Base.x, Mid.x = {i}, {i}\nLOG.append(OL.x)", "{K}.__dict__['x'] = {v}", "{K}.__dict__.clear()", "Base.__setattr__ = lambda self, k, v: LOG.append(k)", "del Base.__setattr__", "Base.f.__defaults__ = ()", "LOG.append(super(Leaf, OL).f())", "KINDS.append(Alt)", "with contextlib.suppress(AttributeError): {K}.missing"],
    ["Base.x = {v}", "Base.x = 9", "Mid.x = 8", "Leaf.x = 7", "OL.x = 6", "Leaf.f = free", "Mid.f = free", "Base.g = twice", "Leaf.g = twice", "del Leaf.g", "Leaf.__bases__ = (Alt,)", "Leaf.__bases__ = (Base,)", "Leaf.__bases__ = (Mid, Alt)", "OM.__class__ = Leaf", "OL.__class__ = Base", "OL.__class__ = Alt", "Base.__name__ = 'Renamed'", "Base.__qualname__ = 'Q'", "Base.z = 1", "Mid.x = property(lambda self: 4)", "Mid.x = Desc()", "Hold.d = NonData()", "Hold.nd = Desc()", "OH.nd = 1",
     "OB.f = lambda: 3", "Base.__getattribute__ = lambda self, k: object.__getattribute__(self, k) if k != 'x' else 0", "Base.__len__ = lambda self: 0", "Meta.__len__ = lambda cls: 2", "Made.x = {v}", "Meta.x = property(lambda cls: 3)", "KINDS.reverse()", "e = {K}", "e.x = {v}", "Base.shared = [1]", "Mid.shared = Base.shared", "free.__code__ = (lambda self: 42).__code__", "twice.__defaults__ = (2,)", "Base.g.__code__ = (lambda self, t: t - 1).__code__"])

ERRORS = Theme("X", '''
class E1(ValueError):
    def __init__(self, code, *rest):
        super().__init__(code, *rest)
        self.code = code

    def __str__(self):
        return f"E1:{self.code}"


class E2(E0, KeyError):
    pass


class E3(Exception):
    def __new__(cls, *args, **kwargs):
        LOG.append("new")
        return super().__new__(cls, *args)

    def __init__(self, *args, extra=None):
        self.extra = extra


class E4(BaseException):
    pass


class Stop(StopIteration):
    pass


KINDS_X = (ValueError, KeyError, E1)
LAST = [ValueError("first")]


def thrower(e, chain=None):
    LOG.append(type(e).__name__)
    raise e from chain


def catcher(fn, *args):
    try:
        return fn(*args)
    except (ValueError, LookupError) as z:
        LOG.append(("caught", type(z).__name__, type(z.__context__).__name__, z.__suppress_context__))
        return z
    finally:
        LOG.append("finally")


class Swallow:
    def __init__(self, *kinds):
        self.kinds, self.got = kinds, []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        self.got.append((kind and kind.__name__, value and value.args, tb is None))
        return kind is not None and issubclass(kind, self.kinds or Exception)
''', ["ValueError({v})", "KeyError({s})", "E1({i})", "LAST[0]", "IndexError()", "TypeError({s}, {i})", "E2({s})", "StopIteration({v})", "OSError(2, {s})"], [
    "ValueError()", "ValueError({v}, {v})", "KeyError({v})", "KeyError()", "KeyError({s}, 2)", "IndexError({i})", "AttributeError({s})", "AttributeError({s}, name='n', obj=1)", "NameError({s}, name='q')", "TypeError()", "ZeroDivisionError({s})", "OverflowError({i})", "ArithmeticError()", "LookupError({p})", "OSError({s})", "OSError({i}, {s})", "OSError(2, {s}, 'file')", "FileNotFoundError(2, 'x')", "IOError(13, {s})", "PermissionError({i})", "TimeoutError()", "ImportError({s}, name='m', path='p')",
    "ModuleNotFoundError({s})", "StopIteration()", "StopIteration({v})", "StopAsyncIteration({i})", "RuntimeError({t})", "RecursionError({s})", "NotImplementedError()", "AssertionError({v})", "EOFError({s})", "MemoryError()", "BufferError({s})", "ReferenceError()", "SystemError({s})", "SyntaxError({s})", "SyntaxError({s}, ('f', 1, 2, 'text'))", "UnicodeError({s})", "UnicodeDecodeError('utf8', b'ab', 0, 1, {s})", "UnicodeEncodeError('ascii', {s}, 0, 1, 'why')", "Warning({s})", "UserWarning()", "DeprecationWarning({s})", "GeneratorExit()", "KeyboardInterrupt()",
    "SystemExit({v})", "Exception({v}, {i}, {s})", "BaseException({v})", "E0({v})", "E1({i}, {s})", "E2({v})", "E3({v}, extra={i})", "E4({s})", "Stop({v})", "ExceptionGroup({s}, [ValueError({i}), {X}])", "type({X})({v})", "type({X})(*{X}.args)", "{X}.with_traceback(None)", "{X}.__context__", "{X}.__cause__", "catcher(thrower, {X})", "unknown({X})", "{X} if {b} else {X}", "copy.copy({X})", "LAST[-1]",
], {
    "s": ["str({X})", "repr({X})", "f'{{{.X}}}'", "type({X}).__name__", "{X}.args[0]", "{X}.strerror", "{X}.filename", "{X}.name", "{X}.msg", "{X}.reason", "str(catcher(thrower, {X}))"], "i": ["len({X}.args)", "{X}.code", "{X}.errno", "{X}.value", "{X}.args[1]", "{X}.extra", "{X}.start"], "p": ["{X}.args", "({X}, {X})", "KINDS_X", "type({X}).__mro__[:2]"], "l": ["[{X}]", "LAST", "list({X}.args)", "{X}.exceptions", "{X}.__notes__"],
    "b": ["isinstance({X}, ValueError)", "isinstance({X}, KINDS_X)", "{X} == {X}", "{X} is {X}", "{X}.__context__ is None", "{X}.__cause__ is {X}", "{X}.__suppress_context__", "{X}.__traceback__ is None", "issubclass(type({X}), LookupError)", "{X}.args == ({v},)", "bool({X})"], "t": ["{t} + len({X}.args)", "{t} if isinstance({X}, Exception) else -{t}", "{X}.args[0] * {t}"], "o": ["{X}", "Swallow(ValueError)"],
}, ["raise {X}", "raise {X} from {X}", "raise {X} from None", "raise ValueError", "raise E1", "raise E2({v}) from ValueError", "thrower({X})", "thrower({X}, {X})", "out.append(catcher(thrower, {X}))", "out.append(catcher(thrower, {X}, {X}))", "try:\n    thrower({X})\nexcept Exception as z:\n    out.append(z)\n    LOG.append((type(z).__name__, str(z)))", "try:\n    raise {X}\nexcept BaseException as z:\n    LOG.append((type(z).__name__, z.args, str(z), repr(z)))",
    "try:\n    try:\n        raise {X}\n    except Exception as z:\n        {=t} = {t} + 1\n        raise {X} from z\nexcept BaseException as y_:\n    LOG.append((repr(y_.__context__), repr(y_.__cause__), y_.__suppress_context__))\n    out.append(y_)", "try:\n    try:\n        raise {X}\n    finally:\n        {=t} = {t} * 2\n        thrower({X})\nexcept BaseException as y_:\n    out.append(y_)\n    out.append(y_.__context__)",
    "try:\n    {=t} = {t} + {l}[99]\nexcept IndexError as z:\n    out.append(z)", "try:\n    {d}[{s}, {i}]\nexcept KeyError as z:\n    out.append(z)\n    LOG.append(z.args)", "try:\n    {o}.missing_name\nexcept AttributeError as z:\n    LOG.append((z.name, str(z)))\n    out.append(z.obj is {o})", "try:\n    1 // ({i} * 0)\nexcept ZeroDivisionError as z:\n    LAST.append(z)", "try:\n    undefined_name\nexcept NameError as z:\n    LOG.append((z.name, str(z)))", "try:\n    next(iter([]))\nexcept StopIteration as z:\n    LOG.append((z.value, z.args))",
    "try:\n    int({s})\nexcept ValueError as z:\n    LOG.append(str(z))\n    out.append(z)", "try:\n    {t} + {s}\nexcept TypeError as z:\n    LOG.append(str(z))", "try:\n    {t}.view(7, 7)\nexcept RuntimeError as z:\n    LOG.append(str(z))\n    out.append(z)", "try:\n    a, b = {p}\n    LOG.append((a, b))\nexcept (ValueError, TypeError) as z:\n    LOG.append(str(z))", "try:\n    raise {X}\nexcept KINDS_X as z:\n    LOG.append('kinds')\nexcept (OSError, E0):\n    LOG.append('os')\nexcept BaseException:\n    LOG.append('other')\nelse:\n    LOG.append('none')",
    "with Swallow(ValueError, KeyError) as {=o}:\n    {=t} = {t} + 1\n    raise {X}", "with Swallow(BaseException) as {=o}: thrower({X})\nLOG.append({o}.got)", "with contextlib.suppress(Exception):\n    raise {X}", "{=X} = {X}", "LAST.append({X})", "LAST[0] = {X}", "{X}.tag = {v}", "LOG.append(getattr({X}, 'tag', None))", "{X}.args = ({v},)", "{X}.add_note({s})", "LOG.append(getattr({X}, '__notes__', 0))", "{X}.__cause__ = {X}", "{X}.__context__ = {X}", "{X}.__suppress_context__ = {b}", "out.append({X})", "LOG.append(({X}.args, str({X})))",
    "{=X} = unknown({X})", "try:\n    raise {X}\nexcept* ValueError as g:\n    LOG.append(len(g.exceptions))\nexcept* Exception as g:\n    LOG.append('group')", "try:\n    try:\n        raise {X}\n    except ValueError:\n        unknown(1)\n        raise\nexcept BaseException as z:\n    LOG.append(repr(z))\n    LAST.append(z)", "for {new} in range(2):\n    try:\n        if {new}: raise {X}\n        continue\n    except Exception:\n        break\n    finally:\n        LOG.append({new})",
    "def gen():\n    try:\n        yield {v}\n    except ValueError as z:\n        yield repr(z)\n    finally:\n        LOG.append('closed')\ng = gen()\nnext(g)\nout.append(catcher(g.throw, {X}))\ng.close()", "import sys\ntry:\n    raise {X}\nexcept BaseException:\n    LOG.append(repr(sys.exc_info()[1]))\nLOG.append(sys.exc_info()[0])", "try:\n    raise {v}\nexcept TypeError as z:\n    LOG.append(str(z))", "assert {b}, {X}", "try:\n    thrower(LAST[0])\nexcept BaseException as z:\n    LOG.append(z is LAST[0])\n    LOG.append(z.__traceback__ is None)"],
    ["LAST[0] = {X}", "LAST.clear()", "LAST[:] = [KeyError(1)]", "E1.__str__ = lambda self: 'changed'", "e = {X}", "e = E1(1)", "e = ValueError", "o = {X}", "E1.__init__ = lambda self, *a: None", "s = '5'", "s = 'not a number'", "d = dict.fromkeys('ab')", "LAST[0].args = ()"])

HOOKS = Theme("H", '''
class Eq:
    def __init__(self, v, how=True):
        self.v, self.how = v, how

    def __eq__(self, other):
        LOG.append(("eq", self.v))
        if isinstance(other, Eq):
            return self.v == other.v
        return self.v == other if self.how else NotImplemented

    def __hash__(self):
        LOG.append(("hash", self.v))
        return hash(self.v)


class NoHash:
    v = 0

    def __eq__(self, other):
        return self.v


class Truth:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        LOG.append("bool")
        return self.v


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        LOG.append(("item", str(k)))
        if isinstance(k, slice):
            return list(range(*k.indices(self.n)))
        if k >= self.n:
            raise IndexError(k)
        return k

    def __setitem__(self, k, v):
        LOG.append((str(k), type(v).__name__))
        self.n += 1


class Has:
    def __contains__(self, v):
        LOG.append("contains")
        return v


class Attr:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        LOG.append(("get", name))
        return len(name)

    def __dir__(self):
        return ["b", "a"]


class Setter:
    def __setattr__(self, name, v):
        LOG.append(("set", name))
        self.__dict__[name.upper()] = v

    def __delattr__(self, name):
        LOG.append(("del", name))


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        LOG.append("index")
        return self.n

    def __int__(self):
        return self.n + 1

    def __float__(self):
        return self.n / 2

    def __round__(self, k=None):
        return k

    def __trunc__(self):
        return 3


@functools.total_ordering
class Order:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        LOG.append("lt")
        return self.v < getattr(other, "v", other)

    def __eq__(self, other):
        return self.v == getattr(other, "v", other)


class Num2:
    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        return Num2(self.v + o) if isinstance(o, (int, float, torch.Tensor)) else NotImplemented

    def __radd__(self, o):
        LOG.append("radd")
        return Num2(o + self.v)

    def __iadd__(self, o):
        self.v = self.v + o
        return self

    def __rmul__(self, o):
        return o * self.v

    def __mul__(self, o):
        return self.v * o

    def __rsub__(self, o):
        return NotImplemented

    def __neg__(self):
        return Num2(-self.v)

    def __pow__(self, o, m=None):
        return (o, m)

    def __divmod__(self, o):
        return o, self.v

    def __matmul__(self, o):
        return o

    def __abs__(self):
        return 3


class NumSub(Num2):
    def __radd__(self, o):
        LOG.append("sub radd")
        return "sub"


class Text2:
    def __str__(self):
        return "text"

    def __repr__(self):
        LOG.append("repr")
        return "T2"

    def __format__(self, spec):
        return f"<{spec}>"

    def __bytes__(self):
        return b"b"


class Iter2:
    def __iter__(self):
        LOG.append("iter")
        return iter([3, 2, 1])

    def __reversed__(self):
        return iter("rev")

    def __length_hint__(self):
        return 2


class Map2:
    def keys(self):
        return ["a", "b"]

    def __getitem__(self, k):
        LOG.append(k)
        if k not in ("a", "b"):
            raise KeyError(k)
        return k * 2


class Func:
    def __init__(self):
        self.calls = 0

    def __call__(self, *a, **k):
        self.calls += 1
        return a[0] if a else k

    def __get__(self, obj, kind):
        return self if obj is None else functools.partial(self, obj)


class Usage:
    fn = Func()

    def __missing__(self, k):
        return k


class Wrap:
    def __init__(self, x):
        self.x = x

    def __torch_function__(self, fn, types, args=(), kwargs=None):
        return fn.__name__


HEQ, HATTR, HIDX = Eq(1), Attr(a=1), Index(1)
EQS = [Eq(1), Eq(2), 1, "a"]
BYEQ = {Eq(1): "one", 2: "two"}
''', ["HEQ", "HATTR", "HIDX", "Eq({v})", "Truth({b})", "Sized({i} % 4)", "Has()", "Index({i})", "Order({i})", "Num2({i})", "EQS[0]", "Iter2()", "Text2()"], [
    "Eq({v})", "Eq({i}, False)", "NoHash()", "Truth({b})", "Truth({v})", "Sized({i} % 4)", "Sized({i})", "Has()", "Attr(a={v})", "Attr(k={i}, l={l})", "Setter()", "Index({i})", "Index({v})", "Order({i})", "Num2({i})", "Num2({t})", "NumSub({i})", "Text2()", "Iter2()", "Map2()", "Func()", "Usage()", "Usage.fn", "Usage().fn", "Num2({n}) + {n}", "{n} + Num2({n})", "{H} + {H}", "{H} + {v}", "{v} + {H}", "-{H}", "{H} if {H} else {H}", "{H} or {H}", "{H} and {v}", "max({H}, {H})",
    "sorted([{H}, {H}])[0]", "unknown({H})", "copy.copy({H})", "EQS[{i} % 2]", "min([Order({i}), Order(2)])", "sum([{H}, {H}], Num2(0))", "{H}.a", "type({H})({v})", "Wrap({t})", "{H}[1:]", "{H}({v})", "operator.add({H}, {H})",
], {
    "b": ["{H} == {H}", "{H} == {v}", "{v} == {H}", "{H} != {v}", "{H} in EQS", "{v} in EQS", "{H} in BYEQ", "{i} in BYEQ", "{H} in {l}", "{H} in {d}", "{H} in {S}", "{v} in {H}", "not {H}", "bool({H})", "{H} < {H}", "{H} >= {H}", "Order({i}) <= {i}", "{i} < Order({i})", "any([{H}, {H}])", "all([{H}, {b}])", "{H} is {H}", "callable({H})", "hasattr({H}, {s})", "[{H}] == [{H}]", "({H}, 1) == ({H}, 1)", "{H} and {b}", "isinstance({H}, Eq)", "{{'a': {H}}} == {{'a': {H}}}", "{H} == {t}", "{t} == {H}"],
    "i": ["len({H})", "int({H})", "operator.index({H})", "[5, 6, 7][{H}]", "'abc'.find('c', {H})", "{H}.v", "{H}.zz", "getattr({H}, {s}, 4)", "EQS.index({H})", "EQS.count({H})", "round({H})", "range({H})[0]", "len(range({H}))", "sum({H})", "{H} * {i}", "{i} * Num2({i})", "abs({H})", "math.trunc({H})", "math.floor({H})", "operator.length_hint({H})"], "r": ["float({H})", "math.sqrt(Index(4))", "{r} * Num2({r})"],
    "s": ["str({H})", "repr({H})", "f'{{{.H}}}'", "f'{{{.H}:abc}}'", "format({H}, 'x')", "'%s' % {H}", "'%r' % ({H},)", "'%d' % Index(3)", "str([{H}])", "type({H}).__name__", "{s}[{H}:]", "hex(Index(17))", "'x' * Index(2)", "BYEQ[{H}]", "'{{0.a}}'.format(HATTR)"], "l": ["list({H})", "[*{H}]", "sorted([Order({i}), Order({i})])", "sorted([{H}, {H}])", "list(reversed({H}))", "list(map(str, {H}))", "{l}[{H}:]", "EQS", "[{H}] * Index(2)", "[k for k in {H}]", "list(zip({H}, {H}))", "dir({H})"],
    "d": ["{{{H}: 1, {H}: 2}}", "BYEQ", "dict(Map2())", "{{**Map2()}}", "dict(zip([{H}, {H}], 'ab'))", "{{{H}: {v}}}", "dict.fromkeys([{H}, 1])", "vars({H})"], "S": ["{{{H}, {H}}}", "set([{H}, {H}, 1])", "{S} | {{{H}}}", "{S} - {{{H}}}", "frozenset([{H}])"], "p": ["({H}, {H})", "tuple({H})", "divmod(Num2({i}), {i})", "pow(Num2({i}), 2, {i})", "Num2({i}) ** {i}", "{p}[{H}:]", "(*{H},)"],
    "t": ["{t}[{H}]", "{t} + {H}", "{H} + {t}", "{t} * Num2({n})", "Num2({n}) * {t}", "Num2({t}).v", "{t} * Index(2)", "{t}.view(Index(-1))", "torch.zeros(Index(3))", "{t}.sum(Index(0))", "{H} @ {t}", "{t} if {H} else {t} + 1", "torch.where({t} > 0, {t}, {H})", "torch.tensor({H})", "{t}[Index(0):]", "torch.add({t}, {H})", "torch.tensor([Index(1), 2])", "{t}.reshape(Sized(1))", "torch.full((2,), {H})"],
}, ["if {H}: {=t} = {t} + 1\nelse: {=t} = {t} - 1", "if {H} == {v}: {=t} = {t} * 2", "if {H} in EQS: LOG.append('in')", "while {H}:\n    LOG.append('once')\n    break", "EQS.append({H})", "EQS.remove({H})", "BYEQ[{H}] = {v}", "LOG.append(BYEQ[{H}])", "LOG.append(BYEQ.get({H}))", "del BYEQ[{H}]", "out.append(BYEQ.pop({H}, None))", "BYEQ.setdefault({H}, {v})", "BYEQ.update({{{H}: 1}})", "{d}[{H}] = {v}", "{S}.add({H})", "{S}.discard({H})", "LOG.append({H}.name)", "{H}.attr = {v}", "del {H}.attr", "{H}.v = {v}", "HEQ.v = {v}",
    "HEQ.v += 1", "{H}[{i}] = {v}", "{H}[{t}] = 1", "LOG.append({H}[{i}])", "{=H} = {H}", "{=H} += {v}", "out.append({H})", "out.append({H} + {H})", "LOG.append(type({H} + {v}).__name__)", "for {new} in {H}: LOG.append({new})", "a, *b = {H}\nLOG.append((a, b))", "LOG.append((lambda *a, **k: (a, k))(*{H}))", "LOG.append((lambda **k: k)(**Map2()))", "LOG.append({H}({v}))", "out.append({H}(k={v}))", "LOG.append(EQS.index({v}))", "LOG.append({l}.count({H}))", "LOG.append({l} == [{H}])", "LOG.append({H} == {H})", "{=H} = unknown({H})",
    "match {H}:\n    case Eq(v=1): LOG.append('one')\n    case 1 | 'a': LOG.append('lit')\n    case [a, *_]: LOG.append(a)\n    case Num2(v=int(k)) if k: LOG.append(k)\n    case _: LOG.append('else')", "assert {H}, {s}", "LOG.append(not {H})", "LOG.append(sorted([{H}, {H}], key=lambda h: h.v)[0].v)", "Eq.__eq__ = lambda self, other: {b}", "Truth.__bool__ = lambda self: {b}", "Sized.__len__ = lambda self: {v}", "Has.__contains__ = None", "Index.__index__ = lambda self: {v}", "Iter2.__iter__ = lambda self: iter({l})", "NoHash.__hash__ = lambda self: {i}", "print({H})",
    "HATTR.__dict__[{s}] = {v}", "EQS.sort(key=lambda k: 0 if k == {H} else 1)", "LOG.append(max(EQS[:2], key=lambda k: k.v).v)", "LOG.append(list(filter(None, [{H}, {H}])) == [])", "LOG.append({i} if {H} else {s})", "LOG.append([k for k in [{H}, {H}] if k] != [])", "out.append(Usage().fn({v}))", "LOG.append(Usage.fn.calls)", "Usage.fn.calls += 1", "{=t} = {t} + {H}", "{=t} += {H}", "{t}[{H}] = {n}"],
    ["HEQ.v = {v}", "HEQ.how = False", "HATTR.a = {v}", "HATTR.k = {v}", "HIDX.n = {i}", "HIDX.n = 2", "EQS[0] = {H}", "EQS[0].v = 5", "BYEQ[Eq(3)] = 1", "BYEQ.clear()", "Eq.__hash__ = lambda self: 1", "Eq.__eq__ = object.__eq__", "Truth.__bool__ = lambda self: True", "del Sized.__len__", "Sized.__bool__ = lambda self: False", "Attr.__getattr__ = lambda self, name: name", "Num2.__add__ = lambda self, o: o", "del Num2.__iadd__", "Num2.__add__ = None", "Index.__index__ = lambda self: 0", "e = {H}", "e.v = {v}", "o = {H}", "n = HIDX", "n = Index(1)", "l = Sized(2)", "l = Iter2()",
     "l = [Eq(1), 2]", "d = {{Eq(1): 1}}", "s = Text2()", "NumSub.__radd__ = lambda self, o: o"])

LIBRARY = Theme("Z", '''
import types as types_
import weakref


@functools.lru_cache(maxsize=4)
def cached(n, k=1):
    LOG.append(("cached", n))
    return [n, k]


@functools.cache
def memo(n):
    return n if not isinstance(n, int) or n < 2 else memo(n - 1) + 1


@functools.singledispatch
def single(v, *rest):
    return "any"


@single.register
def _(v: int, k=1):
    return v + k


@single.register(list)
def _(v):
    return len(v)


@single.register(torch.Tensor)
def _(v):
    return v * 2


class Lazy:
    def __init__(self, n):
        self.n = n

    @functools.cached_property
    def value(self):
        LOG.append("value")
        return self.n * 2

    @functools.lru_cache(maxsize=None)
    def method(self, k):
        LOG.append("method")
        return self.n + k

    @functools.singledispatchmethod
    def on(self, v):
        return "any"

    @on.register
    def _(self, v: int):
        return v + self.n

    twice = functools.partialmethod(method, 2)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: object = None
    c: list = dataclasses.field(default_factory=list, compare=False)


@dataclasses.dataclass(order=True)
class Ordered:
    a: int = 0
    b: str = "b"
    d: dict = dataclasses.field(default_factory=dict, compare=False, repr=False)


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int
    b: int = 2

    def __post_init__(self):
        LOG.append(("post", self.a))


@dataclasses.dataclass(kw_only=True, eq=False)
class Keyed:
    a: object
    b: object = dataclasses.field(default=7, init=False)
    c: dataclasses.InitVar[int] = 0

    def __post_init__(self, c):
        self.sum = c


@dataclasses.dataclass(unsafe_hash=True)
class Child(Ordered):
    e: float = 1.5
    f: typing.ClassVar[int] = 9


class Point(typing.NamedTuple):
    x: int
    y: object = 0

    def swap(self):
        return Point(self.y, self.x)

    @property
    def total(self):
        return self.x + self.y


Trio = collections.namedtuple("Trio", "a b c", defaults=(None,))


@contextlib.contextmanager
def managed(v, swallow=False):
    LOG.append("enter")
    try:
        yield v
    except ValueError:
        if not swallow:
            raise
        LOG.append("swallowed")
    finally:
        LOG.append("exit")


def talk(n):
    total = n
    for _ in range(9):
        try:
            got = yield total
            total = total + (got if got is not None else 1)
        except KeyError as z:
            LOG.append(str(z))
            total = 0
        except GeneratorExit:
            LOG.append("exit")
            return


def outer(n):
    got = yield from talk(n)
    return got


def counter(start=0):
    count = start

    def up(k=1):
        nonlocal count
        count += k
        return count

    def get():
        return count
    up.get = get
    return up


def deco(*given):
    def around(fn):
        @functools.wraps(fn)
        def inner(*a, **k):
            inner.calls += 1
            return fn(*given, *a, **k)
        inner.calls = 0
        return inner
    return around


@deco(3)
def three(a, b=1, *, c=2):
    return (a, b, c)


UP, GEN, PART, LAZY = counter(5), talk(1), functools.partial(max, 3), Lazy(2)
next(GEN)
''', ["LAZY", "PART", "UP", "GEN", "Frozen(1)", "Ordered(1)", "Slotted(1)", "Point(1, 2)", "Lazy({i})", "Child()"], [
    "Lazy({i})", "Frozen({i}, {v})", "Frozen(a={i}, c={l})", "Ordered({i}, {s})", "Ordered()", "Slotted({i})", "Slotted(b={i}, a={v})", "Keyed(a={v}, c={i})", "Child({i}, e={r})", "Point({i}, {v})", "Point({i})", "Trio({v}, {v})", "Trio({i}, b={v})", "Trio._make([1, 2, 3])", "{Z}._replace(x={v})", "{Z}.swap()", "dataclasses.replace({Z}, a={v})", "functools.partial({fn}, {v})", "functools.partial(max, {i})", "functools.partial(PART, {i})", "functools.partial(three, b={v})", "counter({i})", "talk({i})", "outer({i})", "cached({i})", "cached({i}, k={i})", "unknown({Z})",
    "copy.copy({Z})", "copy.deepcopy({Z})", "{Z} if {b} else {Z}", "types_.SimpleNamespace(a={v})", "operator.itemgetter(0, {i})", "operator.attrgetter('a')", "operator.methodcaller('swap')", "functools.partial(Point, y={v})", "contextlib.ExitStack()", "type({Z})({v})", "max({Z}, {Z})", "managed({v})", "{Z}.__wrapped__", "functools.cmp_to_key(lambda a, b: a - b)({i})", "weakref.ref({Z})()", "types_.MappingProxyType({d})",
], {
    "i": ["UP({i})", "UP()", "UP.get()", "PART({i}, {i})", "LAZY.value", "LAZY.method({i} % 3)", "LAZY.twice()", "LAZY.on({i})", "{Z}.value", "{Z}.a", "{Z}.x", "{Z}.b", "{Z}.total", "memo({i} % 6)", "single({i})", "single({i}, {i})", "single({l})", "next(GEN, {i})", "GEN.send({i})", "cached.cache_info().hits", "cached.cache_info().misses", "cached({i})[0]", "three.calls", "functools.reduce(lambda a, b: a + b, [{i}, {i}], {i})", "len(dataclasses.fields({Z}))", "{Z}({i})", "len({Z})", "{Z}[0]", "Child.f", "sum(Point({i}, {i}))"],
    "b": ["{Z} == {Z}", "{Z} < {Z}", "{Z} is {Z}", "{Z} != {v}", "dataclasses.is_dataclass({Z})", "{Z} in {l}", "{Z} in [{Z}]", "callable({Z})", "isinstance({Z}, tuple)", "hasattr({Z}, 'value')", "Ordered({i}) < Ordered({i})", "Ordered({i}, {s}) >= Ordered({i}, {s})", "Frozen({i}) == Frozen({i})", "Point({i}, 1) == ({i}, 1)", "cached({i}) is cached({i})", "{Z} in {d}", "bool({Z})", "'value' in vars(LAZY)", "{Z}.func is max"],
    "s": ["repr({Z})", "str({Z})", "single({v})", "single({s})", "repr(Ordered({i}, {s}))", "repr(Slotted({i}))", "repr(Point({i}, {v}))", "three.__name__", "f'{{{.Z}}}'", "{Z}.__name__", "LAZY.on({s})"], "p": ["three({v})", "three({v}, c={v})", "dataclasses.astuple({Z})", "Point({i}, {v})", "Trio({v}, {v})", "{Z}.args", "tuple({Z})", "Point._fields", "({Z}, {Z})", "tuple(f.name for f in dataclasses.fields({Z}))"],
    "d": ["dataclasses.asdict({Z})", "{Z}._asdict()", "vars({Z})", "{Z}.keywords", "{{{Z}: {v}}}", "Frozen.__dataclass_fields__", "Ordered({i}).d", "{Z}.d"], "l": ["cached({i})", "Frozen({i}).c", "{Z}.c", "list({Z})", "sorted([Ordered({i}), Ordered({i})])", "list(itertools.islice({Z}, 3))", "[{Z}, {Z}]", "sorted([{i}, {i}, 3], key=functools.cmp_to_key(lambda a, b: b - a))", "list(map(PART, {p}))", "list(itertools.islice(talk({i}), 3))"],
    "t": ["single({t})", "functools.partial(torch.add, {t})({t})", "functools.partial(torch.sum, dim=0)({t})", "{t} * LAZY.value", "{t} + UP()", "Point({t}, {t}).x", "Slotted({t}).a", "dataclasses.replace(Slotted({t}), b=1).a", "{t} * cached({i})[0]", "GEN.send({t})", "functools.reduce(torch.add, [{t}, {t}])", "Frozen({t}).a * 2", "{t} + {Z}.a", "operator.itemgetter(0)({t})", "Point({t}, {t}).total", "contextlib.nullcontext({t}).enter_result"], "S": ["{{{Z}, {Z}}}"],
}, ["{=Z} = {Z}", "out.append({Z})", "{Z}.a = {v}", "{Z}.b = {v}", "{Z}.a += 1", "{Z}.n = {i}", "{Z}.d[{s}] = {v}", "{Z}.c.append({v})", "del {Z}.a", "LAZY.n = {i}", "LAZY.value = {v}", "del LAZY.value", "LOG.append(LAZY.value)", "LOG.append({Z}.value)", "cached({i}).append({v})", "cached.cache_clear()", "out.append(cached({v}))", "LOG.append(cached.cache_info())", "LOG.append(UP({i}))", "UP({v})", "LOG.append(GEN.send({i}))", "LOG.append(GEN.throw(KeyError({s})))", "GEN.close()", "LOG.append(next(GEN, 'done'))", "LOG.append({Z}.send(None))", "{Z}.close()", "out.append({Z}.throw(KeyError({i})))",
    "{=Z} = talk({i})\nLOG.append(next({=Z}))\njedlik.graph_break()\nLOG.append({=Z}.send({i}))\nLOG.append({=Z}.throw(KeyError({s})))\n{=Z}.close()", "g = outer({t})\n{=t} = next(g)\n{=t} = g.send({t})\nout.append(g)", "with managed({v}, {b}) as {new}:\n    LOG.append({new})\n    if {b}: raise ValueError({s})", "with managed({t}) as {=t}: {=t} = {=t} + 1", "with contextlib.ExitStack() as st:\n    st.callback(LOG.append, {i})\n    {=i} = st.enter_context(managed({i}))\n    st.push(lambda *z: True)\n    if {b}: raise KeyError({s})", "@managed({i})\ndef inside(k):\n    return k + {i}\nLOG.append(inside(1))",
    "LOG.append({Z}({i}))", "out.append({Z}(b={v}))", "{=o} = {Z}", "LOG.append(dataclasses.asdict({Z}))", "a, b = {Z}\nLOG.append((a, b))", "match {Z}:\n    case Point(x, 2): LOG.append(x)\n    case Ordered(a, b): LOG.append((a, b))\n    case Frozen(a=int(k)): LOG.append(k)\n    case (a, b, *_): LOG.append(a)\n    case _: LOG.append('else')", "single.register(str, lambda v: v + '!')\nLOG.append(single({s}))", "PART.keywords['key'] = lambda k: -k", "LOG.append(PART({i}, {i}))", "{=Z} = unknown({Z})", "{d}[{Z}] = {v}", "LOG.append({d}.get({Z}))", "{S}.add({Z})", "object.__setattr__({Z}, 'a', {v})",
    "c = counter({i})\nLOG.append((c(), c(2), c.get()))\njedlik.graph_break()\nLOG.append((c(3), c.get()))\nout.append(c)", "UP.extra = {v}", "LOG.append(three({v}, {v}, c={v}))", "LOG.append(three.calls)", "fns = [lambda k={i}: k + {i} for {new} in range(2)]\nLOG.append([q() for q in fns])\nout.append(fns)", "def rec(k): return 0 if k <= 0 else k + rec(k - 1)\nLOG.append(rec({i} % 5))", "LOG.append(sorted([{Z}, {Z}])[0])", "LOG.append(hash({Z}) == hash({Z}))", "{Z}.__dict__.update(n={i})", "LOG.append(repr({Z}))", "Lazy.value.func.__defaults__ = ()", "LOG.append(functools.reduce({fn}, {l}[:2], {v}))", "{Z}.zed = {v}",
    "@dataclasses.dataclass\nclass Here:\n    a: int = {i}\n    b: object = {v}\nout.append(Here())\nLOG.append(Here() == Here(1))", "P2 = collections.namedtuple('P2', 'u v')\nLOG.append(P2({v}, {v}))", "@functools.lru_cache\ndef here(k): return k * 2\nLOG.append((here(2), here(2), here.cache_info().hits))"],
    ["LAZY.n += 1", "LAZY.__dict__.pop('value', None)", "cached.cache_clear()", "memo.cache_clear()", "cached(1).append(5)", "UP(10)", "GEN.send(2)", "GEN.close()", "PART.keywords['default'] = 2", "e = {Z}", "e.a = {v}", "o = {Z}", "single.register(str, lambda v: 'str')", "single.register(int, lambda v, k=1: -v)", "Ordered.b = 'class'", "Frozen.b = 3", "Slotted.__post_init__ = lambda self: None", "Point.swap = lambda self: 5", "Ordered.__eq__ = lambda self, other: True", "three.calls = 0", "three.__wrapped__.__defaults__ = (4,)", "UP.__closure__[0].cell_contents = 50", "UP.get = lambda: 1", "n = functools.partial(int, '3')",
     "Lazy.value = 7", "Child.f = {v}", "l = Point(1, 2)", "d = dataclasses.asdict(Ordered(3))"])

TORCH = Theme("J", '''
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.items_ = nn.ModuleList([nn.Linear(3, 3), nn.Identity()])
        self.table = nn.ModuleDict({"a": nn.Tanh(), "b": nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))})
        self.own = nn.Parameter(torch.ones(3))
        self.register_buffer("buf", torch.zeros(3))
        self.register_buffer("tmp", torch.zeros(3), persistent=False)
        self.register_parameter("none", None)
        self.state, self.hist, self.act = torch.zeros(3), [], torch.relu

    def forward(self, x, which="a"):
        x = self.lin(x.reshape(-1)[:3]) if self.training else x.reshape(-1)[:3] * self.own
        self.buf.add_(x.detach())
        self.tmp = self.tmp + 1
        self.state = x.detach() * 2
        self.hist.append(x.shape)
        return self.act(self.table[which](x)) + self.buf


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k * ctx.saved_tensors[0].sign(), None


def hook(mod, args, result):
    LOG.append(type(mod).__name__)
    return result * 2 if FLAG else None


def prehook(mod, args):
    LOG.append(len(args))
    return args


def step(w, g):
    with torch.no_grad():
        w -= g * 0.1
    return w


torch.manual_seed(1)
NET = Net()
SEQ = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5), nn.LayerNorm(2))
BASE = torch.arange(12.0).reshape(3, 4)
VIEW, ROW = BASE[1:, ::2], BASE[0]
PAR = nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
TENS = {"a": torch.ones(3), "view": VIEW, "row": ROW, 1: [torch.zeros(2), PAR]}
STACK = [torch.ones(3), torch.zeros(3)]
BUF = torch.zeros(2, 3)
INTS = torch.tensor([3, 1, 2])
MASK = torch.tensor([True, False, True])
HANDLES = []
''', ["BASE", "VIEW", "ROW", "PAR", "TENS['a']", "TENS['view']", "STACK[0]", "STACK[-1]", "BUF", "INTS", "MASK", "NET.buf", "NET.own", "NET.state", "NET.lin.weight", "x", "y", "TENS[1][1]"], [
    "NET({J})", "NET(x)", "NET({J}, 'b')", "SEQ({J}.reshape(-1)[:3])", "NET.lin({J}.reshape(-1)[:3])", "NET.table['b'](torch.ones(3))", "NET.items_[0](STACK[0])", "Scale.apply({J}, {n})", "{J}[{i}]", "{J}[{i}:]", "{J}[:, {i}]", "{J}[..., ::2]", "{J}[None]", "{J}[{J} > 0]", "{J}[MASK]", "{J}[INTS]", "{J}[[0, 1]]", "{J}[{b}]", "{J}.view(-1)", "{J}.view({J}.size(0), -1)", "{J}.t()", "{J}.transpose(0, -1)", "{J}.expand(2, *{J}.shape)", "{J}.unfold(0, 2, 1)", "{J}.as_strided((2,), (1,))", "{J}.diagonal()", "{J}.select(0, {i})", "{J}.narrow(-1, 0, 2)", "{J}.squeeze()", "{J}.detach()",
    "{J}.clone()", "{J}.contiguous()", "{J}.to({J}.dtype)", "{J}.to(torch.float64)", "{J}.to('cpu')", "{J}.to({J})", "{J}.float()", "{J}.bool()", "{J}.long()", "{J}.int()", "{J}.half()", "{J} + {J}", "{J} * {n}", "{n} - {J}", "{J} / {J}", "{J} // 2", "{J} % 3", "{J} ** 2", "{J} @ {J}.T", "-{J}", "~{J}", "{J} & {J}", "{J} == {J}", "{J} > {n}", "{J}.sum()", "{J}.sum(0)", "{J}.mean(-1, keepdim=True)", "{J}.max(0).values", "{J}.max(0).indices", "{J}.argsort()", "{J}.sort(descending=True)[0]", "{J}.topk(1)[0]", "{J}.cumsum(0)", "{J}.prod()", "{J}.std(unbiased=False)", "{J}.norm()", "{J}.any()", "{J}.all()", "{J}.nonzero()",
    "{J}.unique()", "torch.cat([{J}, {J}], -1)", "torch.stack([{J}, {J}])", "torch.stack(STACK)", "torch.cat(STACK)", "torch.where(MASK, {J}, {n})", "torch.where({J} > 0, {J}, {J})", "torch.einsum('i,i->', STACK[0], {J}.view(-1)[:3])", "torch.outer(ROW, ROW)", "torch.zeros({J}.shape)", "torch.zeros({J}.shape[0], {i} % 4)", "torch.ones_like({J}, dtype=torch.int64)", "torch.empty_like({J}).zero_()", "torch.full_like({J}, {n})", "torch.rand_like(ROW)", "torch.arange({J}.shape[0])", "torch.arange(0, 3, {r} + 1)", "torch.tensor({J}.shape)", "torch.tensor({J}.tolist())", "torch.as_tensor({l})", "torch.from_numpy({J}.detach().numpy())",
    "torch.autograd.grad({J}.sum(), PAR, allow_unused=True)[0]", "torch.autograd.grad((PAR * {n}).sum(), PAR, create_graph=True)[0]", "PAR.grad", "F.linear({J}, NET.lin.weight)", "F.layer_norm({J}, {J}.shape[-1:])", "F.pad({J}, (1, 0))", "F.one_hot(INTS % 3)", "F.embedding(INTS % 3, BASE)", "F.cross_entropy(BASE[:, :3], INTS % 3)", "F.gelu({J})", "F.softmax({J}, 0)", "{J}.masked_fill({J} > 1, {n})", "{J}.scatter(0, INTS[:1] * 0, 1)", "{J}.gather(0, INTS[:1] * 0)", "{J}.index_select(0, INTS[:1] * 0)", "{J}.repeat_interleave(2)", "{J}.repeat(2, 1)", "{J}.roll(1)", "{J}.flip(-1)", "{J}.tril()", "{J}.split(1)[0]", "{J}.chunk(2, -1)[{i}]", "{J}.unbind(-1)[0]", "torch.meshgrid(ROW, INTS, indexing='ij')[1]",
    "torch.broadcast_tensors({J}, {J})[0]", "torch.vmap(torch.sin)({J})", "{J}.requires_grad_()", "{J}.new_zeros({J}.shape)", "{J}.type(torch.float32)", "{J}.apply_(abs)", "{J}.data", "{J}.real", "{J}.mT", "{J}.flatten(0, 1)", "{J}.unflatten(0, (1, -1))", "{J}.movedim(0, -1)", "{J}.square().sqrt()", "{J}.lerp({J}, 0.5)", "{J}.addcmul({J}, {J}, value={n})", "{J}.clamp({n}, {n})", "{J}.round()", "{J}.sign()", "unknown({J})", "{J} if {b} else {J}", "TENS.get({s}, {J})", "copy.copy({J})", "copy.deepcopy({J}.detach())", "max({J}.unbind())", "sum({J}.unbind())", "step({J}, {n})",
], {
    "t": ["{J}", "{J}", "{J}", "{J} + {t}", "{t} * {J}"], "i": ["{J}.shape[0]", "{J}.size(-1)", "{J}.shape.numel()", "{J}.shape[0] * {J}.dim()", "{J}.shape[-1] // 2", "len({J}.shape)", "{J}.stride(0)", "{J}.stride()[-1]", "{J}.storage_offset()", "{J}._version", "{J}.element_size()", "int({J}.sum())", "{J}.sum().int().item()", "{J}.argmax().item()", "len({J})", "{J}.nelement() % 5", "len(NET.hist)", "sum(p.numel() for p in NET.parameters())", "len(list(NET.children()))", "{J}.nonzero().shape[0]", "max({J}.shape, default=0)", "{J}.data_ptr() - {J}.data_ptr()", "INTS[{i}]", "{J}.itemsize", "{J}.count_nonzero().item()", "len(NET.state_dict())", "NET.lin.in_features"],
    "r": ["{J}.sum().item()", "float({J}.max())", "{J}.mean().item()", "{J}.min().item() / 2", "{J}.norm().item()", "{J}[0].item()"], "b": ["{J}.any()", "bool({J}.sum() > {n})", "({J} > 0).all().item()", "{J}.shape == {J}.shape", "{J}.shape == (3,)", "{J}.shape[0] == {J}.shape[-1]", "{J}.dtype == {J}.dtype", "{J}.dtype.is_floating_point", "{J}.device == {J}.device", "{J}.device.type == 'cpu'", "{J}.is_contiguous()", "{J}._is_view()", "{J}._base is {J}", "{J}.requires_grad", "{J}.is_leaf", "{J}.grad_fn is None", "{J}.grad is None", "{J} is {J}", "torch.equal({J}, {J})",
          "{J}.data_ptr() == {J}.data_ptr()", "NET.training", "{J} in MASK", "any(v is {J} for v in STACK)", "torch.is_grad_enabled()", "isinstance({J}, nn.Parameter)", "'buf' in dict(NET.named_buffers())", "{J}.is_inference()", "not {J}.numel()", "{J}.sum()", "{J}.is_same_size({J})", "{J}.shape > (1,)", "torch.promote_types({J}.dtype, {J}.dtype) is torch.float32"],
    "p": ["{J}.shape", "{J}.size()", "{J}.shape[1:]", "{J}.shape + (1,)", "{J}.shape[::-1]", "tuple({J}.shape) * 2", "torch.Size([2, {i}])", "{J}.stride()", "(2, *{J}.shape)", "torch.broadcast_shapes({J}.shape, (1,))", "{J}.max(0)", "{J}.sort()", "{J}.split(1)", "({J}, {J})", "{J}.unbind()", "torch.Size({J}.shape)", "NET.lin.weight.shape"], "s": ["str({J}.dtype)", "str({J}.shape)", "repr({J}.device)", "{J}.type()", "str({J}.layout)", "','.join(n for n, _ in NET.named_parameters())", "type({J}.grad_fn).__name__", "repr(NET.lin)", "str({J}.stride())", "f'{{{.J}.dtype}}'", "{J}.device.type"],
    "l": ["STACK", "[{J}, {J}]", "list({J}.shape)", "{J}.tolist()", "[p.requires_grad for p in NET.parameters()]", "list({J}.unbind())", "NET.hist", "[n for n, _ in NET.named_buffers()]", "TENS[1]", "[t.sum() for t in STACK]", "list(NET.items_)"], "d": ["TENS", "{{'t': {J}}}", "{{{J}: 1}}", "NET._buffers", "dict(NET.named_buffers())", "{{k: v * 2 for k, v in TENS.items() if k != 1}}", "NET.state_dict()"], "o": ["NET", "NET.lin", "SEQ", "{J}.dtype", "{J}.device", "NET.table", "SEQ[0]"],
}, ["{=J} = {J}", "{=J} += {J}", "{=J} *= {n}", "{J}.add_({n})", "{J}.mul_({J})", "{J}[0] = {n}", "{J}[..., 0] += 1", "{J}[{i}:] = {J}", "{J}[{J} > 0] = {n}", "{J}[MASK] = {n}", "{J}[INTS] += 1", "{J}.view(-1)[:2].zero_()", "{J}.t().add_(1)", "{J}.fill_diagonal_(0)", "{J}.copy_({J})", "{J}.clamp_(min=0)", "{J}.relu_()", "{J}.masked_fill_({J} > 1, {n})", "{J}.index_fill_(0, INTS[:1] * 0, 1)", "{J}.sub_({J}, alpha={n})", "{J}.exp_()", "{J}.round_()", "{J}.unsqueeze_(0)", "{J}.t_()", "{J}.transpose_(0, -1)", "{J}.detach_()", "{J}.data.add_(1)", "{J}.data = {J}", "{J}.requires_grad_({b})",
    "VIEW.add_(1)\nLOG.append(BASE.sum().item())", "v_ = {J}.view(-1)\n{J}.add_(1)\nout.append((v_, v_._version))", "a_ = {J}\na_ += 1\nLOG.append(a_ is {J})", "a_ = {J}.detach()\na_.zero_()\nout.append({J})", "w_ = {J}.clone()\nw_[0] = {J}.sum()\nout.append(w_)", "ROW[:2], ROW[2:] = {n}, {n}", "torch.add({J}, 1, out={J})", "torch.mul({J}, 2, out=BUF)", "torch.sum({J}, 0, out=BUF)", "NET.buf = {J}", "NET.buf = {J}.detach().reshape(-1)[:3].clone()", "NET.tmp = {J}", "NET.own = nn.Parameter(torch.ones(3) * {n})", "NET.own = None", "NET.state = {J}", "NET.none = nn.Parameter({t})", "NET.new = {J}", "del NET.buf", "NET.lin.weight = nn.Parameter(torch.eye(3))", "NET.lin = nn.Identity()",
    "NET.lin = nn.Linear(3, 3, bias=False)", "NET.register_buffer('extra', {J})", "LOG.append(NET.extra.shape)", "NET.table['c'] = nn.ReLU()", "NET.table['a'] = nn.ReLU()", "NET.items_.append(nn.ReLU())", "NET.act = torch.sin", "NET.requires_grad_({b})", "NET.train({b})", "NET.eval()", "NET.zero_grad()", "NET.double()", "NET.float()", "NET.load_state_dict(NET.state_dict())", "with torch.no_grad():\n    PAR.add_(1)\n    {=J} = PAR * 2", "with torch.no_grad():\n    for p_ in NET.parameters(): p_.mul_(0.5)", "with torch.enable_grad(): {=J} = PAR * {n}", "with torch.inference_mode(): {=J} = {J} + 1", "with torch.set_grad_enabled({b}): {=J} = PAR * {J}",
    "with torch.autocast('cpu', dtype=torch.bfloat16): {=J} = BASE @ BASE.T", "@torch.no_grad()\ndef quiet(t): return t * PAR.sum()\n{=J} = quiet({J})", "HANDLES.append(NET.lin.register_forward_hook(hook))", "HANDLES.append(NET.register_forward_pre_hook(prehook))", "HANDLES and HANDLES.pop().remove()", "h_ = PAR.register_hook(lambda g: g * 2)\n(PAR * {n}).sum().backward()\nh_.remove()", "{=J} = PAR * {n}\n{=J}.register_hook(lambda g: LOG.append(g.sum().item()))\n{=J}.sum().backward()", "(PAR * {J}).sum().backward()", "loss = (NET(x) ** 2).sum()\nloss.backward()\nout.append(NET.own.grad)", "PAR.grad = None", "PAR.grad = torch.ones(3)", "PAR.grad.zero_()", "out.append(PAR.grad)", "opt = torch.optim.SGD([PAR], lr=0.1)\nopt.zero_grad()\n(PAR ** 2).sum().backward()\nopt.step()",
    "g_, = torch.autograd.grad((PAR * {n}).sum(), [PAR])\n{=J} = g_ + 1", "{=J} = Scale.apply(PAR, {n})", "q_ = {J}.detach().requires_grad_()\ng_ = torch.autograd.grad((q_ * q_).sum(), q_, create_graph=True)[0]\nout.append((g_, g_.requires_grad))", "STACK.append({J})", "STACK[0] = {J}", "STACK[0] += 1", "STACK[0].add_(1)", "STACK.pop()", "TENS['a'] = {J}", "TENS['a'] += 1", "TENS['view'].zero_()", "TENS[1][0] = {J}", "TENS[1].append({J})", "for k_, t_ in enumerate(STACK): STACK[k_] = t_ * 2", "for t_ in {J}: LOG.append(t_.shape)", "for t_ in STACK: t_.add_(1)", "if {J}.sum() > {n}: {=J} = {J} + 1\nelse: {=J} = {J} - 1", "if {J}.any(): LOG.append('any')",
    "while {J}.sum() < 0 and len(LOG) < 20: LOG.append('w'); BUF.add_(1)", "k_ = {J}.sum().item()\n{=J} = {J} * k_", "k_ = int({J}.abs().sum()) % 4\nout.append(torch.zeros(k_, 2))", "b_, c_ = {J}.shape\n{=J} = {J}.reshape(c_, b_)", "b_, *r_ = {J}.shape\nLOG.append((b_, r_))", "LOG.append(({J}.shape, {J}.stride(), {J}.dtype, {J}._version))", "out.append({J})", "out.append(({J}, {J}))", "LOG.append({J}.tolist())", "LOG.append({J} is {J})", "LOG.append({J}.shape[0] * {J}.shape[-1] + {i})", "{J}.tag = {v}", "LOG.append(getattr({J}, 'tag', None))", "{=J} = torch.empty(2, 3).uniform_()", "{=J} = torch.randn(3)", "{=J} = F.dropout({J}, 0.5, NET.training)", "torch.manual_seed(3)", "{=J} = NET.norm(BASE[:, :3])", "out.append(NET.norm.running_mean)",
    "LOG.append([n for n, _ in NET.named_parameters()])", "LOG.append({J}.numpy().sum())", "torch.nn.init.ones_(NET.lin.weight)", "torch.nn.utils.clip_grad_norm_([PAR], 1.0)", "{=J} = {J}.to({J}.dtype)", "{=J} = {J}.to(torch.int32)", "assert {J}.shape[0] > {i}, {J}.shape", "out.append(torch.utils.checkpoint.checkpoint(torch.sin, PAR, use_reentrant=False))", "{=J} = {J}.requires_grad_() * 2", "NET.lin.weight.grad = None", "NET.lin.weight.requires_grad = {b}", "NET.lin.bias = None", "NET.lin.weight.data.fill_({n})", "NET.apply(lambda m: LOG.append(type(m).__name__))", "out.append(copy.deepcopy(NET.lin).weight)"],
    ["BASE.add_(1)", "VIEW.zero_()", "PAR.data.mul_(-1)", "PAR.grad = None", "PAR.requires_grad_(False)", "NET.buf = torch.ones(3)", "NET.buf = torch.ones(1, 3)", "NET.own = nn.Parameter(torch.zeros(3))", "NET.eval()", "NET.train()", "NET.lin.weight = nn.Parameter(torch.eye(3))", "NET.lin = nn.Linear(3, 3)", "NET.lin.bias = None", "NET.act = torch.tanh", "NET.state = x", "NET.lin.register_forward_hook(hook)", "NET.register_forward_pre_hook(prehook)", "NET.double()", "NET.requires_grad_(False)", "STACK[0] = {J}", "STACK[0] = STACK[1]", "TENS['a'] = x", "TENS['view'] = BASE", "x = BASE", "x = VIEW", "y = ROW", "y = VIEW", "x, y = BASE, BASE[0]", "x = PAR",
     "x = x.t()", "x = x[:, :1]", "x = x[:0]", "x = x.expand(2, 2, 3)", "x = x.bool()", "x = x.to(torch.bfloat16)", "x = x.double()", "y = y.int()", "e = {J}", "e = x", "e = y", "e = x.view(-1)", "y.requires_grad_()", "x = x.clone().requires_grad_()", "x.add_(1)", "y = torch.ones(6)", "y = torch.ones(2, 3)", "l = STACK", "d = TENS", "o = NET", "NET.table['a'] = nn.Sigmoid()", "NET.forward = lambda x, which='a': x", "torch.manual_seed(5)"])

OBJECTS = [CLASSES, ERRORS, HOOKS, LIBRARY, TORCH]
