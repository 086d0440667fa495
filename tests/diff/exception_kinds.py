"""Exceptions of all kinds: what their constructors keep, special methods of their classes, generators that are thrown into."""
import sys


def told(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error), repr(error.__cause__), repr(error.__context__), error.__suppress_context__


# -- Fields of C classes -----------------------------------------------------------------

class Halt(StopIteration):
    def __init__(self, value):
        super().__init__(value + 1)


class Deaf(StopIteration):
    def __init__(self, value):
        pass


class Loader(ImportError):
    def __init__(self, name):
        Exception.__init__(self, name, "by Exception")


class Fixed(ImportError):
    def __new__(cls, *args):
        return super().__new__(cls, 5)


class Leave(SystemExit):
    pass


def case_fields_without_init(x, e):
    def fields(error, *names):
        return [getattr(error, n) for n in names] + [error.args, str(error)]
    return (x + 1, fields(StopIteration.__new__(StopIteration, 2), "value"), fields(SystemExit.__new__(SystemExit, 2), "code"),
            fields(ImportError.__new__(ImportError, "m"), "msg", "name"), fields(KeyError.__new__(KeyError, "k")),
            fields(SyntaxError.__new__(SyntaxError, 2, (1, 2, 3, 4)), "msg", "lineno"),
            [str(c.__new__(c)) for c in (UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError)])


def case_fields_of_subclasses(x, e):
    return (x + 1, Halt(3).value, Halt(3).args, Deaf(4).value, Deaf(4).args, Loader("m").msg, str(Loader("m")), Loader("m").args,
            Fixed("q").msg, Fixed("q").args, Leave(3).code, Leave(1, 2).code)


def case_fields_escape(x, e):
    e.log += [Halt(3), Deaf(4), Loader("m"), Fixed("q"), Leave(3), SystemExit(1, 2)]
    return x + 1, [getattr(v, "value", None) for v in e.log], StopIteration.__new__(StopIteration, 2)


def case_args_changed(x, e):
    stop, load, no, leave, wrong = StopIteration(1), ImportError("m"), OSError(2, "x"), SystemExit(4), SyntaxError("m", ("f", 1, 2, "t"))
    for error in (stop, load, no, leave, wrong):
        error.args = (8, 9)
    key, text = KeyError(1), UnicodeDecodeError("a", b"x", 0, 1, "r")
    key.args, text.args = [2], "uv"
    return (x + 1, stop, stop.value, load.msg, str(load), no.errno, no.strerror, str(no), leave.code, str(leave), wrong.msg, str(wrong), repr(wrong),
            str(key), text.args, str(text))


def case_fields_stored(x, e):
    stop, load, no, key = StopIteration(1), ImportError("a"), OSError(2, "x"), NameError("n")
    stop.value, load.msg, load.name, no.errno, no.filename, key.name = x, "b", "c", 5, "file", 4
    seen = str(load), str(no), stop.args, no.args, load.name, key.name, stop.value is x
    return x * 2, seen, load, no


def case_os_errors(x, e):
    kinds = OSError(), OSError(1), OSError(2, "a"), OSError(13, "a"), OSError("a", "b")
    return x, [(type(k).__name__, k.args, str(k), repr(k), k.errno, k.strerror, k.filename) for k in kinds]


def case_os_file(x, e):
    e.count += 1
    error = OSError(2, "a", "file")
    return x + e.count, type(error).__name__, error.args, str(error), error.filename


def case_wrong_stores(x, e):
    def store(name, value):
        setattr(ValueError(1), name, value)

    def remove(name):
        delattr(ValueError(1), name)
    names = "args", "__cause__", "__context__", "__traceback__", "__suppress_context__"
    return x, [told(store, n, 3) for n in names], told(store, "__suppress_context__", []), [told(remove, n) for n in names]


def case_readonly(x, e):
    group, key = ExceptionGroup("m", [ValueError(1)]), KeyError("k")

    def remove(error, name):
        delattr(error, name)
    return (x, [told(setattr, group, n, 3) for n in ("message", "exceptions")], [told(remove, group, n) for n in ("message", "exceptions")],
            told(remove, key, "none"), told(setattr, Rich(1), "slot2", 3), told(getattr, Rich(1), "slot"), told(remove, Rich(1), "slot"))


# -- Classes written in Python -----------------------------------------------------------

class Rich(Exception):
    __slots__ = ("slot",)

    def __getitem__(self, i):
        return self.args[i]

    def __iter__(self):
        return iter(self.args)

    def __len__(self):
        return len(self.args)

    def __contains__(self, item):
        return item == 9

    def __call__(self, q):
        return q + self.args[0]

    def __add__(self, other):
        return "add", other

    def __radd__(self, other):
        return "radd", other

    def __lt__(self, other):
        return True

    def __eq__(self, other):
        return other == 3

    def __neg__(self):
        return "neg"

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return "no " + name

    def __format__(self, spec):
        return "format " + spec

    def __index__(self):
        return 1

    def __int__(self):
        return 4

    def __float__(self):
        return 4.5

    def __enter__(self):
        return self.args

    def __exit__(self, *given):
        return given[0] is ZeroDivisionError


class Falsy(Exception):
    def __bool__(self):
        return False


class Empty(ValueError):
    def __len__(self):
        return 0


class Watched(Exception):
    def __setattr__(self, name, value):
        super().__setattr__(name, (name, value))

    def __getattribute__(self, name):
        return 77 if name == "zz" else super().__getattribute__(name)


class Propped(Exception):
    @property
    def first(self):
        return self.args[0]

    @first.setter
    def first(self, value):
        self.args = (value,) + self.args[1:]

    @classmethod
    def make(cls):
        return cls(9)

    kind = "class"


def case_special_methods(x, e):
    error = Rich(1, 2)
    error.slot = x
    with error as given:
        1 / 0
    return (x + error(1), given, error[1], list(error), [*error], len(error), bool(error), 9 in error, 8 in error, error + 1, 1 + error, error < 2,
            error == 3, error != 3, -error, error.missing, f"{error:spec}", "{:x}".format(error), [5, 6][error], int(error), float(error), sum(error),
            error.slot is x)


def case_truth(x, e):
    return x, bool(Falsy()), bool(Empty()), not Falsy(1), len(Empty()), [1] if Empty() else [2], told(len, Falsy())


def case_attributes(x, e):
    watched, propped = Watched(1), Propped(3, 4)
    watched.a = 5
    propped.first = 6
    propped.other = x
    return x + 1, watched.a, watched.zz, propped.args, propped.first, Propped.make().first, propped.kind, told(getattr, propped, "none"), told(
        setattr, propped, "make", 3), propped.make


def case_existing_rich(x, e):
    error = e.error = getattr(e, "error", None) or Rich(3, 4)
    return x + error(2), error[0], list(error), 9 in error, error + 1


# -- raise -----------------------------------------------------------------------------------

class NotMade(Exception):
    def __new__(cls, *args):
        return 5


def case_wrong_causes(x, e):
    def chain(cause):
        raise IndexError("i") from cause

    def bare(what):
        raise what
    return x, [told(chain, c) for c in (5, "a", int, KeyError, KeyError(1), None, ())], [told(bare, w) for w in (5, int, None, NotMade, KeyError)]


def case_cause_is_no_exception(x, e):
    try:
        raise IndexError from NotMade
    except IndexError as error:
        return x + 1, error.__cause__


# -- Generators ------------------------------------------------------------------------------

def waiting(log):
    while True:
        try:
            log.append((yield len(log)))
        except ValueError as error:
            log.append((repr(error), repr(error.__context__)))


def outer(log):
    return (yield from waiting(log))


def case_throw_forms(x, e):
    def into(make, *given):
        g = make(e.log)
        next(g)
        return g.throw(*given)
    given = [(ValueError, 3), (ValueError, (3, 4)), (ValueError, None), (ValueError, KeyError(3)), (ValueError, ValueError(4)), (ValueError("a"), 3),
             (ValueError("b"), None, 4), (ValueError("c"), None, None), (5,), (int,), (None,), (NotMade,), (UnicodeDecodeError, 3), (KeyError, "k"), (LookupError, KeyError("k"))]
    return x, [told(into, make, *g) for make in (waiting, outer) for g in given], e.log


def case_throw_early_and_late(x, e):
    def short():
        yield 1
    fresh, ended = short(), short()
    list(ended)
    return x, told(fresh.throw, KeyError("k")), told(next, fresh), told(ended.throw, ValueError, 3), told(ended.throw, 4)


def case_throw_while_handling(x, e):
    def gen():
        try:
            yield
        except ValueError as error:
            yield error.__context__, sys.exc_info()[0]
            yield sys.exc_info()[0]
            raise
    g = gen()
    next(g)
    try:
        raise ValueError(1)
    except ValueError as error:
        first = g.throw(error)
    second = next(g)
    try:
        next(g)
    except ValueError as error:
        return x + 1, first, second, error.__context__, sys.exc_info()[0]


def case_own_and_outer_handled(x, e):
    def gen():
        e.log.append(sys.exc_info()[0])
        yield
        try:
            raise TypeError
        except TypeError as error:
            e.log.append((type(error.__context__), sys.exc_info()[0]))
            yield
            e.log.append(sys.exc_info()[0])
        e.log.append(sys.exc_info()[0])
        yield
    g = gen()
    for make in (KeyError, IndexError, OSError):
        try:
            raise make
        except Exception as error:
            next(g)
            e.log.append((sys.exc_info()[0], repr(error.__context__)))
    e.log.append(sys.exc_info()[0])
    return x + len(e.log), e.log


def case_stop_becomes_runtime_error(x, e):
    def stops():
        yield 1
        raise StopIteration(4)

    def run():
        for v in stops():
            e.log.append(v)
    told_ = told(run)
    try:
        list(stops())
    except RuntimeError as error:
        return x + 1, told_, type(error.__cause__), error.__cause__ is error.__context__, error.__suppress_context__, error.__cause__.value


def case_close(x, e):
    def keeps():
        try:
            yield 1
        except GeneratorExit as error:
            e.log.append(repr(error.__context__))
            if e.count:
                yield 2
            raise KeyError("on the way out")

    def close(count):
        e.count = count
        g = keeps()
        next(g)
        try:
            raise ValueError("outside")
        except ValueError:
            g.close()
    return x, told(close, 0), told(close, 1), e.log


def case_returned(x, e):
    def inner():
        got = yield 1
        return x + got

    def middle():
        return (yield from inner()), "end"
    g = middle()
    first = next(g)
    try:
        g.send(2)
    except StopIteration as stop:
        return first, stop.value, told(next, g), told(g.send, 3)


# -- Groups ----------------------------------------------------------------------------------

class FalsyGroup(ExceptionGroup):
    def __bool__(self):
        return False

    def derive(self, excs):
        return FalsyGroup(self.message, excs)


def case_falsy_group(x, e):
    try:
        try:
            raise FalsyGroup("g", [TypeError(1), ValueError(2)])
        except* TypeError as types:
            a = types
            raise
        except* ValueError as values:
            b = values
    except Exception as error:
        return x + 1, bool(a), bool(b), bool(error), type(a), str(a.exceptions), str(b.exceptions), str(error.exceptions), error.message


# -- Too much --------------------------------------------------------------------------------

def case_memory_errors(x, e):
    def much(f):
        try:
            return f()
        except MemoryError as error:
            return "too much", error.args
        finally:
            e.log.append("tried")
    return (x + 1, much(lambda: "a" * 2**62), much(lambda: [0] * 2**60), much(lambda: (0,) * 2**61), much(lambda: bytearray(2**62)),
            much(lambda: compile("-" * 100000 + "4", "f", "eval")), e.log)


class Named(Exception):
    pass


class NamedKey(Named, KeyError):
    pass


class ValueKey(ValueError, KeyError):
    pass


def case_text_by_mro(x, e):
    """KeyError's words come by the order of classes, whatever the layout is taken from."""
    for kind in (NamedKey, ValueKey, Named, KeyError):
        for args in ((), ("s",), (1, "s"), (kind("in"),)):
            e.log += [str(kind(*args)), repr(kind(*args))]
    return x + 1


class Bare:
    def __getattr__(self, name):
        raise AttributeError


class Worded:
    def __getattr__(self, name):
        raise AttributeError(name + "!")


class Filled:
    def __getattr__(self, name):
        raise AttributeError("text", name="other", obj=3)


class NoSuch(AttributeError):
    pass


class Derived:
    def __getattr__(self, name):
        raise NoSuch(name)


class Shown:
    @property
    def nope(self):
        raise AttributeError("shown")


class Asked:
    def __getattribute__(self, name):
        raise AttributeError(1, 2)


class Passed:
    def __getattr__(self, name):
        return getattr(Bare(), name + "2")


ASKED = Bare(), Worded(), Filled(), Derived(), Shown(), Asked(), Passed(), 5, str


def case_what_was_asked_for(x, e):
    """CPython tells an AttributeError of whoever raised it which name was wanted, and of whom."""
    for ask in (lambda o: o.nope, lambda o: getattr(o, "nope"), lambda o: o.nope(1)):
        for o in ASKED:
            try:
                ask(o)
            except AttributeError as error:
                e.log += [error.name, error.args, type(error.obj).__name__]
    return x + 1


def case_what_was_asked_for_later(x, e):
    for o in ASKED:
        try:
            o.nope
        except AttributeError as error:
            kept = error
        e.log += [str(kept), kept.name, kept.obj is o]
    return x + 1
