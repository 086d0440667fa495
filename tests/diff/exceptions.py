"""try, except, finally, chains of exceptions, and where they come from."""
import operator

import torch
from kit import Env, T, program

import jedlik

LOG = []


class Mine(ValueError):
    def __init__(self, code, extra=None):
        super().__init__(f"code {code}")
        self.code, self.extra = code, extra


def boom(v):
    LOG.append(("boom", v))
    raise Mine(v)


def deep(x, n):
    if n == 0:
        return {}["missing"]
    return deep(x, n - 1)


@program()
def caught(x):
    try:
        boom(1)
    except Mine as e:
        return x + e.code, str(e), e.args


@program()
def finally_order(x):
    try:
        try:
            LOG.append("try")
            boom(2)
        finally:
            LOG.append("finally")
    except ValueError:
        LOG.append("except")
    else:
        LOG.append("else")
    return x + len(LOG)


@program()
def return_in_finally(x):
    def f():
        try:
            raise KeyError("lost")
        finally:
            return x + 1
    return f()


@program()
def break_in_finally(x):
    for i in range(3):
        try:
            if i == 1:
                continue
            x = x + i
        finally:
            LOG.append(i)
    return x


@program(graphs=0)
def escapes(x):
    LOG.append("a")
    y = x + 1
    LOG.append("b")
    boom(y.shape[0])


@program(graphs=0)
def escapes_deep(x):
    return deep(x + 1, 4)


@program(graphs=0)
def cause(x):
    try:
        {}["k"]
    except KeyError as e:
        raise Mine(3) from e


@program(graphs=0)
def suppressed(x):
    try:
        [][1]
    except IndexError:
        raise Mine(4) from None


@program(graphs=0)
def context_of_context(x):
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            {}["k"]
    except KeyError:
        [].pop()


@program(graphs=0)
def kept(x):
    try:
        boom(5)
    except Mine as e:
        kept = e
    return x + 1, kept


@program()
def reraised(x):
    try:
        try:
            boom(6)
        except Mine as e:
            e.extra = "seen"
            raise
    except Mine as e:
        return x + 1, e.extra, e.code


@program()
def tuple_of_classes(x):
    out = []
    for f in (lambda: 1 / 0, lambda: {}[1], lambda: [][1], lambda: int("q")):
        try:
            f()
        except (ZeroDivisionError, KeyError) as e:
            out.append(type(e).__name__)
        except LookupError as e:
            out.append("lookup " + str(e))
        except Exception as e:
            out.append(str(e))
    return x + len(out), out


@program(lambda: (T(3), T(3)), lambda: (T(3), T(4)))
def shapes_that_do_not_fit(x, y):
    try:
        return x + y
    except RuntimeError as e:
        return x * 2, str(e)


@program(lambda: (T(3), T(4)), graphs=0)
def shape_error_escapes(x, y):
    LOG.append("before")
    z = x * 2
    return z + y


@program()
def asserts(x):
    try:
        assert x.dim() == 7, f"dim is {x.dim()}"
    except AssertionError as e:
        return x + 1, str(e)


@program()
def name_is_deleted(x):
    try:
        boom(7)
    except Mine as e:
        pass
    try:
        e
    except NameError as n:
        return x + 1, str(n)


@program(lambda: (T(), Env()))
def effects_before_error(x, e):
    try:
        e.log.append(1)
        e.n = x
        e.table["z"] = 1 / 0
    except ZeroDivisionError:
        e.log.append(2)
    return x + len(e.log)


@program()
def raise_class_and_bad(x):
    out = []
    for v in (ValueError, KeyError("k"), 3):
        try:
            raise v
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return x + 1, out


@program()
def loop_with_retry(x):
    tries = 0
    while True:
        try:
            tries += 1
            if tries < 3:
                raise ValueError(tries)
            x = x + tries
        except ValueError as e:
            LOG.append(e.args[0])
            continue
        break
    return x, tries


# -- Exceptions that were there before ---------------------------------------------------

class Coded(ValueError):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


class Worded(ValueError):
    def __str__(self):
        return f"worded {self.args[0]}"


@jedlik.disable
def throw(error):
    raise error


def thrown():
    return [(lambda e=e: (T(), e)) for e in (ValueError("abc"), ValueError(), KeyError("k"), ValueError(1, 2),
                                              OSError(2, "no"), Coded(7, "x"), Worded("w"), StopIteration(4))]


@program(*thrown())
def fields_and_texts_in_a_handler(x, error):
    y = x.sin()
    try:
        throw(error)
    except (ValueError, KeyError, OSError, StopIteration) as e:
        told = str(e), e.args, e.__cause__, e.__suppress_context__, e is error
        return y * len(told[0]), told, getattr(e, "code", None), getattr(e, "errno", None), getattr(e, "value", None)


@program(*thrown())
def texts_of_an_argument(x, error):
    return x * len(error.args), f"{error}", repr(error), isinstance(error, ValueError)


@program(*thrown())
def chain_over_a_break(x, error):
    seen = []
    try:
        try:
            throw(error)
        except ValueError as e:
            x = x * 2
            raise KeyError("next") from e
    except KeyError as e:
        seen.append((e.args, type(e.__cause__), e.__cause__ is error))
    except Exception as e:
        seen.append(type(e))
    return x + len(seen), seen


@program(lambda: (T(), ValueError(3)))
def raised_again_by_its_handler(x, error):
    seen = []
    for _ in range(2):
        try:
            try:
                throw(error)
            except ValueError:
                x = x.cos()
                raise
            finally:
                seen.append("finally")
        except ValueError as e:
            seen.append(e.args[0] + 1)
    return x, seen


@program(graphs=0)
def raises_where_inference_does_not(x):
    """The kernels refuse what torch's own inference takes: a dimension that is not there, a dtype."""
    LOG.append("before")
    try:
        {}["no"]
    except KeyError as e:
        x.zero_()
        LOG.append(str(e))
        torch.nn.functional.softmax(x, 1)


@program()
def dead_and_refused(x):
    y = x + 1
    for dtype in torch.int64, torch.bool:
        try:
            torch.softmax(x.to(dtype), 0)
        except NotImplementedError as e:
            LOG.append(str(e))
    return y


class Refuses:
    def __init__(self, x):
        x.add_(1)
        LOG.append("added")
        torch.log_softmax(x, 3)


@program()
def refused_in_init(x):
    """A frame that a break cannot be taken in, after a write."""
    try:
        Refuses(x)
    except IndexError as e:
        LOG.append(str(e))
    return x * 2


class Closes:
    def __enter__(self):
        LOG.append("enter")

    def __exit__(self, *info):
        LOG.append("exit")


def waits(n):
    with Closes():
        yield n


def catches(x):
    try:
        x.sum(1, 1)
    except Exception as e:
        LOG.append(type(e))
    return x + 1


@program()
def no_circle_is_left(x):
    """Frames that a traceback has kept go with it, and what they hold goes with them."""
    def inner():
        waiting = waits(1)
        y = catches(x)
        next(waiting)
        return y
    y = inner()
    LOG.append("behind")
    return y


@program()
def no_iteration(x):
    for f in any, list, sum, max, tuple:
        try:
            f(x.sum())
        except TypeError as e:
            LOG.append(str(e))
    return x + 1


WRITES = [torch.Tensor.detach_, lambda t: t.fill_(1j), lambda t: t.uniform_(3, 1), lambda t: operator.iadd(t, 1j), lambda t: operator.imul(t, 1j),
          lambda t: operator.isub(t, True), lambda t: t.random_(3, 1), lambda t: t.exponential_(-1)]


@program(*[lambda k=k: (T(3), k) for k in range(len(WRITES))], graphs=0)
def refused_writes(x, k):
    """The only write of a graph raises: nothing has changed, and the handler is the program's."""
    view = x.view(-1)
    try:
        WRITES[k](view)
    except RuntimeError as e:
        LOG.append(str(e))
    return x + 1


@program(*[lambda k=k: (T(3), k) for k in (1j, True)], graphs=0)
def refused_numbers(x, k):
    try:
        x -= k
    except RuntimeError as e:
        LOG.append(str(e))
    return x.clone()


# -- A bare `raise` of what a caller handles -----------------------------------------------


def again():
    raise


def again_caught(kind):
    try:
        again()
    except kind as e:
        return type(e).__name__, e.args


def again_in_with(kind):
    with Suppressed(kind):
        again()
    return "suppressed"


class Suppressed:
    def __init__(self, kind):
        self.kind = kind

    def __enter__(self):
        return self

    def __exit__(self, kind, e, tb):
        return kind is not None and issubclass(kind, self.kind)


class RaisesAgain:
    """Whoever asks it for something gets what is being handled, and only some kinds of it end the question."""
    value = property(lambda self: again())

    def __iter__(self):
        return self

    def __next__(self):
        raise

    def __len__(self):
        raise

    def __getattr__(self, name):
        raise


def yields_again():
    yield 1
    raise


@program(*[lambda k=k: (T(3), k) for k in (TypeError, KeyError, StopIteration, AttributeError)], graphs=0)
def raised_again_by_a_callee(x, kind):
    out = []
    for f in (lambda: again_caught(kind), lambda: again_in_with(kind), lambda: again_caught(LookupError), lambda: list(RaisesAgain()),
              lambda: hasattr(RaisesAgain(), "value"), lambda: getattr(RaisesAgain(), "gone", 7), lambda: len(RaisesAgain()),
              lambda: list(yields_again()), lambda: next(iter(RaisesAgain()), 8), lambda: max(RaisesAgain(), default=9)):
        try:
            try:
                raise kind("outer")
            except kind:
                out.append(f())
        except Exception as e:
            out.append((type(e).__name__, str(e), type(e.__context__).__name__, type(e.__cause__).__name__))
    return x + 1, out


@program(*[lambda k=k: (T(3), k) for k in (TypeError, StopIteration)])
def nothing_left_to_raise_again(x, kind):
    out = []
    try:
        try:
            raise kind("outer")
        except kind:
            again()
    except kind as e:
        out.append(e.args)
    try:
        again()
    except RuntimeError as e:
        out.append((str(e), e.__context__))
    return x + 1, out
