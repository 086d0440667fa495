"""Modules of the standard library with every function compiled at random."""

import importlib.util
import itertools
import types

import pytest

from engine import module, selftest

COUNT = itertools.count()


def private(name):
    """A copy of a module that nobody else uses."""
    spec = importlib.util.find_spec(name)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def compile_all(space, owner, options):
    """Puts compiled functions in the place of all functions of a module and its classes."""
    n = 0
    for name, v in list(vars(space).items()):
        if isinstance(v, type) and v.__module__ == owner:
            n += compile_all(v, owner, options)
        elif isinstance(v, types.FunctionType) and v.__module__ == owner:
            setattr(space, name, module.Compiled(v, options))
            n += 1
        elif isinstance(v, (staticmethod, classmethod)) and isinstance(v.__func__, types.FunctionType):
            setattr(space, name, type(v)(module.Compiled(v.__func__, options)))
            n += 1
    return n


TEXT = "The quick brown fox, jumps over\tthe lazy dog; " * 8
WORDS = TEXT.split()


def use_textwrap(m):
    return m.wrap(TEXT, 30), m.fill(TEXT, 20, initial_indent="* "), m.dedent("  a\n   b\n"), m.shorten(TEXT, 25)


def use_difflib(m):
    a, b = WORDS, WORDS[3:20] + ["new"] + WORDS[5:]
    return (list(m.unified_diff(a, b)), list(m.ndiff(a[:9], b[:9])), m.get_close_matches("quik", WORDS),
            m.SequenceMatcher(None, TEXT, TEXT[5:]).ratio())


def use_fractions(m):
    x = m.Fraction(3, 7)
    try:
        m.Fraction(1, 0)
    except ZeroDivisionError as e:
        error = str(e)
    return x + 1, x * x - m.Fraction("2/5"), x ** 3, float(x), round(x, 2), x < 1, hash(x), error, repr(x)


def use_statistics(m):
    data = [1.5, 2.5, 2.5, 2.75, 3.25, 4.75]
    try:
        m.mean([])
    except ValueError as e:
        error = str(e)
    return m.mean(data), m.median(data), m.stdev(data), m.quantiles(data), m.mode(data), error


def use_argparse(m):
    p = m.ArgumentParser(prog="x", exit_on_error=False)
    p.add_argument("--n", type=int, default=3, help="number")
    p.add_argument("files", nargs="*")
    s = p.add_mutually_exclusive_group()
    s.add_argument("-q", action="store_true")
    s.add_argument("-v", action="count")
    try:
        p.parse_args(["--n", "a"])
    except Exception as e:
        error = str(e)
    return vars(p.parse_args(["--n", "4", "a", "b", "-vv"])), p.format_help(), error


def use_shlex(m):
    return m.split("a 'b c' \"d e\" f\\ g # h", comments=True), m.quote("a b"), m.join(["x y", "z"])


def use_pprint(m):
    return m.pformat({"a": [1, 2, {"b": WORDS}], "c": ({1, 2}, "x" * 100)}, width=40)


def use_configparser(m):
    c = m.ConfigParser()
    c.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nz: yes\n")
    try:
        c.get("a", "nope")
    except m.NoOptionError as e:
        error = str(e)
    return {s: dict(c[s]) for s in c.sections()}, c.getboolean("b", "z"), error


def use_string(m):
    t = m.Template("$a ${b} $$")
    return t.substitute(a=1, b=2), m.Formatter().format("{0:>5} {x!r:_<6} {1[0]}", 1, [2], x="y"), m.capwords(TEXT)


def use_heapq(m):
    h = []
    for w in WORDS:
        m.heappush(h, w)
    return [m.heappop(h) for _ in WORDS], m.nsmallest(3, WORDS), list(m.merge([1, 4], [2, 3]))


def use_copy(m):
    a = [1, {"x": (1, [2])}]
    a.append(a)
    b = m.deepcopy(a)
    return b[2] is b, b[1], m.copy(a[1])


def use_dataclasses(m):
    @m.dataclass(order=True)
    class D:
        x: int
        y: list = m.field(default_factory=list)

    return repr(D(1)), D(1) < D(2), m.asdict(D(1, [2])), m.replace(D(1), x=5).x


@pytest.mark.parametrize("use", [v for k, v in sorted(globals().items()) if k.startswith("use_")],
                         ids=lambda f: f.__name__[4:])
def test_module(use):
    name = use.__name__[4:]
    want = repr(use(private(name)))
    for seed in range(12):
        selftest.fake(seed, seed % 4 == 3, 3 if seed % 2 else 100, seed % 4 == 2)
        m = private(name)
        options = module.make_options(None, False, None, 20, ("stdlib", next(COUNT)))
        assert compile_all(m, name, options) > 3
        for _ in range(3):
            assert repr(use(m)) == want
