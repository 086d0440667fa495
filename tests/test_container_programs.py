"""Random programs over containers, new and existing, plainly and compiled."""
import collections
import itertools
import linecache
import pathlib
import random
import sys

import pytest
import torch

import jedlik

sys.path.insert(0, str(pathlib.Path(__file__).parent / "diff"))
from same import describe  # noqa: E402


class Env:
    def __init__(self):
        self.l = [3, 1, 2]
        self.d = {"a": 1, "b": 2, 5: 6}
        self.s = {1, 2, "a"}
        self.q = collections.deque([1, 2], maxlen=4)
        self.o = collections.OrderedDict(a=1, b=2, c=3)
        self.dd = collections.defaultdict(list, a=[1])
        self.n = 3


LISTS = ["l", "e.l", "m"]
DICTS = ["d", "e.d", "e.o", "o"]
SETS = ["s", "e.s", "t"]
DEQUES = ["q", "e.q"]

STATEMENTS = [
    "{L}.append({v})", "{L}.append({v})", "{L}.extend([{v}, {v}])", "{L} += [{v}]", "if len(m) + len(l) + len(e.l) < 50: {L}.extend({L})", "{L}.insert({i}, {v})", "r.append({L}.pop())", "r.append({L}.pop({i}))",
    "{L}.remove({v})", "{L}[{i}] = {v}", "del {L}[{i}]", "r.append({L}[{i}])", "r.append({L}[{i}:{i}])", "{L}[{i}:{i}] = [{v}]", "del {L}[{i}:{i}]", "{L}.reverse()", "{L}.sort(key=str)",
    "r.append(len({L}))", "r.append({v} in {L})", "r.append({L}.index({v}))", "r.append({L}.count({v}))", "{L}.clear()", "r.append({L} == {L})", "r.append({L} * 2)", "r.append({L} + [1])",
    "r.append(sorted({L}, key=str))", "m = {L}", "m = {L}.copy()", "m = list({D})", "r.append([str(w) for w in {L}])", "r.append(bool({L}))", "{L}.append(x)", "{L}[{i}] += 1",
    "for w in {L}:\n        if len(l) + len(m) + len(e.l) < 20: {L}.append(w)",
    "{D}[{k}] = {v}", "{D}[{k}] = {v}", "r.append({D}[{k}])", "del {D}[{k}]", "r.append({D}.get({k}))", "r.append({D}.pop({k}))", "r.append({D}.pop({k}, None))", "r.append({D}.setdefault({k}, {v}))",
    "r.append({D}.popitem())", "r.append(list({D}))", "r.append(list({D}.items()))", "r.append(len({D}))", "r.append({k} in {D})", "{D}.update({{{k}: {v}, {k}: {v}}})", "{D}.update({D})", "{D}.clear()",
    "r.append({D} == {D})", "d = dict({D})", "d = {{**{D}, {k}: 1}}", "r.append(bool({D}))", "{D}[{k}] += 1", "{D} |= {{{k}: {v}}}", "r.append(sorted(map(str, {D}.values())))", "o.move_to_end({k})",
    "e.o.move_to_end({k}, last=False)", "r.append(e.o.popitem(last=False))", "r.append(list(reversed({D})))", "for w in {D}:\n        {D}[w] = 7", "for w in {D}:\n        if len(d) + len(e.d) + len(o) + len(e.o) < 20: {D}[{k}] = 7",
    "e.dd[{k}].append({v})", "r.append(e.dd)", "r.append(len({D}.keys() & {D}.keys()))", "r.append([w for w in {D}.values()])",
    "{S}.add({v})", "{S}.add({v})", "{S}.discard({v})", "{S}.remove({v})", "r.append({v} in {S})", "r.append(len({S}))", "{S} |= {{{v}, {v}}}", "{S} &= {S}", "{S} -= {{{v}}}", "{S} ^= {S}",
    "{S}.update([{v}])", "r.append(list({S}))", "r.append({S} | {S})", "r.append({S} & {S})", "r.append({S} - {S})", "r.append({S} <= {S})", "{S}.clear()", "t = set({S})", "t = {S}", "r.append({S} == {S})",
    "r.append({S}.pop())", "r.append(sorted({S}, key=str))", "r.append(bool({S}))", "{S}.update({D})",
    "{Q}.append({v})", "{Q}.appendleft({v})", "r.append({Q}.pop())", "r.append({Q}.popleft())", "{Q}.rotate({i})", "r.append(list({Q}))", "r.append({Q}[{i}])", "{Q}[{i}] = {v}", "{Q}.extend({L})",
    "r.append(len({Q}))", "q = {Q}.copy()", "{Q}.remove({v})",
    "r.append(list(zip({L}, {D})))", "r.append(list(enumerate({L}, {i})))", "r.append(sum(1 for w in {L}))", "it = iter({L})", "r.append(next(it))", "r.append(list(it))", "it = iter({D})", "it = zip({L}, range(3))",
    "r.append(list(itertools.islice(it, 2)))", "it = map(str, {L})", "it = itertools.chain({L}, {D})", "it = reversed({L})", "r.append(tuple({L}))", "r.append(max({L}, key=str))", "it = enumerate({D}.values())",
    "x = x + len({L})", "x = x * 2", "print(end='')", "print(end='')", "e.n += 1", "r.append(e.n)", "e.x = {L}", "e.y = {D}", "e.z = {S}", "r.append({L} is {L})", "r.append({D} is {D})",
]
VALUES = ["1", "2", "3", "'a'", "'b'", "e.n", "None", "2.5", "(1, 2)", "True"]
KEYS = ["'a'", "'b'", "'c'", "5", "e.n", "None", "(1, 'a')"]
INDICES = ["0", "1", "-1", "2", "e.n", "-3"]


def fill(rng, text):
    for mark, options in ("{L}", LISTS), ("{D}", DICTS), ("{S}", SETS), ("{Q}", DEQUES), ("{v}", VALUES), ("{k}", KEYS), ("{i}", INDICES):
        while mark in text:
            text = text.replace(mark, rng.choice(options), 1)
    return text.replace("{{", "{").replace("}}", "}")


def program(seed):
    rng = random.Random(seed)
    lines = ["def f(x, e):", "    r, l, m, d, s, t, q, it = [], [2, 1], [], {'b': 1, 'a': 2}, {1, 2}, set(), collections.deque([1]), iter([4])",
             "    o = collections.OrderedDict(b=1, a=2)"]
    for _ in range(rng.randint(5, 25)):
        lines += ["    try:", "        " + fill(rng, rng.choice(STATEMENTS)).replace("\n", "\n    "), "    except Exception as z:", "        r.append((type(z).__name__, str(z)))"]
    lines.append("    return x + 1, r, l, m, d, s, t, q, o")
    source = "\n".join(lines)
    name = f"<program {seed}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    scope = {"collections": collections, "itertools": itertools}
    exec(compile(source, name, "exec"), scope)
    return scope["f"], source


def outcomes(f):
    out = []
    for k in range(3):
        e, seen = Env(), {}
        if k == 2:
            e.n, e.l = 0, [9, 8]
        try:
            result = describe(f(torch.ones(2), e), seen)
        except Exception as z:
            result = type(z).__name__, str(z)
        out.append((result, describe(e, {})))
    return out


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_programs(start):
    for seed in range(start, start + 20):
        f, source = program(seed)
        want = outcomes(f)
        got = outcomes(jedlik.compile(f, backend="eager"))
        assert got == want, f"seed {seed}\n{source}"
        jedlik.reset()
