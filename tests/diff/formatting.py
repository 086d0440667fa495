"""Text made of values: %, format(), f-strings; of subclasses of str, int, float, with their own texts; errors and effects in their order."""


def told(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error)


class Over(str):
    def __str__(self):
        return "over"


class Shown(str):
    def __repr__(self):
        return "SHOWN"


class Formatted(str):
    def __format__(self, spec):
        return "fmt:" + spec


class Int(int):
    def __str__(self):
        return "istr"

    def __repr__(self):
        return "irepr"


class Float(float):
    def __str__(self):
        return "fstr"

    def __repr__(self):
        return "frepr"


class Several(tuple):
    def __str__(self):
        return "several"


class Many(list):
    def __str__(self):
        return "many"

    def __repr__(self):
        return "Many()"


class Thing:
    def __init__(self, n, log):
        self.n, self.log = n, log

    def __str__(self):
        self.log.append("str " + self.n)
        return self.n

    def __repr__(self):
        self.log.append("repr " + self.n)
        return "<" + self.n + ">"

    def __format__(self, spec):
        self.log.append("format " + self.n + spec)
        return self.n + spec


class Wrong:
    def __str__(self):
        return 3

    def __repr__(self):
        return None

    def __format__(self, spec):
        return b"x"


class Error(ValueError):
    def __str__(self):
        return "es"

    def __repr__(self):
        return "er"

    def __format__(self, spec):
        return "ef" + spec


def all_ways(v):
    w = (v,)
    return ("%s" % w, "%r" % w, "%a" % w, "%8s|" % w, "%-10.2r|" % w, "%.1s" % w, f"{v}", f"{v!r}", f"{v!s}", f"{v!a}", f"{v!r:>9}", "{}".format(v),
            "{!r}".format(v), "{0!s:_^12}".format(v), str(v), repr(v))


def case_texts(x, e):
    values = (Over("x"), Shown("x"), Formatted("x"), Int(5), Float(2.5), Several((1,)), Many([1]), Thing("t", e.log), Error(1), True, None, 2j,
              [Over("a"), Shown("b")], (Int(3), Float(1.0)), {Shown("k"): Over("v")}, KeyError("k"))
    return x, [all_ways(v) for v in values]


def case_numbers_of_subclasses(x, e):
    i, f = Int(255), Float(2.5)
    return (x, f"{i:x}", f"{i:5d}|", f"{i:>6}|", f"{i:,}", f"{f:.3f}", f"{f:8}|", f"{f:e}", "%d" % i, "%x" % i, "%5d|" % i, "%i" % f, "%f" % f,
            "%.1f" % i, "%c" % Int(65), "%#o" % i, "%e" % f, "%+d" % i, "%*d|" % (Int(6), i), "%.*f" % (1, f))


def case_format_is_a_subclass(x, e):
    class Left(str):
        def __mod__(self, other):
            return "mod", other

    class Right(str):
        def __rmod__(self, other):
            return "rmod", other
    return (x, Over("%s-%s") % (1, Over("x")), Over("{}").format(Over("y")), Shown("%r") % Shown("z"), Left("%s") % "x", "%s" % Left("q"), "%s" % Right("r"),
            Over("%s") % Right("w"), type(Over("plain").format()), type(Over("").format()), type(Over("{{").format()))


def case_gives_a_subclass(x, e):
    class Inner:
        def __str__(self):
            return Over("inner")

        def __format__(self, spec):
            return Over("finner")
    v = Inner()
    return x + 1, [type(t) for t in (str(v), f"{v}", f"{v!s}", "%s" % v, "{}".format(v), "a%s" % v, "%s%s" % ("", v), "%s%s" % (v, ""), format(v))]


def case_by_name(x, e):
    d = {"a": 1, "b": Thing("2", e.log), "(x)": 3, "": 4}
    made = "%(a)d %(b)s %(b)r %(a)05.1f|%%|%((x))s|%()s" % d
    return x, made, "abc" % d, "%s" % {"a": Over("q")}, [told(lambda f=f: f % d) for f in ("%(a)s %s", "%(a", "%(c)s", "%(a)*d")], told(lambda: "%(a)s" % [Thing("n", e.log)])


def case_errors(x, e):
    t = Thing("t", e.log)
    rows = [("%d %s", (t,)), ("%s %d", (t, "z")), ("%s", (t, t)), ("%s %y", (t, 1)), ("%s %", (t,)), ("%s", (Wrong(),)), ("%r", (Wrong(),)), ("%d %s", (1,)),
            ("%c", ("ab",)), ("%d", (Over("s"),)), ("%x", (Float(1.5),)), ("%c", (Over("ab"),)), ("%c", (Float(1.0),)), ("%*d", (Over("a"), 1)), ("%f", (Shown("1"),)), ("%x", (1.5,)), ("%s %s", Many([1])), ("%5%|%s", (t,)), ("%*s|", (6, t)), ("%s", Several((1, 2)))]
    formats = [("{} {}", (t,)), ("{0} {}", (t, t)), ("{a}", (t,)), ("{", (t,)), ("}", (t,)), ("{:d}", (Many(),)), ("{0.foo}", (t,)), ("{0[3]}", ([t],)), ("{}", (Wrong(),)),
               ("{:{}}", (t, "z")), ("{:{:{}}}", (t, 2, 3))]
    return x, [told(lambda: f % a) for f, a in rows], [told(lambda: f.format(*a)) for f, a in formats], told(lambda: f"{Wrong()}"), told(format, t, 3), e.log


def case_order_of_effects(x, e):
    a, b = Thing("a", e.log), Thing("b", e.log)
    made = f"{a} {b:{a}} {b!r:>6}", "{:{}} {!r}".format(a, b, a), "%s %r %s" % (b, a, b)
    return x + len(e.log), made, told(lambda: f"{a} {b:{a}} {x:q}"), e.log


def case_errors_of_parts(x, e):
    """Errors name the object's class and show its own text, not its built-in part."""
    class Octets(bytes):
        pass
    text, shown, number = Over("ab"), Shown("zz"), Int(3)
    return (x, [told(lambda: f.format(v)) for f in ("{:d}", "{:q}", "{:x}", "{:.1f}") for v in (text, shown, number, Float(2.5))],
            [told(f, v) for f in (int, float) for v in (text, shown, Over("12"))], told(Octets(b"a").__add__, None), told(text.__add__, 1), told(text.index, "z"),
            told(number.to_bytes, 0, "big"), told(lambda: number + "a"), told(lambda: text + 1), told(lambda: -text))
