"""OrderedDicts whose keys move: their own order, and the one of the dict below, which dict.items() shows."""
import collections

import jedlik
import pytest
import torch


class Sub(collections.OrderedDict):
    pass


STEPS = {
    "last": "d.move_to_end('a')",
    "first": "d.move_to_end('b', last=False)",
    "write": "d['a'] = 9; d.move_to_end('a')",
    "new": "d['z'] = 5; d.move_to_end('z', last=False)",
    "again": "d.pop('b'); d['b'] = 7; d.move_to_end('b')",
    "gone": "d.move_to_end('a'); del d['a']; d['a'] = 4",
    "popped": "d.move_to_end('a'); d.popitem(last=False)",
    "cleared": "d.move_to_end('a'); d.clear(); d['b'] = 1; d['a'] = 2",
    "between": "d.move_to_end('a'); d['z'] = 5; d.move_to_end('b')",
    "both": "d.move_to_end('c', last=False); d.move_to_end('c'); d['c'] += 1",
    "itself": "d['me'] = 0; d.move_to_end('a'); d['me'] = d",
    "copied": "d.move_to_end('a'); d['copy'] = d.copy()",
}


def shown(d):
    return [(k, list(v) if isinstance(v, dict) else v) for k, v in dict.items(d)], list(d), list(reversed(d))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("cls", [collections.OrderedDict, Sub])
@pytest.mark.parametrize("where", ["existing", "new"])
def test_moves(step, cls, where):
    first = "    d = type(d)(d)\n" if where == "new" else ""
    space = {}
    exec(f"def f(x, d):\n{first}    {STEPS[step]}\n    return x + len(d), d", space)
    graphs = []

    def backend(gm, inputs):
        graphs.append(gm)
        return gm

    seen = []
    for f in (space["f"], jedlik.compile(space["f"], backend=backend)):
        d = cls(a=1, b=2, c=3)
        alias = d
        x, out = f(torch.ones(2), d)
        seen.append((x.tolist(), type(out), (out is alias), shown(out), shown(d)))
    assert seen[0] == seen[1]
    assert graphs
