"""Rules 1 to 3 for numbers that a program counts in, wherever they lie: one graph for any number of calls, and the right number."""
import types

import pytest
import torch
from follow import X, follow, follows

CALLS = 50


@follows(graphs=1, sweep=False)
def test_class_attribute(compile):
    class C:
        n = 0

    def f(x):
        C.n += 1
        return x + 1

    f = compile(f)
    for _ in range(CALLS):
        yield f(X), C.n


@follows(graphs=1, sweep=False)
def test_class_attribute_through_an_instance(compile):
    class C:
        n = 0

        def step(self, x):
            type(self).n += 1
            self.__class__.n += 1
            return x + 1

    o = C()
    f = compile(C.step)
    for _ in range(CALLS):
        yield f(o, X), C.n, vars(o)


@follows(graphs=1, sweep=False)
def test_classmethod_counter(compile):
    class C:
        n = 0.5

        @classmethod
        def step(cls, x):
            cls.n += 1
            return x + 1

    class D(C):
        pass

    f = compile(lambda x: C.step(x))
    for _ in range(CALLS):
        yield f(X), C.n, D.n


@follows(graphs=2, sweep=False)
def test_class_attribute_that_others_change(compile):
    """The code that reads it does not write it: known after the first change."""
    class C:
        n = 0

    def f(x):
        return x + 1, C.n * 2

    f = compile(f)
    for k in range(CALLS):
        C.n = k
        yield f(X)


@follows(graphs=2, sweep=False)
def test_class_attribute_read_through_instances(compile):
    class C:
        n = 0

    o = C()

    def f(x):
        return x + 1, o.n + 1

    f = compile(f)
    for k in range(CALLS):
        C.n = k
        yield f(X)
    o.n = 7
    yield f(X)
    yield f(X)
    del o.n
    yield f(X)


@follows(graphs=(1, 4))
def test_class_attribute_that_becomes_something_else(compile):
    """A number, then a property, a tensor, text, nothing: each is seen."""
    class C:
        n = 0

    o = C()

    def f(x):
        C.n += 1
        return x + 1, o.n

    f = compile(f)
    for _ in range(3):
        yield f(X), C.n
    for value in (1.5, True, 2 ** 70, "text", 5):
        C.n = value
        yield f(X), C.n
    C.n = property(lambda self: 7)
    yield f(X)
    del C.n
    yield f(X)
    C.n = 3
    yield f(X), C.n


@follows(graphs=(1, 6))
def test_subclass_gets_its_own(compile):
    class B:
        n = 0

    class C(B):
        pass

    def f(x, cls):
        cls.n += 1
        return x + cls.n, B.n

    f = compile(f)
    for cls in C, C, B, C, B:
        yield f(X, cls), B.n, C.n, "n" in vars(C)


@follows(graphs=2)
def test_branch_on_a_class_counter(compile):
    class C:
        n = 0

    def f(x):
        C.n += 1
        if C.n > 4:
            return x * 2
        return x * 3

    f = compile(f)
    for _ in range(9):
        yield f(X), C.n


@follows()
def test_counter_written_before_an_instance_reads_it(compile):
    class C:
        n = 0

    o = C()

    def f(x):
        C.n += 1
        y = x + 1
        return y * 2, o.n

    f = compile(f)
    for _ in range(4):
        yield f(X), C.n


@follows(graphs=1, sweep=False)
def test_metaclass_counter(compile):
    class Meta(type):
        n = 0

    class C(metaclass=Meta):
        pass

    def f(x):
        Meta.n += 1
        return x + 1

    f = compile(f)
    for _ in range(CALLS):
        yield f(X), C.n


@follows(graphs=1, sweep=False)
def test_global(compile):
    space = {"N": 0}
    exec("def f(x):\n    global N\n    N += 1\n    return x + 1\n", space)
    f = compile(space["f"])
    for _ in range(CALLS):
        yield f(X), space["N"]


@follows(graphs=1, sweep=False)
def test_module_attribute(compile):
    m = types.ModuleType("counting")
    m.n = 0

    def f(x):
        m.n += 1
        return x + 1

    f = compile(f)
    for _ in range(CALLS):
        yield f(X), m.n


@follows(graphs=1, sweep=False)
def test_nonlocal(compile):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x + 1

    f = compile(f)
    for _ in range(CALLS):
        yield f(X), n


@follows(graphs=1, sweep=False)
def test_closure_of_a_helper(compile):
    def make():
        n = 0

        def step():
            nonlocal n
            n += 2
            return n
        return step

    step = make()
    f = compile(lambda x: (x + 1, step()))
    for _ in range(CALLS):
        yield f(X)


@follows(graphs=1, sweep=False)
def test_function_attribute(compile):
    def f(x):
        f.calls += 1
        return x + 1

    f.calls = 0
    g = compile(f)
    for _ in range(CALLS):
        yield g(X), f.calls


@follows(graphs=1, sweep=False)
def test_mutable_default(compile):
    def f(x, seen={"n": 0}, log=[0]):  # noqa: B006
        seen["n"] += 1
        log[0] += 1
        return x + 1

    g = compile(f)
    for _ in range(CALLS):
        yield g(X), f.__defaults__


@follows(graphs=(1, 2), sweep=False)
def test_defaults_that_change(compile):
    def helper(x, n=1):
        return x + 1, n

    f = compile(lambda x: helper(x))
    for k in range(CALLS):
        helper.__defaults__ = (k,)
        yield f(X)


@pytest.mark.parametrize("start", (0, 0.0, 2 ** 59, -5, 1e300))
def test_slots_dicts_and_lists(start):
    def program(compile):
        class Slotted:
            __slots__ = ("n",)

        s, d, items = Slotted(), {"n": start}, [start]
        s.n = start

        def f(x):
            s.n += 1
            d["n"] += 1
            items[0] += 1
            return x + 1

        f = compile(f)
        for _ in range(CALLS):
            yield f(X), s.n, d, items
    follow(program, graphs=(1, 3), sweep=False)


@follows(graphs=1, sweep=False)
def test_module_buffer_counter(compile):
    """num_batches_tracked is a tensor, calls a number, history a list."""
    class Net(torch.nn.Module):
        total = 0

        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(3)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            Net.total += 1
            return self.norm(x)

    net = Net()
    f = compile(net)
    x = torch.arange(6.0).reshape(2, 3)
    for _ in range(CALLS):
        yield f(x), net.calls, Net.total, net.norm.num_batches_tracked
