"""Random worlds: programs recorded from what is true hold, and after random changes hold exactly
if every recorded fact, looked up again by plain Python, still does."""

import random

from describe import Program, attr, index, item, slot, src


class A:
    pass


class B:
    pass


SCALARS = [0, 1, True, 1.0, -0.0, 0.0, "a", "b", None, 2**70, (1, True), (1, 1)]


def grow(rnd, depth):
    kind = rnd.randrange(5) if depth else 4
    if kind == 0:
        return [grow(rnd, depth - 1) for _ in range(rnd.randrange(4))]
    if kind == 1:
        return {rnd.choice(["a", "b", 1, True, 2.5, (1, 2)]): grow(rnd, depth - 1) for _ in range(rnd.randrange(4))}
    if kind in (2, 3):
        o = rnd.choice([A, B])()
        for n in rnd.sample("abcd", rnd.randrange(4)):
            setattr(o, n, grow(rnd, depth - 1))
        if kind == 3:
            o.__dict__
        return o
    return rnd.choice(SCALARS)


def same(a, b):
    return type(a) is type(b) and (all(map(same, a, b)) and len(a) == len(b) if type(a) is tuple
                                   else repr(a) == repr(b))


MISSING = object()


def children(o):
    """(source step, how to get it again) of each part."""
    if type(o) is list:
        return [(lambda s, i=i: index(s, i), lambda x, i=i: x[i] if type(x) in (list, tuple) and len(x) > i else MISSING)
                for i in range(len(o))]
    if type(o) is dict:
        return [(lambda s, k=k: item(s, k), lambda x, k=k: x.get(k, MISSING) if type(x) is dict else MISSING)
                for k in o]
    if type(o) in (A, B):
        return [(lambda s, k=k: attr(s, k), lambda x, k=k: x.__dict__.get(k, MISSING) if type(x) in (A, B) else MISSING)
                for k in list(o.__dict__ if False else vars_of(o))]
    return []


def vars_of(o):
    return [n for n in "abcd" if hasattr(o, n)]


def facts_of(rnd, o, s, get, out):
    """Appends (guard, plain Python's opinion)."""
    if rnd.random() < .8:
        t = type(o)
        out.append((("TYPE", s, t), lambda r: type(get(r)) is t))
    if type(o) in (list, dict) and rnd.random() < .5:
        n = len(o)
        out.append((("LEN", s, n), lambda r: isinstance(get(r), (list, dict, tuple, str)) and len(get(r)) == n))
    if type(o) is dict:
        keys = tuple(o)
        if rnd.random() < .3:
            out.append((("KEYS", s, keys), lambda r: type(get(r)) is dict and same(tuple(get(r)), keys)))
        if "zz" not in o and rnd.random() < .3:
            out.append((("ABSENT", s, "c"), lambda r: type(get(r)) is dict and "c" not in get(r)))
    if type(o) in (A, B):
        d = src("DICT", s)
        for n in "abcd":
            if not hasattr(o, n) and rnd.random() < .3:
                out.append((("ABSENT", d, n), lambda r, n=n: type(get(r)) in (A, B) and not hasattr(get(r), n)))
    if type(o) not in (list, dict, A, B) and rnd.random() < .6:
        out.append((("EQ", s, o), lambda r: same(get(r), o)))
    if type(o) in (list, dict, A, B) and rnd.random() < .2:
        out.append((("IS", s, o), lambda r: get(r) is o))
    for step, pick in children(o):
        down = lambda r, pick=pick: MISSING if get(r) is MISSING else pick(get(r))  # noqa: E731
        try:
            child = down.__defaults__[0](o)
        except (KeyError, IndexError):
            continue
        facts_of(rnd, child, step(s), down, out)


def containers(o, out):
    if type(o) in (list, dict, A, B):
        out.append(o)
        for c in o if type(o) is list else o.values() if type(o) is dict else [getattr(o, n) for n in vars_of(o)]:
            containers(c, out)
    return out


def change(rnd, root):
    o = rnd.choice(containers(root, []) or [None])
    new = grow(rnd, rnd.randrange(2))
    if type(o) is list:
        rnd.choice([lambda: o.append(new), lambda: o and o.pop(), lambda: o and o.__setitem__(0, new), o.reverse])()
    elif type(o) is dict:
        k = rnd.choice(["a", "b", "c", 1, 2.5])
        rnd.choice([lambda: o.__setitem__(k, new), lambda: o.pop(k, 0), lambda: o.update(list(o.items())[:0]),
                    lambda: o and o.__setitem__(next(iter(o)), o.pop(next(iter(o))))])()
    elif o is not None:
        n = rnd.choice("abcd")
        rnd.choice([lambda: setattr(o, n, new), lambda: hasattr(o, n) and delattr(o, n), lambda: o.__dict__,
                    lambda: setattr(o, "__class__", rnd.choice([A, B]))])()


def test_random_worlds():
    rnd = random.Random(11)
    held = broken = 0
    for _ in range(400):
        root = grow(rnd, 3)
        facts = []
        facts_of(rnd, root, slot(), lambda r: r, facts)
        p = Program([g for g, _ in facts])
        assert p.hit(root), p.why(root)
        for _ in range(12):
            change(rnd, root)
            want = all(holds(root) for _, holds in facts)
            assert p.hit(root) == want, (p.text, p.why(root))
            assert (p.why(root) == "nothing failed") == want
            held += want
            broken += not want
    assert held > 300 and broken > 300
