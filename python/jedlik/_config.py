"""jedlik.config: the settings, checked when they are set, and read by the engine.

Takes: assignments, `patch(name=value)`. Gives: the engine's flags, by `_engine.set_config(name, value)`.
"""
import functools

from jedlik import _core

# name: (default, least value or None for a flag, what it does)
SETTINGS = {
    "capture_without_tensors": (False, None, "Trace frames that touch no tensor too."),
    "keep_empty_graphs": (False, None, "Run captured code although no operation is in its graph."),
    "capture_unittest": (False, None, "Inline the methods of unittest.TestCase."),
    "capture_class_bodies": (False, None, "Trace class statements inside a function."),
    "recompile_limit": (8, 1, "Entries of a point before it is left to plain Python."),
    "loop_budget": (1000, 1, "Iterations of a loop without a graph operation before it is left to plain Python."),
    "verify_shapes": (False, None, "Check every shape rule in C against torch's own inference."),
}


class Config:
    """One attribute a setting. An unknown name or a value of the wrong type raises at once."""

    def __init__(self):
        self.__dict__.update({name: row[0] for name, row in SETTINGS.items()})

    def __setattr__(self, name, value):
        value = checked(name, value)
        _core.call("set_config", name, value)
        self.__dict__[name] = value

    def __delattr__(self, name):
        """Back to the default."""
        setattr(self, name, row_of(name)[0])

    def __repr__(self):
        return "\n".join(f"{name} = {self.__dict__[name]!r}  # {row[2]}" for name, row in SETTINGS.items())

    def patch(self, *args, **changes):
        """Settings for the time of a `with` block or of a decorated function: patch(name=value), patch("name", value)
        or patch({"name": value})."""
        if len(args) == 2 and isinstance(args[0], str):
            changes = {args[0]: args[1], **changes}
        elif len(args) == 1 and isinstance(args[0], dict):
            changes = {**args[0], **changes}
        elif args:
            raise TypeError("patch takes name=value, a name and a value, or a dict")
        return Patch(self, {name: checked(name, value) for name, value in changes.items()})

    def to_dict(self):
        return dict(self.__dict__)


class Patch:
    """Changes that hold between enter and exit; nests, and serves as a decorator."""

    def __init__(self, target, changes):
        self.target, self.changes, self.before = target, changes, []

    def __enter__(self):
        self.before.append({name: getattr(self.target, name) for name in self.changes})
        self.apply(self.changes)
        return self.target

    def __exit__(self, *exc):
        self.apply(self.before.pop())

    def __call__(self, fn):
        @functools.wraps(fn)
        def patched(*args, **kwargs):
            with self:
                return fn(*args, **kwargs)
        return patched

    def apply(self, values):
        for name, value in values.items():
            if getattr(self.target, name) != value:
                setattr(self.target, name, value)


def row_of(name):
    if name not in SETTINGS:
        raise AttributeError(f"jedlik.config has no setting {name!r}; there are: {', '.join(SETTINGS)}")
    return SETTINGS[name]


def checked(name, value):
    """The value if the setting can take it."""
    default, least, _ = row_of(name)
    if type(value) is not type(default):
        raise TypeError(f"jedlik.config.{name} is a {type(default).__name__}, not {value!r}")
    if least is not None and value < least:
        raise ValueError(f"jedlik.config.{name} is at least {least}, not {value}")
    return value


config = Config()
