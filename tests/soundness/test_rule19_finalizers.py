"""Rule 19: overwriting or deleting an existing value whose end runs code happens at its place, also where the first calls met harmless ones."""
import collections
import weakref

import pytest
import torch
from follow import X, follow, follows

import jedlik


class Box:
    """A place for attributes."""


class Slotted:
    __slots__ = ("a",)


LOG = []


class Loud:
    """Says when it goes, and what it saw."""

    def __init__(self, look=lambda: None):
        self.look = look

    def __del__(self):
        LOG.append(("gone", self.look()))


class Watched:
    """Weak references can be made to it."""


def watched(look=lambda: None):
    w = Watched()
    w.ref = weakref.ref(w, lambda _: LOG.append(("callback", look())))
    WATCHING.append(w.ref)
    return w


WATCHING = []


def generator(look=lambda: None):
    def gen():
        try:
            yield 1
        finally:
            LOG.append(("closed", look()))
    g = gen()
    next(g)
    return g


def harmless(look=None):
    return 1


def a_tensor(look=None):
    return torch.zeros(2)


def watched_tensor(look=lambda: None):
    t = torch.zeros(2)
    WATCHING.append(weakref.ref(t, lambda _: LOG.append(("tensor", look()))))
    return t


LOUD = {"__del__": Loud, "weakref callback": watched, "generator": generator, "watched tensor": watched_tensor}
QUIET = {"int": harmless, "tensor": a_tensor, "object": lambda look=None: Box(), "nothing": None}


def over_attr(x, o, log):
    log.append("before")
    o.a = 0
    log.append("behind")
    return x + 1


def over_attr_after_reading(x, o, log):
    log.append(hasattr(o, "a"))
    o.a = 0
    log.append("behind")
    return x + 1


def del_attr(x, o, log):
    log.append("before")
    if hasattr(o, "a"):
        del o.a
    log.append("behind")
    return x + 1


def over_set_attr(x, o, log):
    setattr(o, "a", None)
    log.append("behind")
    return x + 1


def twice(x, o, log):
    o.a = 0
    log.append("between")
    o.a = 1
    log.append("behind")
    return x + 1


def augmented(x, o, log):
    o.count = o.count + 1 if hasattr(o, "count") else 0
    o.a = o.count
    log.append("behind")
    return x + o.count


def through_dict(x, o, log):
    o.__dict__["a"] = 0
    log.append("behind")
    return x + 1


def dict_update(x, o, log):
    log.append("before")
    vars(o).update(a=0)
    log.append("behind")
    return x + 1


def dict_pop(x, o, log):
    log.append("before")
    o.__dict__.pop("a", None)
    log.append("behind")
    return x + 1


ATTRIBUTES = (over_attr, over_attr_after_reading, del_attr, over_set_attr, twice, augmented, through_dict, dict_update, dict_pop)


@pytest.mark.parametrize("loud", LOUD)
@pytest.mark.parametrize("first", QUIET)
@pytest.mark.parametrize("f", ATTRIBUTES, ids=lambda f: f.__name__)
def test_attributes(f, first, loud):
    """Traced over a harmless value, called over a loud one, and the other way round."""
    def program(compile):
        g = compile(f)
        for kind in (first, first, loud, first, loud, loud):
            o, log = Box(), LOG
            LOG.clear()
            make = QUIET.get(kind, LOUD.get(kind))
            if make:
                o.a = make(lambda: (len(LOG), sorted(o.__dict__)))
            yield g(X, o, log), list(log), sorted(o.__dict__)
            del o
            LOG.clear()
    follow(program, graphs=(1, 8), sweep=f in (over_attr, del_attr) and first == "int")


def list_store(x, p, log):
    log.append("before")
    p[0] = 0
    log.append("behind")
    return x + 1


def list_del(x, p, log):
    log.append("before")
    del p[0]
    log.append("behind")
    return x + 1


def list_clear(x, p, log):
    log.append("before")
    p.clear()
    log.append("behind")
    return x + 1


def list_pop(x, p, log):
    log.append("before")
    p.pop()
    log.append("behind")
    return x + 1


def list_pop_front(x, p, log):
    log.append("before")
    p.pop(0)
    log.append("behind")
    return x + 1


def list_slice(x, p, log):
    log.append("before")
    p[:] = [1, 2]
    log.append("behind")
    return x + 1


def list_del_slice(x, p, log):
    log.append("before")
    del p[0:1]
    log.append("behind")
    return x + 1


def list_remove(x, p, log):
    log.append("before")
    p.remove(p[0])
    log.append("behind")
    return x + 1


def list_multiply(x, p, log):
    log.append("before")
    p *= 0
    log.append("behind")
    return x + 1


LISTS = (list_store, list_del, list_clear, list_pop, list_pop_front, list_slice, list_del_slice, list_remove, list_multiply)


@pytest.mark.parametrize("loud", LOUD)
@pytest.mark.parametrize("f", LISTS, ids=lambda f: f.__name__)
def test_lists(f, loud):
    def program(compile):
        g = compile(f)
        for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
            LOG.clear()
            p = []
            p.append(make(lambda: (len(LOG), len(p))))
            yield g(X, p, LOG), list(LOG), len(p)
            LOG.clear()
    follow(program, graphs=(1, 6), sweep=f is list_clear)


def deque_full(x, p, log):
    log.append("before")
    p.append(1)
    log.append("behind")
    return x + 1


def deque_left(x, p, log):
    log.append("before")
    p.popleft()
    log.append("behind")
    return x + 1


def deque_clear(x, p, log):
    log.append("before")
    p.clear()
    log.append("behind")
    return x + 1


def deque_store(x, p, log):
    log.append("before")
    p[0] = None
    log.append("behind")
    return x + 1


@pytest.mark.parametrize("loud", LOUD)
@pytest.mark.parametrize("f", (deque_full, deque_left, deque_clear, deque_store), ids=lambda f: f.__name__)
def test_deques(f, loud):
    def program(compile):
        g = compile(f)
        for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
            LOG.clear()
            p = collections.deque(maxlen=1)
            p.append(make(lambda: (len(LOG), len(p))))
            yield g(X, p, LOG), list(LOG), len(p)
            LOG.clear()
    follow(program, sweep=False)


def dict_store(x, d, log):
    log.append("before")
    d["k"] = 0
    log.append("behind")
    return x + 1


def dict_del(x, d, log):
    log.append("before")
    del d["k"]
    log.append("behind")
    return x + 1


def dict_clear(x, d, log):
    log.append("before")
    d.clear()
    log.append("behind")
    return x + 1


def dict_popitem(x, d, log):
    log.append("before")
    d.popitem()
    log.append("behind")
    return x + 1


def dict_update_other(x, d, log):
    log.append("before")
    d.update({"k": 2, "j": 3})
    log.append("behind")
    return x + 1


def dict_or(x, d, log):
    log.append("before")
    d |= {"k": 2}
    log.append("behind")
    return x + 1


DICTS = (dict_store, dict_del, dict_clear, dict_popitem, dict_update_other, dict_or)


@pytest.mark.parametrize("kind", (dict, collections.OrderedDict, lambda: collections.defaultdict(list)), ids=("dict", "ordered", "default"))
@pytest.mark.parametrize("loud", LOUD)
@pytest.mark.parametrize("f", DICTS, ids=lambda f: f.__name__)
def test_dicts(f, loud, kind):
    def program(compile):
        g = compile(f)
        for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
            LOG.clear()
            d = kind()
            d["k"] = make(lambda: (len(LOG), sorted(d)))
            yield g(X, d, LOG), list(LOG), sorted(d)
            LOG.clear()
    follow(program, sweep=f is dict_del and kind is dict)


def slot_store(x, o, log):
    log.append("before")
    o.a = 0
    log.append("behind")
    return x + 1


def slot_del(x, o, log):
    log.append("before")
    del o.a
    log.append("behind")
    return x + 1


@pytest.mark.parametrize("loud", LOUD)
@pytest.mark.parametrize("f", (slot_store, slot_del), ids=lambda f: f.__name__)
def test_slots(f, loud):
    def program(compile):
        g = compile(f)
        for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
            LOG.clear()
            o = Slotted()
            o.a = make(lambda: (len(LOG), hasattr(o, "a")))
            yield g(X, o, LOG), list(LOG), hasattr(o, "a")
            LOG.clear()
    follow(program)


@pytest.mark.parametrize("loud", LOUD)
def test_cells(loud):
    """`nonlocal v; v = 0`."""
    def program(compile):
        v = None

        def f(x, log):
            nonlocal v
            log.append("before")
            v = 0
            log.append("behind")
            return x + 1

        f = compile(f)
        for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
            LOG.clear()
            v = make(lambda: len(LOG))
            yield f(X, LOG), list(LOG)
            LOG.clear()
    follow(program)


@pytest.mark.parametrize("loud", LOUD)
def test_globals(loud):
    def program(compile):
        space = {}
        exec("def f(x, log):\n    global V\n    log.append('before')\n    V = 0\n    log.append('behind')\n    return x + 1\n"
             "def g(x, log):\n    global V\n    log.append('before')\n    del V\n    log.append('behind')\n    return x + 1\n", space)
        for name in "fg":
            f = compile(space[name])
            for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
                LOG.clear()
                space["V"] = make(lambda: (len(LOG), "V" in space))
                yield f(X, LOG), list(LOG), "V" in space
                LOG.clear()
    follow(program)


@pytest.mark.parametrize("loud", LOUD)
def test_class_attributes(loud):
    def program(compile):
        class C:
            a = 0

        def f(x, log):
            log.append("before")
            C.a = 0
            log.append("behind")
            return x + 1

        f = compile(f)
        for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
            LOG.clear()
            C.a = make(lambda: len(LOG))
            yield f(X, LOG), list(LOG), C.a
            LOG.clear()
    follow(program)


@pytest.mark.parametrize("loud", LOUD)
def test_attributes_of_tensors_and_functions(loud):
    def program(compile):
        t, h = torch.ones(2), harmless

        def on_tensor(x, log):
            log.append("before")
            t.extra = 0
            log.append("behind")
            return x + 1

        def on_function(x, log):
            log.append("before")
            h.extra = 0
            log.append("behind")
            return x + 1

        for owner, f in (t, compile(on_tensor)), (h, compile(on_function)):
            for make in (harmless, harmless, LOUD[loud], harmless, LOUD[loud]):
                LOG.clear()
                owner.extra = make(lambda: (len(LOG), hasattr(owner, "extra")))
                yield f(X, LOG), list(LOG), owner.extra
                LOG.clear()
            del owner.extra
    follow(program)


@follows()
def test_gradients_with_callbacks(compile):
    """p.grad = None drops a tensor that somebody watches."""
    p = torch.nn.Parameter(torch.ones(2))

    def f(x, log):
        log.append("before")
        p.grad = None
        log.append("behind")
        return x + 1

    f = compile(f)
    for watch in (False, False, True, False, True):
        LOG.clear()
        p.grad = torch.zeros(2)
        ref = weakref.ref(p.grad, lambda _: LOG.append("dropped")) if watch else None
        yield f(X, LOG), list(LOG), p.grad
        del ref
        LOG.clear()


@pytest.mark.parametrize("loud", ["__del__", "generator"])
def test_locals_behind_a_break(loud):
    """The frame behind a break is the only owner of its locals."""
    def program(compile):
        def f(x, make, log):
            t = make(lambda: len(log))
            y = x + 1
            t = None  # noqa: F841
            log.append("behind")
            return y * 2

        f = compile(f)
        make_quiet, make_loud = [harmless][0], LOUD[loud]
        for make in (make_quiet, make_quiet, make_loud, make_quiet, make_loud):
            LOG.clear()
            yield f(X, make, LOG), list(LOG)
            LOG.clear()
    follow(program)


@follows()
def test_creating_loud_objects(compile):
    """Instances of classes with __del__ are made and dropped in their place."""
    def f(x, log):
        t = Loud(lambda: len(log))
        log.append("made")
        del t
        log.append("behind")
        y = x + 1
        Loud(lambda: len(log))
        log.append("last")
        return y * 2

    f = compile(f)
    for _ in range(3):
        LOG.clear()
        yield f(X, LOG), list(LOG)


@follows()
def test_class_that_gets_a_finalizer_later(compile):
    """`C.__del__ = …` after the trace: of the class of what is made, and of what is overwritten."""
    class C:
        pass

    def f(x, o, log):
        C()
        log.append("made")
        o.a = None
        log.append("behind")
        return x + 1

    f = compile(f)
    for loud in (False, False, True, True):
        if loud:
            C.__del__ = lambda self: LOG.append("gone")
        o = Box()
        o.a = C()
        LOG.clear()
        yield f(X, o, LOG), list(LOG)


@follows()
def test_suspended_generator_in_a_try(compile):
    """Dropping a generator that the trace made and left inside a `try` runs its `finally`."""
    def gen(log):
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def f(x, log):
        for v in gen(log):
            x = x + v
            break
        log.append("behind the loop")
        g = gen(log)
        next(g)
        log.append("made")
        del g
        log.append("deleted")
        g = gen(log)
        next(g)
        g = None
        log.append("overwritten")
        next(gen(log))
        log.append("last")
        return x

    f = compile(f)
    for _ in range(3):
        log = []
        yield f(X, log), log


@follows()
def test_finalizer_that_changes_what_is_read_next(compile):
    """__del__ writes a global that the very next line reads."""
    state = {"n": 0}

    class Bump:
        def __del__(self):
            state["n"] += 1

    def f(x, o):
        o.a = None
        return x + state["n"]

    f = compile(f)
    for loud in (False, False, True, False, True):
        o = Box()
        o.a = Bump() if loud else 3
        yield f(X, o), dict(state)


@follows(graphs=(1, 2))
def test_harmless_values_stay_captured(compile):
    """Overwriting tensors, numbers and objects nobody watches is one graph."""
    o = Box()
    o.h, o.n, o.b, o.l = torch.zeros(3), 0, Box(), []

    def f(x):
        o.h = x + o.h
        o.n += 1
        o.b = Box()
        o.l = [o.n]
        return o.h * 2

    f = compile(f)
    for _ in range(6):
        yield f(X), o.n, o.l


def breaks_of(f, *args):
    return [b.id for b in jedlik.explain(f)(*args).breaks]


def test_weak_references_of_torch_and_of_the_engine_are_quiet():
    """What torch remembers of a tensor weakly, and what an entry knows an object by, is no finalizer of the program's."""
    from torch.utils.weak import WeakTensorKeyDictionary
    memo, o, known = WeakTensorKeyDictionary(), Box(), Box()

    def overwrite(x):
        o.t = o.t.to("cpu")
        return x + o.t

    def compare(x):
        return x + (1 if o.k is known else 2)

    def forget(x):
        o.k = None
        return x * 2

    o.t = torch.ones(3)
    memo[o.t] = 1
    assert breaks_of(overwrite, X) == []
    o.k = known
    fast = jedlik.compile(compare, backend="eager")
    assert torch.equal(fast(X), X + 1)
    assert breaks_of(forget, X) == [] and torch.equal(fast(X), X + 2)


def test_weak_references_of_the_program_are_not():
    o, gone = Box(), []

    def forget(x):
        o.k = None
        return x + len(gone)

    for make in (lambda v: weakref.ref(v, gone.append), lambda v: weakref.WeakValueDictionary(k=v)):
        o.k = Box()
        kept = make(o.k)
        before = len(gone)
        assert "FINALIZER" in breaks_of(forget, X)
        assert len(gone) == before + (type(kept) is weakref.ref) and (kept() is None if type(kept) is weakref.ref else not kept)
