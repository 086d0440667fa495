"""Objects that weak references with callbacks watch: they go when the program lets go of them, wherever its code is cut."""
import weakref

from kit import T, program

TOLD = []


class Thing:
    def __init__(self, n=0):
        self.n = n

    def method(self):
        return self.n


class Slotted:
    __slots__ = ("n", "__weakref__")

    def __init__(self, n=0):
        self.n = n


def watch(o, name):
    return weakref.ref(o, lambda r: TOLD.append(name))


@program(graphs=0)
def deleted(x):
    o = Thing(1)
    r = watch(o, "deleted")
    y = x + o.n
    del o
    TOLD.append("behind")
    return y, r() is None, list(TOLD)


@program(graphs=0)
def overwritten(x):
    o = Thing(1)
    r = watch(o, "overwritten")
    o = Slotted(2)
    s = watch(o, "second")
    TOLD.append("between")
    o = None
    return x + 1, r() is None, s() is None, list(TOLD)


@program(graphs=0)
def in_a_list(x):
    items = [Thing(1), Slotted(2), Thing(3)]
    refs = [watch(o, o.n) for o in items]
    TOLD.append(items.pop().n)
    del items[0]
    TOLD.append("one is left")
    items[0] = x
    TOLD.append("none is left")
    return x + 1, [r() is None for r in refs], list(TOLD)


@program(graphs=0)
def in_a_dict(x):
    table = {"a": Thing(1), "b": Thing(2), "c": Thing(3)}
    refs = [watch(o, k) for k, o in table.items()]
    table["a"] = 1
    TOLD.append("a went")
    table.pop("b", None)
    TOLD.append("b went")
    table.clear()
    TOLD.append("all went")
    return x + 1, [r() is None for r in refs], list(TOLD)


@program(graphs=0)
def in_an_attribute(x):
    o = Thing(Thing(2))
    r = watch(o.n, "inner")
    o.n = 5
    TOLD.append("stored")
    o.n = Thing(3)
    s = watch(o.n, "second")
    del o.n
    TOLD.append("deleted")
    return x + 1, r() is None, s() is None, list(TOLD)


@program(graphs=0)
def owner_goes(x):
    o = Thing(Thing(2))
    r = watch(o.n, "inner")
    s = watch(o, "outer")
    del o
    TOLD.append("behind")
    return x + 1, r() is None, s() is None, list(TOLD)


@program(graphs=0)
def argument_of_a_call(x):
    def use(o):
        TOLD.append("in the call")
        return o.n
    r = []

    def make():
        o = Thing(4)
        r.append(watch(o, "argument"))
        return o
    n = use(make())
    TOLD.append("behind")
    return x + n, r[0]() is None, list(TOLD)


@program(graphs=0)
def local_of_a_call(x):
    r = []

    def local():
        o = Thing(4)
        r.append(watch(o, "local"))
        TOLD.append("returns")
        return o.n
    n = local()
    TOLD.append("behind")
    return x + n, r[0]() is None, list(TOLD)


@program(graphs=0)
def of_a_loop(x):
    refs = []
    for n in range(3):
        o = Thing(n)
        refs.append(watch(o, n))
        TOLD.append("turn")
    del o
    return x + n, [r() is None for r in refs], list(TOLD)


@program(graphs=0)
def method_of_an_object(x):
    o = Thing(7)
    told = []
    r = weakref.WeakMethod(o.method, told.append)
    seven = r()()
    del o
    gone = len(told)
    return x + seven, r() is None, gone, len(told)


@program(graphs=0)
def finalized(x):
    o = Thing(7)
    end = weakref.finalize(o, TOLD.append, "finalized")
    y = x + o.n
    alive = end.alive
    del o
    TOLD.append("behind")
    return y, alive, end.alive, list(TOLD)


@program(graphs=0)
def in_weak_collections(x):
    keys, values, some = weakref.WeakKeyDictionary(), weakref.WeakValueDictionary(), weakref.WeakSet()
    o = Thing(1)
    keys[o], values["o"] = 1, o
    some.add(o)
    before = len(keys), len(values), len(some)
    del o
    return x + 1, before, len(keys), len(values), len(some), list(values), [k for k in some]


@program(lambda: (T(3), [Thing(1), Thing(2)]), lambda: (T(3), [Slotted(1), Slotted(2)]), graphs=0)
def of_the_caller(x, items):
    refs = [watch(o, o.n) for o in items]
    o = items.pop()
    TOLD.append("popped")
    n = o.n
    del o
    TOLD.append("deleted")
    items.clear()
    return x + n, [r() is None for r in refs], list(TOLD)


@program(graphs=0)
def of_a_generator(x):
    def steps():
        o = Thing(1)
        refs.append(watch(o, "of a generator"))
        yield o.n
        TOLD.append("second")
        yield 2
    refs = []
    g = steps()
    n = next(g)
    g.close()
    TOLD.append("closed")
    return x + n, refs[0]() is None, list(TOLD)


def made(n, watched=True):
    o = Thing(n)
    if watched:
        REFS.append(watch(o, n))
    return o


class Closing(Thing):
    def __del__(self):
        TOLD.append("closed")


REFS = []


@program(graphs=0)
def temporaries(x):
    n = made(1).n
    TOLD.append("attribute")
    n += made(2).method()
    TOLD.append("method")
    made(3)
    TOLD.append("statement")
    n += [made(4).n, made(5).n][0]
    TOLD.append("list")
    flag = made(6) is None
    TOLD.append("is")
    return x + n, flag, list(TOLD)


def second(a, b):
    TOLD.append("in second")
    return b


@program(graphs=0)
def handed_over(x):
    b = second(made(1), made(2))
    TOLD.append("back")
    c, b = b, None
    TOLD.append("swapped")
    n = c.n
    c = x
    TOLD.append("gone")
    return x + n, list(TOLD)


@program(lambda: (T(3), False), lambda: (T(3), True), graphs=0)
def only_some_are_watched(x, watched):
    o = made(1, watched)
    TOLD.append("made")
    o = 1
    TOLD.append("stored")
    n = second(made(2, watched), 5)
    TOLD.append("called")
    o = made(3, watched)
    n += o.n
    del o
    TOLD.append("deleted")
    n += made(4, watched).n
    TOLD.append("read")
    return x + n, list(TOLD)


@program(lambda: (T(3), Thing), lambda: (T(3), Closing), graphs=0)
def only_some_close(x, cls):
    def make(n):
        REFS.append(cls)
        return KINDS[cls](n)
    n = make(1).n
    TOLD.append("read")
    n += second(make(2), 5)
    TOLD.append("called")
    o = make(3)
    o = o.n
    TOLD.append("stored")
    return x + n + o, list(TOLD)


KINDS = {Thing: Thing, Closing: Closing}


@program(graphs=0)
def held_twice(x):
    o = made(1)
    p = o
    TOLD.append("twice")
    o = None
    TOLD.append("once")
    items = [p]
    p = None
    TOLD.append("in a list")
    items.pop()
    TOLD.append("gone")
    return x + 1, list(TOLD)


@program(graphs=0)
def given_away(x):
    o = made(1)
    box = Thing()
    box.n = o
    o = None
    TOLD.append("in a box")
    n = box.n.n
    box.n = None
    TOLD.append("gone")
    t = (made(2), 5)
    a, b = t
    t = None
    TOLD.append("unpacked")
    a = None
    TOLD.append("a went")
    return x + n + b, list(TOLD)


class Manager(Thing):
    def __enter__(self):
        TOLD.append("enter")
        return self.n

    def __exit__(self, *exc):
        TOLD.append("exit")
        return True


@program(graphs=0)
def manager(x):
    def open_(n):
        m = Manager(n)
        REFS.append(watch(m, n))
        return m
    with open_(3) as n:
        x = x + n
    TOLD.append("behind")
    with open_(4) as n:
        raise ValueError(n)
    TOLD.append("after the error")
    return x, list(TOLD)


@program(graphs=0)
def of_a_comprehension(x):
    out = [made(n).n for n in range(3)]
    TOLD.append("list")
    out += list(map(lambda o: o.n, (made(n) for n in range(3, 5))))
    TOLD.append("map")
    return x + 1, out, list(TOLD)


@program(graphs=0)
def of_an_error(x):
    def fails(o):
        if o.n:
            raise ValueError(o.n)
    try:
        fails(made(1))
    except ValueError as e:
        e.__traceback__ = None
        TOLD.append(e.args)
    TOLD.append("behind")
    return x + 1, list(TOLD)
