"""bytearray, made by a call: its methods, its operators, what is left of it behind a break."""
import re

import torch
from kit import T, program


class Adds:
    def __radd__(self, other):
        return "radd", len(other)

    def __index__(self):
        return 1


@program()
def made(x):
    out = [bytearray(), bytearray(3), bytearray(b"abc"), bytearray("ä", "utf-8"), bytearray([1, 2, 3]), bytearray((1, 2)), bytearray(bytearray(b"xy")),
           bytearray(range(3)), bytearray(source=b"k"), bytearray.fromhex("61 62"), type(bytearray()) is bytearray, isinstance(bytearray(), bytearray)]
    for f in (lambda: bytearray("a"), lambda: bytearray([300]), lambda: bytearray(-1), lambda: bytearray(1.5), lambda: bytearray(b"", "utf-8"), lambda: bytearray([1, "a"])):
        try:
            out.append(f())
        except (TypeError, ValueError) as e:
            out.append(str(e))
    return x + 1, out


@program()
def changed(x):
    b = bytearray(b"hello")
    c = b
    b[0] = 72
    b[1:3] = b"EYY"
    b += b"!"
    b *= 2
    del b[-1]
    del b[:2]
    b.append(33)
    b.extend([1, 2])
    b.extend(bytearray(b"z"))
    b.insert(0, 65)
    out = [b.pop(), b.pop(0), b is c, b == c, len(b)]
    b.reverse()
    b.remove(33)
    b += bytes(b)
    for f in (lambda: b.__setitem__(0, 256), lambda: b.append("a"), lambda: b[100], lambda: b.remove(200), lambda: hash(b), lambda: b + "a", lambda: b.nothing, lambda: b.__iadd__(b),
              lambda: b.__setitem__(slice(0, 2), 5), lambda: {b: 1}):
        try:
            out.append(f())
        except (TypeError, ValueError, IndexError, AttributeError, BufferError) as e:
            out.append((type(e).__name__, str(e)))
    b.clear()
    return x + 1, b, c, out, bool(b)


@program()
def asked(x):
    b = bytearray(b"a,b;c")
    return (x + len(b), b[1], b[1:3], b[::-1], b.split(b","), b.partition(b";"), b.find(b"b"), b.upper(), b.startswith(b"a,"), b.decode(), b.hex(), bytes(b), list(b), tuple(b),
            98 in b, b"b;" in b, b == b"a,b;c", b != bytearray(b"a"), b < b"b", b"a" + b, b + b"d", b * 2, 2 * b, repr(b), str(b), b.join([b"1", bytearray(b"2")]),
            b",".join([b, b]), b.copy(), b.copy() is b, b.replace(b"a", b"zz"), bytearray(b"%d") % 5, b == 5, sorted(b), max(b), sum(b), int(bytearray(b"12")), b.__len__(),
            b.center(9, b"."), [k for k in b], b.count(b","), bytearray(b"x") in [b"x"])


@program(lambda: (T(), []))
def over_a_break(x, keep):
    b = bytearray(b"ab")
    keep.append(b)
    d = {"b": b}
    b += b"c"
    y = x + len(b)
    print(end="")
    b.append(100)
    keep.append(bytes(b))
    d["b"][0] = 90
    return y + b[0], d, keep, keep[0] is b


@program(lambda: (T(), 97), lambda: (T(), 98))
def with_numbers_from_outside(x, n):
    b = bytearray([n, n + 1])
    b.append(n)
    return x + b[0], b, b[n - n]


@program(lambda: (T(), bytearray(b"given")), graphs=0)
def given(x, b):
    c = bytearray(b"ab")
    return x + 1, b == c, c + b, len(b)


@program(graphs=0)
def with_strangers(x):
    b = bytearray(b"ab")
    out = [b + Adds(), b[Adds()]]
    b[Adds()] = 5
    return x + 1, out, b, [k for k in zip(b, "xy")], memoryview(b)[0]


@program()
def changed_while_walked(x):
    b, out = bytearray(b"abc"), []
    for k in b:
        out.append(k)
        if len(b) < 6:
            b.append(k + 10)
    return x + len(out), out, b


@program(T, lambda: T(2, 2))
def a_match_in_a_bytearray_sees_its_changes(x):
    s, other = bytearray(b"abcdefgh"), bytearray(b"a")
    m, n = re.search(b"[a-h]+", s), re.compile(b"[e-h]+").search(s)
    first = m.group(), n.group(), re.findall(b"[aeiou]", s), re.sub(b"a", b"bb", other), re.split(b"d", s)
    s[:] = b"xyz"
    return x + 1, first, m.group(), n.group(), m.string is s, m.span(), re.match(b"a", other) is None
