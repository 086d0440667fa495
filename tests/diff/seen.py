"""Values as nested tuples that are equal for what a program cannot tell apart: types, contents, order, sharing.

Takes: any value, and a Seen that is kept for all values of one comparison. Gives: tuples of plain values. Iterators and generators are
consumed by it.
"""
import collections
import dataclasses
import enum
import functools
import itertools
import logging
import types

import numpy as np
import torch

ATOMS = (int, float, bool, str, bytes, complex, type(None), type(...), type(NotImplemented), torch.dtype, torch.device,
         torch.layout, torch.memory_format, range, slice)
VIEWS = tuple(type(v) for v in ({}.keys(), {}.values(), {}.items()))
ITERATORS = tuple(type(v) for v in (iter([]), iter(()), iter({}), iter({}.values()), iter({}.items()), iter(set()), iter(""),
                                    iter(range(0)), enumerate([]), zip(), map(len, []), filter(len, []), reversed([])))
HERE = (__file__, __file__.replace("seen.py", "runner.py"))


class Seen:
    """Numbers of the objects met so far; they are kept alive, so that an address is one object."""

    def __init__(self):
        self.number, self.keep, self.storage = {}, [], {}

    def __contains__(self, value):
        return id(value) in self.number

    def add(self, value):
        self.keep.append(value)
        return self.number.setdefault(id(value), len(self.number))

    def of_storage(self, tensor):
        try:
            key = tensor.untyped_storage()._cdata
        except (NotImplementedError, RuntimeError):
            return None
        return self.storage.setdefault(key, len(self.storage))


def describe(value, seen):
    kind = type(value)
    if kind in ATOMS:
        return kind.__name__, repr(value)
    if isinstance(value, logging.Logger):
        return kind.__name__, value.name
    if isinstance(value, type) and "<locals>" in value.__qualname__:
        return new_class(value, seen)
    if isinstance(value, (type, types.ModuleType)):
        return kind.__name__, getattr(value, "__qualname__", value.__name__)
    if constant(value):
        return kind.__name__, *items(value, seen)  # equal constants may be one object
    if id(value) in seen.number:
        return "same as", seen.number[id(value)]
    if isinstance(value, np.generic):
        return kind.__name__, repr(value)
    seen.add(value)
    for base, row in ROWS:
        if isinstance(value, base):
            return (kind.__name__, *row(value, seen), *rest(value, seen))
    return (kind.__name__, *content(value, seen), *rest(value, seen))


def constant(value):
    return type(value) in ATOMS or type(value) is tuple and all(map(constant, value))


def new_class(value, seen):
    """A class that the program has made: what it is and has, in order."""
    if id(value) in seen.number:
        return "same as", seen.number[id(value)]
    seen.add(value)
    own = [(name, None if isinstance(v, (types.GetSetDescriptorType, types.MemberDescriptorType)) or name == "_abc_impl"
            else describe(v, seen)) for name, v in vars(value).items()]
    return (type(value).__name__, value.__name__, value.__qualname__, value.__module__, [describe(c, seen) for c in value.__mro__],
            value.__basicsize__, value.__flags__ & 1 << 20, all(value in type.__subclasses__(base) for base in value.__bases__), own)


def content(value, seen):
    """Of a value of no kind known here."""
    if hasattr(kind := type(value), "__dataclass_fields__") or hasattr(value, "__dict__") or hasattr(kind, "__slots__"):
        return ()
    text = repr(value)
    return (text,) if " at 0x" not in text else ()


def rest(value, seen):
    """Attributes and slots."""
    out = []
    if hasattr(value, "__dict__") and not isinstance(value, (type, types.MethodType)):
        out += [(name, describe(v, seen)) for name, v in value.__dict__.items()]
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                out.append((name, describe(getattr(value, name), seen)))
    return out


def tensor(t, seen):
    grad = t.requires_grad, t.is_leaf, nodes(t.grad_fn), describe(t.grad, seen) if t.is_leaf else None
    version = None if t.is_inference() else t._version
    base = None if t._base is None else "view of known" if id(t._base) in seen.number else "view"
    place = seen.of_storage(t), base
    if t.layout == torch.strided:
        place += tuple(t.stride()), t.storage_offset()
    return (str(t.dtype), str(t.device), tuple(t.shape), *place, grad, version, values(t))


def values(t):
    if t.is_meta:
        return None
    return repr(t.detach().tolist() if t.layout == torch.strided else t)


def nodes(fn, left=40):
    """Names in the autograd graph, depth first."""
    out, todo = [], [fn]
    while todo and len(out) < left:
        node = todo.pop()
        if node is not None:
            out.append(node.name())
            todo += [n for n, _ in node.next_functions]
    return tuple(out)


def exception(e, seen):
    links = [describe(getattr(e, name), seen) for name in ("__cause__", "__context__")]
    return str(e), describe(e.args, seen), *links, e.__suppress_context__, lines(e.__traceback__)


def lines(tb):
    """(function, line) of a traceback, without the runner's own."""
    out = []
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename not in HERE:
            out.append((code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    return tuple(out)


def items(value, seen):
    return [describe(v, seen) for v in value]


def left(value, seen):
    """What an iterator still gives, the exception that ends it included."""
    out = []
    try:
        out += map(lambda v: describe(v, seen), itertools.islice(value, 20))
    except Exception as e:
        out.append((type(e).__name__, str(e)))
    return out


def mapping(value, seen):
    pairs = value.items() if isinstance(value, collections.OrderedDict) else dict.items(value)
    pairs = [(describe(k, seen), describe(v, seen)) for k, v in pairs]
    if isinstance(value, collections.OrderedDict):
        pairs.append([describe(k, seen) for k in dict.keys(value)])  # the dict below has an order of its own
    return pairs, describe(value.default_factory if isinstance(value, collections.defaultdict) else None, seen)


def function(value, seen):
    parts = value.__defaults__, value.__kwdefaults__, value.__closure__
    return value.__qualname__, *[describe(p, seen) for p in parts]


def cell(value, seen):
    try:
        return (describe(value.cell_contents, seen),)
    except ValueError:
        return ("empty",)


def member(value, seen):
    return (value.name,)


def number(value, seen):
    base = next(b for b in (int, float, str, bytes) if isinstance(value, b))
    return (base.__repr__(value),)


ROWS = [
    (torch.Tensor, tensor), (BaseException, exception), (enum.Enum, member), (dict, mapping),
    ((types.GeneratorType, itertools.count, itertools.cycle, itertools.repeat) + ITERATORS, left),
    (collections.deque, lambda v, seen: (v.maxlen, *items(v, seen))),
    ((list, tuple, set, frozenset) + VIEWS, items), ((int, float, str, bytes), number),
    (types.FunctionType, function), (types.CellType, cell),
    (types.MethodType, lambda v, seen: (describe(v.__func__, seen), describe(v.__self__, seen))),
    (types.BuiltinFunctionType, lambda v, seen: (v.__qualname__, describe(v.__self__, seen))),
    (functools.partial, lambda v, seen: items((v.func, v.args, v.keywords), seen)),
    (property, lambda v, seen: ()),
]


def data_of(module, seen):
    """The data among a module's globals, and among the attributes of its classes."""
    out = []
    for name, value in vars(module).items():
        if name.startswith("__") or name in ("PROGRAMS", "CASES") or isinstance(value, (types.ModuleType, types.FunctionType)):
            continue
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                out.append((name, class_data(value, seen)))
        else:
            out.append((name, describe(value, seen)))
    return out


def class_data(cls, seen):
    plain = (types.FunctionType, types.GetSetDescriptorType, types.MemberDescriptorType, staticmethod, classmethod, property)
    skip = isinstance(cls, enum.EnumMeta) or dataclasses.is_dataclass(cls)
    return [(k, describe(v, seen)) for k, v in vars(cls).items()
            if not (k.startswith("__") or k.startswith("_abc") or isinstance(v, plain) or skip)]
