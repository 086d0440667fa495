"""What a random program may be about besides: a kind of value of its own, classes for it, and phrases that use it.

A theme has a letter, its kind; `head`, lines for the top of the module; `values`, expressions of the kind; `rows`, expressions of other kinds by
letter; `does`, statements; `changes`, what happens between calls. Holes are those of phrases.py.
"""
import collections

Theme = collections.namedtuple("Theme", "kind head atoms values rows does changes")

ENUMS = Theme("E", '''
class Num(enum.IntEnum):
    ONE = 1
    TWO = 2
    UNO = 1


class Mode(str, enum.Enum):
    ON = "on"
    OFF = "off"


class Text(enum.StrEnum):
    LEFT = enum.auto()
    RIGHT = "r"


class Bits(enum.Flag):
    P = 1
    Q = 2
    PQ = 3


class Mask(enum.IntFlag):
    R = 4
    W = 2


class Level(enum.Enum):
    LOW = 1, "low"
    HIGH = 2, "high"

    def __init__(self, rank, label):
        self.rank, self.label = rank, label

    @property
    def double(self):
        return self.rank * 2

    @classmethod
    def of(cls, rank):
        return next(m for m in cls if m.rank == rank)

    def __lt__(self, other):
        return self.rank < other.rank


class Loose(enum.Enum):
    ANY = None
    ONE = 1

    @classmethod
    def _missing_(cls, value):
        LOG.append(("missing", str(value)))
        return cls.ONE if value == 7 else None

    def __bool__(self):
        return self.value is not None


class Holder:
    mode, num, color, level = Mode.ON, Num.ONE, Color.RED, Level.LOW
    table = {Color.RED: 1, Mode.ON: "x", Num.TWO: [2], Level.LOW: None}

    def __init__(self, mine=Mode.OFF):
        self.mine = mine

    def pick(self, m=Color.RED):
        return self.table.get(m, m)


HOLD = Holder()
MEMBER = Color.BLUE
MEMBERS = [Color.RED, Mode.ON, Num.TWO, Level.HIGH, Mask.R]
''', ["Color.RED", "Color.BLUE", "Mode.ON", "Num.ONE", "Num.UNO", "Level.LOW", "Bits.P", "Mask.R", "Text.LEFT", "Loose.ANY", "HOLD.mode", "HOLD.num", "HOLD.color", "HOLD.mine", "Holder.color", "Holder.level", "MEMBER", "MEMBERS[0]", "MEMBERS[-1]"], [
    "Color({i} % 2 + 1)", "Num({i} % 2 + 1)", "Mode('on')", "Color[{s}]", "Mode['ON']", "Bits({i} % 4)", "Bits.P | Bits.Q", "{E} | {E}", "{E} & {E}", "~{E}", "Mask({i} % 8)", "Level.of(2)", "Level((1, 'low'))", "Loose({i})", "type({E})({E}.value)", "list(type({E}))[0]",
    "HOLD.pick({E})", "{E} if {b} else {E}", "getattr(HOLD, 'mode')", "unknown({E})", "max({E}, {E})", "Holder({E}).mine", "MEMBERS[{i}]", "next(iter(type({E})))", "Text({s})", "{E}.__class__.__members__['ON']", "Num.ONE + {E}", "copy.copy({E})", "{E}._member_map_ if {b} else {E}",
], {
    "b": ["{E} == {E}", "{E} is {E}", "{E} != {v}", "{E} in MEMBERS", "{E} in Holder.table", "{E} in (Color.RED, Mode.ON)", "{E} in {{Color.BLUE, Num.ONE, Mode.OFF}}", "{E} in type({E})", "{i} in Color._value2member_map_", "{E} == {i}", "{E} == {s}", "isinstance({E}, enum.Enum)", "isinstance({E}, (int, str))",
          "{E} is HOLD.color", "{E} is not Color.RED", "{E}", "{E} < {E}", "HOLD.mine == {E}", "{E} in [HOLD.mode, HOLD.num]", "Bits.P in {E}", "{E}.value == {v}", "hash({E}) == hash({E})", "type({E}) is Color", "{E} == HOLD.color == Color.RED", "bool(Bits(0))", "{E} in {l}", "{E} in {d}"],
    "i": ["int({E})", "{E} + 1", "{E}.value", "len(type({E}))", "Holder.table.get({E}, 9)", "Num.TWO * {i}", "{E}.rank", "{E}.double", "[10, 20, 30][Num.ONE]", "MEMBERS.index({E})", "Level.LOW.rank + {i}", "len(Color.__members__)", "sum(m.value for m in Num)", "{{Color.RED: 3}}[{E}]"],
    "s": ["{E}.name", "str({E})", "repr({E})", "f'{{{.E}}}'", "f'{{{.E}!r:>12}}'", "'%s' % ({E},)", "{E}.value", "Mode.ON + {s}", "Mode.ON.upper()", "{E}._name_", "type({E}).__name__", "Level.LOW.label", "'{{}}'.format({E})", "','.join(Text)"],
    "d": ["{{{E}: {v}, {E}: {v}}}", "{{m: m.value for m in Color}}", "dict(Color.__members__)", "dict.fromkeys(MEMBERS, {i})", "{{m.name: m for m in type({E})}}"], "l": ["list(type({E}))", "[m.value for m in Level]", "sorted(Level)", "[m for m in MEMBERS if m == {E}]", "[{E}, {E}]"],
    "t": ["{t} * Num.TWO", "{t} + {E}", "{t}.sum(Num.ONE - 1)", "{t} if {E} is {E} else -{t}", "{t} * {E}.value", "torch.full((Num.TWO,), {r})"], "S": ["{{{E}, {E}}}", "set(MEMBERS)", "frozenset(Color)"],
}, ["match {E}:\n    case Color.RED: LOG.append('red')\n    case Mode.ON | Num.TWO: LOG.append('on')\n    case Level(rank=2): LOG.append('high')\n    case int(k): LOG.append(k)\n    case HOLD.mine: LOG.append('mine')\n    case _: LOG.append('else')",
    "HOLD.mine = {E}", "Holder.color = {E}", "out.append(Holder.table[{E}])", "Holder.table[{E}] = {v}", "for {new} in type({E}): LOG.append({new})", "LOG.append({E}.name)", "if {E} is {E}: {=t} = {t} + 1", "if {E} == {E}: {=t} = {t} * 2", "MEMBERS.append({E})", "{d}[{E}] = {v}", "LOG.append({d}.get({E}))",
    "{E}.tag = {i}", "LOG.append(getattr({E}, 'tag', None))", "{S}.add({E})", "if {E} in {S}: {=i} += 1", "LOG.append(Color({v}))", "{=E} = {E}", "del Holder.table[{E}]", "HOLD.color = {E}", "del HOLD.color", "LOG.append({E}.nothing)", "out.append(HOLD.pick({E}))",
    "if {E} not in (Color.RED, Color.BLUE): LOG.append('other')\nelse: {=t} = -{t}", "out.append({{{E}: 1}} == {{{E}: 1}})", "Color.RED = {i}", "LOG.append(Color({i} + 9))"],
    ["HOLD.mine = {E}", "Holder.color = {E}", "MEMBERS[0] = {E}", "MEMBERS.reverse()", "Holder.table[{E}] = {i}", "e = HOLD.mine", "e = e.value", "HOLD.color = {E}", "Holder.mode = Color.RED", "Holder.num = 1", "A0.o = {E}"])

MET = Theme("M", '''
BIG = 10 ** 20
PAIR = (1, 2)
LONG = "a long text " * 2
FLT = 1e300
BYT = b"bytes"
SENTINEL = object()
SHARED = [1, 2]
FROZEN = frozenset({1, 2})


class K0:
    big, pair, long, flt, byt, none, sentinel, shared, frozen = BIG, PAIR, LONG, FLT, BYT, None, SENTINEL, SHARED, FROZEN
    own, other, kind, fn = 10 ** 20, (1, 2), A, len

    def __init__(self, big=BIG, pair=PAIR):
        self.b, self.p, self.s, self.x = big, pair, SENTINEL, SHARED

    def same(self, other):
        return self.big is other, self.big == other, self.pair is other, self.shared is other


class K1(K0):
    pair = (1, 2)
    sentinel = SENTINEL


M0 = K0()
M1 = K1(10 ** 20 + 0, (1, 2)[:] + ())
TABLE = {"big": BIG, "pair": PAIR, "long": LONG, 1: SENTINEL, "shared": SHARED}
''', ["BIG", "PAIR", "LONG", "FLT", "BYT", "SENTINEL", "SHARED", "FROZEN", "K0.big", "K0.pair", "K0.long", "K0.flt", "K0.sentinel", "K0.shared", "K0.own", "K0.other", "K0.frozen", "K1.pair", "M0.big", "M0.pair", "M0.b", "M0.p", "M0.s", "M0.x", "M0.sentinel", "M1.b", "M1.p", "M1.pair", "M1.shared",
      "TABLE['big']", "TABLE['pair']", "TABLE[1]", "TABLE['shared']", "K0.kind", "A", "M0.fn", "len"], [
    "{M} if {b} else {M}", "unknown({M})", "getattr(M0, {s}, BIG)", "TABLE.get({s}, PAIR)", "[{M}, {M}][{i} % 2]", "(lambda u={M}: u)()", "next(iter([{M}]))", "tuple([1, 2])", "10 ** 20", "vars(M0)['b']", "{M} or {M}", "type(M0).big", "copy.copy({M})", "K0(pair={M}).p",
], {
    "b": ["{M} is {M}", "{M} == {M}", "{M} is not {M}", "{M} is K0.big", "{M} is K0.pair", "{M} is M0.b", "BIG is {M}", "K0.sentinel is {M}", "SENTINEL is {M}", "{M} in [BIG, PAIR]", "{M} in (K0.shared, M0.s)", "{M} in TABLE.values()", "id({M}) == id({M})", "type({M}) is type({M})", "{M} in [{M}]", "{M} in {{{p}, BIG}}", "any(v is {M} for v in TABLE.values())"],
    "i": ["hash({M}) == hash({M})", "{M} % 1000", "{M} - BIG", "len({M})", "[BIG, PAIR, SENTINEL].index({M})", "M0.b % 7", "K0.own - K0.big"], "p": ["{M} + (3,)", "PAIR", "K0.pair", "M0.p", "M1.p", "({M}, {M})", "M0.same({M})", "K1.pair"], "l": ["SHARED", "M0.x", "K0.shared", "[{M}, {M}]"],
    "d": ["{{{M}: 1, {M}: 2}}", "TABLE", "{{'x': {M}}}"], "S": ["{{{M}, {M}}}", "FROZEN", "K0.frozen"], "s": ["LONG", "K0.long", "repr({M})[:30]", "M1.long"], "r": ["FLT", "K0.flt", "M0.flt / 2"], "t": ["{t} if {M} is {M} else {t} + 1", "{t} * (2 if {M} == {M} else 3)", "{t}.view(*K0.pair[:1], -1)"],
}, ["if {M} is {M}: {=t} = {t} + 1\nelse: {=t} = {t} - 1", "if {M} == {M}: LOG.append('equal')", "M0.b = {M}", "M0.p = {M}", "K0.big = {M}", "K0.pair = {M}", "K1.pair = {M}", "M0.pair = {M}", "TABLE['big'] = {M}", "M0.x = {M}", "SHARED.append({v})", "K0.shared.append({i})", "M0.x.append({i})", "LOG.append(({M} is K0.big, {M} == BIG))",
    "out.append(({M}, {M}))", "out.append(M0.same({M}))", "{d}[{M}] = {v}", "LOG.append({d}.get({M}))", "{=M} = {M}", "LOG.append(M0.shared is SHARED)", "LOG.append(K0.kind is A)", "del M0.p", "{S}.add({M})", "LOG.append(K0.fn({l}))", "match {M}:\n    case K0.big: LOG.append('big')\n    case (1, 2): LOG.append('pair')\n    case _: LOG.append('else')",
    "{=o} = K0({M}, {M})", "LOG.append(M1.same({M}))", "LOG.append([{M} is v for v in (BIG, K0.own, M0.b, M1.b, PAIR, K1.pair, M1.p)])"],
    ["M0.b = 10 ** 20", "M0.b = K0.big", "K0.big = 10 ** 20 + 1", "K0.pair = (1, 2)", "K0.pair = tuple([1, 2])", "K0.pair = M1.p", "M0.p = {M}", "K0.sentinel = object()", "M0.s = K0.sentinel", "K0.shared = list(SHARED)", "M0.x = K0.shared", "TABLE[1] = {M}", "K0.none = {M}", "e = K0.big", "e = K0.pair", "e = M0.s", "e = tuple([1, 2])", "K0.flt = float('nan')", "M1.b = {M}",
     "K0.kind = B", "K0.fn = sum", "SHARED.append(3)"])

CONTAINERS = Theme("C", '''
class L1(list):
    def __init__(self, *args):
        super().__init__(*args)
        self.tag = len(self)

    def append(self, v):
        self.tag += 1
        super().append(v)


class L2(list):
    def __getitem__(self, k):
        LOG.append("getitem")
        return super().__getitem__(k)

    def __iter__(self):
        return iter([1, *super().__iter__()][:5])

    def __len__(self):
        return super().__len__() + 1


class D1(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.n = 0

    def __setitem__(self, k, v):
        self.n += 1
        super().__setitem__(k, v)

    def __missing__(self, k):
        return self.n


class D2(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__

    def __contains__(self, k):
        return k == "a" or super().__contains__(k)


class O1(collections.OrderedDict):
    def keys(self):
        LOG.append("keys")
        return super().keys()

    def __iter__(self):
        return super().__iter__()


class DD(collections.defaultdict):
    def __repr__(self):
        return "DD"


class S1(set):
    def add(self, v):
        super().add((v, 1))


class FS(frozenset):
    def __contains__(self, v):
        return v == 1 or super().__contains__(v)


class Q1(collections.deque):
    def popleft(self):
        LOG.append("popleft")
        return super().popleft()


class Str(str):
    def __eq__(self, other):
        return str.__eq__(self, other.lower() if isinstance(other, str) else other)

    __hash__ = str.__hash__

    def upper(self):
        return "UP"


class Str2(str):
    __slots__ = ()


class Int(int):
    def __new__(cls, v=0, tag=None):
        self = super().__new__(cls, v)
        self.tag = tag
        return self

    def __add__(self, other):
        return Int(int.__add__(self, other), self.tag)


class Int2(int):
    pass


class Flt(float):
    def __mul__(self, other):
        return Flt(float(self) * 2)


class T1(tuple):
    def __new__(cls, *vs):
        return super().__new__(cls, vs)

    def first(self):
        return self[0] if self else None


class T2(tuple):
    def __getitem__(self, k):
        return "item"


class Cnt(collections.Counter):
    pass


class UD(collections.UserDict):
    pass


class UL(collections.UserList):
    pass


CL, CD = L1([1, 2]), D1(a=1)
CO, CQ = O1(a=1, b=2), Q1([1, 2, 3], 4)
KEPT = [L2([5]), D2(x=1), S1([1])]
''', ["CL", "CD", "CO", "CQ", "KEPT[0]", "KEPT[1]", "KEPT[2]", "L1([1, 2])", "D1(a=1)", "Int(3)", "Str('a')", "T1(1, 2)", "S1([1])"], [
    "L1({l})", "L1()", "L2({l})", "D1({d})", "D1(a={v})", "D2({d})", "D2(a={v}, b={v})", "O1({d})", "O1([('x', {v}), ('a', 2)])", "DD(list)", "DD(lambda: {v}, {d})", "S1({l}[:0])", "S1([{i}, {i}])", "FS([{i}, {s}])", "Q1({l}, 3)", "Q1()", "Str({s})", "Str2({s})", "Int({i}, {v})", "Int2({i})", "Flt({r})", "T1({v}, {v})", "T2([{i}])", "Cnt({s})",
    "UD({d})", "UL({l})", "{C}.copy()", "copy.copy({C})", "copy.deepcopy({C})", "{C} + {C}", "{C} * 2", "{C}[1:]", "type({C})()", "type({C})({C})", "{C} | {C}", "{C} & {C}", "unknown({C})", "{C} if {b} else {C}", "{C} or {C}", "D1.fromkeys({s}, {i})", "O1.fromkeys('ab')", "sorted({C}, key=str)", "-{C}", "L1(k for k in {C})", "collections.ChainMap({d}, {d})", "{C}.upper()", "{C} - {C}",
], {
    "i": ["len({C})", "{C}.tag", "{C}.n", "{C}[0]", "{C}['a']", "{C}.count({v})", "int({C})", "Int({i}) + {i}", "{i} + Int2({i})", "sum({C})", "{C}.index({v})", "hash({C}) % 97", "Int({i}) // 2", "{C}.get('a', {i})", "[7, 8, 9][Int2({i})]", "len(vars({C}))"],
    "b": ["{C} == {C}", "{v} in {C}", "{i} in {C}", "{s} in {C}", "bool({C})", "{C} == {l}", "{d} == {C}", "{C} < {C}", "{C} is {C}", "isinstance({C}, list)", "isinstance({C}, (dict, tuple))", "{C} in {l}", "any({C})", "all({C})", "type({C}) is L1", "{C} == {s}", "{s} == {C}", "{C} <= {S}", "hasattr({C}, 'tag')"],
    "s": ["str({C})", "repr({C})", "f'{{{.C}}}'", "','.join(map(str, {C}))", "Str({s}) + {s}", "{s} + Str2('x')", "Str({s})[1:]", "type({C}).__name__", "Str({s}).lower()", "'%s' % Str2({s})"], "r": ["Flt({r}) * 2", "2 * Flt({r})", "Flt({r}) + {r}", "float(Int({i}))", "abs(Flt({r}))"],
    "l": ["list({C})", "[*{C}]", "L1({l})", "[k for k in {C}]", "{l} + L1({l})", "list(reversed({C}))", "list(zip({C}, {C}))", "list({C}.items())", "list({C}.values())", "sorted({C}, key=str)", "list(enumerate({C}))", "UL({l}).data"], "d": ["dict({C})", "{{**{C}}}", "D1({d})", "dict(O1({d}))", "{d} | D1(z=1)", "UD({d}).data", "dict(zip({C}, {C}))"],
    "t": ["torch.tensor(L1([{r}, 1.0]))", "torch.zeros(T1(2, 3))", "{t} * Int({i})", "{t} + Flt({r})", "{t}.view(L1([-1]))", "torch.cat(L1([{t}, {t}]))", "{t}[Int2(0)]", "{t}[T1(0, 0)]", "torch.stack(Q1([{t}, {t}]))", "torch.stack([v for v in L1([{t}, {t}])])", "{t}.sum(T1(0))"], "q": ["iter({C})", "reversed({C})", "iter({C}.items())", "map(str, {C})"],
    "p": ["tuple({C})", "(*{C},)", "T1({v}, {v})", "T1({v}) + {p}", "({C}, {C})", "T1(1, 2)[::-1]", "T1({v}, 2).first(), "], "S": ["set({C})", "S1([{i}])", "FS([{i}]) | {S}", "{S} - FS([1])", "S1([{i}]) | {S}"],
}, ["{C}.append({v})", "{C}[{s}] = {v}", "{C}[{i}] = {v}", "{C}.tag = {v}", "del {C}[0]", "del {C}['a']", "{C}.update(a={v})", "{C}.extend({l}[:2])", "{C}.add({i})", "out.append({C}.pop())", "out.append({C}.popleft())", "{C}.appendleft({v})", "{C}.move_to_end('a')", "{C}.popitem()", "{C}.clear()", "out.append({C})", "LOG.append(list({C}))", "for {new} in {C}: LOG.append({new})",
    "for {new}, {new} in {C}.items(): LOG.append({new})", "{=C} = {C}", "{=C} += {C}", "{=C} = unknown({C})", "out.append({C}.keys())", "out.append({C}.items())", "{C}.setdefault({s}, {v})", "LOG.append({C}.get({s}))", "LOG.append({C}.zed)", "{C}.zed = {v}", "{C}.sort(key=str)", "{C}.reverse()", "LOG.append((len({C}), str({C})))", "KEPT.append({C})", "KEPT[0] = {C}", "out.append({C}[{s}])",
    "{=C} = {C}\n{C}.append({v})\njedlik.graph_break()\nLOG.append(len({C}))", "{=C} |= {C}", "{C}.insert(0, {v})", "{C}.rotate(1)", "a, *b = {C}\nLOG.append((a, b))", "match {C}:\n    case [a, *b]: LOG.append(('seq', a, b))\n    case {{'a': a, **b}}: LOG.append(('map', a, b))\n    case str(a) | int(a): LOG.append(a)\n    case _: LOG.append('else')", "LOG.append((lambda *a, **k: (a, k))(*{C}))",
    "LOG.append((lambda **k: k)(**{C}))", "list.append({C}, {v})", "dict.__setitem__({C}, {s}, {v})", "{C}.__init__([7])", "{d}[{C}] = {v}", "LOG.append({d}.get({C}))", "{d}.update({C})", "{l}.extend({C})", "LOG.append({C}.first())", "{C}.__class__ = L2", "{C}[1:1] = {C}", "LOG.append({C} == {C})", "out.append(vars({C}))", "{C}[:] = [{v}]"],
    ["CL.append({v})", "CL.tag = {v}", "CD['k'] = {v}", "CO.move_to_end('a')", "CQ.append({v})", "e = {C}", "KEPT[0] = {C}", "e.append({v})", "L1.append = list.append", "D1.__missing__ = lambda self, k: k", "o = CL", "l = L1(l)", "l = L2(l)", "d = D1(d)", "d = O1(d)", "d = DD(int, d)", "d = D2(d)", "s = Str(s)", "n = Int(n, 5)", "n = Int2(4)", "CL.clear()", "del CL[0]", "CL.__class__ = L2",
     "l = Q1(l)", "l = T1(*l)", "L1.__len__ = lambda self: 3"])

VIEWS = Theme("V", '''
VD = {"a": 1, "b": 2, "c": 3}
VL = [1, 2, 3, 4]
VS = {1, 2, 3}
VO = collections.OrderedDict(a=1, b=2, c=3)
VQ = collections.deque([1, 2, 3])
ITERS = {"l": iter(VL), "d": iter(VD), "k": VD.keys(), "z": zip(VL, VD), "e": enumerate(VL), "o": iter(VO.items())}


class Walk:
    def __init__(self, n):
        self.n, self.at = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration(self.at)
        self.at += 1
        return self.at


class Seq:
    def __getitem__(self, k):
        if k > 2:
            raise IndexError(k)
        return k * 10

    def __len__(self):
        return 3


def walker(box):
    while box:
        got = yield box.pop()
        if got is not None:
            box.append(got)
''', ["ITERS['l']", "ITERS['d']", "ITERS['k']", "ITERS['z']", "ITERS['e']", "iter(VL)", "iter(VD)", "VD.keys()", "VD.items()", "VO.values()"], [
    "iter(VL)", "iter({l})", "iter({d})", "iter({d}.items())", "{d}.keys()", "{d}.values()", "{d}.items()", "VD.keys()", "VD.items()", "VO.keys()", "VO.items()", "reversed(VL)", "reversed(VD)", "reversed(VO)", "reversed(VD.items())", "iter(VS)", "iter(VQ)", "reversed(VQ)", "enumerate(VL, {i})", "zip({V}, VL)", "zip(VL, {l})", "map(str, {V})", "filter(None, {V})", "(k for k in {V})", "(k for k in VL if k != {i})",
    "itertools.chain(VL, {V})", "itertools.islice({V}, {i} % 4)", "itertools.islice(itertools.cycle(VL), 9)", "itertools.islice(itertools.count({i}), 9)", "itertools.tee({V})[1]", "itertools.zip_longest({V}, [1])", "itertools.pairwise(VL)", "itertools.groupby(VL, lambda k: k > 2)", "itertools.takewhile(lambda k: k != 3, {V})", "itertools.accumulate({V})", "itertools.compress(VL, [1, 0, 1])", "itertools.dropwhile(bool, {V})", "iter({V})", "Walk({i} % 4)", "iter(Seq())", "reversed(Seq())", "walker({l})", "walker(VL)",
    "iter({s})", "iter(range({i} % 6))", "iter({p})", "iter({t})", "unknown({V})", "iter(VL.pop, {v})", "{t}.unbind()", "itertools.islice(iter(lambda: len(LOG) % 4, 0), 5)", "copy.copy({V})", "itertools.product(VL[:2], [0])", "itertools.repeat({v}, 2)", "VD.keys() & {d}", "VD.keys() | {S}", "iter(bytes(3))", "iter(memoryview(b'ab'))", "itertools.starmap(divmod, [(5, 2), (7, {i})])", "iter(VL) if {b} else iter(VD)",
], {
    "l": ["list({V})", "[*{V}]", "list(itertools.islice({V}, 3))", "[k for k in {V}][:5]", "sorted({V}, key=str)", "VL", "list(zip({V}, {V}))"], "i": ["next({V}, {i})", "len({V})", "sum(1 for k in itertools.islice({V}, 9))", "{V}.__length_hint__()", "operator.length_hint({V}, 3)", "max({V}, default={i})", "VL.pop()", "VD.pop('a', {i})"],
    "b": ["{v} in {V}", "{V} == {V}", "{V} is {V}", "iter({V}) is {V}", "any(itertools.islice({V}, 3))", "{i} in VD.values()", "'a' in VD.keys()", "{V} <= {V}", "VD.keys() == {V}", "bool({V})", "all(k for k in itertools.islice({V}, 2))"], "d": ["dict(VD)", "VD", "VO", "dict(zip({V}, VL))", "dict(itertools.islice({V}, 2))"], "p": ["tuple(itertools.islice({V}, 3))", "(*itertools.islice({V}, 2),)", "next({V}, ())"],
    "t": ["torch.tensor(list({V}))", "sum({V}, {t})", "torch.stack([{t} for k in itertools.islice({V}, 2)])", "{t} * next({V}, 2)", "next(iter({t}))", "next({V}, {t})"], "S": ["set(itertools.islice({V}, 3))", "VS", "VD.keys() & {{'a', 'b'}}", "VD.keys() - {S}"], "v": ["next({V}, None)"],
}, ["{=V} = {V}", "{=V} = iter(VL)\nout.append(next({=V}, None))\njedlik.graph_break()\nVL.append({i})\nout.append(list({=V}))", "{=V} = iter(VD)\nLOG.append(next({=V}, None))\njedlik.graph_break()\nVD[{s}] = {v}\nLOG.append(next({=V}, None))", "{=V} = VD.items()\njedlik.graph_break()\nVD[{s}] = {v}\nLOG.append(list({=V}))", "LOG.append(next({V}))", "LOG.append(next({V}, 'end'))", "out.append({V})", "LOG.append(list(itertools.islice({V}, 4)))",
    "for {new} in {V}:\n    LOG.append({new})\n    if len(LOG) % 3 == 0: break\n    jedlik.graph_break()", "for {new} in itertools.islice({V}, 5): {=t} = {t} + 1", "for {new} in VL:\n    if {new} == {i}: VL.remove({new})\n    {=t} = {t} + 1", "for {new} in list(VD): del VD[{new}]; break", "for {new} in VD: VD[{s}] = {v}", "VL.append({v})", "VL.pop()", "del VL[:1]", "VL.clear()", "VL[:] = [7, 8]", "VL.insert(0, {v})", "VD[{s}] = {v}", "VD.pop('a', None)",
    "VD.clear()", "VD.update({d})", "VO.move_to_end('a')", "VO['z'] = {v}", "del VO['b']", "VO.popitem(last=False)", "VQ.append({v})", "VQ.popleft()", "VS.add({i})", "VS.discard({i})", "ITERS['l'] = {V}", "ITERS['k'] = {V}", "ITERS['z'] = iter(VL)", "{=V} = unknown({V})", "unknown({V})", "a, b = itertools.tee({V})\nLOG.append(next(a, 0))\njedlik.graph_break()\nLOG.append(list(itertools.islice(b, 3)))", "{V}.send({v})", "{V}.close()", "LOG.append({V}.throw(ValueError({s})))",
    "{l}.extend(itertools.islice({V}, 3))", "VL.extend(itertools.islice({V}, 3))", "a, *b = {V}\nLOG.append((a, b))", "for a, b in zip({V}, {V}): LOG.append((a, b)); break", "LOG.append({v} in {V})", "{=q} = {V}", "for k, g in itertools.groupby({l}, str): LOG.append((k, len(list(g)))); break", "LOG.append({V}.mapping)", "LOG.append({V}.isdisjoint([1]))", "VL.sort(key=lambda k: VL.append(0) or 0)", "out.append(VD.keys() ^ {{1, 'a'}})",
    "for {new} in VQ: VQ.append({i}); break", "LOG.append({V}.__reduce__()[0].__name__)", "LOG.append({V}.gi_frame is None)", "def take(u=iter(VL)): return next(u, None)\nLOG.append((take(), take()))\njedlik.graph_break()\nLOG.append(take())"],
    ["VL.append({v})", "VL[:] = [1, 2, 3]", "VD['new'] = {v}", "del VD['b']", "VD.update(a=1, b=2)", "ITERS['l'] = iter(VL)", "ITERS['d'] = iter(VD)", "ITERS['e'] = {V}", "next(ITERS['l'], 0)", "next(ITERS['z'], 0)", "e = {V}", "e = iter(VL)", "e = iter(VD)", "e = VD.items()", "next(e, 0)", "o = e", "VO.move_to_end('a')", "VQ.rotate(1)", "VS.add(99)", "l = VL", "d = VD", "d = VO"])

NUMBERS = Theme("N", '''
NAN = float("nan")
INF = float("inf")
NEG = -0.0
HUGE = 2 ** 70
EDGE = 2 ** 63
TINY = 5e-324
CPX = 1 + 2j


class Odd:
    nan, neg, huge, flag, inf = NAN, NEG, HUGE, True, -INF

    def __init__(self, v=NAN):
        self.v = v


ODD = Odd()
NUMS = [NAN, NEG, 0.0, HUGE, True, 1, 1.0, EDGE]
BYNUM = {1: "one", 0.0: "zero", NAN: "nan", HUGE: "huge"}
''', ["NAN", "INF", "NEG", "HUGE", "EDGE", "TINY", "True", "False", "0.0", "-0.0", "1", "1.0", "CPX", "ODD.v", "ODD.nan", "Odd.huge", "Odd.flag", "Odd.neg", "NUMS[0]", "NUMS[1]", "NUMS[-1]", "-1", "2 ** 31", "-(2 ** 63)", "1e308", "0.1", "255", "256", "257"], [
    "{N} + {N}", "{N} - {N}", "{N} * {N}", "{N} / {N}", "{N} // {N}", "{N} % {N}", "{N} ** 2", "{N} ** -1", "-{N}", "+{N}", "~{N}", "abs({N})", "{N} & {N}", "{N} | {N}", "{N} ^ {N}", "{N} << 3", "{N} >> 1", "int({N})", "float({N})", "bool({N})", "round({N})", "round({N}, 1)", "max({N}, {N})", "min({N}, {N}, {N})", "sum([{N}, {N}])", "math.floor({N})", "math.copysign(1, {N})", "math.fmod({N}, 3)", "math.ldexp(1.0, 3)", "math.inf * {N}", "math.sqrt({N})",
    "{N} if {N} else {N}", "{N} and {N}", "{N} or {N}", "not {N}", "pow({N}, 3, 7)", "divmod({N}, 7)[1]", "{N}.real", "{N}.conjugate()", "{N}.bit_length()", "{N}.is_integer()", "{N}.numerator", "complex({N}, 1)", "unknown({N})", "NUMS[{N}]", "BYNUM.get({N}, 5)", "Odd({N}).v", "{t}.sum().item()", "{t}.max().item()", "math.nan", "sorted([{N}, {N}, 1])[0]", "int('12' * 12)", "float('-0')", "math.isqrt({N})", "math.factorial({i} % 25)",
    "True + True", "{b} * {N}", "{i} * HUGE", "n * {N}", "n + True", "{N} - n", "sum([True, True, {b}])", "operator.truediv({N}, {N})", "math.hypot({N}, 1.0)", "math.trunc({N})", "int({s})", "float({s})", "torch.iinfo(torch.int64).max", "torch.finfo(torch.float32).eps", "hash({N}) % 1000", "functools.reduce(operator.mul, [{N}, 2])", "math.fsum([{N}, {N}])", "math.log2(abs({N}) + 1)",
], {
    "b": ["{N} == {N}", "{N} != {N}", "{N} < {N}", "{N} >= {N}", "{N} is {N}", "NAN == NAN", "NAN is ODD.nan", "{N} in NUMS", "{N} in BYNUM", "{N} in [{N}]", "{N} in (NAN, 1)", "[{N}] == [{N}]", "({N},) == ({N},)", "{{'a': {N}}} == {{'a': {N}}}", "math.isnan({N})", "math.isinf({N})", "isinstance({N}, int)", "isinstance({N}, bool)", "type({N}) is bool", "str({N}) == '-0.0'", "{N} == True", "{N} is True", "1 < {N} < HUGE", "{N} in {{1, 0.0}}", "{N} in {p}",
          "math.isclose({N}, {N})", "{N} == 1 == {b}", "({t} == {N}).any()", "torch.isnan({t}).any()"],
    "i": ["int({N}) % 1000", "NUMS.index({N})", "NUMS.count({N})", "len(BYNUM)", "len({{{N}, {N}, {N}}})", "hash({N}) % 97", "int(HUGE) % 5", "[1, 2][{b}]", "'ab'.find('b') + {b}"], "r": ["{N} * 1.0", "math.copysign(0.0, {N})", "{r} * NEG", "{r} + NAN", "float(HUGE)", "0.0 * {r}", "-{r} * 0", "{r} / INF"],
    "s": ["str({N})", "repr({N})", "f'{{{.N}:.3g}}'", "f'{{{.N}:e}}'", "'%d' % {N}", "'%r' % {N}", "hex({N})", "format({N}, ',')", "f'{{{.N}!r}}'", "'x' * min({N}, 5)", "BYNUM.get({N}, 'no')", "f'{{{.N}:+}}'", "'%.2f' % {N}", "bin({N})[:20]", "{N}.hex()"],
    "t": ["{t} * {N}", "{t} + {N}", "{t} / {N}", "{N} - {t}", "torch.tensor({N})", "torch.full((2,), {N})", "torch.tensor([{N}, {N}])", "{t}.clamp(max={N})", "{t} == {N}", "{t} > {N}", "{t}.to(torch.bool)", "torch.nan_to_num({t})", "{t}.masked_fill({t} > 0, {N})", "{t} ** {N}", "{t} // {N}", "{t} % {N}", "torch.where({t} > {N}, {t}, {N})", "{t}.pow({N})", "torch.copysign({t}, torch.tensor(NEG))", "{t}.fill_diagonal_({N}) if {b} else {t}", "torch.arange({N} % 7)", "{t}[{b}]", "{t}.to(torch.uint8)",
          "{t}.add({t}, alpha={N})", "torch.eq({t}, {N})", "{t}.eq(True)", "torch.zeros(True, 3)", "{t}.sum({b})", "torch.clip({t}, {N}, {N})", "torch.linspace(0, {N}, 3)"],
    "p": ["({N}, {N})", "divmod({N}, {N})", "math.frexp({N})", "math.modf({N})", "{N}.as_integer_ratio()", "(0.0, -0.0)", "(-0.0, 0.0)", "(1, True, 1.0)"], "d": ["{{{N}: {v}, {N}: {v}}}", "BYNUM", "{{True: 1, 1: 2, 1.0: 3}}", "{{k: str(k) for k in NUMS}}"], "S": ["{{0.0, -0.0, 1, True}}", "set(NUMS[1:3])"], "l": ["[{N}, {N}]", "NUMS", "sorted(NUMS, key=str)", "[k for k in NUMS if k == k]", "[k * {N} for k in NUMS]", "list(map(float, [{N}, 1]))"],
}, ["{=N} = {N}", "{=N} += {N}", "{=N} *= {N}", "{=N} -= {N}", "{=N} //= {N}", "{=N} **= 2", "LOG.append({N})", "out.append({N})", "out.append(({N}, {N}))", "ODD.v = {N}", "Odd.nan = {N}", "NUMS.append({N})", "NUMS[0] = {N}", "NUMS.remove({N})", "BYNUM[{N}] = {v}", "LOG.append(BYNUM[{N}])", "del BYNUM[{N}]", "if {N} == {N}: {=t} = {t} + 1\nelse: {=t} = {t} - 1", "if {N}: {=t} = {t} * {N}", "{t}.mul_({N})", "{t}[0] = {N}", "{t}.add_({N})", "{t}.fill_({N})",
    "ODD.v += 1", "ODD.v *= -1", "ODD.v = -ODD.v", "LOG.append((ODD.v == ODD.v, ODD.v is ODD.nan))", "LOG.append(math.copysign(1, {N}))", "out.append(0.0 * {N})", "{=i} = {N}", "{=r} = {N}", "{=b} = {N}", "match {N}:\n    case True: LOG.append('true')\n    case 0: LOG.append('zero')\n    case float(): LOG.append('float')\n    case _: LOG.append('else')", "LOG.append({N} in NUMS)", "for {new} in range({N} % 3): LOG.append({new})", "LOG.append(range(HUGE)[{N}])", "LOG.append(len(range({N})))", "LOG.append([1, 2, 3][{N}])", "LOG.append({l}[:{N}])",
    "{=N} = unknown({N})", "n += {N}\n{=t} = {t} * n", "LOG.append(n is {N})", "out.append(n * {N})", "while {=N} and len(LOG) < 30: {=N} = 0; LOG.append({=N})"],
    ["ODD.v = {N}", "ODD.v = NAN", "ODD.v = -0.0", "ODD.v = 0.0", "ODD.v = True", "ODD.v = 1", "Odd.nan = float('nan')", "Odd.huge = {N}", "Odd.neg = 0.0", "e = {N}", "e = -0.0", "e = 0.0", "e = True", "e = 1", "e = 1.0", "e = NAN", "e = float('nan')", "n = {N}", "n = -0.0", "n = 0.0", "n = NAN", "n = HUGE", "n = True", "n = EDGE", "NUMS[0] = {N}", "x = x * NAN", "x = x.fill_(-0.0)", "n = -n", "e = -e", "n = 1j"])

VALUES = [ENUMS, MET, CONTAINERS, VIEWS, NUMBERS]
