"""All exception classes of Python and subclasses of each: what any arguments become, with and without their own __new__ and __init__."""
import builtins

CLASSES = [c for c in vars(builtins).values() if isinstance(c, type) and issubclass(c, BaseException) and c is not MemoryError]
ARGS = [(), ("a",), (2, "x"), (2, "x", "f"), (2, "x", "f", None, "g"), ("m", ("f", 1, 2, "t")), ("ascii", "ab", 0, 1, "r"), ("ascii", b"ab", 0, 1, "r"),
        ("ab", 0, 1, "r"), (None,), (1, 2, 3, 4, 5, 6)]
FIELDS = """args errno strerror filename filename2 value code name obj path msg lineno offset text print_file_and_line encoding object start end reason
characters_written __cause__ __suppress_context__ __notes__""".split()


def seen(error):
    out = []
    for name in FIELDS:
        try:
            out.append(str(getattr(error, name)))
        except AttributeError as missing:
            out.append(str(missing))
    return out, str(error), repr(error), type(error).__name__


def made(cls, args):
    try:
        return seen(cls(*args))
    except Exception as error:
        return type(error).__name__, str(error)


def subclasses(base):
    class Plain(base):
        pass

    class Init(base):
        def __init__(self, *args):
            super().__init__(*args[:1])

    class Mute(base):
        def __init__(self, *args):
            self.count = len(args)

    class New(base):
        def __new__(cls, *args):
            return super().__new__(cls, *args[1:])

    class Both(base):
        def __new__(cls, *args):
            return super().__new__(cls, *args)

        def __init__(self, *args):
            super().__init__(*args)
    return Plain, Init, Mute, New, Both


KINDS = [(c, *subclasses(c)) for c in CLASSES]
GROUPS = 6


def group(k):
    def of_group(x, e):
        return x + 1, [[made(c, a) for c in (KINDS[i][0], KINDS[i][1 + i % 5]) for a in ARGS[i % 4::4]] for i in range(k, len(KINDS), GROUPS)]

    def kept(x, e):
        for i in range(k, len(KINDS), GROUPS):
            for cls in KINDS[i]:
                try:
                    e.log.append(cls("a"))
                except Exception as error:
                    e.log.append(str(error))
        return x
    return of_group, kept


for k in range(GROUPS):
    globals()[f"case_made_{k}"], globals()[f"case_kept_{k}"] = group(k)
