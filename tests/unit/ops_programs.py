"""Programs that hold every instruction between them (test_ops.py). Not in the test's module: pytest rewrites what asserts there."""
import contextlib

PROGRAMS = []
PLACE = 3


def program(fn):
    PROGRAMS.append(fn)
    return fn


class Point:
    __match_args__ = ("a", "b")
    shared = 5

    def __init__(self, a, b):
        self.a, self.b = a, b


@program
def operators(n):
    a = [n + 1, n - 1, n * 2, n // 2, n % 3, n ** 2, n << 1, n >> 1, n & 1, n | 8, n ^ 5, n / 4]
    a[0] += -n
    return a, +n, ~n, not n, n < 3, n == 4, n is None, n is not None, n in a, n not in a


@program
def short_circuits(n):
    seen = n > 100 and n
    seen = seen or n > 3 and "big"
    if not seen:
        return None
    value = None if n else n
    if value is None:
        seen = [seen, n < 0 or n]
    if value is not None:
        seen = 0
    while n > 2:
        n -= 1
        if n == 3:
            continue
    return seen, n, (0 < n < 3)


@program
def containers(n):
    a, *b, c = [1, n, *range(n)]
    first, second = (n, 2)
    first, second, a = second, first, (a, first)
    d = {"k": n, **{"l": 2}}
    e = {n: 1, "z": 2}
    s = {n, 5, *b}
    const_list, const_set, keyed = [1, 2, 3, 4], {1, 2, 3}, {"a": n, "b": 2}
    del d["k"]
    b[0] = 7
    del b[-1]
    return a, b, c, d, e, s, const_list, const_set, keyed, b[0:1], b[::2], first, second, (*b, n)


@program
def comprehensions(n):
    return [i for i in range(n) if i], {i for i in range(n)}, {i: i + n for i in range(n)}, sum(i for i in range(n))


@program
def texts(n):
    return f"{n}", f"{n!r:>4} and {n:03d}", f"{n}{n}x"


def parts(*args, key=1, **more):
    return args, key, more


@program
def calls(n):
    args, more = [n, 2], {"key": 3}
    return parts(n), parts(n, key=2), parts(*args, **more), parts(*args, n, x=1, **more), "a-b".split("-"), max(*args)


@program
def attributes(n):
    p = Point(n, 2)
    p.c = 3
    del p.b
    p.a += 1
    return dict(vars(p)), p.shared, hasattr(p, "b")


@program
def closures(n):
    count = 0

    def inner(k: int = n, *, by=2) -> int:
        nonlocal count
        count += k * by + n
        return count

    kept = inner(), inner(1, by=1)
    temporary = n

    def other():
        return temporary

    kept = kept, other()
    del temporary
    local = 1
    del local
    return kept, count, inner.__kwdefaults__, inner.__annotations__


@program
def globals_(n):
    global PLACE, ADDED
    PLACE = PLACE + n
    ADDED = PLACE
    result = ADDED
    del ADDED
    PLACE = 3
    return result


@program
def imports(n):
    import os.path
    from os import path as p, sep
    return os.path is p, sep, n


@program
def exceptions(n):
    seen = []
    for kind in (ValueError, KeyError, TypeError):
        try:
            try:
                if n:
                    raise kind(n) from None
            except ValueError as error:
                seen.append(error.args)
            except (KeyError, IndexError):
                seen.append("key")
                raise
            else:
                seen.append("none")
            finally:
                seen.append("finally")
        except KeyError:
            seen.append("again")
        except TypeError:
            seen.append("type")
    try:
        assert n == 0, "no"
    except AssertionError as error:
        seen.append(str(error))
    return seen


@program
def exception_groups(n):
    seen = []
    try:
        raise ExceptionGroup("many", [ValueError(n), KeyError(1)])
    except* ValueError as group:
        seen.append([e.args for e in group.exceptions])
    except* KeyError:
        seen.append("key")
    return seen


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        return kind is KeyError


@program
def contexts(n):
    with contextlib.nullcontext(n) as k, Swallow() as s:
        raise KeyError(k)
    with contextlib.suppress(ValueError):
        n += 1
    return n, type(s)


@program
def patterns(n):
    seen = []
    for value in (n, [1, n], [1, 2, 3, n], {"k": n, "l": 2}, Point(1, n), "text", None, (1,)):
        match value:
            case None:
                seen.append("none")
            case int(k) if k > 2:
                seen.append(k)
            case [1, k]:
                seen.append(("pair", k))
            case [k, *rest]:
                seen.append((k, rest))
            case {"k": k, **rest}:
                seen.append((k, rest))
            case Point(1, b=k):
                seen.append(k)
            case str() | bytes():
                seen.append("str")
    return seen


def numbers(n):
    got = yield n
    yield got
    return n + 1


def delegates(n):
    result = yield from numbers(n)
    yield result
    yield from [1, 2]


@program
def generators(n):
    g = delegates(n)
    return next(g), g.send(7), list(g)


@program
def classes(n):
    class Local(Point):
        limit: int = n
        squares = [i * i for i in range(3)]
        text = "a"
        del text

        def get(self):
            return __class__ is Local, super().__init__(1, n)

    return Local(1, 2).get(), Local.limit, Local.squares, Local.__annotations__


@program
def class_over_a_closure(n):
    def outer(k):
        class Inner:
            value = k
        return Inner.value
    return outer(n)
