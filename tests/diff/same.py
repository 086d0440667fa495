"""Runs a program plainly and compiled, and says where the two differ.

A program is a function `case_…(x, e)`: x a tensor, e a fresh Env to leave effects in. It is called several times, plainly
and through jedlik.compile(backend="eager"), with equal arguments; results, types, sharing, effects and exceptions must be
equal. `python tests/diff/same.py FILE [NAME]` shows what differs.
"""
import importlib.util
import pathlib
import sys
import traceback
import types

import torch

import jedlik

ATOMS = (int, float, bool, str, bytes, complex, type(None), type(...), type(NotImplemented), torch.dtype, torch.device, range)


class Env:
    """What a case may change: a list, a dictionary, a counter, and any attribute."""

    def __init__(self):
        self.log = []
        self.table = {"a": 1, "b": 2.5, "c": "text"}
        self.count = 0
        self.items = [3, 1, 2]
        self.n = 4
        self.rate = 0.5
        self.name = "env"
        self.flag = True


def describe(value, seen):
    """A value as nested tuples: types, contents, and which parts are one object."""
    kind = type(value)
    if isinstance(value, torch.Tensor):
        return known(value, seen) or (kind.__name__, str(value.dtype), tuple(value.shape), value.requires_grad, value.tolist())
    if kind in ATOMS:
        return kind.__name__, repr(value)
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
        return kind.__name__, getattr(value, "__qualname__", repr(value))
    if known(value, seen):
        return known(value, seen)
    seen[id(value)] = len(seen), value
    if isinstance(value, BaseException):
        return describe_exception(value, seen)
    parts = [kind.__name__]
    if isinstance(value, dict):
        parts += [(describe(k, seen), describe(v, seen)) for k, v in value.items()]
    elif isinstance(value, (list, tuple, set, frozenset)) or kind.__name__ in ("deque", "dict_keys", "dict_values", "dict_items"):
        parts += [describe(v, seen) for v in value]
    elif isinstance(value, (int, float, str, bytes)):
        parts.append(kind.__mro__[-2].__repr__(value))
    elif not hasattr(value, "__dict__"):
        parts.append(repr(value) if " at 0x" not in repr(value) else "")
    if hasattr(value, "__dict__") and not isinstance(value, torch.nn.Module):
        parts += [(k, describe(v, seen)) for k, v in vars(value).items()]
    return tuple(parts)


def known(value, seen):
    if id(value) in seen:
        return "same as", seen[id(value)][0]
    if isinstance(value, torch.Tensor):
        seen[id(value)] = len(seen), value
    return None


def describe_exception(e, seen):
    links = {name: getattr(e, name) for name in ("__cause__", "__context__", "__notes__") if getattr(e, name, None) is not None}
    return (type(e).__name__, str(e), describe(e.args, seen), e.__suppress_context__, describe(vars(e), seen),
            [(k, describe(v, seen)) for k, v in links.items()])


def calls(function):
    """What three calls with equal arguments give."""
    out = []
    for k in range(3):
        torch.manual_seed(k)
        x, e, seen = torch.arange(6.0).reshape(2, 3) + (k > 1), Env(), {}
        describe(x, seen), describe(e, seen)
        try:
            result = "returned", describe(function(x, e), seen)
        except Exception as error:
            result = "raised", describe(error, seen)
        out.append((result, describe(x, {}), describe(e, {})))
    return out


class Counter:
    """The eager backend, counted."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, gm, inputs):
        self.graphs += 1
        return gm.forward


def differences(function):
    """Lines that say how the compiled program differs; none: not at all. And the number of graphs."""
    plain, counter = calls(function), Counter()
    compiled = calls(jedlik.compile(function, backend=counter))
    names = "result", "x", "env"
    lines = [f"call {k}, {name}:\n  plain    {a}\n  compiled {b}" for k, (p, c) in enumerate(zip(plain, compiled))
             for name, a, b in zip(names, p, c) if a != b]
    return lines, counter.graphs


def cases(path):
    """The functions named case_… in a file."""
    spec = importlib.util.spec_from_file_location("diff_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return {name: f for name, f in vars(module).items() if name.startswith("case_")}


def main(path, *names):
    wrong = 0
    for name, function in cases(pathlib.Path(path)).items():
        if names and name not in names:
            continue
        try:
            lines, graphs = differences(function)
        except Exception:
            lines, graphs = [traceback.format_exc()], 0
        wrong += bool(lines)
        print(f"{'DIFFERS' if lines else 'same':8} {graphs} graphs  {name}", flush=True)
        print("\n".join(lines), end="\n" if lines else "")
    print(f"{wrong} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
