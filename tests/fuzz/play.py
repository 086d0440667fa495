"""Plays a random program plainly and compiled, and says where the two differ.

Takes: the text of a module with `f` and `steps(call)`. Gives: `differences(text, ways)`, lines; none if all ways look the same. A way is how the program
is compiled: settings, a break, arguments of compile.

    python tests/fuzz/play.py FIRST COUNT       programs by their seeds
    python tests/fuzz/play.py FILE              one program, in some ways
    python tests/fuzz/shrink.py SEED …          a smaller program that differs
"""
import ctypes
import contextlib
import gc
import pathlib
import random
import re
import sys
import threading
import warnings

import torch

SECONDS = 120  # of a program
ADDRESS = re.compile("0x[0-9a-f]{6,}")
HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "diff")]
import generate  # noqa: E402
import jedlik  # noqa: E402
import runner  # noqa: E402
import seen as looks  # noqa: E402
from jedlik import _engine  # noqa: E402

looks.HERE += (__file__,)
warnings.filterwarnings("ignore", category=SyntaxWarning)


# -- Ways ------------------------------------------------------------------------------


def ways(seed):
    """As usual, with all that can be switched on, and one or two with breaks; one may be with fullgraph or another backend."""
    rng = random.Random(seed)
    all_on = {"keep_empty_graphs": True, "capture_without_tensors": True}
    out = [{}, {**all_on, "recompile_limit": rng.choice([2, 8, 30])}]
    out += [{**all_on, "break_at": rng.choice([rng.randint(1, 30), rng.randint(1, 300)])} for _ in range(2)]
    out.append(rng.choice([{"fullgraph": True}, {**all_on, "fullgraph": True}, {"backend": handed}, {"keep_empty_graphs": True}, {"capture_without_tensors": True}, {**all_on, "loop_budget": 2}]))
    return out


def handed(gm, example_inputs):
    return gm.forward


class Settings:
    """Settings of the engine for the time of one way."""

    def __init__(self, way):
        self.on = {name: way[name] for name in way if name in jedlik.config.to_dict()}
        self.at = way.get("break_at", 0)

    def __enter__(self):
        jedlik.reset()
        self.patch = jedlik.config.patch(self.on)
        self.patch.__enter__()
        _engine.set_config("break_at", self.at)

    def __exit__(self, *info):
        _engine.set_config("break_at", 0)
        self.patch.__exit__(*info)


# -- One play -----------------------------------------------------------------------------


def scrubbed(o):
    """Without the addresses that texts show."""
    if isinstance(o, str):
        return ADDRESS.sub("0x", o)
    if isinstance(o, (tuple, list)):
        return type(o)(map(scrubbed, o))
    return {k: scrubbed(v) for k, v in o.items()} if isinstance(o, dict) else o


def play(code, compiled=None, often=True):
    """What all calls show. `often`: the world is looked at after each call, else at the end only."""
    module = generate.world(code)
    f = compiled(module.f) if compiled else module.f
    out, kept = [], []

    def call(*args, **kwargs):
        def bound():
            return f(*args, **kwargs)
        if often:
            out.append(runner.observe(bound, (), module))
            out[-1]["warnings"] = [row[:2] for row in out[-1]["warnings"]]  # those of C++ name other lines, on purpose
            out[-1]["args"] = looks.describe((args, kwargs), looks.Seen())
            return
        with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(None):
            kept.append((*runner.call(bound, ()), args, kwargs))
        out.append({"warnings": [str(w.message) for w in told if not str(w.message).startswith("jedlik:")], "ambient": runner.ambient()})
        runner.calm()
    how, end = runner.call(module.steps, (call,))
    seen = looks.Seen()
    out.append({"steps": (how, looks.describe(end, seen)), "kept": looks.describe(kept, seen), "globals": looks.data_of(module, seen)})
    gc.collect(0)
    return scrubbed(out)


def compiler(way):
    options = {"backend": way.get("backend", "eager")}
    if not way.get("fullgraph"):
        return lambda f: jedlik.compile(f, **options)

    def whole(f):
        """Unsupported is raised before anything has run: the plain function may take over."""
        fast = jedlik.compile(f, fullgraph=True, **options)

        def either(*args, **kwargs):
            try:
                return fast(*args, **kwargs)
            except jedlik.Unsupported:
                pass
            return f(*args, **kwargs)
        return either
    return whole


def differences(text, seed, wanted=None):
    """Lines that say which way differs, and where."""
    code, often = compile(text, "program", "exec"), seed % 3 != 0
    try:
        plain = play(code, often=often)
        if play(code, often=often) != plain:
            return []  # the program itself is not the same each time
    except Exception:  # it left something that cannot be looked at
        return []
    lines = []
    for way in wanted or ways(seed):
        runner.where[:] = str(shown(way)).encode()[:80].ljust(80)
        with Settings(way):
            other = play(code, compiler(way), often)
        lines += [f"  {shown(way)}:\n{line}" for line in runner.differences(plain, other)]
    return lines


def shown(way):
    return {k: getattr(v, "__name__", v) for k, v in way.items()}


# -- Many ------------------------------------------------------------------------


def in_thread(work, seconds=SECONDS):
    """work() in a thread of its own: what it leaves behind in the thread's state ends with it."""
    box = []
    thread = threading.Thread(target=lambda: box.append(runner.call(work, ())), daemon=True)
    thread.start()
    thread.join(seconds)
    late = thread.is_alive()
    while thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
        thread.join(0.1)
    how, value = box[0]
    if late:
        raise TimeoutError
    if how == "raised":
        raise value
    return value


def one(seed):
    """Differences of a seed's program: lines and 1, the number of programs."""
    return in_thread(lambda: differences(generate.module(seed), seed)), 1


def main(first, count=None):
    sys.unraisablehook = lambda info: None  # generators that are left in the middle
    if count is None:
        text = pathlib.Path(first).read_text()
        print(*[line for seed in range(3) for line in differences(text, seed)], sep="\n")
        return
    seeds = range(int(first), int(first) + int(count))
    wrong = 0
    for seed, (lines, _) in zip(seeds, runner.apart(one, [(s,) for s in seeds])):
        if lines:
            wrong += 1
            print(f"DIFFERS {seed}", *lines[:2], sep="\n", flush=True)
    print(f"{len(seeds)} programs, {wrong} differ")


if __name__ == "__main__":
    sys.modules["play"] = sys.modules["__main__"]
    main(*sys.argv[1:])
