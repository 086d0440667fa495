"""Strings, f-strings, bytes."""
import re
import string
import textwrap

import torch
from kit import Env, T, program

LOG = []
PATTERN = re.compile(r"(\w+)=(\d+)")


class Loud:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        LOG.append(("str", self.name))
        return f"<{self.name}>"

    def __repr__(self):
        LOG.append(("repr", self.name))
        return f"Loud({self.name!r})"

    def __format__(self, spec):
        LOG.append(("format", spec))
        return f"{self.name}:{spec}"


@program(lambda: (T(3), "ab", 3), lambda: (T(3), "ab", 4), lambda: (T(3), "", 0))
def fstring_plain(x, s, n):
    return x + 1, f"{s}-{n}", f"{s!r}", f"{n:04d}|{s:>5}", f"{{}}{n}"


@program(lambda: (T(3), 3.14159, 2), lambda: (T(3), 2.0, 3))
def fstring_nested_spec(x, v, n):
    return x * 2, f"{v:.{n}f}", f"{v:{n + 6}.{n}e}", f"{v = }", f"{n!s:>{n}}"


@program(lambda: (T(3), Loud("a")), lambda: (T(3), Loud("b")))
def fstring_user_format(x, o):
    text = f"{o}{o!s}{o!r}{o:spec}"
    return x + 1, text


@program(lambda: (T(3), "x"), lambda: (T(3), 3), lambda: (T(3), None))
def fstring_bad_spec(x, v):
    LOG.append(1)
    try:
        return x + 1, f"{v:d}"
    except (ValueError, TypeError) as e:
        return x - 1, type(e).__name__, str(e)


@program(lambda: (T(3), "Hello World"), lambda: (T(3), "ünï Code"))
def methods(x, s):
    return (x + 1, s.upper(), s.lower(), s.title(), s.swapcase(), s.split(), s.partition(" "), s.replace("o", "0"), s.find("W"),
            s.startswith("He"), s.endswith(("ld", "de")), s.center(20, "*"), s.zfill(15), s.isalpha(), s.casefold(), s[::-1])


@program(lambda: (T(3), ["a", "b", "c"]), lambda: (T(3), []), lambda: (T(3), ["a", 1]))
def joining(x, parts):
    try:
        return x + len(parts), ",".join(parts), "".join(p * 2 for p in parts)
    except TypeError as e:
        return x, str(e)


@program(lambda: (T(3), "a,b,,c"), lambda: (T(3), ""), lambda: (T(3), "abc"))
def splitting(x, s):
    return x + 1, s.split(","), s.rsplit(",", 1), s.splitlines(), s.rpartition(","), s.strip("ac")


@program(lambda: (T(3), "key"), lambda: (T(3), "other"), lambda: (T(3), "k" + "ey"))
def compared(x, s):
    if s == "key":
        return x * 2, s < "z", s in ("key", "b"), s is not None
    return x * 3, s != "key", "e" in s, s > "z"


@program(lambda: (T(3), 7, "seven"), lambda: (T(3), 8, "eight"))
def percent(x, n, s):
    return x + 1, "%d %s" % (n, s), "%(a)5.1f" % {"a": n}, "%x %r" % (n, s), "%%"


@program(lambda: (T(3), "n"), lambda: (T(3), 1.5))
def percent_errors(x, v):
    out = []
    for pattern, args in (("%d", v), ("%s %s", (v,)), ("%q", v), ("none", (v,))):
        try:
            out.append(pattern % args)
        except (TypeError, ValueError) as e:
            out.append(f"{type(e).__name__}: {e}")
    return x + 1, out


@program(lambda: (T(3), "w", 4), lambda: (T(3), "bias", 2))
def format_method(x, s, n):
    return x + n, "{0}.{1}.{0}".format(s, n), "{a:>{w}}".format(a=s, w=n + 4), "{0[1]} {1.shape}".format([s, n], x), "{}".format(None)


@program(lambda: (T(3), "abcdef", 2), lambda: (T(3), "abcdef", -2), lambda: (T(3), "ab", 5))
def slicing(x, s, n):
    try:
        one = s[n]
    except IndexError as e:
        one = str(e)
    return x + 1, one, s[n:], s[:n], s[::2], s[n:n + 2], s * n, len(s)


@program(lambda: (T(3), b"abc"), lambda: (T(3), bytearray(b"xyz")))
def bytes_things(x, b):
    return x + 1, b[0], b[1:], bytes(b) + b"!", b.hex(), b.decode(), list(b), b == b"abc", b"b" in b


@program(lambda: (T(3), "a=1, b=22"), lambda: (T(3), "none"))
def regular_expressions(x, s):
    m = PATTERN.search(s)
    found = PATTERN.findall(s)
    y = x + len(found)
    return y, m and m.groups(), re.sub(r"\d", "#", s), re.split(r",\s*", s)


@program(lambda: (T(3), Loud("p")), lambda: (T(3), "text"))
def printing(x, o):
    print("start", o, x.shape, sep="|", end=";\n")
    y = x * 2
    print(f"{o!r}")
    return y


@program(lambda: (T(2, 2),), lambda: (T(3),))
def printing_tensors(x):
    y = x + 1
    print("y is", y)
    z = y * 2
    return z, str(z.shape), repr(z.dtype), f"{tuple(z.shape)}"


@program(lambda: (T(3), "layer", 3), lambda: (T(3), "block", 2))
def names_in_a_loop(x, prefix, n):
    table = {}
    for i in range(n):
        table[f"{prefix}.{i}.weight"] = x * i
    return table, sorted(table)[-1].rsplit(".", 1)[0]


@program(lambda: (T(3), "abc"), lambda: (T(3), "cab"))
def characters_of(x, s):
    counts = {}
    for c in s:
        counts[c] = counts.get(c, 0) + 1
    return x + ord(s[0]), counts, [c.upper() for c in s], set(s) == {"a", "b", "c"}, tuple(enumerate(s))


@program(lambda: (T(3), "two\n  lines\n"), lambda: (T(3), "x"))
def text_modules(x, s):
    return x + 1, textwrap.dedent("  " + s), string.Template("$a-$b").substitute(a=s.strip(), b=1), string.ascii_lowercase[:3]


@program(lambda: (T(3), "abc"), lambda: (T(3), "äöü"))
def encoding(x, s):
    try:
        raw = s.encode("ascii")
    except UnicodeEncodeError as e:
        raw = (e.start, e.reason)
    return x + 1, raw, s.encode("utf-8"), s.encode().decode("utf-8") == s, s.translate({ord("a"): "A"})


@program(lambda: (T(3), Env()), lambda: (T(3), Env()))
def text_into_existing(x, e):
    e.name += "!"
    e.log.append(f"{e.name}:{e.n}")
    e.table[e.name] = e.name * 2
    return x + len(e.name), e.name


@program(lambda: (T(3), 3), lambda: (T(3), "3"), lambda: (T(3), 3.0), lambda: (T(3), True), lambda: (T(3), (1, "a")))
def text_of(x, v):
    return x + 1, str(v), repr(v), format(v), ascii(v), f"{v}"


class Texts(str):
    pass


class Raw(bytes):
    pass


@program(lambda: (T(), Texts("a-b"), "-"), lambda: (T(), Texts("ab"), "-"), lambda: (T(), Raw(b"ab"), b"-"), lambda: (T(), "ab", "-"),
         lambda: (T(), Texts("ab"), ""), graphs=0)
def parted_subclasses(x, v, sep):
    return x + 1, [(part, type(part) is type(v), part is v) for part in v.partition(sep) + v.rpartition(sep)]
