"""Exceptions as values."""
import contextlib


class Plain(Exception):
    pass


class Rich(ValueError):
    def __init__(self, code, text="t"):
        super().__init__(text, code)
        self.code = code

    def describe(self):
        return f"{type(self).__name__}:{self.code}"


class Texty(RuntimeError):
    def __str__(self):
        return "texty " + "/".join(map(str, self.args))


def case_args(x, e):
    err = ValueError("a", 2)
    return x + 1, err.args, str(err), repr(err), str(KeyError("k")), repr(KeyError("k")), str(Plain()), repr(Plain(3))


def case_caught(x, e):
    try:
        raise Rich(7)
    except ValueError as error:
        return x * error.code, error.describe(), error.args, isinstance(error, Rich), type(error).__mro__[1] is ValueError


def case_escapes(x, e):
    return x + 1, Rich(3), Plain("p"), [IndexError(1)]


def case_raises(x, e):
    e.log.append("before")
    y = x * 2
    raise Rich(len(e.log))


def case_raises_class(x, e):
    e.count += 1
    raise Plain


def case_chain(x, e):
    try:
        try:
            {}["missing"]
        except KeyError as inner:
            raise Plain("outer") from inner
    except Plain as error:
        return x + 1, str(error), type(error.__cause__), error.__suppress_context__, error.__cause__ is error.__context__


def case_context(x, e):
    try:
        try:
            1 // 0
        except ZeroDivisionError:
            raise Plain("second")
    except Plain as error:
        return x + 1, repr(error.__context__), error.__cause__


def case_context_escapes(x, e):
    try:
        [][3]
    except IndexError:
        raise Texty(1, 2)


def case_from_none(x, e):
    try:
        try:
            int("q")
        except ValueError:
            raise Plain from None
    except Plain as error:
        return x, error.__cause__, error.__suppress_context__, type(error.__context__)


def case_finally(x, e):
    try:
        e.log.append("try")
        return x + 1
    finally:
        e.log.append("finally")


def case_else(x, e):
    for k in range(3):
        try:
            if k == 1:
                raise Plain(k)
        except Plain as error:
            e.log.append(error.args[0])
        else:
            e.log.append("else")
        finally:
            e.log.append("f")
    return x * len(e.log)


def case_notes(x, e):
    err = Plain("n")
    err.add_note("one")
    err.add_note("two")
    return x, err.__notes__, err


def case_attributes(x, e):
    err = Plain()
    err.extra = x
    err.args = (1, 2)
    return err.extra + 1, err.args, vars(err)["extra"] is x


def case_os_error(x, e):
    err = OSError(2, "nothing")
    return x, type(err), err.errno, err.strerror, str(err), err.args


def case_stop_iteration(x, e):
    it = iter([1])
    next(it)
    try:
        next(it)
    except StopIteration as stop:
        return x + 1, stop.value, stop.args


def case_texty(x, e):
    return x, str(Texty(1, "b")), f"{Texty(3)}", repr(Texty(4)), "%s" % Texty(5)


def case_suppress(x, e):
    with contextlib.suppress(KeyError, IndexError):
        e.log.append(1)
        e.items[99]
        e.log.append(2)
    return x + len(e.log)


class Swallow:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, tb):
        self.log.append((kind, value.args if value else None))
        return kind is Plain


def case_with(x, e):
    with Swallow(e.log) as s:
        x = x + 1
    with Swallow(e.log):
        raise Plain(3)
    return x, s.log is e.log


def case_with_raises(x, e):
    with Swallow(e.log):
        raise ValueError("through")


@contextlib.contextmanager
def managed(log, k):
    log.append(("in", k))
    try:
        yield k * 2
    except Plain as error:
        log.append(("caught", error.args))
    finally:
        log.append(("out", k))


def case_contextmanager(x, e):
    with managed(e.log, 3) as k, contextlib.nullcontext(5) as five:
        x = x * k + five
    with managed(e.log, 4):
        raise Plain("inside")
    return x


def case_reraise(x, e):
    try:
        try:
            raise Plain(1)
        except Plain as error:
            e.log.append("seen")
            raise
    except Plain as error:
        return x + error.args[0]


def case_bad_raise(x, e):
    try:
        raise 3
    except TypeError as error:
        return x, str(error)


def case_assert(x, e):
    try:
        assert e.n > 100, f"n is {e.n}"
    except AssertionError as error:
        return x + 1, str(error)


def case_exception_group(x, e):
    try:
        raise ExceptionGroup("g", [ValueError(1), Plain(2)])
    except* ValueError as group:
        e.log.append(str(group))
    except* Plain:
        e.log.append("plain")
    return x + 1


def case_compare(x, e):
    a, b = Plain(1), Plain(1)
    return x, a == b, a == a, a != b, bool(a), a in [a], hash(a) == hash(a)
