"""Rule 7: a guard program keeps the order in which the trace asked; premises come first, and each register is assigned once."""
import pytest
import torch
from follow import X, follow, follows


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)


@follows(graphs=(1, 8))
def test_premise_before_the_question(compile):
    """`c is not None and len(c.v) > 2`."""
    def f(x, c):
        if c is not None and len(c.v) > 2:
            return x + 1
        return x + 2

    f = compile(f)
    for c in (Box(v=[1, 2, 3]), None, Box(v=[1]), Box(v="abcd"), Box(v=(1,)), 5, Box(), None, Box(v={1, 2, 3})):
        yield f(X, c)


@follows(graphs=(1, 8))
def test_type_before_the_attribute(compile):
    def f(x, v):
        if isinstance(v, Box) and hasattr(v, "k") and isinstance(v.k, dict) and "n" in v.k and v.k["n"] > 3:
            return x + v.k["n"]
        return x - 1

    f = compile(f)
    for v in (Box(k={"n": 5}), Box(k={"n": 1}), Box(k={}), Box(k=[]), Box(), 3, None, Box(k={"n": "text"}), Box(k={"n": 5})):
        yield f(X, v)


@follows(graphs=(1, 8))
def test_length_before_the_index(compile):
    def f(x, items):
        if len(items) > 2 and items[2] is not None and items[2][0] > 1:
            return x + 1
        return x + 2

    f = compile(f)
    for items in ([1, 2, [3]], [1, 2], [], [1, 2, None], [1, 2, [0]], (1, 2, (5,)), [1, 2, []], [1, 2, [3]]):
        yield f(X, items)


@follows(graphs=(1, 8))
def test_value_before_the_division(compile):
    """The division is only executed where the divisor was asked for."""
    def f(x, d):
        n = d.get("n", 0)
        if n != 0 and 12 // n > 2 and 12 % n == 0:
            return x + 1
        return x + 2

    f = compile(f)
    for d in ({"n": 3}, {"n": 0}, {}, {"n": 5}, {"n": -3}, {"n": 3.0}, {"n": 0.0}, {"n": 3}):
        yield f(X, d)


@follows(graphs=(1, 8))
def test_raising_paths(compile):
    """Where the plain program raises at the second step, so does the compiled one."""
    def f(x, o):
        a = o.a
        b = a["b"]
        c = b[1]
        return x + c

    f = compile(f)
    good = Box(a={"b": [1, 2]})
    for o in (good, Box(), Box(a={}), Box(a={"b": []}), Box(a={"b": 3}), Box(a={"b": [1, "text"]}), Box(a=None), None, good):
        yield f(X, o)


@follows(graphs=(1, 8))
def test_chains(compile):
    """A linked list of any length."""
    def f(x, node):
        n = 0
        while node is not None and n < 10:
            n += node.v
            node = node.next
        return x + n, n

    f = compile(f)
    for length in (3, 2, 0, 4, 3):
        node = None
        for k in range(length):
            node = Box(v=k + 1, next=node)
        yield f(X, node)


@follows(graphs=(1, 6))
def test_cycles(compile):
    def f(x, a):
        return x + a.b.a.b.a.n, a.b.a is a

    f = compile(f)
    for _ in range(2):
        a, b = Box(n=1), Box(n=2)
        a.b, b.a = b, a
        yield f(X, a)
        c = Box(n=3, b=b)
        yield f(X, c)


@pytest.mark.parametrize("world", ("a", "b", "both", "neither"))
def test_two_roots(world):
    """Questions about two inputs interleaved: each is asked only if the one before was answered as in the trace."""
    def program(compile):
        def f(x, a, b):
            if a is None:
                return x
            if b is None:
                return x + 1
            if a.n > b.n:
                return x + a.n
            return x + b.n

        f = compile(f)
        cases = {"a": (Box(n=1), None), "b": (None, Box(n=1)), "both": (Box(n=1), Box(n=2)), "neither": (None, None)}
        yield f(X, *cases[world])
        for args in (*cases.values(), (Box(n=3), Box(n=2)), (Box(), Box(n=1)), (Box(n=1), Box())):
            yield f(X, *args)
    follow(program)


@follows(graphs=(1, 8))
def test_tensor_metadata_behind_a_type_check(compile):
    def f(x, t):
        if isinstance(t, torch.Tensor) and t.dim() == 2 and t.shape[1] > 2:
            return x + t.shape[1]
        return x

    f = compile(f)
    for t in (torch.ones(2, 3), torch.ones(3), 5, None, torch.ones(2, 2), torch.ones(2, 3, 1), torch.ones(2, 5), [1]):
        yield f(X + 0, t)


@follows(graphs=(1, 8))
def test_exceptions_decide(compile):
    def f(x, d, k):
        try:
            v = d[k]
            w = v.n
        except KeyError:
            return x + 1
        except AttributeError:
            return x + 2
        return x + w

    f = compile(f)
    for d in ({"k": Box(n=5)}, {}, {"k": 3}, {"k": Box()}, {"k": Box(n=5)}):
        yield f(X, d, "k")
