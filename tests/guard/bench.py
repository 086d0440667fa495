"""What a check costs: python tests/guard/bench.py"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from describe import FUNC, GT, Program, attr, const, index, item, leaf, slot, src  # noqa: E402
from guard_engine import selftest  # noqa: E402

X = slot(0)


class Inline:
    pass


class Plain:
    def __init__(self, **kw):
        self.__dict__.update(kw)


class Linear(Plain):
    def forward(self):
        pass


class Norm(Plain):
    def forward(self):
        pass


class Layer(Plain):
    def forward(self):
        pass


def best(p, *slots, n=100_000, **kw):
    return min(p.time(*slots, times=max(n // 50, 10), **kw) for _ in range(100))


def line(name, base, ns, per):
    print(f"{name:44}{(ns - base) / per:8.2f} ns")


def repeated(make, per=64):
    """per guards on per distinct places."""
    return [g for i in range(per) for g in make(i)]


def single():
    base = best(Program([("TYPE", X, list)]), [])
    print(f"{'empty check':44}{base:8.2f} ns")
    names = [f"a{i}" for i in range(64)]
    small = names[:25]
    inl = Inline()
    for n in small:
        setattr(inl, n, n)
    dic = Plain(**{n: n for n in names})
    line("attribute + type, inline", base,
         best(Program([("TYPE", attr(X, n), str) for n in small]), inl), len(small))
    line("attribute + type, dictionary", base,
         best(Program([("TYPE", attr(X, n), str) for n in names]), dic), 64)
    line("attribute + equality (same object)", base,
         best(Program([("EQ", attr(X, n), n) for n in names]), dic), 64)
    fl = Plain(**{n: float(i) + .5 for i, n in enumerate(names)})
    line("attribute + equality (float)", base,
         best(Program([("EQ", attr(X, n), float(i) + .5) for i, n in enumerate(names)]), fl), 64)
    line("item + type", base, best(Program([("TYPE", item(X, n), str) for n in names]), dic.__dict__), 64)
    line("index + type", base, best(Program([("TYPE", index(X, i), str) for i in range(64)]), names), 64)
    line("absent in the instance", base,
         best(Program([("ABSENT", src("DICT", X), f"z{i}") for i in range(64)]), dic), 64)
    line("absent, inline", base,
         best(Program([("ABSENT", src("DICT", X), f"z{i}") for i in range(64)]), inl), 64)
    line("keys, each", base, best(Program([("KEYS", X, tuple(names))]), dic.__dict__), 64)
    selftest.guard_fake_torch(0)
    line("index + fake tensor check", base,
         best(Program([("TENSOR", index(X, i), b"str") for i in range(64)]), names), 64)
    line("n > const", base, best(Program([("PRED", ("cmp", GT, leaf(index(X, i), i), const(-1)), True)
                                          for i in range(64)]), list(range(64))), 64)
    line("10 // n", base, best(Program([("NORAISE", ("bin", 2, const(10), leaf(index(X, i), i + 1)))
                                        for i in range(64)]), list(range(1, 65))), 64)
    types = [type(f"T{i}", (), {"f": 1}) for i in range(64)]
    line("class lookup", base, best(Program([("CLASSATTR", t, "f", 1) for t in types]), []), 64)
    line("distinct, each of 64", base, best(Program([("DISTINCT", [index(X, i) for i in range(64)])]),
                                            [object() for _ in range(64)]), 64)


def linear(i):
    return Linear(training=True, _parameters={"weight": "w" * i, "bias": "b" * i}, _buffers={}, _modules={},
                  in_features=3, out_features=4)


def linear_guards(s):
    p = attr(s, "_parameters")
    return [("TYPE", s, Linear), ("ABSENT", src("DICT", s), "weight"), ("TYPE", p, dict),
            ("TENSOR", item(p, "weight"), b"str"), ("ABSENT", src("DICT", s), "bias"),
            ("TENSOR", item(p, "bias"), b"str"), ("ABSENT", src("DICT", s), "forward")]


def layer(i):
    return Layer(training=True, _parameters={}, _buffers={}, p=0.0,
                 _modules={"fc1": linear(i), "fc2": linear(i), "norm": Norm(
                     _parameters={"weight": "n" * i}, eps=1e-5, _modules={})})


def layer_guards(s):
    m = attr(s, "_modules")
    guards = [("TYPE", s, Layer), ("EQ", attr(s, "training"), True), ("EQ", attr(s, "p"), 0.0)]
    for name in ("fc1", "fc2"):
        guards += [("ABSENT", src("DICT", s), name), ("TYPE", m, dict), ("ABSENT", attr(s, "_parameters"), name)]
        guards += linear_guards(item(m, name))
    n = item(m, "norm")
    return guards + [("TYPE", n, Norm), ("TENSOR", item(attr(n, "_parameters"), "weight"), b"str"),
                     ("EQ", attr(n, "eps"), 1e-5)]


def deep(n):
    layers = src("ATTR", X, "layers")
    guards = [("TYPE", X, Plain), ("TYPE", layers, dict), ("KEYS", layers, tuple(str(i) for i in range(n)))]
    for i in range(n):
        guards += layer_guards(item(layers, str(i)))
    guards += [("CLASSATTR", c, "forward", c.forward) for c in (Linear, Norm, Layer)]
    model = Plain(layers={str(i): layer(i + 2) for i in range(n)})
    p = Program(guards)
    assert p.hit(model), p.why(model)
    return p, model, len(layer_guards(X))


def models():
    for n in (1, 12, 100, 1000):
        p, model, per = deep(n)
        ns = best(p, model, n=max(2000, 200_000 // n))
        print(f"{n:5} layers of {per} guards{'':22}{ns:10.0f} ns{ns / n:10.1f} a layer{ns / n / per:8.2f} a guard")


if __name__ == "__main__":
    single()
    models()
