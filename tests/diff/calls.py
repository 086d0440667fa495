"""Calls: *args, **kwargs, defaults, binding errors."""
import collections
import functools

import torch
from kit import T, ask, program

LOG = []


def pos(a, b, /, c, *, d=4):
    return a + b * c - d


def many(*args, **kw):
    return len(args), sorted(kw), args, kw


def default_list(x, acc=[]):
    acc.append(len(acc))
    return x + len(acc), acc


def kwonly(*, k, m=2):
    return k * m


class Callable:
    def __init__(self, k):
        self.k = k

    def __call__(self, x, *rest, **kw):
        return x * self.k + len(rest) + sum(kw.values())


def noisy(v):
    LOG.append(v)
    return v


def attempt(f, *a, **k):
    try:
        return f(*a, **k)
    except TypeError as e:
        return str(e)


@program()
def positional_only(x):
    return pos(x, 2, 3), pos(x, 2, c=5, d=1)


@program()
def star_arguments(x):
    args, kw = (1, 2), {"p": x, "q": 3}
    return many(*args, x, *[5], **kw, r=1), x + 1


@program()
def binding_errors(x):
    return (x + 1, attempt(pos, 1), attempt(pos, 1, 2, 3, 4), attempt(pos, a=1, b=2, c=3), attempt(pos, 1, 2, 3, e=1),
            attempt(kwonly), attempt(kwonly, 1), attempt(lambda: 0, 1), attempt(pos, 1, 2, 3, c=3))


@program()
def binding_error_escapes(x):
    LOG.append("before")
    y = x + 1
    return pos(y)


@program()
def duplicate_keyword(x):
    kw = {"d": 1}
    try:
        return pos(x, 1, 2, d=2, **kw)
    except TypeError as e:
        return x * 2, str(e)


@program()
def mutable_default(x):
    a, acc = default_list(x)
    b, same = default_list(a)
    return b, acc is same, list(acc)


@program()
def order_of_evaluation(x):
    many(noisy(1), noisy(2), k=noisy(3), *[noisy(4)], **{"z": noisy(5)})
    return x + len(LOG)


@program(lambda: (T(), Callable(2)), lambda: (T(), Callable(3)))
def callable_object(x, c):
    return c(x), c(x, 1, 2), c(x, k=4)


@program()
def lambdas(x):
    f = lambda a, b=2, *c, d=3, **e: a * b + d + len(c) + len(e)
    return f(x), f(x, 1, 1, 1, d=0, z=1)


@program()
def nested_calls(x):
    def inner(y, scale=2):
        def deepest(z):
            return z * scale + y.sum()
        return deepest(y) + deepest(y * 2)
    return inner(x), inner(x, scale=3)


@program(lambda: (T(), 5), lambda: (T(), 1))
def recursion(x, n):
    def fact(k):
        return 1 if k <= 1 else k * fact(k - 1)

    def down(y, k):
        return y if k == 0 else down(y + k, k - 1)
    return down(x, n), fact(n)


@program()
def keyword_order(x):
    return list(many(z=1, a=2, m=3)[3].items()), x + 1


@program(lambda: (T(), {"c": 1, "d": 2}), lambda: (T(), {"c": 3}), lambda: (T(), {"c": 1, "nope": 2}), lambda: (T(), {1: 2}))
def unpack_existing(x, kw):
    try:
        return pos(x, 1, **kw)
    except TypeError as e:
        return x, str(e)


@program(lambda: (T(), [1, 2]), lambda: (T(), (3, 4)), lambda: (T(), {5: 1, 6: 2}), lambda: (T(), 7))
def unpack_iterables(x, it):
    try:
        return x + len(many(*it)[2]), many(*it)
    except TypeError as e:
        return x, str(e)


@program()
def methods_as_values(x):
    add = x.add
    up = "a".join
    f = functools.partial(many, 1, k=x)
    return add(1), up(["x", "y"]), f(2, j=1), [].append is [].append


@program()
def not_callable(x):
    out = []
    for v in (3, None, "s", [1]):
        try:
            v(x)
        except TypeError as e:
            out.append(str(e))
    return x + 1, out


@program()
def function_attributes(x):
    def f(y, k=3):
        f.count = getattr(f, "count", 0) + 1
        return y * k
    f(x), f(x)
    return f(x), f.count, f.__name__, f.__defaults__, f.__kwdefaults__, f.__code__.co_argcount


# The function entered is reached again through its own cell: its defaults are read, and missing arguments are found, in there.
def calls_itself(step):
    def f(x, n, m=step, *, k=1):
        try:
            x = x + len(f(x))
        except TypeError as e:
            return x + 1, str(e), n
        return x

    def g(x, n=2, *, k=step):
        return x if n == 0 else g(x * k, n - 1)

    return f, g


calls_f, calls_g = calls_itself(3)
program(lambda: (T(), 5))(calls_f)
program(T)(calls_g)


# -- Bound methods of C that come from outside, or are kept over a break -----------------------------------


def of_a_list(*more):
    items = [1, *more]
    return T(), items, items.append


class Loud(list):
    def append(self, item):
        super().append(("loud", item))


def quiet():
    items = Loud([1])
    return T(), items, list.append.__get__(items)


def loud():
    items = Loud([1])
    return T(), items, items.append


@program(of_a_list, lambda: of_a_list(2), quiet, loud, lambda: (T(), [1], [].append), lambda: (T(), [1], {1}.add), lambda: (T(), [1], collections.deque().append),
         lambda: (T(), [1], lambda item: None), lambda: (T(), [1], [5, 2].extend), lambda: (T(), [1], [3, 1].remove), graphs=0)
def a_bound_method_from_outside(x, items, add):
    y = x * len(items)
    try:
        add(3)
    except (TypeError, ValueError) as e:
        return y, str(e), items
    return y + 1, items, len(items), add.__self__ is items if hasattr(add, "__self__") else None, add.__name__, getattr(add, "__self__", None)


def pair(first, second):
    items = [T()]
    return T(2), getattr(items, first), getattr(items if second[0] != "-" else [T()], second.strip("-"))


@program(lambda: pair("append", "append"), lambda: pair("append", "-append"), lambda: pair("append", "extend"),
         lambda: (T(2), *[[].append] * 2), lambda: (T(2), print, [].append))
def bound_methods_side_by_side(x, f, g):
    return x + 1, f is g, f == g, f.__self__ is g.__self__, type(f) is type(g), f != g, callable(f), f.__name__ == g.__name__


@program(lambda: (T(2, 3), T(2, 3).add), lambda: (T(2, 3), T(2, 3).mul), lambda: (T(2, 3), T(3).mul), lambda: (T(2, 3), T(2, 3, grad=True).mul))
def a_bound_method_of_a_tensor(x, f):
    return f(x) + f(x), f.__name__


@program(lambda: (T(), {"a": 1}.get), lambda: (T(), {"a": 2}.get), lambda: (T(), {}.get), lambda: (T(), {}.setdefault), lambda: (T(), "abc".find), lambda: (T(), {"a": 1}.pop))
def a_bound_method_of_a_dictionary(x, get):
    return x + get("a", 7), ask(get, "b"), ask(get)


@torch.compiler.disable
def left_alone(x):
    return x * 2


@program(T, lambda: T(4))
def bound_methods_over_a_break(x):
    out, table = [], {}
    append, put = out.append, table.setdefault
    for i in range(3):
        append(left_alone(x + i) + 1)
        put(i, left_alone(x))
        out.extend([left_alone(x)])
    y = x.view(*left_alone(x).shape).add(left_alone(x)).reshape(*left_alone(x).shape, 1)
    return out, table, y, ",".join(map(str, left_alone(x).shape)), append.__self__ is out
