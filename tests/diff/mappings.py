"""What ** makes of a mapping: in a call, in a display, by dict() and update(); with classes that say other things than they hold."""


def takes(*args, **named):
    return args, named


class Told:
    def __init__(self, log, names=("a", "b")):
        self.log, self.names = log, names

    def keys(self):
        self.log.append("keys")
        return self.names

    def __getitem__(self, key):
        self.log.append(key)
        return key * 2


class NoKeys:
    def __getitem__(self, key):
        return 1


class OddKeys(NoKeys):
    def keys(self):
        return 5


class KeysFail(NoKeys):
    def keys(self):
        raise AttributeError("mine")


class ItemFails(NoKeys):
    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        raise self.error("item")


class NoItem(ItemFails):
    error = KeyError


class NoAttribute(ItemFails):
    error = AttributeError


class Other(dict):
    def keys(self):
        return ["zz"]

    def __getitem__(self, key):
        return "own"


class OtherIter(Other):
    def __iter__(self):
        return iter(["q"])


class Text(str):
    pass


def told(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__, str(error), repr(error.__context__), repr(error.__cause__)


def mappings(log):
    return (Told(log), NoKeys(), OddKeys(), KeysFail(), NoItem(), NoAttribute(), Other(x=1), OtherIter(x=1), 5, None, [1], {1: 2}, Told(log, (1, 2)),
            Told(log, ("a", "a")))


def case_in_calls(x, e):
    return x, [(told(lambda: takes(**m)), told(lambda: takes(1, **m)), told(lambda: takes(a=3, **m)), told(lambda: takes(**{"b": 1}, **m)))
               for m in mappings(e.log)], e.log


def case_in_displays(x, e):
    return x, [(told(lambda: {**m}), told(lambda: {"a": 3, **m, "b": 4})) for m in mappings(e.log)], e.log


def case_in_dict(x, e):
    return x, [(told(lambda: dict(m)), told(lambda: dict(m, a=3)), told(lambda: e.table.update(m))) for m in mappings(e.log)], e.log, e.table


def case_names(x, e):
    return (x, told(lambda: takes(**{1: 2}, **{1: 3})), told(lambda: takes(**{1: 2}, **5)), told(lambda: len(**{"a": 1}, **{"a": 2})), told(lambda: takes(**{1: 2})),
            told(lambda: Told.keys(**5)), told(lambda: takes(**{Text("a"): 1}, **{"a": 2})), told(lambda: takes(**{Text("a"): 1})))


def case_no_class_pattern(x, e):
    def match(subject, cls):
        match subject:
            case cls():
                return "is"
            case _:
                return "is not"
    return x, [told(lambda: match(5, c)) for c in (int, str, 5, len, "a", None)]
