"""explain, dump and stats: what was captured, where it broke, what it was guarded by.

Takes: the engine's events. Gives: text and objects for people.
"""
from jedlik import _api, _core


class Break:
    """A graph break: `place` file:line of the user's code, `reason`, `hint`, `id`."""

    def __init__(self, event):
        self.place, self.reason = event.get("place", "?"), event.get("reason", "")
        self.hint, self.id = event.get("hint", ""), event.get("id", "")

    def __repr__(self):
        hint = f"\n      hint: {self.hint}" if self.hint else ""
        return f"{self.place}: {self.reason}" + (f" [{self.id}]" if self.id else "") + hint


class Explanation:
    """What one call of a function came to.

    graphs  the fx.GraphModules, in order; breaks  a Break each; guards  text, one entry an item;
    result  what the call returned; op_count, ops_per_graph
    """

    def __init__(self, graphs, events, result):
        self.graphs, self.result = graphs, result
        self.breaks = [Break(event) for event in events if event.get("kind") == "break"]
        self.guards = [event.get("guards", "") for event in events if event.get("guards")]
        self.ops_per_graph = [operations(gm) for gm in graphs]

    graph_count = property(lambda self: len(self.graphs))
    graph_break_count = property(lambda self: len(self.breaks))
    break_reasons = property(lambda self: self.breaks)
    op_count = property(lambda self: sum(map(len, self.ops_per_graph)))
    out_guards = property(lambda self: self.guards)

    def __str__(self):
        lines = [f"{self.graph_count} graphs, {self.graph_break_count} breaks, {self.op_count} operations"]
        for number, ops in enumerate(self.ops_per_graph):
            lines.append(f"graph {number}: {len(ops)} operations: {' '.join(map(name_of, ops[:12]))}"
                         + (" ..." if len(ops) > 12 else ""))
        for number, item in enumerate(self.breaks):
            lines.append(f"break {number}: {item!r}")
        for number, text in enumerate(self.guards):
            lines.append(f"guards {number}:")
            lines += ["    " + line for line in text.splitlines()]
        return "\n".join(lines)

    __repr__ = __str__


def name_of(target):
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def operations(gm):
    """The targets of a graph's nodes that compute something."""
    return [n.target for n in gm.graph.nodes if n.op in ("call_function", "call_method", "call_module")]


def explain(fn, *args, **kwargs):
    """explain(fn)(*args): calls fn once, captured from the beginning, and tells what it came to. Nothing that was
    compiled before is used or changed. explain(fn, *args) is short for it."""
    def run(*args, **kwargs):
        graphs = []

        def collect(gm, example_inputs):
            graphs.append(gm)
            return gm.forward

        compiled = _api.compile(fn, backend=collect, isolate_recompiles=True)
        _core.call("explain_begin")
        try:
            result = compiled(*args, **kwargs)
        finally:
            events = _core.call("explain_end")
        return Explanation(graphs, events, result)

    return run(*args, **kwargs) if args or kwargs else run


LETTERS = "tbvguecrx"


def dump(fn, args=(), letters="gu", kwargs=None):
    """Calls fn once, captured from the beginning, and returns the representations that letters name: t what was
    traced, b bytecode in, v values at each step, g graph, u guards, e effects, c code out, r exits, x guard failures."""
    unknown = set(letters) - set(LETTERS)
    if unknown:
        raise ValueError(f"letters are of {LETTERS}, not {''.join(sorted(unknown))}")

    def keep(gm, example_inputs):
        return gm.forward

    _core.call("dump_begin")
    try:
        _api.compile(fn, backend=keep, isolate_recompiles=True)(*args, **(kwargs or {}))
        return _core.call("dump", letters)
    finally:
        _core.call("dump_end")


def stats():
    """Counts since the start or the last reset(): frames, graphs, ops, breaks by id, recompiles with their reasons."""
    return _core.call("stats")
