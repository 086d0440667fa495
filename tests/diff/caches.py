"""functools.lru_cache: what a call leaves in the counters and in the order of a cache, in whatever trace it is made."""
import functools


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.lru_cache(maxsize=None)
def square(n):
    return n * n


@functools.lru_cache(maxsize=None)
def squares(n):
    return square(n) + square(n + 1)


@functools.lru_cache(maxsize=3)
def bounded(n):
    return n * n


@functools.lru_cache(maxsize=0)
def never(n):
    return n + 1


@functools.lru_cache(maxsize=-3)
def negative(n):
    return n + 2


@functools.lru_cache(typed=True)
def typed(n):
    return n * 2


@functools.lru_cache
def named(*args, **named):
    return list(named.items()), args


@functools.lru_cache
def picky(n):
    if n > 2:
        raise ValueError(n)
    return n


class Owner:
    @functools.lru_cache(maxsize=4)
    def method(self, n):
        return n + 1

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def static(n):
        return n + 2


def info(e, *functions):
    e.log.append([tuple(f.cache_info()) for f in functions])


def case_recursive(x, e):
    e.log += [fib(n) for n in range(12)]
    info(e, fib)
    return x + fib(12)


def case_counts(x, e):
    y = x + square(e.n) + square(e.n) * square(e.n + 1)
    info(e, square)
    return y + square(e.n)


def case_nested(x, e):
    e.log.append(squares(2))
    info(e, squares, square)
    e.log.append((square(3), squares(3)))
    info(e, squares, square)
    return x


def case_evictions(x, e):
    e.log += [bounded(n) for n in (1, 2, 3, 1, 4, 2, 1, 5, 1)]
    info(e, bounded)
    return x + bounded(1)


def case_no_room(x, e):
    for i in range(3):
        x = x + never(1) + negative(i)
    info(e, never, negative)
    return x


def case_keys(x, e):
    e.log += [typed(3), typed(3.0), typed(n=3), typed(n=3.0), typed(True), typed(1)]
    e.log += [named(a=1, b=2), named(b=2, a=1), named(1, a=1), named((1, 2)), named(1, 2)]
    info(e, typed, named)
    return x, named(a=1)[0] is named(a=1)[0], square(2) is square(2)


def case_raises(x, e):
    for n in (3, 1, 3):
        try:
            e.log.append(picky(n))
        except ValueError as error:
            e.log.append(str(error))
    info(e, picky)
    return x


def case_discarded(x, e):
    """Nothing to capture: the trace is not run."""
    e.log.append((square(40), bounded(41)))
    info(e, square, bounded)


def case_cleared(x, e):
    square(e.n)
    square.cache_clear()
    e.log.append(square(e.n))
    info(e, square)
    return x


def case_methods(x, e):
    o = Owner()
    e.log += [o.method(1), o.method(1), Owner.static(1), Owner.static(1)]
    info(e, Owner.static)
    return x


def case_made_here(x, e):
    @functools.lru_cache
    def f(n):
        return n + 1

    @functools.cache
    def g(n):
        return [n]
    e.log += [f(1), f(1), g(1) is g(1), f.__wrapped__(2), f.__name__]
    info(e, f, g)
    return x


def case_result_changed(x, e):
    made = named(e.name)
    made[0].append(2)
    e.log.append(named(e.name)[0] is made[0])
    info(e, named)
    return x


LINES = ["first"]
MET = {"a": 1}
STEPS = iter(range(100))


@functools.lru_cache
def writes(n):
    LINES.append(n)
    MET[n] = n
    return n


@functools.lru_cache
def steps(n):
    return n, next(STEPS)


def case_writes_after_writes(x, e):
    """What the function changes once is changed once and in order, though the trace has changed it before."""
    LINES.append("before")
    MET["b"] = next(STEPS)
    e.log += [writes(e.name), len(LINES), writes(e.name), steps(e.name), steps(e.name)]
    LINES.append("after")
    MET["c"] = next(STEPS)
    return x
