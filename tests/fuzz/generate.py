"""Python modules out of a seed: classes, functions, a function `f` to be compiled, and `steps(call)`, which calls it.

Takes: a seed. Gives: the text of a module. What can be written is in the tables of phrases.py, and of one to three themes (themes.py,
themes_objects.py, themes_world.py); here is what has blocks: functions, branches, loops, handlers, with statements. Values have kinds (a letter each), and names are known by kind, so that most statements make sense; what raises is
welcome too, as long as it does so the same way each time. Loops are bounded by counters.
"""
import ast
import pathlib
import random
import string
import sys
import types

import torch

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / "diff")]
import repair  # noqa: E402
import themes  # noqa: E402
import themes_objects  # noqa: E402
import themes_world  # noqa: E402
from phrases import ARGUMENTS, ATOMS, CHANGES, CLASSES, CONSTANTS, EXPRESSIONS, HEAD, METHODS, STATEMENTS, TYPES  # noqa: E402

FILL = string.Formatter()


class Scope:
    """Names of a function by kind: what can be read, what can be assigned."""

    def __init__(self, reads, writes, inside="f"):
        self.reads, self.writes, self.inside, self.loops, self.depth = reads, writes, inside, 0, 0

    def read(self, kind):
        return self.reads.get(kind, ())


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.helpers, self.fresh, self.budget = [], 0, 0
        self.careful = self.pick([0, 0.2, 0.6])  # how many statements have a handler of their own
        # Programs differ in what they are about: each has some themes, and some phrases are left out.
        self.themes = self.rng.sample(THEMES, self.pick([1, 1, 2, 3])) if seed < NEWER else self.newer()
        self.kinds = "".join(theme.kind for theme in self.themes)
        self.statements = {kind: self.some(table) for kind, table in STATEMENTS.items()}
        self.expressions = {kind: self.some(table) for kind, table in EXPRESSIONS.items()}
        self.constants, self.atoms, self.places = {**CONSTANTS}, {**ATOMS}, {**PLACES}
        self.changes = self.some(CHANGES)
        self.constants |= {theme.kind: [row for row in theme.atoms if "{" not in row] for theme in self.themes}
        self.atoms |= {kind: self.constants[kind] for kind in self.kinds}
        for theme in self.themes:
            self.add(theme)

    def newer(self):
        return [self.pick(themes_world.MORE), *self.rng.sample(THEMES, self.pick([0, 0, 1, 2]))]

    def add(self, theme):
        """A theme's phrases, as many as there are others of their kinds."""
        for kind, rows in {**theme.rows, theme.kind: theme.values}.items():
            others = self.expressions.setdefault(kind, [])
            rows = self.some(rows)
            others += rows * max(1, len(others) // len(rows))
        self.statements[theme.kind] = self.some(theme.does)
        self.constants[theme.kind] = [self.fill(row, Scope({}, {}), 3) for row in theme.atoms]
        self.atoms[theme.kind] = self.constants[theme.kind]
        self.places[theme.kind] = readable(self.atoms[theme.kind])
        self.changes += self.some(theme.changes) * 3

    # -- Expressions -------------------------------------------------------------------

    def some(self, table):
        return [row for row in table if self.rng.random() < 0.6] or table

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, rows):
        return self.rng.choice(rows)

    def expr(self, kind, scope, depth=0):
        """An expression of a kind: a name, a constant, or a phrase with expressions in it."""
        if kind == "n":
            kind = self.pick("iiirb")
        elif kind == "v":
            kind = self.pick("tttiirbsldSpo" + self.kinds * 4)
        if self.chance(0.01):
            kind = self.pick("tirbsldSpo")
        calls = [h for h in self.helpers if h[1] == kind]
        if calls and depth < 2 and self.chance(0.12):
            return self.call(self.pick(calls), scope, depth + 1)
        if depth >= 3 or self.chance(0.3 + 0.2 * depth):
            return self.atom(kind, scope)
        return self.fill(self.pick(self.expressions[kind]), scope, depth + 1)

    def atom(self, kind, scope):
        names = list(scope.read(kind))
        if names and self.chance(0.7):
            return self.pick(names)
        if self.chance(0.5):
            return self.pick(self.constants[kind])
        return self.pick(self.atoms[kind] + names)

    def fill(self, text, scope, depth):
        """The text with its holes filled: a small letter is an expression of that kind, {=k} a name that can be assigned, {.k} one that can be read.
        What a statement begins with is a name, mostly: changes of new objects show little."""
        out = []
        for before, hole, _, _ in FILL.parse(text):
            out.append(before)
            if hole is None:
                continue
            if depth == 0 and not "".join(out) and len(hole) == 1 and self.chance(0.85):
                hole = "." + hole
            if hole[0] == "=":
                out.append(self.target(hole[1], scope))
            elif hole[0] == ".":
                out.append(self.pick(scope.read(hole[1]) or self.places[hole[1]]))
            elif hole == "new":
                self.fresh += 1
                out.append(f"u{self.fresh}")
            elif hole == "fn":
                out.append(self.pick(self.helpers)[0] if self.helpers else "len")
            else:
                out.append(self.wrapped(self.expr(hole, scope, depth)))
        return "".join(out)

    def wrapped(self, text):
        return text if text.replace(".", "").replace("_", "").isalnum() and not text[0].isdigit() else f"({text})"

    def target(self, kind, scope):
        return self.pick(scope.writes.get(kind) or scope.read(kind) or ("_",))

    def call(self, helper, scope, depth):
        name, _, params = helper
        given = [self.expr(kind, scope, depth) for _, kind in params]
        keep = self.rng.randint(max(0, len(given) - 1), len(given)) if self.chance(0.3) else len(given)
        texts = given[:keep]
        if texts and self.chance(0.25):
            texts[-1] = f"{params[keep - 1][0]}={texts[-1]}"
        elif texts and self.chance(0.1):
            texts[-1:] = [f"*({texts[-1]},)"]
        return f"{name}({', '.join(texts)})"

    # -- Statements -------------------------------------------------------------------

    def block(self, scope, most=4):
        """Lines of one to some statements."""
        out = []
        scope.depth += 1
        for _ in range(self.rng.randint(1, most)):
            out += self.statement(scope)
        scope.depth -= 1
        return indented(out)

    def statement(self, scope):
        self.budget -= 1
        if self.chance(self.careful):
            lines = self.statement_bare(scope)
            return ["try:", *indented(lines), "except Exception as z:", "    LOG.append((type(z).__name__, str(z)[:80]))"]
        return self.statement_bare(scope)

    def statement_bare(self, scope):
        if self.budget > 0 and scope.depth < 4 and self.chance(0.36):
            return self.pick(COMPOUND)(self, scope)
        if scope.loops and self.chance(0.08):
            return [f"if {self.expr('b', scope)}: {self.pick(['break', 'continue'])}"]
        if self.chance(0.05):
            return [self.leave(scope)]
        kind = self.pick("tttiilldSoovvws" + self.kinds * 9 + "y" * 6 * scope.inside.startswith("gen"))
        return self.fill(self.pick(self.statements[kind]), scope, 0).split("\n")

    def leave(self, scope):
        """A return or a raise under a condition, or bare deep inside."""
        what = self.pick(["raise ValueError({s})", "raise KeyError({i})", "return {t}", "return ({t}, {v})", "raise E0({i}) from None", "assert {b}, {s}"])
        return f"if {self.expr('b', scope)}: {self.fill(what, scope, 1)}"

    def branch(self, scope):
        out = [f"if {self.expr('b', scope)}:", *self.block(scope)]
        if self.chance(0.3):
            out += [f"elif {self.expr('b', scope)}:", *self.block(scope)]
        return out + (["else:", *self.block(scope)] if self.chance(0.5) else [])

    def for_loop(self, scope):
        self.fresh += 1
        kind, over = self.pick([("i", "range({i} % 4)"), ("v", "list({l})[:4]"), ("v", "{l}[:3]"), ("s", "list({d})[:4]"), ("v", "{p}"), ("t", "{t}[:2]"), ("t", "{t}.unbind()[:3]"),
                                ("i", "range(3)"), ("v", "itertools.islice({q}, 4)"), ("s", "{s}[:3]"), ("v", "sorted(map(str, {S}))[:3]"), ("v", "{d}.values()"), ("v", "gen0({i} % 4)")])
        name = f"w{self.fresh}"
        head = f"for {name} in {self.fill(over, scope, 1)}:"
        if self.chance(0.2):
            head = f"for j{self.fresh}, {name} in enumerate({self.fill(over, scope, 1)}):"
        return self.loop(scope, head, [], {kind: name})

    def while_loop(self, scope):
        self.fresh += 1
        name = f"c{self.fresh}"
        return [f"{name} = 0", *self.loop(scope, f"while {name} < {self.rng.randint(1, 4)} and {self.expr('b', scope, 1)}:", [f"{name} += 1"], {"i": name})]

    def loop(self, scope, head, first, names):
        scope.loops += 1
        before = scope.reads
        scope.reads = {**before, **{kind: (*before.get(kind, ()), name) for kind, name in names.items()}}
        body = self.block(scope, 3)
        scope.reads = before
        scope.loops -= 1
        return [head, *indented(first), *body] + (["else:", *self.block(scope, 2)] if self.chance(0.25) else [])

    def handler(self, scope):
        out = ["try:", *self.block(scope)]
        if self.chance(0.8):
            for kind in self.rng.sample(["ValueError", "(KeyError, TypeError)", "E0", "Exception"], self.rng.randint(1, 2)):
                body = self.block(scope, 2)
                if self.chance(0.5):
                    body = indented(["LOG.append((type(z).__name__, str(z)[:60]))"]) + body
                if self.chance(0.15):
                    body += indented([self.pick(["raise", "raise E0(7) from z", "raise RuntimeError('again')"])])
                out += [f"except {kind} as z:", *body]
            if self.chance(0.3):
                out += ["else:", *self.block(scope, 2)]
            if self.chance(0.7):
                return out
        out += ["finally:", *self.block(scope, 2)]
        return out

    def with_block(self, scope):
        head = self.pick(["with Ctx({i}):", "with Ctx({i}) as {=i}:", "with torch.no_grad():", "with torch.enable_grad():", "with manage({i}) as {=i}:", "with contextlib.suppress({e}):",
                          "with Ctx({i}), Ctx({i}) as {=i}:", "with torch.set_grad_enabled({b}):", "with contextlib.nullcontext({l}) as {=l}:"])
        return [self.fill(head.replace("{e}", self.pick(["ValueError", "Exception"])), scope, 1), *self.block(scope, 3)]

    def inner_function(self, scope):
        """A closure, and a call of it."""
        self.fresh += 1
        name, number, kind = f"in{self.fresh}", self.fresh, self.pick("tirslv")
        local = {"i": (f"n_{number}",), "t": (f"t_{number}",)}
        shared = {k: tuple(n for n in names if self.chance(0.5)) for k, names in scope.writes.items()}
        flat = sorted({n.split(".")[0] for names in shared.values() for n in names if n.isidentifier() and n not in GLOBALS})
        inner = Scope(joined(scope.reads, local), joined(shared, local), "inner")
        inner.depth = scope.depth
        body = ([f"nonlocal {', '.join(flat)}"] if flat else []) + lines_of(self.block(inner, 3)) + [f"return {self.expr(kind, inner)}"]
        head = f"def {name}(n_{number}, t_{number}={self.expr('t', scope, 2)}):"
        self.budget -= 2
        use = self.pick([f"{{={kind}}} = {name}({{i}})" if kind != "v" else f"LOG.append({name}({{i}}))", f"LOG.append({name}({{i}}, {{t}}))", f"LOG.append([{name}(k) for k in range(2)])",
                         f"out.append({name})" if self.chance(0.2) else f"LOG.append({name}(1))"])
        use = self.fill(use, scope, 1)
        return [head, *indented(body), use]

    def match_block(self, scope):
        out = [f"match {self.expr('v', scope)}:"]
        for case in self.rng.sample(["case 0 | 1:", "case int():", "case [a, *rest]:", "case {'a': a}:", "case str(a):", "case A(k=a):", "case (a, b) if a:", "case None:", "case torch.Tensor():"], 3):
            out += indented([case, *self.block(scope, 2)])
        return out + indented(["case _:", *self.block(scope, 1)])

    # -- Functions and classes ------------------------------------------------------------

    def body(self, names, inside, most):
        """A function's body; locals of each kind first."""
        writes = {"t": ("t0", "t1"), "i": ("i0", "i1"), "r": ("r0",), "s": ("s0",), "b": ("b0",), "l": ("l0", "l1"), "d": ("d0",), "S": ("S0",), "p": ("p0",), "o": ("o0",), "q": ("q0",), **{k: (f"v{k}",) for k in self.kinds}}
        start = Scope(names, {}, inside)
        first, known = ["out = []"], {}
        for kind, locals_ in writes.items():
            known[kind] = locals_ if inside in "f" else tuple(n for n in locals_ if self.chance(0.5))
            first += [f"{name} = {self.expr(kind, start, 1)}" for name in known[kind]]
        places = {kind: tuple(p for p in rows if self.chance(0.5)) for kind, rows in TYPES.items()}
        scope = Scope(joined(names, known), joined(known, places), inside)
        lines = []
        for _ in range(self.rng.randint(1, most)):
            lines += self.statement(scope)
        uses = [n for n in GLOBALS if any(n in rows for rows in scope.writes.values())]
        return ([f"global {', '.join(uses)}"] if uses else []) + first + lines, scope

    def helper(self, number):
        kind = self.pick("ttirblpsv")
        params = [(name, k) for name, k in self.rng.sample([("x", "t"), ("n", "i"), ("s", "s"), ("l", "l"), ("o", "o"), ("d", "d"), ("q", "r")], self.rng.randint(1, 3))]
        names = {}
        for name, k in params:
            names[k] = (*names.get(k, ()), name)
        self.budget = 6
        body, scope = self.body(names, "h", 3)
        texts = [name for name, _ in params]
        if self.chance(0.5):
            texts[-1] += f"={self.atom(params[-1][1], Scope({}, {}))}"
        if self.chance(0.3):
            texts += ["*more"]
        if self.chance(0.3):
            texts += ["**named"]
        lines = [f"def h{number}({', '.join(texts)}):", *indented(body + [f"return {self.expr(kind, scope)}"])]
        if self.chance(0.1):
            lines[:0] = ["@functools.wraps(len)" if self.chance(0.1) else "@wrap"]
        self.helpers.append((f"h{number}", kind, params))
        return lines

    def generator(self, number):
        self.budget = 6
        body, scope = self.body({"i": ("n",)}, "gen", 3)
        return [f"def gen{number}(n):", *indented([*body, "yield n", "for k in range(n % 4):", f"    yield {self.expr('v', scope)}", f"return {self.expr('i', scope)}"])]

    def classes(self):
        out = []
        for head, needed in CLASSES:
            out += [head, *indented([line for text in needed for line in text.split("\n")])]
            own = Scope({"i": ("self.k",), "t": ("self.w",), "l": ("self.l",), "r": ("self.r",), "s": ("self.s",)}, {"i": ("self.k",), "t": ("self.w",), "r": ("self.r",)}, "method")
            for text in METHODS:
                if head.startswith(("class A", "class B")) and self.chance(0.33):
                    lines = self.fill(text, own, 2).split("\n")
                    out += indented(lines)
        return out

    def arguments(self):
        return {"t": ("x", "y"), "i": ("n",), "o": ("o",), "l": ("l",), "d": ("d",), "s": ("s",), self.kinds[0]: ("e",)}

    def entry(self):
        self.budget = 26
        body, scope = self.body(self.arguments(), "f", 9)
        result = self.pick(["({t}, {v}, {v})", "{t}", "[{t}, l0, o0, d0]", "({t}, t0, t1, i0, r0, l0, l1, d0, S0, p0)", "{{'t': {t}, 'v': {v}}}"])
        return ["def f(x, y, n=2, o=None, l=(), d=None, s='s', *args, e=None, **kw):", *indented([*body, f"return out, {self.fill(result, scope, 1)}"])]

    def steps(self):
        """Calls with the same and with changed arguments and state."""
        scope = Scope({}, {}, "steps")
        lines = ["global G, FLAG, NAME, RATE, TEN", "x = torch.arange(6.0).reshape(2, 3) - 2", "y, n, o, l, d, s, e = torch.ones(3), 2, None, [1], {'a': 1}, 's', None"]
        for line in [*ARGUMENTS, f"e = {{{self.kinds[0]}}}"]:
            lines += tried(self.fill(line, scope, 2))
        scope.reads = self.arguments()
        for k in range(self.rng.randint(4, 8)):
            if k and self.chance(0.75):
                lines += tried(self.fill(self.pick(self.changes), scope, 2))
            lines += self.pick(["call(x, y, n, o, l, d, s, e=e)"] * 8 + ["call(x, y, n, o=o, l=l, d=d)", "call(x, x, n, o, l, d, s, 1, 2, z=3)", "with torch.no_grad():\n    call(x, y, n, o, l, d, s)",
                                                                   "call(x, y)"]).split("\n")
        return ["def steps(call):", *indented(lines)]

    def module(self):
        parts = [HEAD.strip().split("\n"), self.classes()]
        self.helpers = []
        parts.append(["A0, B0 = A(1), B(2)", "MOD = Mod()"])
        parts += [theme.head.strip().split("\n") for theme in self.themes]
        parts.append(self.generator(0))
        parts += [self.helper(k) for k in range(self.rng.randint(1, 4))]
        return "\n\n\n".join("\n".join(lines) for lines in [*parts, self.entry(), self.steps()]) + "\n"


COMPOUND = [Generator.branch, Generator.branch, Generator.for_loop, Generator.for_loop, Generator.while_loop, Generator.handler, Generator.handler, Generator.with_block,
            Generator.inner_function, Generator.match_block]
THEMES = themes.VALUES + themes_objects.OBJECTS
NEWER = 4000  # seeds from here on have a theme of themes_world.py; those before have the programs that they have always had
GLOBALS = ("G", "FLAG", "NAME", "RATE", "TEN")


def indented(lines):
    return ["    " + line for line in lines]


def tried(text):
    return ["try:", *indented(text.split("\n")), "except Exception as z:", "    LOG.append(type(z).__name__)"]


def readable(rows):
    return tuple(row for row in rows if row[-1] not in ")]}") or ("TEN",)


def lines_of(block):
    return [line[4:] for line in block]


def joined(a, b):
    return {kind: (*a.get(kind, ()), *b.get(kind, ())) for kind in {**a, **b}}


PLACES = {kind: readable(rows) for kind, rows in ATOMS.items()}


def module(seed):
    """A text of which most runs, the head's lines first."""
    text = ast.unparse(ast.parse(Generator(seed).module())) + "\n"
    first = text.split("\n").index("class A:") + 1
    return repair.repaired(text, seed, world, first)


def world(code):
    """The module, executed anew."""
    module = types.ModuleType("program")
    sys.modules["program"] = module
    torch.manual_seed(0)
    exec(code, module.__dict__)
    return module


if __name__ == "__main__":
    print(module(int(sys.argv[1])))
