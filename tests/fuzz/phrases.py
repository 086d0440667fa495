"""What random programs are made of: text with holes, by kind of value.

Kinds: t tensor, i int, r float, b bool, s str, l list, d dict, S set, p tuple, o object, q iterator; n any number, v any value.
"""

HEAD = '''
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import operator
import typing

import torch
import torch.nn.functional as F
from torch import nn

import jedlik

G = 3
FLAG = True
NAME = "name"
RATE = 0.5
LOG = []
LST = [1, 2.5, "a"]
DCT = {"a": 1, "b": [2], 3: None}
TEN = torch.arange(3.0) - 1
TUP = (1, "t", 2.5)
SET = {1, 2, "s"}


def wrap(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        LOG.append(fn.__name__)
        return fn(*args, **kwargs)
    return inner


@contextlib.contextmanager
def manage(k):
    LOG.append(("in", k))
    try:
        yield k + 1
    except ValueError as z:
        LOG.append(str(z))
    finally:
        LOG.append("out")


def unknown(value):
    jedlik.graph_break()
    return value


class E0(Exception):
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(typing.NamedTuple):
    a: int
    b: object = 2


@dataclasses.dataclass
class Data:
    a: int
    b: list = dataclasses.field(default_factory=list)


class Slots:
    __slots__ = "k", "w"

    def __init__(self, k):
        self.k = k


class Ctx:
    def __init__(self, k):
        self.k = k

    def __enter__(self):
        LOG.append(("enter", self.k))
        return self.k

    def __exit__(self, kind, value, tb):
        LOG.append(("exit", kind and kind.__name__))
        return self.k % 2 == 0


class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(3.0) / 2)
        self.register_buffer("seen", torch.zeros(()))
        self.count = 0
        self.scale = 2.0

    def forward(self, x):
        self.count += 1
        self.seen += 1
        return x * self.weight * self.scale
'''

CLASSES = [
    ("class A:", ["""cls = 4
def __init__(self, k, w=None):
    self.k, self.r, self.s, self.l = k, 0.5, "s", [k]
    self.d = {"k": k}
    self.w = torch.ones(3) * k if w is None else w
    self.o = None"""]),
    ("class B(A):", ["""cls = 5
def __init__(self, k):
    super().__init__(k + 1)
    self.extra = k"""]),
    ("class L(list):", ["""def total(self):
    return sum(v for v in self if isinstance(v, int))"""]),
    ("class D(dict):", ["""def __missing__(self, key):
    LOG.append(key)
    return 0"""]),
]

METHODS = [
    "def meth(self, x, n=1):\n    return {t}",
    "def meth(self, x):\n    self.k += 1\n    return x * self.k",
    "def bump(self):\n    self.k += {i}\n    return self",
    "@property\ndef prop(self):\n    return {i}",
    "@property\ndef prop(self):\n    LOG.append('prop')\n    return self.k\n@prop.setter\ndef prop(self, value):\n    LOG.append(value)\n    self.k = value",
    "def __getattr__(self, name):\n    if name.startswith('z'):\n        LOG.append(name)\n        return len(name)\n    raise AttributeError(name)",
    "def __setattr__(self, name, value):\n    if name == 'extra':\n        LOG.append('set')\n    object.__setattr__(self, name, value)",
    "def __add__(self, other):\n    return other + {i} if not isinstance(other, A) else self",
    "def __radd__(self, other):\n    LOG.append('radd')\n    return other",
    "def __iadd__(self, other):\n    self.l.append(other)\n    return self",
    "def __eq__(self, other):\n    return self is other or {b}\n__hash__ = object.__hash__",
    "def __lt__(self, other):\n    return {b}",
    "def __bool__(self):\n    return self.k > 2",
    "def __len__(self):\n    return len(self.l)",
    "def __getitem__(self, k):\n    return self.l[k]",
    "def __setitem__(self, k, v):\n    self.l[k] = v",
    "def __delitem__(self, k):\n    del self.l[k]",
    "def __contains__(self, v):\n    LOG.append('contains')\n    return v == self.k",
    "def __iter__(self):\n    yield self.k\n    yield from self.l[:2]",
    "def __call__(self, x):\n    return x + self.k",
    "def __index__(self):\n    return self.k",
    "def __neg__(self):\n    return -self.k",
    "def __repr__(self):\n    return f'A({{self.k}})'",
    "def __float__(self):\n    return self.r",
    "@classmethod\ndef make(cls, k=1):\n    return cls(k)",
    "@staticmethod\ndef stat(x, n=2):\n    return x + n",
    "def __mul__(self, other):\n    return NotImplemented",
    "def __matmul__(self, x):\n    return self.w * x",
    "def __enter__(self):\n    self.k += 1\n    return self\ndef __exit__(self, *info):\n    LOG.append(info[0])\n    return False",
    "def __delattr__(self, name):\n    LOG.append(name)\n    object.__delattr__(self, name)",
    "def __getattribute__(self, name):\n    if name == 'cls':\n        return 9\n    return object.__getattribute__(self, name)",
]

CONSTANTS = {
    "t": ["torch.ones(3)", "torch.ones(2, 3)", "torch.tensor(2.0)", "torch.tensor([1, 2, 3])"], "i": ["0", "1", "2", "3", "-1", "7"], "r": ["0.5", "2.0", "-1.5", "0.0", "1e3"], "b": ["True", "False"],
    "s": ["'a'", "'b'", "''", "'k'", "'text'"], "l": ["[]", "[1, 2]", "[3, 'a', 2.5]"], "d": ["{}", "{'a': 1, 'b': 2}", "{1: 2}"], "S": ["set()", "{1, 2}", "{'a'}"], "p": ["()", "(1, 2)", "('a', 1.5, None)"],
    "o": ["A(1)", "B(2)", "A0", "None"], "q": ["iter([1, 2, 3])", "gen0(2)"],
}

ATOMS = {
    "t": ["TEN", "MOD.weight", "A0.w", "MOD.seen"], "i": ["G", "A0.k", "A.cls", "MOD.count", "len(LOG)", "len(LST)"], "r": ["RATE", "A0.r", "MOD.scale"], "b": ["FLAG", "MOD.training"], "s": ["NAME", "A0.s"],
    "l": ["LST", "A0.l", "LOG[-2:]"], "d": ["DCT", "A0.d"], "S": ["SET"], "p": ["TUP"], "o": ["A0", "B0"], "q": ["iter(LST)", "gen0(G)"],
}

# Places that statements may assign besides locals.
TYPES = {
    "t": ("TEN", "A0.w", "B0.w"), "i": ("G", "A0.k", "MOD.count", "B0.k"), "r": ("RATE", "A0.r"), "b": ("FLAG",), "s": ("NAME", "A0.s"), "l": ("A0.l",), "d": ("A0.d",), "o": ("A0.o",),
}

EXPRESSIONS = {
    "t": ["{t} + {t}", "{t} - {n}", "{n} * {t}", "{t} * {n}", "{t} / 2", "-{t}", "{t}.relu()", "torch.sin({t})", "{t}.sum()", "{t}.mean(-1)", "{t}.sum(0, keepdim=True)", "{t}.view(-1)", "{t}.reshape(-1)",
          "{t}.t()", "{t}.detach()", "{t}.clone()", "{t}[{i}]", "{t}[{i}:]", "{t}[..., 0]", "{t}[None]", "{t}.unsqueeze(0)", "{t}.squeeze()", "{t}.float()", "{t}.double()", "{t}.long()", "{t} > {n}",
          "({t} > 0).float()", "torch.cat([{t}, {t}])", "torch.stack([{t}, {t}])", "torch.full((3,), {n})", "torch.zeros(2, {i} % 5)", "torch.arange({i} % 5)", "torch.tensor([{i}, 2.0, {r}])", "torch.tensor({n})",
          "{t} @ {t}.t()", "torch.where({t} > 0, {t}, {n})", "torch.rand(3)", "F.dropout({t}, 0.5)", "{t}.expand(2, 3)", "{t}.max()", "{t}.clamp(min={n})", "{t}.to(torch.float64)", "{t}.contiguous()", "{t}.flatten()",
          "{t}.type_as({t})", "{t}.new_zeros({i} % 4)", "{t} if {b} else {t}", "MOD({t})", "sum([{t}, {t}])", "{t}.abs()", "{t}.add({t}, alpha={i})", "{t}.flip(0)", "{t}.chunk(2)[0]", "{t}.split(1)[{i}]", "{t}.unbind()[0]",
          "{t}.max(0)[0]", "{t}.max(-1).values", "{o}.w", "{o}.meth({t})", "unknown({t})", "torch.tensor({l})", "{t}.repeat({i} % 3)", "{t}.transpose(0, -1)", "{t}.mT", "{t}.T", "{t}.narrow(0, 0, 1)", "{t}.permute(1, 0)",
          "{t} ** 2", "{t}.pow({i} % 3)", "{t} == {t}", "~({t} > 0)", "{t}.masked_fill({t} > 0, {n})", "{t}.cumsum(-1)", "{t}.index_select(0, torch.tensor([0]))", "F.softmax({t}, -1)", "F.relu({t})", "functools.reduce(operator.add, [{t}, {t}])",
          "(lambda u: u * {n})({t})", "({t}, {t})[{i} % 2]", "next(iter([{t}]))", "{t}.half()", "{t}.int() // 2", "{t}.view(3, -1)", "{t}.mul({n}).add({n})", "{t}.std()", "{t}.norm()", "{t}.argmax()", "torch.empty(2).fill_({n})",
          "{t}.to({t}.dtype)", "torch.zeros_like({t})", "torch.ones({t}.shape)", "{t}.new_tensor([{n}])", "torch.maximum({t}, {t})", "{t}.detach().requires_grad_()", "{t}.data", "copy.copy({t})", "copy.deepcopy({t}.detach())"],
    "i": ["{i} + {i}", "{i} - {i}", "{i} * {i} % 97", "{i} // {i}", "{i} % {i}", "-{i}", "{i} & {i}", "{i} | 2", "{i} ^ {i}", "{i} << 1", "{i} % 50 >> 1", "~{i}", "abs({i})", "len({l})", "len({d})", "len({s})", "len({p})",
          "{t}.shape[{i}]", "{t}.size(0)", "{t}.dim()", "{t}.numel()", "max({i}, {i})", "min({i}, {n})", "int({r})", "int({b})", "{i} if {b} else {i}", "sum({l}[:0], {i})", "({i} % 4) ** 2", "{t}.ndim", "{o}.k",
          "{o}.prop", "{o}.cls", "{d}.get({s}, {i})", "({l} or [1]).count({i})", "round({r})", "unknown({i})", "int({t}.sum().item()) % 7", "{t}.argmax().item()", "hash({i})", "ord({s}[:1] or 'a')", "math.floor({r})", "math.gcd({i}, 6)",
          "divmod({i}, 3)[1]", "operator.index({i})", "{i}.bit_length()", "sum(k for k in range({i} % 5))", "sum([k * {i} for k in range(3)])", "next(iter({l} or [5]), 0)", "(lambda u, v={i}: u + v)({i})", "len({S})",
          "bool({i}) + {b}", "{t}.stride()[0]", "{t}.storage_offset()", "{t}._version", "math.prod({t}.shape)", "sum({t}.shape)", "len({t})", "getattr({o}, {s}, {i})", "{i} and {i}", "{i} or {i}", "B0.extra", "{l}.index({v})",
          "{s}.find('a')", "{s}.count('t')"],
    "r": ["{r} + {n}", "{r} * {n}", "{r} - {r}", "{r} / 2", "-{r}", "float({i})", "{i} / 2", "{r} // {n}", "{r} % 3", "abs({r})", "max({r}, {n})", "{r} if {b} else {r}", "round({r}, 1)", "math.sqrt(abs({r}))", "math.exp({r} % 3)",
          "{t}.sum().item()", "float({t}.max())", "{o}.r", "{i} / {i}", "{r} ** 2 % 1e6", "unknown({r})", "sum([{r}, 1.5])", "math.pi * {n}", "{r} or {r}", "float({b})", "{t}.mean().item()"],
    "b": ["{i} > {i}", "{i} == {i}", "{i} < {n}", "{r} >= {n}", "not {v}", "{b} and {b}", "{b} or {b}", "{i} in {l}", "{s} in {d}", "{v} in {l}", "{s} == {s}", "{s} < {s}", "{l} == {l}", "{d} == {d}", "{t} is {t}", "{o} is {o}",
          "{l} is {l}", "{v} is None", "isinstance({v}, int)", "isinstance({v}, (str, list))", "isinstance({o}, B)", "hasattr({o}, {s})", "bool({l})", "bool({t}.sum() > 0)", "{t}.sum() > 0", "{t}.requires_grad", "{t}.is_leaf",
          "{t}.is_contiguous()", "{t}.dtype == torch.float32", "{t}.dtype is {t}.dtype", "{t}.shape == {t}.shape", "{t}.is_floating_point()", "torch.is_grad_enabled()", "any({l})", "all({l})", "any({t} > 0)", "{i} < {i} < {i}",
          "{s}.startswith('a')", "{o} == {o}", "{v} in {p}", "{i} in {S}", "{S} <= {S}", "{p} < {p}", "callable({v})", "{t}.grad is None", "type({v}) is type({v})", "{v} == {v}", "bool({o})", "{i} % 2 == 0", "({t} == {t}).all()",
          "torch.equal({t}, {t})", "torch.is_tensor({v})", "{t}.shape[0] > {i}", "{o} in {l}", "{o} < {o}", "torch.allclose({t}, {t})", "{t}.requires_grad == {t}.requires_grad", "{t}._base is None", "{l} is not {l}", "{i} != {r}"],
    "s": ["{s} + {s}", "{s}[:4] * 2", "str({i})", "str({r})", "repr({s})", "f'{{{.i}}}-{{{.s}}}'", "f'{{{.r}:.2f}}'", "f'{{{.i}:>4}}|{{{.b}!r}}'", "{s}.upper()", "{s}.replace('a', {s}[:2])", "'-'.join([{s}, {s}])", "{s}[{i}:]", "{s}[::-1]",
          "{s}.strip()", "{s}.title()", "'%s:%d' % ({s}, {i})", "'{{}} {{}}'.format({s}, {n})", "str({t}.shape)", "str({t}.dtype)", "type({v}).__name__", "{s} if {b} else {s}", "str({p})", "str({l})", "{s}.zfill(3)", "chr(97 + {i} % 9)", "{o}.s",
          "unknown({s})", "{s}.split('a')[0]", "str({d})", "repr({t})", "max({s}, {s})", "{s} or {s}", "Color({i} % 2 + 1).name", "ascii({s})", "hex({i})", "str({b})", "{s}.join('ab')", "f'{{{.t}.shape}}'", "sorted({s} or 'b')[0]"],
    "l": ["[{v}, {v}]", "{l} + {l}[:3]", "{l}[{i}:]", "{l}[:{i}]", "{l}[::-1]", "list({p})", "list({d})", "sorted([{i}, {i}, 2])", "[k for k in {l} if k]", "[k * 2 for k in range({i} % 5)]", "[(k, j) for k in {l}[:2] for j in {p}[:2]]", "list({t}.shape)",
          "{s}.split('a')", "{l}.copy()", "list(map(str, {l}))", "list(zip({l}, {p}))", "list(enumerate({l}))", "[*{l}[:4], {v}]", "{t}.tolist()", "list({q})", "list(reversed({l}))", "list({d}.items())", "list(filter(None, {l}))", "{l} or {l}", "{o}.l",
          "{d}.setdefault({s}, [])", "unknown({l})", "[{t}, {t}]", "list({t}.unbind())", "list(itertools.chain({l}, {p}))", "{l}[:3] * 2", "L({l})", "sorted({d}, key=str)", "sorted({l}, key=str)", "list(gen0({i} % 4))", "[{i} for {new} in range(2)]",
          "list(itertools.accumulate([{i}, {i}, 1]))", "[A(k) for k in range(2)]", "list(dict.fromkeys({l}[:0] + ['a', {s}]))", "list({t}.size())", "[u for u in {o}]", "copy.copy({l})", "copy.deepcopy({l})", "[lambda: {i}, len]", "{l} if {b} else {l}"],
    "d": ["{{{s}: {v}, 'b': {v}}}", "dict({d})", "{{**{d}, {s}: {v}}}", "{{k: k for k in range({i} % 4)}}", "dict(a={v}, c={v})", "{d}.copy()", "{d} | {{'q': {v}}}", "dict(zip('ab', {l}))", "{{str(k): {i} for k in {l}}}", "{o}.d", "unknown({d})",
          "collections.OrderedDict({d})", "D({d})", "collections.defaultdict(list, {d})", "dict(enumerate({l}))", "vars({o})", "{o}.__dict__", "copy.copy({d})", "collections.Counter({s})", "dict.fromkeys({s}, {i})", "{d} or {d}"],
    "S": ["{{{i}, {s}}}", "{S} | {S}", "{S} & {S}", "{S} - {S}", "{S} ^ {S}", "set({s})", "{{k % 3 for k in range({i} % 6)}}", "{S}.copy()", "frozenset([{i}])", "set({d})", "set([{i}, {s}])", "unknown({S})", "set({d}.keys()) & {S}"],
    "p": ["({v}, {v})", "{p} + {p}[:2]", "{p}[{i}:]", "tuple({l})", "{t}.shape", "tuple(k for k in {l}[:3])", "divmod({i}, 3)", "({v},)", "{p}[::-1]", "Pair({i}, {v})", "Pair({i})._replace(b={v})", "{t}.size()", "{t}.chunk(2)", "tuple(sorted(map(str, {S})))",
          "unknown({p})", "{t}.max(0)", "{p} or {p}", "{p} * ({i} % 2)", "tuple({t}.stride())", "(*{p}[:3], {v})", "tuple(map(type, {p}))", "torch.Size([{i} % 3, 2])", "{t}.split(1)", "tuple(zip({l}, {l}))"],
    "o": ["A({i})", "B({i})", "A({i}, {t})", "A0", "{o}.bump()", "{o} if {b} else {o}", "unknown({o})", "{o}.make({i})", "copy.copy({o})", "A0.o", "Slots({i})", "Data({i}, {l})", "L({l})", "{o} + {o}", "{o} or {o}", "Pair({i}, {v})", "type({o})({i})", "Ctx({i})",
          "Color.RED", "Color({i} % 2 + 1)", "MOD", "dataclasses.replace(Data({i}), a={i})", "functools.partial({fn}, {v})"],
    "q": ["iter({l})", "iter({d}.items())", "map(str, {l})", "(k for k in {l} if {b})", "zip({l}, {p})", "enumerate({l}, {i})", "reversed({l})", "gen0({i} % 4)", "itertools.chain({l}, {p})", "filter(None, {l})", "iter({p})", "iter({s})", "range({i} % 5)", "iter({d})",
          "itertools.repeat({i}, 2)", "(A(k) for k in range(2))", "itertools.starmap(max, [(1, {i})])", "itertools.islice({l}, 2)"],
}

STATEMENTS = {
    "t": ["{=t} = {t}", "{=t} = {t}", "{=t} = {t}", "{=t} += {t}", "{=t} *= {n}", "{t}.add_({n})", "{t}.mul_({t})", "{t}[{i}] = {n}", "{t}[0] += 1", "{t}.zero_()", "{t}.copy_({t})", "{t}.unsqueeze_(0)", "{=t}.requires_grad_()", "{t}.sum().backward()", "out.append({t})",
          "out.append({t}.grad)", "{t}.t_()", "{t}.fill_({n})", "torch.add({t}, 1, out={t})", "{t}.detach().add_({n})", "{t}[..., 0] = {t}", "{=t}, {=t} = {t}, {t}", "{=t} = {=t} = {t}", "{=t}, *{=l} = {t}.unbind()", "{t}.clamp_(max={n})", "{t}.data.mul_(2)", "{t}.view(-1)[0] = {n}",
          "{=t} = {t}.detach().clone().requires_grad_()", "{t}.grad = None", "{t}.grad = {t}", "{t}.tag = {v}", "LOG.append(getattr({t}, 'tag', 'none'))", "{=t} -= {t}.mean()", "F.relu({t}, inplace=True)", "{t}.squeeze_()", "{t}.retain_grad()",
          "LOG.append(torch.autograd.grad({t}.sum(), {t}, allow_unused=True))", "{t}[{t} > 0] = {n}", "{t}.index_add_(0, torch.tensor([0]), {t}[:1])", "{t}.detach_()", "{=t} = unknown({t})", "{=t} = {t} if {b} else {t}", "out.append(({t}.shape, {t}.dtype, {t}.requires_grad))", "{t}.data = {t}",
          "{=t} @= {t}", "{=t} **= 2", "{=t}[{i}:] = {t}", "torch.mul({t}, {n}, out={t})", "{=i}, {=i} = {t}.shape", "{t}.normal_()", "{t}.swap = {t}", "{t}.resize_(2).zero_()", "{t}.set_({t}.detach())"],
    "i": ["{=i} = {i}", "{=i} += {i}", "{=i} -= 1", "{=i} = {i}", "{=r} = {r}", "{=b} = {b}", "{=r} *= {n}", "{=i} //= {i}", "{=i}, {=i} = {i}, {i}", "{=i} = {=i} = {i}", "LOG.append({i})", "LOG.append({r})", "LOG.append({b})", "{=i} <<= 1; {=i} %= 1000", "{=i} = {r}", "{=r} = {i}", "{=i} |= {i}", "{=b} = not {b}",
          "del {=i}", "{=i} = unknown({i})", "(LOG.append({new} := {i}), LOG.append({new}))"],
    "s": ["{=s} = {s}", "{=s} += {s}[:3]", "LOG.append({s})", "{=s} = {s}[:9]", "{=s} = None", "print({s}, {n})", "{=p} = {p}", "{=p} += ({v},)", "LOG.append({p})", "{=q} = {q}", "out.append(next({=q}, None))", "out.append(list({=q})[:5])", "for {new} in {=q}: LOG.append({new}); break", "out.append(next({=q}))",
          "{=q} = itertools.chain({=q}, {l})", "out.append({q})", "del {=s}"],
    "l": ["{=l} = {l}", "{=l} = {l}", "{l}.append({v})", "{l}.append({t})", "{l}[{i}] = {v}", "{l}.extend({l}[:3])", "out.append({l}.pop())", "{l}.insert({i}, {v})", "del {l}[{i}]", "{l}[{i}:{i}] = [{v}]", "{l}.reverse()", "{l}.sort(key=str)", "{l}.clear()", "{=l} += [{v}]", "out.append({l})", "{l}[0] += 1",
          "LOG.append({l}[{i}])", "{l}.remove({v})", "LOG.append(len({l}))", "LST.append({v})", "{=l}[:] = {l}[:5]", "{=i}, *{=l} = {l} or [1]", "{l}.append({l}[:])", "del {l}[:1]", "{=l} *= ({i} % 2)", "out += {l}[:2]", "{=l} = unknown({l})", "LOG.append({l} == {l})"],
    "d": ["{=d} = {d}", "{d}[{s}] = {v}", "{d}[{s}] = {t}", "del {d}[{s}]", "{d}.update(z={v})", "out.append({d}.pop({s}, None))", "{d}.setdefault({s}, {v})", "LOG.append({d}.get({s}))", "LOG.append(list({d}))", "for {new} in {d}: LOG.append({new})", "for {new}, {new} in {d}.items(): pass", "{d}[{i}] = {v}", "LOG.append({d}[{s}])",
          "{d}.clear()", "{=d} |= {{'y': {v}}}", "out.append({d})", "{d}.popitem()", "{d}['a'] = {d}.get('a', 0)", "DCT[{s}] = {v}", "LOG.append({s} in {d})", "{d}[{p}] = {i}", "out.append({d}.items())", "{d}[{s}] += 1", "LOG.append(sorted(map(str, {d}.values())))", "{=d} = unknown({d})", "{d}[NAME] = {v}"],
    "S": ["{=S} = {S}", "{S}.add({v})", "{S}.add({i})", "{S}.discard({i})", "{S}.remove({s})", "{=S} |= {S}", "{=S} -= {S}", "LOG.append({i} in {S})", "LOG.append(len({S}))", "SET.add({i})", "out.append({S})", "{S}.update({l}[:2])", "for {new} in sorted(map(str, {S})): LOG.append({new})", "out.append({S} & SET)", "{S}.clear()", "out.append({S}.pop())"],
    "o": ["{=o} = {o}", "{o}.k = {i}", "{o}.k += 1", "{o}.w = {t}", "{o}.w += 1", "{o}.l.append({v})", "{o}.extra = {v}", "del {o}.r", "del {o}.extra", "LOG.append({o}.prop)", "{o}.prop = {i}", "setattr({o}, {s}, {v})", "LOG.append(getattr({o}, {s}, None))", "{o}.d[{s}] = {v}", "{o}.o = {o}", "out.append({o})", "LOG.append({o}.k)",
          "out.append({o}.meth({t}))", "{o}.bump()", "LOG.append(len({o}))", "LOG.append({o}[{i}])", "{o}[{i}] = {v}", "del {o}[{i}]", "{=o} += {i}", "LOG.append(list({o})[:4])", "LOG.append({i} in {o})", "LOG.append({o}(1))", "A.cls = {i}", "A.cls += 1", "LOG.append({o}.cls)", "out.append({o} + {v})", "out.append({v} + {o})", "LOG.append(-{o})",
          "LOG.append(repr({o}))", "LOG.append({o}.zap)", "{o}.r = {r}", "LOG.append(vars({o}).keys())", "{o}.__dict__['k'] = {i}", "MOD.count += 1", "MOD.scale = {r}", "{=t} = MOD({t})", "MOD.train({b})", "LOG.append({o}.stat({i}))", "out.append({o}.make())", "out.append({o} @ {t})", "{o}.__class__ = B", "out.append({o} == {o})", "LOG.append(sorted([{o}, {o}])[0])",
          "with {o} as {=o}: LOG.append({i})", "LOG.append({i} * {o})", "object.__setattr__({o}, 'k', {i})", "LOG.append([1, 2, 3, 4][{o}])", "del {o}.k", "LOG.append(dir({o})[-2:])", "{=i} = {o}.k", "MOD.weight.data += 1", "MOD.extra = {v}", "MOD.seen = {t}", "del MOD.extra", "delattr({o}, {s})", "A.new = {v}", "LOG.append(A.new)",
          "out.append(type({o}))", "{=o} = copy.copy({o})", "{=o} = copy.deepcopy({o})", "out.append({o}.bump)", "out.append(operator.attrgetter('k')({o}))", "out.append(Pair({i}, {v}))", "LOG.append({o}.a)", "{o}.a += 1", "out.append(Data({i}) == Data({i}))", "out.append({o}.total())"],
    "v": ["out.append({v})", "LOG.append({v})", "out.append(({v}, {v}))", "LOG.append([{i}, {s}])", "jedlik.graph_break()", "out.append(unknown({v}))", "out.append([{v} for {new} in range(2)])", "out.append({{{i}: {v}}})", "LOG.append(type({v}).__name__)", "LOG.append({fn}.__name__)", "out.append({fn})", "LOG.append(str({v})[:40])", "pass",
          "out.append(functools.partial({fn}, {v}))", "out.append(lambda: {i})", "LOG.append((lambda *a, **k: (a, k))({v}, *{p}, **{{'z': {i}}}))", "LOG.append(max({v}, {v}, key=str))", "out.append(list(map(lambda u: (u, {i}), {l}[:3])))", "LOG.append({v} == {v})", "assert {v}, {s}", "global_names = sorted(k for k in globals() if k == 'G')",
          "globals()['G'] = {i}", "LOG.append(globals()['G'])", "import math as {new}\nLOG.append({new}.pi)", "LOG.append(locals().get('n'))", "{fn}.tag = {i}", "LOG.append(getattr({fn}, 'tag', None))", "{fn}.__defaults__ = ({v},)"],
    "w": ["{=t} = {t} + {i}", "{=t} = {t} * {r}", "if {t}.sum() > {n}: {=t} = {t}", "LOG.append({t}.shape)", "LOG.append({t}.sum().item())", "LOG.append({t}.tolist())", "{=i} = {t}.shape[0]", "out.append(-{t})", "{=t} = {t}.view({t}.shape)", "{=t} = torch.zeros({t}.shape[0], 2)", "{=t} = {t} + {o}.k",
          "if {t}.shape[0] > {i}: {=t} = {t}[:1]", "LOG.append(({t}.dtype, {t}.requires_grad, {t}.stride()))", "{=t} = {fn}({t})", "out.append({fn}({i}))", "{=t} = torch.tensor({l}[:2])", "LOG.append({t}.is_contiguous())", "{=t} = {t}.to({t}.dtype)", "if {t} is {t}: LOG.append('same')", "out.append(({t}._base is None, {t}._version))",
          "{=t} = torch.stack([{t} for {new} in range(2)])", "torch.manual_seed({i})", "{=t} = torch.randn(3)", "with torch.no_grad(): {=t} = {t} * 2", "torch.set_grad_enabled({b})", "if not torch.is_grad_enabled(): LOG.append('off')"],
    "y": ["yield {v}", "yield {i}", "{=i} = yield {i}", "yield from {l}[:2]", "yield {t}", "yield from range({i} % 3)", "LOG.append('gen')"],
}

ARGUMENTS = ["y = torch.ones(3) * {i}", "n = {i}", "o = {o}", "l = {l}", "d = {d}", "s = {s}"]

CHANGES = ["G += 1", "G = {v}", "RATE = {r}", "FLAG = not FLAG", "NAME = {s}", "o.k = {v}", "o.k = 2.5", "o.k += 1", "l.append({v})", "l[0] = {v}", "l.clear()", "x = x.double()", "x = x[:1]", "x = x.detach().clone().requires_grad_()", "x = torch.ones(3, 3)", "x = torch.ones(2, 3).t()", "d['z'] = {v}", "d = {d}", "A.cls = {i}", "del o.r", "o = {o}",
           "y = x", "x = y", "l = {l}", "n = {i}", "n += 1", "n = {v}", "s = {s}", "s = {v}", "LST.append({v})", "LST[0] = {v}", "DCT['a'] = {v}", "TEN = {t}", "TEN.add_(1)", "A0.w = {t}", "A0.k = {v}", "A0.l = l", "o = A0", "l = A0.l", "d = A0.d", "MOD.scale = {n}", "MOD.count = 0", "MOD.weight.requires_grad_(False)", "MOD.eval()",
           "A.meth = lambda self, x, n=1: x - 1", "A.__bool__ = lambda self: True", "A.__len__ = lambda self: 1", "A0.__dict__['cls'] = 8", "A0.meth = abs", "x = x.to(torch.int64)", "x = torch.tensor(2.0)", "x = nn.Parameter(x.detach())", "x.grad = torch.ones_like(x)", "del A0.k", "x.tag = {v}", "y = torch.rand(3, 2)", "A0.__class__ = B", "o = None", "x = x.detach()",
           "SET.add({i})", "LOG.clear()", "d.clear()", "y = x[0]", "y = x.view(-1)[:3]", "TEN = x", "A0.w = x", "l = [l, x]", "l = [x, y]", "n = True", "n = 2.0", "n = 10 ** 20", "A0 .extra = {v}", "x = x.half()", "o = copy.copy(o)", "l = list(l)", "A.new = {v}", "pass"]
