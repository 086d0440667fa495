"""Exception groups and except*."""
import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)
LOG = []


class Bad(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Named(ExceptionGroup):
    def derive(self, excs):
        LOG.append(len(excs))
        return Named("derived " + self.message, excs)


def tree():
    return ExceptionGroup("outer", [ValueError(1), ExceptionGroup("inner", [TypeError(2), ValueError(3)]), KeyError(4)])


def shape(e):
    if isinstance(e, BaseExceptionGroup):
        return [type(e).__name__, e.message, [shape(x) for x in e.exceptions]]
    return [type(e).__name__, *e.args]


@program()
def making(x):
    g = tree()
    b = BaseExceptionGroup("all", [ValueError(1)])
    k = BaseExceptionGroup("keys", (KeyboardInterrupt(), ValueError(1)))
    return x + len(g.exceptions), shape(g), str(g), str(b), type(b) is ExceptionGroup, type(k) is BaseExceptionGroup, g.args[0], isinstance(g, Exception)


@program()
def wrong(x):
    found = []
    for args in (("m",), (1, [ValueError()]), ("m", []), ("m", [1]), ("m", [KeyboardInterrupt()]), ("m", [ValueError(), KeyError])):
        try:
            ExceptionGroup(*args)
        except (TypeError, ValueError) as e:
            found.append((type(e).__name__, str(e)))
    return x + len(found), found


@program()
def splitting(x):
    g = tree()
    match, rest = g.split(ValueError)
    none = g.split(OSError)
    both = g.subgroup((KeyError, TypeError))
    by_function = g.subgroup(lambda e: isinstance(e, ExceptionGroup) and e.message == "inner")
    return x + 1, shape(match), shape(rest), none[0], none[1] is g, shape(both), shape(by_function), g.subgroup(OSError), match.exceptions[0] is g.exceptions[0]


@program()
def star(x):
    y = x * 2
    try:
        raise tree()
    except* ValueError as e:
        LOG.append(shape(e))
        y = y + len(e.exceptions)
    except* (TypeError, OSError) as e:
        LOG.append(shape(e))
        y = y * 3
    except* KeyError:
        LOG.append("key")
    else:
        LOG.append("else")
    finally:
        y = y - 1
    return y, list(LOG)


@program()
def star_with_a_rest(x):
    try:
        try:
            raise tree()
        except* ValueError:
            LOG.append("value")
    except ExceptionGroup as e:
        return x + 1, shape(e)


@program()
def star_of_one(x):
    try:
        try:
            raise Bad(7)
        except* KeyError:
            LOG.append("no")
        except* Bad as e:
            LOG.append((shape(e), e.exceptions[0].code))
    except Bad:
        LOG.append("never")
    try:
        try:
            raise Bad(8)
        except* KeyError:
            pass
    except Bad as e:
        return x + e.code, list(LOG)


@program()
def raised_again(x):
    try:
        try:
            raise tree()
        except* ValueError:
            raise
        except* KeyError:
            pass
    except ExceptionGroup as e:
        return x + 1, shape(e)


@program()
def raised_anew(x):
    try:
        try:
            raise tree()
        except* ValueError:
            raise Bad(1)
        except* TypeError as e:
            raise e
        except* KeyError as e:
            raise Bad(2) from e
    except ExceptionGroup as e:
        causes = [type(v.__cause__).__name__ for v in e.exceptions]
        return x + 1, shape(e), causes, [v.__suppress_context__ for v in e.exceptions]


@program()
def nothing_raised(x):
    try:
        y = x + 1
    except* ValueError:
        y = x
    else:
        y = y * 2
    return y


@program()
def own_class(x):
    g = Named("mine", [ValueError(1), KeyError(2)])
    g.add_note("noted")
    try:
        raise g
    except* KeyError as e:
        kept = shape(e), e.__notes__, e.__notes__ is g.__notes__, e is g
    except* ValueError as e:
        LOG.append(shape(e))
    return x + 1, kept, list(LOG)


@program()
def group_leaves(x):
    g = tree()
    g.add_note("seen")
    return x + 1, g, g.exceptions[1], Named("n", [g.exceptions[0]])


@program(graphs=0)
def group_leaves_raised(x):
    y = x + 1
    raise ExceptionGroup("left %d" % y.shape[0], [ValueError(1), KeyError("k")])


@program()
def not_to_be_caught(x):
    found = []
    for types in (ExceptionGroup, (ValueError, BaseExceptionGroup), int):
        try:
            try:
                raise ValueError(1)
            except* types:
                pass
        except TypeError as e:
            found.append(str(e))
    return x + len(found), found


@program()
def in_a_loop(x):
    for n in range(3):
        try:
            if n:
                raise ExceptionGroup("g", [ValueError(n), KeyError(n)])
        except* ValueError as e:
            x = x + e.exceptions[0].args[0]
        except* KeyError:
            x = x * 2
    return x
