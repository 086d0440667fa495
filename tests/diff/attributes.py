"""The attribute model: descriptors of all kinds in all places, fields of functions, modules and classes that have something to say."""
import abc
import copy
import functools
import sys
import typing
import types

from kit import T, ask, program

SETTINGS_ON = ("capture_class_bodies",)


def tell(*a):
    return ("told",) + a


# -- Special methods that are something else than functions ---------------------------


@program()
def properties_as_special_methods(x):
    class All:
        @property
        def __call__(self):
            return lambda *a: a

        @property
        def __len__(self):
            return lambda: 3

        @property
        def __getitem__(self):
            return lambda i: i + 1

        @property
        def __add__(self):
            return lambda o: ("add", o)

        @property
        def __eq__(self):
            return lambda o: ("eq", o)

        @property
        def __iter__(self):
            return lambda: iter((1, 2))

        @property
        def __bool__(self):
            return lambda: False

        @property
        def __str__(self):
            return lambda: "text"

        @property
        def __contains__(self):
            return lambda o: o == 3

        @property
        def __neg__(self):
            return lambda: "neg"

    a = All()
    return x + 1, a(1, 2), len(a), a[4], a + 3, a == 4, list(a), bool(a), str(a), 3 in a, 4 in a, -a


@program()
def property_as_getattr(x):
    class Fails:
        @property
        def __getattr__(self):
            raise AttributeError("not even that")

    class Gives:
        @property
        def __getattr__(self):
            return lambda name: name * 2

    class Static:
        __getattr__ = staticmethod(lambda name: name + "!")

    return x * 2, ask(lambda: Fails().x), Gives().ab, Static().cd


@program()
def property_as_enter_and_exit(x):
    class Manager:
        @property
        def __enter__(self):
            return lambda: 7

        @property
        def __exit__(self):
            return lambda kind, value, tb: kind is ZeroDivisionError

    class Free:
        __enter__ = staticmethod(lambda: 8)
        __exit__ = staticmethod(lambda *a: True)

    with Manager() as a:
        1 / 0
    with Free() as b:
        1 / 0
    return x + a + b


@program(graphs=0)
def special_methods_that_bind_in_their_own_way(x):
    class Call:
        def __call__(self, *a):
            return ("called",) + a

    class Bind:
        def __get__(self, obj, cls):
            return lambda *a: ("bound", cls.__name__) + a

    class All:
        __call__ = Call()
        __getitem__ = Bind()
        __add__ = functools.partial(tell, 1)
        __sub__ = staticmethod(tell)
        __mul__ = classmethod(lambda *a: (len(a), a[0].__name__, a[1:]))
        __matmul__ = Call().__call__
        __and__ = [].append
        __xor__ = list
        __neg__ = dict

    a = All()
    return a(1), a[2], a + 2, a - 3, a * 4, a @ 5, a & 7, a ^ "ab", -a


@program(graphs=0)
def binding_that_raises(x):
    """Comparison, iteration and hash forget what the lookup of their method raises; others do not."""
    class Odd:
        def fails(self):
            raise KeyError("no")

        __eq__ = __lt__ = __iter__ = __add__ = __call__ = __bool__ = property(fails)

        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return i

    a, b = Odd(), Odd()
    return a == a, a == b, a != b, list(a), ask(lambda: a < b), ask(lambda: a + b), ask(lambda: a()), ask(lambda: bool(a))


# -- Descriptors ------------------------------------------------------------------------


class SetOnly:
    def __set__(self, obj, value):
        obj.__dict__["one"] = value


class DeleteOnly:
    def __delete__(self, obj):
        obj.__dict__["gone"] = True


class Holder:
    one = SetOnly()
    two = DeleteOnly()


class OfClass(type):
    one = SetOnly()

    def __str__(cls):
        return "class " + cls.__name__


class WithMeta(metaclass=OfClass):
    one = 3


@program()
def set_without_get(x):
    h = Holder()
    seen = [type(h.one).__name__]
    h.one = 4
    seen.append(h.one)
    h.__dict__["two"] = 5
    seen.append(h.two)
    del h.two
    seen += [h.two, h.gone, ask(setattr, h, "two", 1), ask(delattr, h, "one")]
    return x + h.one, seen


@program()
def set_without_get_of_a_new_class(x):
    class New:
        one = SetOnly()

    class Meta(type):
        two = SetOnly()

    class Made(metaclass=Meta):
        two = 6

    n = New()
    n.one = x
    return n.one * 2, Made.two, WithMeta.one, type(OfClass.one).__name__


@program()
def classmethod_of_what_binds_itself(x):
    class Bind:
        def __get__(self, obj, cls):
            return obj.__name__, cls.__name__

    class C:
        @classmethod
        @property
        def name(cls):
            return cls.__name__

        bound = classmethod(Bind())
        both = classmethod(staticmethod(tell))
        twice = classmethod(classmethod(lambda cls, *a: (cls.__name__, a)))
        part = classmethod(functools.partial(tell, 1))

    class D(C):
        pass

    return (x + 1, C.name, C().name, D.name, D().name, C.bound, D().bound, C.both(1), C().both(2), D.twice(3), len(C.part(2)))


class OldNamed:
    @classmethod
    @property
    def name(cls):
        return cls.__name__ + "!"

    @classmethod
    @property
    def __doc__(cls):
        return "doc of " + cls.__name__


@program()
def classmethod_of_property_of_an_old_class(x):
    class Sub(OldNamed):
        pass

    return x + 1, OldNamed.name, OldNamed().name, OldNamed.__doc__, OldNamed().__doc__, Sub.name, Sub.__doc__


@program()
def descriptors_of_a_metaclass(x):
    """A class is an instance of its metaclass: __get__ is given the class, and class methods the metaclass."""
    class Bind:
        def __get__(self, obj, cls):
            return obj and obj.__name__, cls.__name__

    class Meta(type):
        bound = Bind()

        @classmethod
        def maker(mcs):
            return mcs.__name__

        @staticmethod
        def free():
            return "free"

        @property
        def shown(cls):
            return cls.__name__

        def method(cls):
            return cls.__name__

    class C(metaclass=Meta):
        pass

    return x + 1, C.bound, Meta.bound, C.maker(), C.free(), C.shown, C.method(), ask(lambda: C().shown)


@program()
def metaclass_with_getattr(x):
    class Meta(type):
        def __getattr__(cls, name):
            if name == "none":
                raise AttributeError("nothing")
            return cls.__name__, name

        @property
        def broken(cls):
            raise AttributeError("broken")

    class Asking(type):
        def __getattribute__(cls, name):
            if name.startswith("x"):
                raise AttributeError(name)
            return super().__getattribute__(name)

        def __getattr__(cls, name):
            return "hook " + name

    class C(metaclass=Meta):
        a = 1

    class D(metaclass=Asking):
        a = 2

    return x + 1, C.a, C.b, C.broken, ask(lambda: C.none), hasattr(C, "none"), D.a, D.xa, ask(type.__getattribute__, C, "b")


@program()
def missing_accessors(x):
    class C:
        named = property()
        nameless = None

    class D(C):
        pass

    C.nameless = property()
    seen = []
    for o in C(), D():
        for name in "named", "nameless":
            seen += [ask(getattr, o, name), ask(setattr, o, name, 1), ask(delattr, o, name)]
    return x + 1, seen


class OldAccessors:
    named = property()


OldAccessors.nameless = property()


@program()
def missing_accessors_of_an_old_class(x):
    o = OldAccessors()
    return (x + 1, ask(lambda: o.named), ask(lambda: o.nameless), ask(setattr, o, "named", 1), ask(setattr, o, "nameless", 1),
            ask(delattr, o, "named"), ask(delattr, o, "nameless"))


@program()
def wrappers_have_what_their_function_has(x):
    def f(a: int) -> str:
        "text of f"

    seen = []
    for d in staticmethod(f), classmethod(f):
        seen += [d.__name__, d.__qualname__, d.__doc__, d.__annotations__, d.__wrapped__ is f, d.__func__ is f, ask(lambda: d.extra)]
    s = staticmethod(f)
    f.__name__ = "g"
    return x + 1, seen, s.__name__, f.__name__, ask(lambda: staticmethod(3).__name__)


class Doc:
    def __get__(self, obj, cls):
        return obj is None, cls.__name__


@program()
def doc_that_binds(x):
    class C:
        __doc__ = Doc()

    class D(C):
        pass

    class P:
        __doc__ = property(lambda self: "of an instance")

    return x + 1, C.__doc__, C().__doc__, D.__doc__, D().__doc__, type(P.__doc__).__name__, P().__doc__


@program()
def class_body_with_names_of_the_class(x):
    """Values that wait for their name, under names that the class keeps elsewhere."""
    class C:
        __name__ = property(lambda self: "an instance")
        __bases__ = property(lambda self: (int,))
        __class__ = property(lambda self: list)
        __dict__ = property(lambda self: "no dictionary")
        __mro__ = property(lambda self: "no order")

    c = C()
    return (x + 1, C.__name__, C.__bases__, c.__name__, c.__bases__, c.__class__, c.__dict__, c.__mro__, isinstance(c, list),
            isinstance(c, C), type(c) is C)


# -- What C functions and functions of Python have ----------------------------------------------


@program()
def fields_that_functions_keep(x):
    def f(a, b=1):
        return a

    seen = []
    seen += [ask(setattr, f, "__globals__", 2), ask(setattr, f, "__builtins__", 2), ask(setattr, f, "__closure__", 2)]
    seen += [ask(setattr, f, "__name__", 7), ask(setattr, f, "__qualname__", None), ask(setattr, f, "__defaults__", 4)]
    seen += [ask(setattr, f, "__kwdefaults__", 4), ask(setattr, f, "__annotations__", 4), ask(delattr, f, "__name__")]
    seen += [ask(delattr, f, "__globals__"), ask(delattr, f, "__qualname__"), ask(setattr, f, "__doc__", 5)]
    seen += [ask(setattr, f, "__module__", 8), ask(setattr, f, "__call__", 3), ask(setattr, f, "extra", 4)]
    return x + 1, seen, f.__name__, f.__doc__, f.__module__, f.extra, f(2), f.__defaults__


def old(a, b=1):
    return a


@program()
def fields_that_old_functions_keep(x):
    seen = [ask(setattr, old, "__globals__", 2), ask(setattr, old, "__builtins__", 2), ask(setattr, old, "__closure__", 2),
            ask(setattr, old, "__name__", 7), ask(setattr, old, "__qualname__", 7), ask(delattr, old, "__globals__")]
    return x + 1, seen, old.__name__


class Listed(list):
    pass


@program()
def attributes_of_c_functions(x):
    bound, wrapper, sub = [].append, [].__add__, Listed().append
    return (x + 1, bound.__name__, bound.__qualname__, bound.__module__, wrapper.__name__, wrapper.__qualname__, wrapper.__objclass__,
            ask(lambda: wrapper.__module__), ask(lambda: bound.__objclass__), sub.__qualname__, list.append.__objclass__,
            bound.__class__, wrapper.__class__, ask(lambda: list.append.__self__), len.__class__, ask(lambda: bound.nothing),
            bound.__doc__ == list.append.__doc__, int.__add__.__text_signature__)


@program()
def descriptors_of_another_class(x):
    class C:
        upper = str.upper
        real = int.real
        add = int.__add__

    c = C()
    return x + 1, ask(lambda: c.upper()), ask(lambda: c.real), ask(lambda: c.add(1)), C.upper("a"), C.add(1, 2)


# -- Stores that jump over a class ----------------------------------------------------------------


@program()
def object_setattr_of_classes(x):
    class Meta(type):
        def __setattr__(cls, name, value):
            object.__setattr__(cls, name, value)

        def __delattr__(cls, name):
            object.__delattr__(cls, name)

    class Plain:
        pass

    class Both(Plain, Meta):
        pass

    class C(metaclass=Both):
        pass

    class Good(type):
        def __setattr__(cls, name, value):
            type.__setattr__(cls, name, value * 2)

    class D(metaclass=Good):
        pass

    D.a = 2
    return x + 1, ask(setattr, C, "a", 1), ask(delattr, C, "a"), ask(object.__setattr__, int, "a", 1), D.a


# -- Modules of a class of their own ----------------------------------------------------------------


class Speaking(types.ModuleType):
    tone = "loud"

    @property
    def prop(self):
        return "property of " + self.__name__

    @property
    def broken(self):
        raise AttributeError("hidden")

    def __getattr__(self, name):
        if name.startswith("no"):
            raise AttributeError(f"{name} is missing")
        return name * 2


class Listening(types.ModuleType):
    def __getattribute__(self, name):
        if name == "heard":
            return "heard it"
        return super().__getattribute__(name)


class Hiding(types.ModuleType):
    __dict__ = property(lambda self: "not shown")


SPEAKING, LISTENING, HIDING, PLAIN = Speaking("s"), Listening("l"), Hiding("h"), types.ModuleType("p")
SPEAKING.__dict__.update(prop=1, tone="quiet", own=2)
LISTENING.__dict__.update(heard=1, own=3)
PLAIN.__getattr__ = lambda name: name + "?"


@program()
def modules_with_a_class(x):
    return (x + SPEAKING.own, SPEAKING.prop, SPEAKING.tone, SPEAKING.else_, ask(lambda: SPEAKING.no), SPEAKING.broken,
            LISTENING.heard, LISTENING.own, ask(lambda: LISTENING.nothing), HIDING.__dict__, vars(HIDING), HIDING.__name__,
            PLAIN.word, PLAIN.__name__, ask(object.__getattribute__, PLAIN, "word"))


# -- __new__ that gives something else ----------------------------------------------------------------


@program()
def new_gives_something_else(x):
    class C:
        def __new__(cls, a):
            return [a] if isinstance(a, str) else object.__new__(D if isinstance(a, int) else cls)

    class D(C):
        def __init__(self, a):
            self.a = a

    class Static:
        @staticmethod
        def __new__(*args):
            return len(args), args[1:]

    class OfClass:
        @classmethod
        def __new__(*args):
            return len(args), args[2:]

    class Call:
        def __call__(self, *args):
            return len(args), args[1:]

    class OfObject:
        __new__ = Call()

    return x + 1, C("a"), D("b"), D(None).a, C(1).a, type(C(2)).__name__, Static(1, 2), OfClass(1, 2), OfObject(3)


# -- super() ------------------------------------------------------------------------------------------


@program()
def what_super_is(x):
    class A:
        def f(self):
            return "A"

    class B(A):
        def f(self):
            s = super()
            return s.f(), s.__thisclass__.__name__, s.__self__ is self, s.__self_class__.__name__, ask(lambda: s.nothing)

    class C(B):
        pass

    return x + 1, B().f(), C().f()


# -- Named tuples with methods -------------------------------------------------------------------------


class Pair(typing.NamedTuple):
    a: int
    b: int = 1

    def __str__(self):
        return f"{self.a} -> {self.b}"

    def __add__(self, other):
        return "sum"

    def __len__(self):
        return 17

    def __getitem__(self, i):
        return "item", i


class Plain(typing.NamedTuple):
    a: int
    b: int = 1

    @property
    def both(self):
        return self.a + self.b


@program()
def named_tuples_with_operators(x):
    p, q = Pair(4), Plain(2, 3)
    return (x * p.a, str(p), f"{p}", p + (1,), len(p), p[0], p.b, list(p), p == (4, 1), str(q), q + (1,), len(q), q[0], q.both,
            Pair(1, 2), hash(p) == hash((4, 1)), (4, 1) == p, repr(p))


@program()
def named_tuples_made_in_the_trace(x):
    class Own(typing.NamedTuple):
        a: object

        def __bool__(self):
            return False

        def __iter__(self):
            return iter("ab")

        def __contains__(self, item):
            return item == 9

        def __call__(self):
            return self.a

    o = Own(x)
    return o() + 1, bool(o), list(o), 9 in o, x.shape in o, o.a is x


# -- isinstance() and issubclass() of what is no class ---------------------------------------------------


class Class:
    """Passes for a class by its __bases__."""

    def __init__(self, bases, **more):
        self.bases = bases
        self.__dict__.update(more)

    def __getattr__(self, name):
        if name == "__bases__":
            if isinstance(self.bases, Exception):
                raise self.bases
            return self.bases
        raise AttributeError(name)


class Says:
    def __init__(self, cls):
        self.cls = cls

    def __getattribute__(self, name):
        if name == "__class__":
            return object.__getattribute__(self, "cls")
        return object.__getattribute__(self, name)


ROOT = Class(())
MIDDLE = Class((ROOT,))
LEAF = Class((MIDDLE, int))


@program()
def things_that_pass_for_classes(x):
    seen = []
    for sub, cls in (LEAF, ROOT), (ROOT, LEAF), (LEAF, int), (int, LEAF), (LEAF, LEAF), (bool, ROOT):
        seen.append(ask(issubclass, sub, cls))
        seen.append(ask(isinstance, Says(sub), cls))
    for bad in Class(3), Class(AttributeError("a")), Class(KeyError("k")), 3, None, "text", [int]:
        seen.append([ask(issubclass, bad, int), ask(issubclass, int, bad), ask(isinstance, 3, bad), ask(issubclass, LEAF, bad)])
    return x + 1, seen


@program()
def tuples_with_things_that_pass_for_classes(x):
    return (x + 1, isinstance(Says(LEAF), (str, MIDDLE)), issubclass(LEAF, (str, (ROOT, 3))), ask(issubclass, 3, (LEAF, int)),
            ask(isinstance, 3, (str, 5)), ask(isinstance, 3, (int, 5)))


@program()
def objects_that_claim_a_class(x):
    class A:
        pass

    class Property:
        __class__ = property(lambda self: A)

    class Raises:
        @property
        def __class__(self):
            raise AttributeError("none")

    class Fails:
        @property
        def __class__(self):
            raise KeyError("fails")

    class Hook:
        __class__ = property(lambda self: 1 / 0 if False else "no class")

    class Abstract(abc.ABC):
        pass

    Abstract.register(A)
    return (x + 1, isinstance(Property(), A), isinstance(Says(A), A), isinstance(Says(int), A), isinstance(Raises(), A),
            ask(isinstance, Fails(), A), isinstance(Hook(), A), isinstance(Says(A), Abstract), isinstance(Property(), Abstract),
            isinstance(Says(A), Says), Says(A).__class__ is A)


@program()
def hooks_of_checks(x):
    class Meta(type):
        def __instancecheck__(cls, obj):
            return obj == 3

        def __subclasscheck__(cls, sub):
            raise ValueError(sub)

    class C(metaclass=Meta):
        pass

    class Instance:
        def __instancecheck__(self, obj):
            return "yes"

        def __subclasscheck__(self, sub):
            return ""

    return (x + 1, isinstance(3, C), isinstance(4, C), isinstance(C(), C), ask(issubclass, 3, C), isinstance(1, Instance()),
            issubclass(int, Instance()), type.__instancecheck__(C, C()), ask(type.__subclasscheck__, C, 3),
            ask(isinstance, 1, list[int]), ask(issubclass, int, list[int]))


class Sized(typing.Protocol):
    def size(self): ...


@typing.runtime_checkable
class HasSize(typing.Protocol):
    def size(self): ...


@typing.runtime_checkable
class HasData(typing.Protocol):
    data: int


class Thing:
    data = 1

    def size(self):
        return 1


@program(graphs=0)
def protocols(x):
    t = Thing()
    return (x + 1, isinstance(t, HasSize), isinstance(3, HasSize), isinstance(t, HasData), isinstance(3, HasData),
            issubclass(Thing, HasSize), ask(issubclass, Thing, HasData), ask(isinstance, t, Sized), ask(issubclass, Thing, Sized),
            type(typing._get_protocol_attrs(HasSize)).__name__)


@functools.lru_cache
def cached(n):
    if n < 0:
        raise ValueError(n)
    return n


@program(graphs=0)
def cached_function_that_raises(x):
    return x + cached(2), ask(cached, -1), ask(cached, []), cached.cache_info()


# -- Abstract flags ---------------------------------------------------------------------------------------


@program(graphs=0)
def abstract_by_a_flag(x):
    class Yes:
        def __bool__(self):
            return True

    class No:
        def __bool__(self):
            raise ValueError("no answer")

    def f(self):
        pass

    def g(self):
        pass

    f.__isabstractmethod__ = Yes()
    g.__isabstractmethod__ = No()

    def make(**ns):
        return abc.ABCMeta("C", (), ns)

    return (x + 1, sorted(make(a=f).__abstractmethods__), ask(make, b=g), ask(make, c=property(g)), ask(make(d=property(f))),
            sorted(make(e=abc.abstractmethod(tell), f=property()).__abstractmethods__))


# -- Stores into classes, and classes that change between calls ------------------------------------------------


class Target:
    pass


class Shower:
    def __init__(self, value):
        self.value = value

    def __get__(self, obj, cls):
        return obj is None, self.value


@program()
def descriptors_stored_into_an_old_class(x):
    Target.shown = Shower(3)
    Target.prop = property(lambda self: 5)
    Target.made = classmethod(lambda cls: cls.__name__)
    Target.free = staticmethod(lambda: 7)
    Target.func = lambda self: 8
    return x + 1, Target.shown, type(Target.prop).__name__, Target.made(), Target.free(), Target.func(1)


class Later:
    pass


class HoldsLater:
    value = Later()


CALLS = []


@program(graphs=0)
def class_that_becomes_a_descriptor(x):
    """The third call finds another class than the trace did."""
    CALLS.append(len(CALLS))
    o = HoldsLater()
    o.__dict__["value"] = "own"
    seen = type(HoldsLater.value).__name__, type(o.value).__name__
    if len(CALLS) == 2:
        Later.__get__ = lambda self, obj, cls: 1.5
    if len(CALLS) == 3:
        Later.__set__ = lambda self, obj, value: None
    return x + 1, seen


class Renamed(type):
    """A metaclass in Python has a __module__ of its own."""


class OfRenamed(metaclass=Renamed):
    pass


@program()
def names_of_a_class_with_a_metaclass(x):
    return x + 1, OfRenamed.__module__, OfRenamed.__name__, OfRenamed.__qualname__, OfRenamed.__doc__, Renamed.__module__, repr(OfRenamed)


SEEN = []


class Watching(Exception):
    def __getattribute__(self, name):
        SEEN.append(name)
        if name == "args":
            return "not those"
        return super().__getattribute__(name)


WATCHING = Watching("a")


@program(graphs=0)
def exception_that_watches(x):
    """Its text comes from C fields, without its own lookup."""
    text = str(WATCHING), repr(WATCHING), f"{WATCHING}"
    return x + 1, text, WATCHING.args, WATCHING.__class__.__name__, list(SEEN)


class WatchingMeta(type):
    def __getattribute__(cls, name):
        SEEN.append(("class", name))
        return super().__getattribute__(name)


class Watched(metaclass=WatchingMeta):
    pass


@program(graphs=0)
def metaclass_that_watches(x):
    """What `type` has of a class is read without another call of the metaclass."""
    own = Watched.__name__, Watched.__module__, Watched.__qualname__, Watched.__basicsize__ > 0, Watched.__mro__[0] is Watched
    return x + 1, own, type.__getattribute__(Watched, "__name__"), list(SEEN)


class OwnAlias(types.GenericAlias):
    """A subclass may have anything of its own."""
    @property
    def __args__(self):
        return ("own",)


ITEM = typing.TypeVar("ITEM")
PARTS = {"union": int | None, "list": list[int], "dict": dict[str, int | float], "tuple": tuple[int, ...], "class": type[int], "nested": list[int | list[ITEM]],
         "optional": typing.Optional[int], "plain": int, "own": OwnAlias(list, int)}


@program(T, lambda: T(2, 2))
def parts_of_annotations(x):
    """Annotations are what they are for good: what checks of configurations ask."""
    parts = [(name, typing.get_args(t), typing.get_origin(t)) for name, t in PARTS.items()]
    union, listed = PARTS["union"], PARTS["list"]
    return x + len(union.__args__), parts, isinstance(3, union.__args__), union.__args__[0] is int, listed.__origin__([1]), union.__parameters__


@program(lambda: (T(), int | str), lambda: (T(), int | str), lambda: (T(), int | None), lambda: (T(), list[int]), lambda: (T(), int))
def parts_of_an_annotation_from_outside(x, t):
    args = getattr(t, "__args__", ())
    return x * len(args), args, [a is int for a in args], ask(lambda: t.__parameters__), ask(lambda: t.nothing)


# -- Copies of objects that answer for themselves ---------------------------------------


class Aliased:
    """Names that stand for others, as configurations have them."""
    aliases = {"width": "hidden_size"}
    asked = []

    def __init__(self, **fields):
        for k, v in fields.items():
            setattr(self, k, v)

    def __getattribute__(self, name):
        Aliased.asked.append(name)
        if name in Aliased.aliases:
            name = Aliased.aliases[name]
        return super().__getattribute__(name)


class Answering(Aliased):
    def __getattribute__(self, name):
        given = super().__getattribute__("__dict__").get("given", {})
        if name in given:
            if given[name] is AttributeError:
                raise AttributeError(name)
            return given[name]
        return super().__getattribute__(name)


CONFIG = Aliased(hidden_size=4, layers=[1, 2])


@program(lambda: (T(), CONFIG), lambda: (T(), Aliased()), lambda: (T(), Aliased(hidden_size=2)))
def a_copy_asks_the_object_in_order(x, config):
    Aliased.asked.clear()
    new = copy.copy(config)
    new.hidden_size, new.other = 7, x + 1
    return (x * new.width, type(new) is type(config), vars(new), vars(config), list(Aliased.asked), new is config,
            ask(lambda: new.layers is config.layers), [type(p).__name__ for p in config.__reduce_ex__(2)])


@program(lambda: (T(), {}), lambda: (T(), {"__getnewargs__": lambda: ()}), lambda: (T(), {"__reduce__": lambda: (dict, ([("a", 1)],))}),
         lambda: (T(), {"__getstate__": lambda: {"b": 2}}), lambda: (T(), {"__getnewargs_ex__": AttributeError}), graphs=1)
def a_copy_of_what_answers_otherwise(x, given):
    one = Answering(given=given, n=1)
    new = ask(copy.copy, one)
    return x + 1, type(new).__name__, new if isinstance(new, (dict, tuple)) else sorted(vars(new)), ask(lambda: new.n)


class Asking:
    """A key of a class that is asked whenever a name is looked for: it is as good as two names, and tells what it was asked."""

    def __init__(self):
        self.asked = []

    def __hash__(self):
        return hash("mine")

    def __eq__(self, other):
        if self.asked is not None:
            self.asked.append(other)
        return False


class Below:
    mine = "below"
    other = "other"


def keyed_class():
    key = Asking()
    return T(3), type("Keyed", (Below,), {key: 5}), key


@program(keyed_class, keyed_class, graphs=0)
def keys_that_are_no_names(x, cls, key):
    o = cls()
    out = [cls.mine, o.mine, cls.other, o.other, "mine" in key.asked]
    cls.late = 1
    out += [o.mine, isinstance(o, Below), type(o) is cls]
    o.mine = 2
    out += [o.mine, hasattr(o, "nothing"), getattr(cls, "mine")]
    key.asked = None  # how often is a matter of CPython's cache of lookups
    return x + 1, out
