"""Rule 20: operations inside `try` raise at their place and are caught by the right handler; models wrap whole forwards in try … finally."""
import pytest
import torch
from follow import X, follow, follows

SHAPES = ((3,), (3,), (4,), (2, 3), (3, 2), (), (3,))
FAULTS = {
    "matmul": lambda x, w: x @ w,
    "add": lambda x, w: x + w,
    "index": lambda x, w: w[2],
    "view": lambda x, w: w.view(3),
    "cat": lambda x, w: torch.cat([x, w]),
    "stack": lambda x, w: torch.stack([x, w]),
    "linear": lambda x, w: torch.nn.functional.linear(x, w),
    "item": lambda x, w: w.item(),
    "int": lambda x, w: int(w),
    "singular": lambda x, w: torch.linalg.inv(w[:2, :2] * 0),
    "gather": lambda x, w: x.gather(0, torch.tensor([w.numel()])),
    "attribute": lambda x, w: w.nothing,
    "type": lambda x, w: torch.add(x, "text"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_caught_at_their_place(name):
    op = FAULTS[name]

    def program(compile):
        def f(x, w, log):
            log.append("start")
            try:
                log.append("in")
                y = op(x, w)
                log.append("behind")
            except (RuntimeError, IndexError) as e:
                log.append(type(e).__name__)
                y = x * 2
            except (TypeError, AttributeError) as e:
                log.append(str(e)[:10])
                y = x * 3
            else:
                log.append("else")
            finally:
                log.append("last")
            return y

        f = compile(f)
        for shape in SHAPES:
            log = []
            yield f(torch.ones(3), torch.ones(shape), log), log
    follow(program, sweep=name in ("matmul", "index"))


@pytest.mark.parametrize("name", FAULTS)
def test_finally_around_a_forward(name):
    op = FAULTS[name]

    def program(compile):
        class State:
            busy = 0

        s = State()
        s.busy = 0

        def f(x, w):
            s.busy += 1
            try:
                y = x + 1
                z = op(y, w)
                return y, z
            finally:
                s.busy -= 1

        f = compile(f)
        for shape in SHAPES:
            how, value = f(torch.ones(3), torch.ones(shape))
            yield how, type(value).__name__ if how == "raised" else value, s.busy
    follow(program, sweep=False)


@follows(graphs=(1, 2))
def test_try_that_never_fails_is_one_graph(compile):
    def f(x, log):
        try:
            y = x + 1
            with torch.no_grad():
                z = y * 2
        except RuntimeError:
            return x
        finally:
            log.append(1)
        return z

    f = compile(f)
    for _ in range(3):
        log = []
        yield f(X, log), log


@follows()
def test_nested_handlers(compile):
    """Each error goes to the innermost handler that takes it; chains and contexts are kept."""
    def f(x, w, log):
        try:
            try:
                return x @ w
            except IndexError:
                log.append("wrong handler")
            finally:
                log.append("inner")
        except RuntimeError:
            log.append("outer")
            try:
                raise ValueError("again")
            except ValueError as e:
                log.append(type(e.__context__).__name__)
                return x
        return x + 1

    f = compile(f)
    for shape in ((3,), (4,), (3,), (5,)):
        log = []
        yield f(torch.ones(3), torch.ones(shape), log), log


@follows()
def test_suppress_and_retry(compile):
    import contextlib

    def f(x, ws):
        done = []
        for w in ws:
            with contextlib.suppress(RuntimeError):
                done.append(x @ w)
        return done, len(done)

    f = compile(f)
    for shapes in (((3,), (3, 2)), ((4,), (3,)), ((4,), (5,)), ((3,), (3, 2))):
        yield f(torch.ones(3), [torch.ones(s) for s in shapes])


@follows()
def test_loop_with_continue_and_break(compile):
    def f(x, ws, log):
        for k, w in enumerate(ws):
            try:
                x = x + w
            except RuntimeError:
                log.append(k)
                if k > 1:
                    break
                continue
            finally:
                log.append("f")
        return x

    f = compile(f)
    for shapes in (((3,), (4,), (3,)), ((4,), (4,), (4,), (3,)), ((3,), (3,))):
        log = []
        yield f(torch.ones(3), [torch.ones(s) for s in shapes], log), log
