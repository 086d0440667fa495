"""Closures, cells, globals."""
import torch
from kit import T, program

LOG = []
COUNT = 0
TABLE = {"scale": 2}


def counter(start=0):
    n = start

    def step(by=1):
        nonlocal n
        n += by
        return n
    return step


def pair():
    v = 0

    def get():
        return v

    def put(x):
        nonlocal v
        v = x
    return get, put


STEP = counter(10)
GET, PUT = pair()


def use_global():
    return COUNT * 10


@program()
def make_counter(x):
    c = counter()
    c(), c(3)
    return x + c(), c(0)


@program()
def existing_counter(x):
    a = STEP()
    b = STEP(2)
    return x + a, b


@program()
def shared_cell(x):
    before = GET()
    PUT(x * 2)
    return GET() + 1, before is GET()


@program()
def returned_closure(x):
    c = counter(5)
    c()
    y = x + 1
    return c, c(), y


@program()
def two_closures_one_cell(x):
    get, put = pair()
    put(3)
    y = x * get()
    put(get() + 1)
    return get, put, y, get()


@program()
def global_counter(x):
    global COUNT
    COUNT += 1
    COUNT = COUNT * 2
    return x + COUNT, use_global()


@program()
def global_table(x):
    TABLE["scale"] += 1
    TABLE["new"] = x
    return x * TABLE["scale"]


@program()
def new_global(x):
    global FRESH
    FRESH = [x, 1]
    y = FRESH[0] + 1
    return y, FRESH


@program()
def deleted_global(x):
    global GONE
    GONE = 1
    del GONE
    try:
        return GONE
    except NameError as e:
        return x + 1, str(e)


@program(graphs=0)
def unbound_local(x):
    y = x + 1
    if y is None:
        z = 1
    return z


@program()
def unbound_free(x):
    def f():
        return later
    try:
        f()
    except NameError as e:
        text = str(e)
    later = 2
    return x * f(), text


@program()
def late_binding(x):
    fs = [lambda y: y * i for i in range(3)]
    gs = [lambda y, i=i: y * i for i in range(3)]
    return [f(x) for f in fs], [g(x) for g in gs]


@program()
def deleted_cell(x):
    v = 3
    f = lambda: v
    a = f()
    del v
    try:
        f()
    except NameError as e:
        return x + a, str(e)


@program()
def argument_in_cell(x):
    def add(k):
        nonlocal x
        x = x + k
        return x
    first = x
    add(1)
    second = add(2)
    return first, second is x, x


@program()
def cells_in_loop(x):
    out = []
    for k in range(3):
        def f(k=k):
            LOG.append(k)
            return x + k
        out.append(f)
    x = x * 10
    return [f() for f in out]


@program()
def globals_function(x):
    globals()["COUNT"] = 7
    return x + COUNT, globals() is globals(), "COUNT" in globals()


@program()
def builtin_shadow(x):
    def len(v):
        return 99
    return x + len([]), max(1, 2)


@program()
def class_in_closure(x):
    k = 2

    def scaled(y):
        return y * k
    k = 5
    return scaled(x), scaled.__closure__[0].cell_contents
