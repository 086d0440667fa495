"""The exception of fullgraph=True: what could not be captured, where, why, and what to do about it."""
import sys
import traceback


class Unsupported(RuntimeError):
    """Raised for a graph break under fullgraph=True.

    reason  one sentence; hint  what would help; id  the row of breaks.def; stack  the user's frames, outermost
    first, as traceback.FrameSummary. Where stock's front-end is loaded, it is an instance of its class too.
    """

    def __new__(cls, *args, **kwargs):
        return super().__new__(matching(cls), *args, **kwargs)

    def __init__(self, reason="", hint="", stack=(), id=""):
        RuntimeError.__init__(self, reason)  # stock's would count it, and look for a stack of its own
        self.reason, self.hint, self.id = reason, hint or "", id or ""
        self.stack = traceback.StackSummary.from_list([frame[:4] for frame in map(full_frame, stack or ())])
        self.msg = str(self)

    def __reduce__(self):
        return Unsupported, (self.reason, self.hint, [tuple(frame) for frame in self.stack], self.id)

    def __str__(self):
        lines = [self.reason]
        if self.hint:
            lines.append(f"  Hint: {self.hint}")
        if self.id:
            lines.append(f"  Break: {self.id}")
        if self.stack:
            lines += ["", "from user code:", "".join(self.stack.format()).rstrip("\n")]
        return "\n".join(lines)


def full_frame(frame):
    """(file, line, function, text) of a tuple that may lack the text."""
    filename, line, *rest = frame
    return (filename, line, rest[0] if rest else "?", rest[1] if len(rest) > 1 else None)


def matching(cls):
    """cls, or the class that is also stock's when a program has loaded that."""
    stock = sys.modules.get("torch._dynamo.exc")
    stock = getattr(stock, "Unsupported", None)
    if cls is not Unsupported or stock is None:
        return cls
    if stock not in both:
        both.clear()
        both[stock] = join(stock)
    return both[stock]


def join(stock):
    """A subclass of ours and stock's, with the fields that handlers of stock's read."""
    fields = {
        "__module__": __name__, "__doc__": Unsupported.__doc__, "__init__": Unsupported.__init__,
        "gb_type": property(lambda self: self.id), "real_stack": property(lambda self: self.stack),
        "category": None, "skip_frame": False, "logged": False, "remove_from_stats": lambda self: None,
        "add_to_stats": lambda self, category="unimplemented": None,
    }
    return type("Unsupported", (Unsupported, stock), fields)


both = {}  # stock's class -> the joint one
