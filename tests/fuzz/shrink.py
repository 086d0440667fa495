"""Makes a random program that differs smaller.

Takes: a text, the seed it is played with, a way. Gives: a smaller text that differs in this way, if another one. Statements are left out, blocks take
the place of what holds them, parts that of expressions.

    python tests/fuzz/shrink.py SEED …
"""
import ast
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "diff")]
import generate  # noqa: E402
import play  # noqa: E402
import runner  # noqa: E402

SECONDS = 10  # of a program: one that has lost the end of a loop is no smaller program


class Shrinker:
    """Smaller texts that still differ. Takes `fails(text)` and how many seconds there are."""

    def __init__(self, text, fails, seconds=60):
        self.tree, self.fails, self.end = ast.parse(text), fails, time.monotonic() + seconds

    @property
    def left(self):
        return self.end - time.monotonic()

    def works(self):
        try:
            text = ast.unparse(self.tree)
            compile(text, "program", "exec")
        except (SyntaxError, ValueError, AttributeError, TypeError):
            return False
        return self.fails(text)

    def run(self):
        changed = True
        while changed and self.left > 0:
            changed = self.statements() | self.blocks() | self.expressions()
        return ast.unparse(self.tree)

    def lists(self):
        """Lists of statements, inner ones last."""
        for node in ast.walk(self.tree):
            for name, value in ast.iter_fields(node):
                if isinstance(value, list) and value and isinstance(value[0], (ast.stmt, ast.excepthandler, ast.match_case, ast.withitem, ast.keyword)):
                    yield value

    def statements(self):
        """Leaves out statements, several at once first."""
        done = False
        for rows in list(self.lists()):
            size = len(rows)
            while size and self.left > 0:
                k = len(rows)
                while k > 0 and self.left > 0:
                    before, low = rows[:], max(0, k - size)
                    del rows[low:k]
                    if not rows and isinstance(before[0], ast.stmt):
                        rows.append(ast.Pass())
                        if isinstance(before[0], ast.Pass):
                            rows[:] = before
                            break
                    if self.works():
                        done = True
                    else:
                        rows[:] = before
                    k = low
                size //= 2
        return done

    def blocks(self):
        """A block in place of the statement that holds it; handlers and else left out."""
        done = False
        for rows in list(self.lists()):
            for k in range(len(rows) - 1, -1, -1):
                if k >= len(rows) or isinstance(rows[k], (ast.FunctionDef, ast.ClassDef)):
                    continue
                parts = [v for v in (getattr(rows[k], n, None) for n in ("body", "orelse", "finalbody")) if isinstance(v, list) and v and isinstance(v[0], ast.stmt)]
                for part in parts:
                    before = rows[:]
                    rows[k:k + 1] = part
                    if self.left > 0 and self.works():
                        done = True
                        break
                    rows[:] = before
        return done

    def expressions(self):
        """A part of an expression in its place."""
        done = False
        for node in list(ast.walk(self.tree)):
            for name, value in list(ast.iter_fields(node)):
                for where, old in ([(None, value)] if isinstance(value, ast.expr) else [(k, v) for k, v in enumerate(value) if isinstance(v, ast.expr)] if isinstance(value, list) else []):
                    if self.left <= 0 or isinstance(old, (ast.Name, ast.Constant)) and not (isinstance(node, (ast.Tuple, ast.List, ast.Call)) and where is not None):
                        continue
                    for new in [n for n in ast.walk(old) if isinstance(n, ast.expr) and n is not old][:12] + [ast.Constant(1), None]:
                        if self.put(node, name, where, new, old) and self.works():
                            done = True
                            break
                        self.put(node, name, where, old, new)
        return done

    @staticmethod
    def put(node, name, where, new, old):
        if where is None:
            if new is None:
                return False
            setattr(node, name, new)
            return True
        rows = getattr(node, name)
        if new is None:
            if where < len(rows) and rows[where] is old:
                del rows[where]
                return True
            return False
        if old is None:
            rows.insert(where, new)
        elif where < len(rows):
            rows[where] = new
        else:
            return False
        return True


def shrunk(text, seed, way, crash=False):
    def fails(candidate):
        if not crash:
            try:
                return bool(play.in_thread(lambda: play.differences(candidate, seed, [way]), SECONDS))
            except BaseException:
                return False
        for lines, _ in runner.apart(lambda: (play.differences(candidate, seed, [way]), 0), [()]):
            return bool(lines) and "Traceback (most recent" not in lines[0]
    return Shrinker(text, fails).run()


def main(*seeds):
    sys.unraisablehook = lambda info: None
    for seed in map(int, seeds):
        text = generate.module(seed)
        for way in play.ways(seed):
            found = [lines for lines, _ in runner.apart(lambda: (play.differences(text, seed, [way]), 0), [()])][0]
            if found:
                small = shrunk(text, seed, way, "the process ended" in found[0])
                print(small, f"# seed {seed}, {play.shown(way)}", *found, sep="\n", flush=True)
                break
        else:
            print(f"# seed {seed}: no difference")


if __name__ == "__main__":
    main(*sys.argv[1:])
