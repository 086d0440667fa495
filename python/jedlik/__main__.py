"""python -m jedlik script.py ARGS, or -m module ARGS: runs a program with torch.compile redirected to jedlik.

    --stats   prints what was captured when the program has ended
"""
import atexit
import os
import runpy
import sys
import types

from jedlik import _report, install


def print_stats():
    for name, value in _report.stats().items():
        print(f"jedlik: {name}: {value}", file=sys.stderr)


def run_script(path):
    """As the interpreter runs a file: in a module __main__ that stays, with the file's folder first on the path."""
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__
    sys.modules["__main__"] = main
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    exec(code, main.__dict__)


def main(args):
    while args and args[0] == "--stats":
        atexit.register(print_stats)
        args = args[1:]
    if not args or args[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if args else 2
    install()
    if args[0] == "-m":
        if len(args) < 2:
            print(__doc__)
            return 2
        sys.argv = args[1:]
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = args
        run_script(args[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
