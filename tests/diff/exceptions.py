"""try, except, finally, chains of exceptions, and where they come from."""
import torch
from kit import Env, T, program

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
