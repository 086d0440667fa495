"""with statements."""
import contextlib

import torch
from kit import T, program

LOG = []


class Manager:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        LOG.append(("enter", self.name))
        return self

    def __exit__(self, kind, value, tb):
        LOG.append(("exit", self.name, kind and kind.__name__, str(value)))
        return self.swallow


class BadExit(Manager):
    def __exit__(self, *a):
        raise RuntimeError("exit failed")


class BadEnter(Manager):
    def __enter__(self):
        raise RuntimeError("enter failed")


@contextlib.contextmanager
def managed(name):
    LOG.append(("in", name))
    try:
        yield name * 2
    except ValueError as e:
        LOG.append(("caught", str(e)))
    finally:
        LOG.append(("out", name))


KEPT = Manager("kept")


@program()
def plain(x):
    with Manager("a") as m:
        y = x + 1
    return y, m.name


@program()
def nested(x):
    with Manager("a"), Manager("b") as b:
        with Manager("c"):
            x = x * 2
    return x, b.name


@program()
def swallowed(x):
    with Manager("s", swallow=True):
        raise ValueError("gone")
    return x + 1


@program(graphs=0)
def passed_on(x):
    y = x + 1
    with Manager("p"):
        raise ValueError("through")


@program()
def left_by_return(x):
    with Manager("r"):
        return x + 1


@program()
def left_by_continue(x):
    for k in range(3):
        with Manager(k):
            if k == 1:
                continue
            x = x + k
    return x


@program()
def generator_manager(x):
    with managed("g") as v:
        x = x + len(v)
    return x, v


@program()
def generator_manager_raises(x):
    with managed("e"):
        x = x + 1
        raise ValueError("inside")
    return x * 2


@program()
def exit_raises(x):
    try:
        with BadExit("b"):
            raise KeyError("first")
    except RuntimeError as e:
        return x + 1, str(e), type(e.__context__).__name__


@program()
def enter_raises(x):
    try:
        with Manager("o"), BadEnter("b"):
            x = x + 1
    except RuntimeError as e:
        return x + 2, str(e)


@program()
def no_manager(x):
    out = []
    for v in (3, None, []):
        try:
            with v:
                pass
        except TypeError as e:
            out.append(str(e))
    return x + 1, out


@program()
def existing_manager(x):
    with KEPT as k:
        y = x * 2
    return y, k is KEPT


@program()
def exit_stack(x):
    with contextlib.ExitStack() as stack:
        for k in range(3):
            stack.enter_context(Manager(k))
        stack.callback(LOG.append, "callback")
        x = x + 3
    return x


@program()
def suppress(x):
    with contextlib.suppress(ZeroDivisionError):
        1 / 0
    with contextlib.nullcontext(5) as five:
        return x + five


@program()
def with_in_inlined(x):
    def inner(y):
        with Manager("i"):
            print("inside")
            return y * 3
    return inner(x) + inner(x)
