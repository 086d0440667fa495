"""Programs that were found by throwing hostile objects at everything: they crash nothing, and nothing differs."""
import pytest
import torch
from follow import X, follow, follows


@follows()
def test_lists_that_hold_themselves(compile):
    """As arguments of operations, in comparisons, in text."""
    def f(x, p):
        return torch.add(x, p)

    def g(x, p):
        return x + 1, repr(p), len(p), p[0] is p

    f, g = compile(f), compile(g)
    for _ in range(2):
        p = []
        p.append(p)
        how, value = f(X, p)
        yield how, type(value).__name__
        yield g(X, p)


@follows()
def test_descriptors_without_delete(compile):
    class Half:
        def __get__(self, o, cls):
            return 5

        def __set__(self, o, v):
            o.__dict__["kept"] = v

    class Other:
        def __delete__(self, o):
            o.__dict__["gone"] = 1

    class C:
        half, other = Half(), Other()

    def f(x, o):
        try:
            del o.half
        except AttributeError as e:
            x = x + 1
            o.half = str(e)
        try:
            o.other = 3
        except AttributeError as e:
            x = x + 1
            o.text = str(e)
        del o.other
        return x

    f = compile(f)
    for _ in range(2):
        o = C()
        yield f(X, o), vars(o)


VALUES = {
    "str": lambda: "q", "own str": lambda: type("S", (str,), {})("q"), "int": lambda: 3, "own int": lambda: type("I", (int,), {})(3), "float": lambda: 3.0,
    "list": lambda: [3], "tuple": lambda: (3,), "own tuple": lambda: type("T", (tuple,), {})((3,)), "dict": lambda: {}, "object": object,
    "static method": lambda: staticmethod(len), "none": lambda: None, "type": lambda: int, "complex": lambda: 3 + 0j, "bytes": lambda: b"q", "set": lambda: {3},
}


@pytest.mark.parametrize("name", ("__eq__", "__ne__", "__lt__", "__ge__"))
@pytest.mark.parametrize("left", VALUES)
def test_comparisons_by_name(left, name):
    """`a.__eq__(b)` is what the slot says: NotImplemented where it does not know."""
    def program(compile):
        f = compile(lambda x, a, b: (x + 1, getattr(a, name)(b)))
        for right in VALUES:
            yield right, f(X, VALUES[left](), VALUES[right]())
        yield f(X, VALUES[left](), VALUES[left]())
    follow(program, sweep=False)


@follows()
def test_answers_of_the_wrong_type(compile):
    """__len__ gives -1, __bool__ 5, __index__ a huge number, __iter__ no iterator, __repr__ no text, __hash__ no number."""
    class Bad:
        def __len__(self):
            return -1

        def __bool__(self):
            return 5

        def __index__(self):
            return 10 ** 30

        def __iter__(self):
            return 5

        def __repr__(self):
            return 5

        def __hash__(self):
            return "h"

        def __contains__(self, v):
            return [0]

        def __format__(self, spec):
            return 7

        def __int__(self):
            return 2.5

        def __float__(self):
            return 1

        def __enter__(self):
            return self

    ops = [len, bool, list, repr, hash, int, float, lambda o: [1][o], lambda o: range(o), lambda o: 3 in o, lambda o: f"{o}", lambda o: {o: 1}, lambda o: 1 if o else 2,
           lambda o: torch.zeros(o), lambda o: X[o], lambda o: next(o), lambda o: "ab" * o, lambda o: o(), lambda o: [*o], lambda o: sorted(o), lambda o: o @ o]

    def scope(x, o):
        with o:
            return x

    for op in (*[lambda x, o, op=op: (x + 1, op(o)) for op in ops], scope):
        f = compile(op)
        for _ in range(2):
            how, value = f(X, Bad())
            yield how, (type(value).__name__, str(value).splitlines()[0]) if how == "raised" else value


@follows()
def test_classes_that_swap_while_compared(compile):
    class A:
        def __eq__(self, other):
            self.__class__ = B
            return True

    class B:
        def __eq__(self, other):
            self.__class__ = A
            return False

    def f(x, o):
        return x + 1, o == 1, o == 1, type(o).__name__, [o] == [1], type(o).__name__

    f = compile(f)
    for cls in (A, B, A):
        o = cls()
        yield f(X, o), type(o).__name__


@follows()
def test_containers_changed_by_the_methods_they_call(compile):
    class Clears:
        def __init__(self, what):
            self.what = what

        def __eq__(self, other):
            self.what.clear()
            return False

        def __hash__(self):
            return 1

        def __index__(self):
            self.what.clear()
            return 0

        def __iter__(self):
            self.what.clear()
            return iter([1])

        def __lt__(self, other):
            self.what.append(0)
            return False

    def ops(x, p, o):
        out = []
        for act in (lambda: 1 in p, lambda: p.index(1), lambda: p[o], lambda: p.extend(o), lambda: p.remove(7), lambda: p.count(1), lambda: p.sort(), lambda: p + [o] == p,
                    lambda: p.insert(o, 1), lambda: sorted(p + [o]), lambda: p.pop(o)):
            try:
                out.append(repr(act())[:20] if not isinstance(act, int) else 0)
            except Exception as e:
                out.append(type(e).__name__)
            out.append(len(p))
            p[:] = [o, 1, 2]
        return x + 1, [v if " at 0x" not in str(v) else "object" for v in out]

    f = compile(ops)
    for _ in range(2):
        p = []
        o = Clears(p)
        p += [o, 1, 2]
        yield f(X, p, o), len(p)


@follows()
def test_metaclass_hooks_that_raise(compile):
    class Meta(type):
        def __getattribute__(cls, name):
            if name == "bad":
                raise LookupError(name)
            return type.__getattribute__(cls, name)

        def __instancecheck__(cls, o):
            raise OSError("check")

        def __subclasscheck__(cls, o):
            raise OSError("sub")

    class C(metaclass=Meta):
        ok = 1

    acts = [lambda o: C.ok, lambda o: C.bad, lambda o: isinstance(o, C), lambda o: isinstance(o, (int, C)), lambda o: issubclass(int, C), lambda o: C().ok, lambda o: hasattr(C, "bad")]
    for act in acts:
        f = compile(lambda x, o, act=act: (x + 1, act(o)))
        for o in ("a", 1, "a"):
            yield f(X, o)
