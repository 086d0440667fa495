"""Context variables, locks, lru_cache and cached_property: what a call leaves in them."""
import contextvars
import functools
import threading

import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)
MODE = contextvars.ContextVar("MODE", default="eval")
DEPTH = contextvars.ContextVar("DEPTH")
LOCK = threading.Lock()
LOG = []


@functools.lru_cache(maxsize=2)
def scale(n, by=1):
    return n * by


@functools.lru_cache(maxsize=None)
def plain(n):
    return n + 1


class entered:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.token = DEPTH.set(self.value)

    def __exit__(self, *exc):
        DEPTH.reset(self.token)


@program(lambda: (T(), 1), lambda: (T(), 2))
def set_and_reset(x, n):
    token = MODE.set("train")
    try:
        y = x * n if MODE.get() == "train" else x
    finally:
        MODE.reset(token)
    return y, MODE.get(), DEPTH.get(None)


@program()
def set_and_left(x):
    before = MODE.get("none"), MODE.get()
    MODE.set(["train", x.shape[0]])
    return x + len(MODE.get()), before


@program()
def read_what_was_left(x):
    LOG.append(MODE.get())
    MODE.set("call %d" % len(LOG))
    return x + 1, MODE.get(), list(LOG)


@program()
def unset(x):
    try:
        DEPTH.get()
    except LookupError as e:
        same = e.args[0] is DEPTH
    with entered(3):
        y = x * DEPTH.get()
        with entered(4):
            y = y + DEPTH.get()
        y = y + DEPTH.get()
    return y, same, DEPTH.get("unset")


@program()
def set_behind_a_set(x):
    first = MODE.set("a")
    second = MODE.set("b")
    y = x + len(MODE.get())
    MODE.reset(second)
    was = MODE.get()
    MODE.reset(first)
    return y, was, MODE.get()


@program()
def raised_inside(x):
    try:
        with entered(x.shape[0]):
            y = x + DEPTH.get()
            raise KeyError(DEPTH.get())
    except KeyError as e:
        return y, e.args, DEPTH.get(None)


@program()
def counters(x):
    before = scale.cache_info()
    y = x * scale(2) + scale(3, by=2) + scale(2)
    return y, before, scale.cache_info(), plain.cache_info()


@program(lambda: (T(), 1), lambda: (T(), 2), lambda: (T(), 3))
def order_of_use(x, n):
    y = x * scale(n) + scale(1)
    return y


@program()
def counters_afterwards(x):
    return x + plain(1) + plain(1) + plain(2)


@program()
def new_lock(x):
    lock = threading.Lock()
    with lock:
        y = x + 1
        held = lock.locked()
    nested = threading.RLock()
    with nested, nested:
        y = y * 2
    try:
        lock.release()
    except RuntimeError as e:
        text = str(e)
    return y, held, lock.locked(), text


@program()
def lock_leaves(x):
    e = [threading.Lock(), threading.RLock()]
    with e[0]:
        pass
    return x + 1, e[0].acquire(False), e[1].acquire(), [type(lock).__name__ for lock in e]


@program(graphs=2)
def existing_lock(x):
    y = x + 1
    with LOCK:
        LOG.append(LOCK.locked())
    return y * 2, LOCK.locked(), list(LOG)


@program()
def cached_property_of_a_new_class(x):
    class C:
        def __init__(self, x):
            self.x, self.calls = x, 0

        @functools.cached_property
        def twice(self):
            self.calls += 1
            return self.x * 2
    c = C(x)
    return c.twice + c.twice, c.calls, sorted(vars(c))
