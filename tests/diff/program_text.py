"""compile(), exec() and eval() of known text; named tuples and dataclasses, which are made that way; frames; class dictionaries."""
import collections
import dataclasses
import sys
import types

import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)
LEVEL = 3


class Shape:
    sides = 4
    scale = 2.0

    def area(self):
        return self.sides


@program()
def eval_expression(x):
    n = 2
    return x * eval("n + LEVEL"), eval("x.shape[0]"), eval(" [i * 2 for i in range(3)]"), eval("LEVEL", {"LEVEL": 7})


@program()
def exec_into_a_namespace(x):
    ns = {"x": x}
    exec("y = x + 1\ndef double(t):\n    return t * 2\nz = double(y)\nclass C:\n    n = len('abc')", ns)
    return ns["z"], ns["double"](x), ns["C"].n, list(ns), ns["double"].__module__ if "__name__" in ns else None


@program()
def exec_with_two_namespaces(x):
    outer, inner = {"a": 1}, {}
    exec("global b\nb = a + 1\nc = b + 1", outer, inner)
    return x + inner["c"], outer["b"], sorted(inner), "__builtins__" in outer


@program()
def exec_changes_the_caller(x):
    n = 1
    exec("n = 5\nm = 6")
    return x + n


@program()
def code_object(x):
    code = compile("x * 3 + k", "<here>", "eval")
    return eval(code, {"x": x, "k": 2}), code.co_names, code.co_filename


@program()
def syntax_error(x):
    found = []
    for text in ("x = = 1", "def f(a, a): pass", "def f():\n    x = 1\n    global x", "return 1", "f(**a, *b)"):
        try:
            compile(text, "<text>", "exec")
        except SyntaxError as e:
            found.append((e.msg, e.lineno, e.offset, e.filename, e.text, e.args))
    return x + len(found), found


@program()
def syntax_warning(x):
    code = compile("1 is 1", "<text>", "eval")
    return x + eval(code)


@program()
def text_raises(x):
    try:
        exec("def f():\n    return 1 // n\nf()", {"n": 0})
    except ZeroDivisionError as e:
        return x + 1, str(e)


@program()
def own_builtins(x):
    ns = {"__builtins__": {"len": lambda v: 7}, "x": x}
    f = eval("lambda v: len(v)", ns)
    try:
        eval("max(1, 2)", ns)
    except NameError as e:
        text = str(e)
    return x + f([]), text


@program()
def named_tuple(x):
    P = collections.namedtuple("P", "a b", defaults=[5])
    p = P(x)
    q = p._replace(b=2)
    return p.a + q.b, p, q._fields, P._field_defaults, P.__module__, isinstance(p, tuple), p[1], P


@program()
def data_class(x):
    @dataclasses.dataclass
    class D:
        a: torch.Tensor
        b: int = 3
        c: list = dataclasses.field(default_factory=list)

        def total(self):
            return self.a * self.b
    d = D(x)
    d.c.append(1)
    return d.total(), d.b, d.c, [f.name for f in dataclasses.fields(D)], D(1, 2) == D(1, 2), repr(D(1, 2)), D


@program()
def frame_globals(x):
    def inner():
        return sys._getframe(1).f_code.co_name, sys._getframe().f_globals is globals()
    return x + 1, inner()


@program()
def class_dictionary(x):
    d = Shape.__dict__
    return x * d["sides"], "area" in d, "missing" in d, d.get("scale"), [k for k in d if not k.startswith("__")], type(d) is types.MappingProxyType


@program()
def class_dictionary_changes(x):
    Shape.sides = int(x.sum()) % 2 + Shape.sides
    return x * vars(Shape)["sides"]


@program()
def function_parts(x):
    def f(a, b=1, *, c=2):
        return a + b + c + k
    k = 3
    before = f.__defaults__, f.__kwdefaults__, f.__closure__[0].cell_contents
    f.__defaults__ = (10,)
    f.__kwdefaults__ = {"c": 20}
    return f(x), before, f.__class__ is types.FunctionType, f


@program()
def tracebacks(x):
    try:
        {}["missing"]
    except KeyError as e:
        kind, value, tb = sys.exc_info()
        same = value is e and kind is KeyError and tb is not None and e.__traceback__ is not None
        kept = e.with_traceback(None)
    return x + 1, same, kept, kept.__traceback__


@program(graphs=0)
def attribute_error_leaves(x):
    try:
        x.nothing
    except AttributeError as e:
        kept = e.with_traceback(None)
    return x + 1, kept, kept.name


@program()
def wrong_numbers_of_arguments(x):
    found = []
    for f in (lambda: [].append(), lambda: {}.items(1), lambda: "".join(), lambda: list(sequence=[1]), lambda: dict.get({}),
              lambda: [1].index(), lambda: len(), lambda: {1}.add(1, 2), lambda: abs(1, 2), lambda: int(q=1)):
        try:
            f()
        except TypeError as e:
            found.append(str(e))
    return x + len(found), found


@program()
def indices(x):
    class I:
        def __init__(self, n):
            self.n = n

        def __index__(self):
            return self.n
    return x + (5, 6, 7)[I(1)], "text"[I(2)], b"ab"[I(0)], range(9)[I(4)], int.from_bytes(b"\1\2", "big"), float.fromhex("0x1.8p3")


@program()
def mro(x):
    class A(Shape):
        pass
    return x + len(A.mro()), A.mro() == list(A.__mro__), sys.float_info.max > 1, sys.gettrace(), A.__flags__ & 1
