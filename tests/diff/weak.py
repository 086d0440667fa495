"""Weak references and proxies, made by a call and given to it: who is alive, what is equal, what is left behind."""
import collections
import functools
import weakref

import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)
REGISTRY = weakref.WeakSet()
TABLE = weakref.WeakKeyDictionary()
KEPT, LOG = [], []


class Node:
    def __init__(self, n=0):
        self.n = n

    def __call__(self, k):
        return self.n + k

    def __iter__(self):
        return iter([self.n, self.n + 1])

    def __add__(self, other):
        return self.n + (other.n if isinstance(other, Node) else other)

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        return self.n * k

    def __contains__(self, k):
        return k == self.n

    def __neg__(self):
        return -self.n

    def __str__(self):
        return "node %d" % self.n


class Equal:
    """Equal to its like, but not hashable by identity."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __hash__(self):
        return hash(self.n)


class Linked:
    """A ring of nodes that hold each other weakly one way."""
    __slots__ = ("next", "prev", "n", "__weakref__")

    def __init__(self, n):
        self.n = n


class Slotted:
    __slots__ = ("n",)


GIVEN = Node(7)
GIVEN_PROXY = weakref.proxy(GIVEN)
GIVEN_REF = weakref.ref(GIVEN)


@program()
def a_reference_gives_its_object(x):
    c = Node(3)
    r = weakref.ref(c)
    return x + r().n, r() is c, type(r) is weakref.ref, isinstance(r, weakref.ref), bool(r)


@program()
def one_plain_reference(x):
    c, d = Node(1), Node(1)
    r = weakref.ref(c)
    return x + 1, r is weakref.ref(c), r is weakref.ref(d), r == weakref.ref(c), r == weakref.ref(d), r != c, weakref.proxy(c) is weakref.proxy(c)


@program()
def equal_as_what_they_refer_to(x):
    a, b, c = Equal(1), Equal(1), Equal(2)
    r = weakref.ref(a)
    return x + 1, r == weakref.ref(b), r == weakref.ref(c), r != weakref.ref(b)


@program()
def gone_with_the_variable(x):
    c = Node(3)
    r = weakref.ref(c)
    x = x + r().n
    del c
    return x + 1, r()


@program()
def gone_when_overwritten(x):
    o = Node(1)
    o.child = Node(2)
    r = weakref.ref(o.child)
    y = x + r().n
    o.child = None
    return y, r()


@program()
def held_by_the_answer_alone(x):
    r = weakref.ref(c := Node(3))
    held = r()
    c = None
    y = x + held.n
    held = None
    return y, r()


@program()
def never_held(x):
    return x + 1, weakref.ref(Node(3))()


@program()
def gone_with_a_frame(x):
    def make():
        c = Node(4)
        r = weakref.ref(c)
        return r, r().n
    r, n = make()
    return x + n, r()


@program()
def held_by_many_things(x):
    def held(make):
        c = Node(2)
        r = weakref.ref(c)
        box = make(c)
        c = None
        return r().n, box
    boxes = [held(m)[0] for m in (lambda c: [c], lambda c: (1, c), lambda c: {"k": c}, lambda c: {c: 1}, lambda c: {c}, lambda c: lambda: c,
                                  lambda c: functools.partial(Node.__call__, c), lambda c: c.__call__, lambda c: [[c]],
                                  lambda c: collections.deque([c]), lambda c: (y for y in [c]), lambda c: Node(c))]
    return x + sum(boxes), boxes


@program(lambda: (T(), []))
def left_outside_with_its_object(x, keep):
    c = Node(2)
    r = weakref.ref(c)
    keep += [c, r]
    return x + 1, keep[1]() is keep[0], r


@program(lambda: (T(), []))
def left_outside_without(x, keep):
    c = Node(2)
    keep.append(weakref.ref(c))
    return x + c.n


@program(lambda: (T(), [], 1), lambda: (T(), [], 2))
def seen_behind_a_break(x, keep, n):
    c = Node(n)
    r, p = weakref.ref(c), weakref.proxy(c)
    y = x + r().n
    print(end="")
    keep.append(r)
    c.n += 1
    return y + r().n, p.n, r() is c, keep[0]() is c


@program()
def not_for_everything(x):
    out = []
    for make in (lambda: weakref.ref(5), lambda: weakref.ref([5]), lambda: weakref.ref(Slotted()), lambda: weakref.proxy("a"), lambda: weakref.ref({}),
                 lambda: hash(weakref.proxy(GIVEN)), lambda: weakref.proxy(GIVEN)(), lambda: weakref.ref(GIVEN)(1), lambda: weakref.ref(GIVEN)(a=1), lambda: weakref.ref(GIVEN)(1, a=1)):
        try:
            out.append(make())
        except TypeError as e:
            out.append(str(e))
    return x + 1, out


@program()
def a_proxy_is_like_its_object(x):
    c = Node(3)
    p = weakref.proxy(c)
    p.m = 5
    del p.m
    p.k = 6
    return (x + p.n, c.k, hasattr(c, "m"), p(4), list(p), p + p, p + 1, -p, len(p), p[2], 3 in p, 4 in p, str(p), bool(p), p.__class__ is Node,
            isinstance(p, Node), type(p) is weakref.CallableProxyType, [*p])


@program()
def a_proxy_in_place(x):
    class Sum:
        def __init__(self):
            self.v = []

        def __iadd__(self, k):
            self.v.append(k)
            return self

    s = Sum()
    p = weakref.proxy(s)
    q = p
    p += 3
    return x + len(s.v), s.v, q is p, type(p) is Sum


@program()
def a_ring_of_proxies(x):
    root = Linked(0)
    p = weakref.proxy(root)
    p.prev = p.next = p
    for n in (1, 2, 3):
        last, link = p.prev, Linked(n)
        link.prev, link.next = last, p
        last.next = link
        p.prev = weakref.proxy(link)
    out, at = [], p.next
    while at is not p:
        out.append(at.n)
        at = at.next
    return x + len(out), out, [p.prev.n, p.prev.prev.n]


@program()
def a_weak_set(x):
    a, b = Node(1), Node(2)
    w = weakref.WeakSet()
    w.add(a)
    w.add(a)
    return x + len(w), a in w, b in w, 5 in w, [o.n for o in w]


@program()
def a_weak_set_that_loses(x):
    w = weakref.WeakSet()
    a = Node(1)
    w.add(a)
    n = len(w)
    del a
    return x + n, len(w), list(w)


@program()
def a_weak_dictionary(x):
    a, b = Node(1), Node(2)
    d = weakref.WeakKeyDictionary()
    d[a] = 1
    d[a] += 1
    d.setdefault(b, 5)
    out = d[a], d.get(b), a in d, Node(1) in d, len(d), d.pop(b), b in d
    return x + d[a], out, d.get(5, "no") if False else None


@program()
def classes_in_a_weak_set(x):
    class A:
        pass

    class B(A):
        pass
    w = weakref.WeakSet([A])
    return x + len(w), A in w, B in w, Node in w, weakref.ref(B)() is B


@program(lambda: (T(), GIVEN_PROXY))
def an_existing_proxy(x, p):
    p.mark = "seen"
    return x + p.n, isinstance(p, Node), p.__class__ is Node, type(p) is Node, list(p), p + 1, p(1), GIVEN.mark, p is GIVEN_PROXY, p is weakref.proxy(GIVEN)


@program(lambda: (T(), GIVEN_REF))
def an_existing_reference(x, r):
    return x + r().n, r is weakref.ref(GIVEN), r == weakref.ref(GIVEN), r() is GIVEN


@program(lambda: (T(), Node(4)), lambda: (T(), [Node(4)]))
def given_and_let_go(x, c):
    c = c[0] if isinstance(c, list) else c
    r = weakref.ref(c)
    y = x + r().n
    c = None
    return y + 1, len(LOG)


@program(lambda: (T(), Node(Node(4))))
def given_and_overwritten(x, o):
    r = weakref.ref(o.n)
    y = x + r().n
    o.n = None
    return y + 1, r()


@program(lambda: (T(), Node(Node(Node(4)))))
def given_and_overwritten_above(x, o):
    r = weakref.ref(o.n.n)
    y = x + r().n
    o.k = 1
    n = r().n
    o.n = None
    return y + n, r()


@program()
def existing_collections(x):
    out = GIVEN in REGISTRY, GIVEN in TABLE
    REGISTRY.add(GIVEN)
    TABLE[GIVEN] = 1
    out += GIVEN in REGISTRY, TABLE[GIVEN], len(REGISTRY)
    REGISTRY.discard(GIVEN)
    del TABLE[GIVEN]
    return x + 1, out, len(REGISTRY), len(TABLE)


@program(graphs=0)
def a_new_object_in_an_existing_collection(x):
    c = Node(1)
    KEPT.append(c)
    REGISTRY.add(c)
    TABLE[c] = x.shape[0]
    return x + 1, c in REGISTRY, TABLE[c]


@program()
def a_callback_of_the_program(x):
    c = Node(1)
    r = weakref.ref(c, LOG.append)
    y = x + r().n
    del c
    return y, len(LOG)


@program(lambda: (T(2, 3),))
def hooks_of_a_new_module(x):
    m = torch.nn.Linear(3, 3)
    with torch.no_grad():
        m.weight.fill_(1.0)
        m.bias.fill_(0.0)
    handle = m.register_forward_hook(lambda mod, args, out: out * 2)
    y = m(x)
    handle.remove()
    return y, m(x)


@program()
def sets_of_references(x):
    a, b = Node(1), Node(2)
    s, t = {weakref.ref(a)}, {weakref.ref(b)}
    u = {weakref.ref(a), weakref.ref(b)}
    return x + len(u), s == {weakref.ref(a)}, s == t, s < u, s & t == set(), len(s | t), len(u - s), {weakref.ref(a): 3}[weakref.ref(a)]


@program()
def abstract_classes_of_python(x):
    import _py_abc
    import abc

    class A(metaclass=_py_abc.ABCMeta):
        @abc.abstractmethod
        def f(self):
            pass

    class B(A):
        def f(self):
            return 1
    A.register(Node)
    try:
        A()
    except TypeError as e:
        return x + B().f(), str(e), isinstance(Node(), A), issubclass(int, A), isinstance(B(), A), sorted(A.__abstractmethods__), sorted(B.__abstractmethods__)


@program()
def what_object_does_not_have(x):
    out = []
    for c in (object, type, int, Node):
        try:
            out.append(c.__abstractmethods__)
        except AttributeError as e:
            out.append(str(e))
    return x + 1, out, getattr(GIVEN_REF, "nothing", 5)
