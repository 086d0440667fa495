"""All exception classes of Python and subclasses of each: what any arguments become, with and without their own __new__ and __init__."""
import builtins

CLASSES = [c for c in vars(builtins).values() if isinstance(c, type) and issubclass(c, BaseException) and c is not MemoryError]
ARGS = [(), ("a",), (2, "x"), (2, "x", "f"), (2, "x", "f", None, "g"), ("m", ("f", 1, 2, "t")), ("ascii", "ab", 0, 1, "r"), ("ascii", b"ab", 0, 1, "r"),
        ("ab", 0, 1, "r"), (None,), (1, 2, 3, 4, 5, 6)]
FIELDS = """args errno strerror filename filename2 value code name obj path msg lineno offset text print_file_and_line encoding object start end reason
characters_written __cause__ __suppress_context__ __notes__""".split()


def seen(error, names):
    out = []
    for name in names:
        try:
            out.append(str(getattr(error, name)))
        except AttributeError as missing:
            out.append(str(missing))
    return out, str(error), repr(error), type(error).__name__


def made(cls, args, names):
    try:
        return seen(cls(*args), names)
    except Exception as error:
        return type(error).__name__, str(error)


def plain(base):
    class Plain(base):
        pass
    return Plain


def with_init(base):
    class Init(base):
        def __init__(self, *args):
            super().__init__(*args[:1])
    return Init


def without_super(base):
    class Mute(base):
        def __init__(self, *args):
            self.count = len(args)
    return Mute


def with_new(base):
    class New(base):
        def __new__(cls, *args):
            return super().__new__(cls, *args[1:])
    return New


def with_both(base):
    class Both(base):
        def __new__(cls, *args):
            return super().__new__(cls, *args)

        def __init__(self, *args):
            super().__init__(*args)
    return Both


SUBCLASSES = plain, with_init, without_super, with_new, with_both
KINDS = [(c, SUBCLASSES[i % 5](c)) for i, c in enumerate(CLASSES)]
NAMES = [[n for n in FIELDS if hasattr(c, n)] + ["none"] for c in CLASSES]
GROUPS = 4


def group(k):
    def of_group(x, e):
        return x + 1, [[made(c, a, NAMES[i]) for c in KINDS[i] for a in ARGS[i % 4::4]] for i in range(k, len(KINDS), GROUPS)]

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
