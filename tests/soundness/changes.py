"""One thing of the world changes between calls: every program of worlds.py against every change that applies to it.

Takes: a world's name, labels of changes, a plan (which calls and changes in which order). Gives: `differences(...)`: what a compiled run shows
that a plain run does not. A change is found in a world by its label: `changes(world)` makes them from what the world holds, modules,
their parameters, buffers, hooks and attributes, functions, classes, globals, arguments; and from torch's ambient state.

    python tests/soundness/changes.py [--world NAME] [--change TEXT] [--plan NAME] [--backend B] [--break N] [--pairs N]
"""
import argparse
import contextlib
import dataclasses
import itertools
import os
import pathlib
import random
import re
import sys
import time
import types
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch  # noqa: E402
from torch import nn  # noqa: E402

import jedlik  # noqa: E402
from jedlik import _engine  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "diff"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import seen as looks  # noqa: E402
from changes_inside import world_changes  # noqa: E402
from changes_outside import ambient_changes, argument_changes  # noqa: E402
from follow import first_difference  # noqa: E402

HERE = pathlib.Path(__file__).parent
looks.HERE += tuple(str(path) for path in HERE.glob("change*.py"))
PATH = HERE / "worlds.py"


# -- Worlds ---------------------------------------------------------------------------------


def sections():
    """name -> (code of what stands above all, code of the section); line numbers are the file's."""
    text = PATH.read_text()
    marks = list(re.finditer(r"^# -- (\w+) -+$", text, re.M))
    head = compile(text[:marks[0].start()], str(PATH), "exec")
    out = {}
    for m, end in zip(marks, [m.start() for m in marks[1:]] + [len(text)]):
        lines = text.count("\n", 0, m.start())
        out[m[1]] = head, compile("\n" * lines + text[m.start():end], str(PATH), "exec")
    return out


SECTIONS = sections()


class World:
    """A fresh execution of a section; `turns` change the arguments, `around` makes contexts to call in."""

    def __init__(self, name, compile):
        torch.utils.hooks.RemovableHandle.next_id = 0
        module = types.ModuleType("world")
        self.g = module.__dict__
        sys.modules["world"] = module
        exec(SECTIONS[name][0], self.g)
        self.head = set(self.g)
        exec(SECTIONS[name][1], self.g)
        self.own = [k for k in self.g if k not in self.head]
        self.fn, self.turns, self.around, self.undone = self.g["fn"], [], [], []
        self.compile = compile
        self.call = compile(self.fn)

    def values(self):
        """(path, value) of the section's globals and what hangs on them, each once."""
        known, todo = set(), [(k, self.g[k]) for k in self.own if k in self.g and k != "args"]
        while todo:
            path, v = todo.pop(0)
            if id(v) in known or isinstance(v, (str, bytes, int, float, complex, type(None), torch.dtype, types.ModuleType)):
                continue
            known.add(id(v))
            yield path, v
            if isinstance(v, types.FunctionType):
                for name, cell in zip(v.__code__.co_freevars, v.__closure__ or ()):
                    with contextlib.suppress(ValueError):
                        todo.append((f"{path}^{name}", cell.cell_contents))
            elif isinstance(v, types.MethodType):
                todo += [(path + ".__self__", v.__self__)]
            elif isinstance(v, nn.Module):
                todo += [(f"{path}.{n}", m) for n, m in v._modules.items()]
                todo += [(f"{path}.{n}", x) for n, x in v.__dict__.items() if not n.startswith("_")]
            elif isinstance(v, (list, tuple)):
                todo += [(f"{path}[{i}]", x) for i, x in enumerate(v)]
            elif isinstance(v, dict):
                todo += [(f"{path}[{k!r}]", x) for k, x in v.items()]
            elif not isinstance(v, (type, torch.Tensor, torch.optim.Optimizer)) and hasattr(v, "__dict__"):
                todo += [(f"{path}.{n}", x) for n, x in v.__dict__.items()]


# -- What can be seen -------------------------------------------------------------------------


def tensors(value, depth=4):
    """Of the results of a call."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)) and depth:
        for v in value:
            yield from tensors(v, depth - 1)
    elif isinstance(value, dict) and depth:
        for v in value.values():
            yield from tensors(v, depth - 1)
    elif dataclasses.is_dataclass(value) and depth:
        yield from tensors(vars(value), depth - 1)


def backward(result):
    """The gradients go where they go; what it raises is seen."""
    roots = [t for t in {id(t): t for t in tensors(result)}.values() if t.grad_fn is not None]
    if not roots:
        return None
    try:
        torch.autograd.backward(roots, [torch.ones_like(t) for t in roots])
    except Exception as e:
        return type(e).__name__, str(e)


UNSEEN = ("__builtins__", "__warningregistry__")


def ambient():
    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(), torch.get_num_threads())


def observe(w, k):
    """The k-th call: what it gives and leaves."""
    try:
        given = w.g["args"](k)
    except Exception as e:  # they are made of what was changed
        return {"no arguments": str(e)}
    args, kwargs = given if len(given) == 2 and type(given[0]) is tuple and type(given[1]) is dict else (given, {})
    args, kwargs = list(args), dict(kwargs)
    for turn in list(w.turns):
        args, kwargs = turn(args, kwargs)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with contextlib.ExitStack() as stack:
            for make in list(w.around):
                stack.enter_context(make())
            try:
                how, result = "returned", w.call(*args, **kwargs)
            except Exception as e:
                how, result = "raised", e
            inside = ambient()
    inside += torch.get_rng_state().numpy().tobytes(), torch.initial_seed()
    seen = looks.Seen()
    out = {how: looks.describe(result, seen), "arguments": looks.describe((args, kwargs), seen), "ambient": inside,
           "globals": [(n, looks.describe(w.g[n], seen)) for n in list(w.g) if n not in w.head and n not in UNSEEN]}
    out["warnings"] = [(m.category.__name__, str(m.message)) for m in told if not str(m.message).startswith("jedlik:")]
    if how == "returned" and torch.is_grad_enabled():
        seen = looks.Seen()
        out["backward"] = backward(result), looks.describe((args, kwargs), seen)
        out["after"] = [(n, looks.describe(w.g[n], seen)) for n in list(w.g) if n not in w.head and n not in UNSEEN]
    return out



# A compiled module calls what its class had as __call__ when it was compiled; AdamW rounds otherwise with such a rate (docs/limits.md).
CALLS = re.compile(r"^(patch (Module|Linear).__call__|fn subclass __call__)$")
RATES = re.compile(r"^opt\[lr\] (tensor|grad)")
# torch._weight_norm does not look at shapes: it reads memory that nobody has written.
UNDEFINED = re.compile(r"^fn.2.weight_[vg] data shape$")


def changes(w):
    for label, do in itertools.chain(argument_changes(w), ambient_changes(w), world_changes(w)):
        known = UNDEFINED.match(label) or RATES.match(label) or (isinstance(w.fn, nn.Module) and CALLS.match(label))
        if not known:
            yield label, do


# -- Runs -----------------------------------------------------------------------------------------

PLANS = {
    "between": ["call", "call", "do 0", "call", "call", "undo 0", "call", "do 0", "call"],
    "before": ["do 0", "call", "call", "undo 0", "call", "call", "do 0", "call"],
    "pair": ["call", "call", "do 0", "call", "do 1", "call", "undo 1", "call", "undo 0", "call", "do 1", "call", "undo 1", "call"],
    "mixed": ["call", "do 0", "do 1", "call", "undo 0", "call", "do 0", "undo 1", "call", "undo 0", "call"],
}


def quiet_state():
    torch.set_grad_enabled(True), torch.set_default_dtype(torch.float32), torch.use_deterministic_algorithms(False)
    torch.set_autocast_enabled("cpu", False), torch.manual_seed(5), torch.set_num_threads(1)


def play(world, labels, plan, compile):
    """A list of what is seen, one a step; None if a change is not to be found."""
    quiet_state()
    w = World(world, compile)
    table = dict(changes(w))
    if any(label not in table for label in labels):
        return None
    out, undo, k = [], {}, 0
    try:
        for step in plan:
            what, _, n = step.partition(" ")
            if what == "call":
                out.append(observe(w, k % 4))
                k += 1
                if k % 2 == 0:
                    for _, v in w.values():
                        for p in v.parameters() if isinstance(v, nn.Module) else [v] if isinstance(v, torch.Tensor) and v.is_leaf else []:
                            p.grad = None
                continue
            try:
                if what == "do":
                    undo[n] = table[labels[int(n)]]()
                else:
                    back = undo.pop(n, None)
                    if callable(back):
                        back()
                out.append({"step": step})
            except Exception as e:
                out.append({"step": (step, type(e).__name__, re.sub("0x[0-9a-f]+", "", str(e)))})
    finally:
        for back in undo.values():
            if callable(back):
                with contextlib.suppress(Exception):
                    back()
        quiet_state()
    return out


def plainly(f):
    return f


def through(backend):
    def compile(f):
        return jedlik.compile(f, backend=backend)
    return compile


def differences(plain, other):
    out = []
    for i, (a, b) in enumerate(zip(plain, other)):
        if a != b:
            for key in {**a, **b}:
                if a.get(key) != b.get(key):
                    told = first_difference(a.get(key), b.get(key)).split("\n")
                    out += [f"    step {i} {key} {told[0][5:]}"] + ["    " + line[:600] for line in told[1:]]
            break
    return out


def run(world, labels, plan, backend="eager", break_at=0):
    """Lines that say what differs, and the counts of the engine."""
    jedlik.reset()
    plain = play(world, labels, PLANS[plan], plainly)
    if plain is None:
        return None, None
    jedlik.reset()
    _engine.set_config("break_at", break_at)
    try:
        other = play(world, labels, PLANS[plan], through(backend))
    finally:
        _engine.set_config("break_at", 0)
    return differences(plain, other), _engine.stats()


def main():
    ask = argparse.ArgumentParser()
    for name in ("world", "change", "plan", "backend"):
        ask.add_argument("--" + name, action="append")
    ask.add_argument("--break", type=int, action="append", dest="breaks")
    ask.add_argument("--pairs", type=int, default=0)
    ask.add_argument("--every", type=int, default=1)
    ask.add_argument("--seed", type=int, default=0)
    a = ask.parse_args()
    draw = random.Random(a.seed)
    torch.set_warn_always(True)
    total = wrong = 0
    start = time.time()
    for world in SECTIONS:
        if a.world and world not in a.world:
            continue
        torch.manual_seed(0)
        labels = [n for n, _ in changes(World(world, plainly)) if not a.change or any(re.search(t, n) for t in a.change)]
        jobs = [(n,) for n in labels]
        if a.pairs:
            jobs = [tuple(draw.sample(labels, 2)) for _ in range(a.pairs)]
        for i, job in enumerate(jobs):
            if i % a.every:
                continue
            for plan in a.plan or (("pair", "mixed") if a.pairs else ("between", "before")):
                for backend in a.backend or ("eager",):
                    for n in a.breaks or (0,):
                        lines, stats = run(world, job, plan, backend, n)
                        if lines is None:
                            continue
                        total += 1
                        if lines:
                            wrong += 1
                            print(f"DIFFERS {world} | {' + '.join(job)} | {plan} {backend} break={n}", *lines, sep="\n", flush=True)
        print(f"-- {world}: {len(labels)} changes, total {total}, wrong {wrong}, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    sys.modules["changes"] = sys.modules["__main__"]
    main()
