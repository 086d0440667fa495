"""Lists, as values and as existing objects."""
import copy

import torch
from kit import Env, T, program

SHARED = [1, 2, 3]


class Row(list):
    tag = "row"

    def total(self):
        return sum(self)


@program()
def built_and_returned(x):
    out = [x, x + 1]
    out.append(out[0] * 2)
    return out, len(out)


@program(lambda: (T(), [1, 2]), lambda: (T(), [3]), lambda: (T(), []))
def grows(x, l):
    l.append(x)
    l += [len(l)]
    return x + len(l)


@program(lambda: (T(), [3, 1, 2]), lambda: (T(), [1, 2, 3]))
def sorted_in_place(x, l):
    l.sort(reverse=True)
    l.reverse()
    return x + l[0], sorted(l, key=lambda v: -v)


@program(lambda: (T(), [1, 2, 3, 4]), lambda: (T(), [1, 2]))
def slices_written(x, l):
    l[1:2] = [9, 8, 7]
    del l[::2]
    l[:0] = [0]
    return x + len(l), l[:]


@program()
def global_list(x):
    SHARED.append(len(SHARED))
    SHARED[0] += 1
    return x * SHARED[-1], SHARED[0]


@program()
def nested(x):
    grid = [[i * j for j in range(3)] for i in range(2)]
    grid[1][2] = x
    alias = grid[0]
    alias.append("end")
    return grid, grid[0] is alias, x + 1


@program()
def repeated_rows(x):
    rows = [[0]] * 3
    rows[0].append(x)
    return rows, rows[0] is rows[2], x + 1


@program(lambda: (T(), [1, 2, 3]))
def copies(x, l):
    a, b, c = l.copy(), l[:], list(l)
    a.append(1), b.pop(), c.clear()
    return a, b, c, l, copy.copy(l) == l, x + 1


@program(lambda: (T(), [1, 2, 3]), lambda: (T(), []))
def missing_things(x, l):
    out = []
    for f in (lambda: l.remove(99), lambda: l.index(99), lambda: l[50], lambda: l.pop(50), lambda: l.__setitem__(50, 1)):
        try:
            f()
        except (ValueError, IndexError) as e:
            out.append(str(e))
    return x + 1, out


@program(lambda: (T(), [1, 2, 3], [1, 2, 3]), lambda: (T(), [1], [2]))
def compared(x, a, b):
    return x + 1, a == b, a < b, a is b, a != b, [x] == [x], 2 in a


@program(lambda: (T(), [T(), T(at=1)]), lambda: (T(), [T(at=2)]))
def of_tensors(x, ts):
    total = sum(ts)
    ts[0] = ts[0] + 1
    return total + x, torch.stack(ts), torch.cat(ts)


@program(lambda: (T(), [1, 2, 3]))
def same_list_twice(x, l):
    pair = (l, l)
    pair[0].append(4)
    return x + len(pair[1]), pair


@program(lambda: (T(), Row([1, 2])), lambda: (T(), Row()))
def subclass(x, r):
    r.append(3)
    r.note = "n"
    return x + r.total(), r, r + [1], type(r[:]).__name__


@program()
def cyclic(x):
    l = [x]
    l.append(l)
    return l, l[1][1] is l, x + 1


@program(lambda: (T(), [1, [2, (3, 4)], 5]))
def unpacking(x, l):
    a, [b, (c, d)], *rest = l
    first, *middle, last = range(5)
    return x + a + b + c + d, rest, middle, first, last


@program(lambda: (T(), [1, 2]), lambda: (T(), [1, 2, 3]), lambda: (T(), 5))
def unpacking_errors(x, l):
    try:
        a, b = l
    except (ValueError, TypeError) as e:
        return x, str(e)
    return x + a, b


@program(lambda: (T(), Env()))
def stack_discipline(x, e):
    e.log.append(1), e.log.append(x), e.log.append(3)
    top = e.log.pop()
    e.log.insert(0, top)
    return x + top, e.log[-1] is x


@program(lambda: (T(), [5, 6, 7]))
def changes_while_walking(x, l):
    for v in l:
        if len(l) < 6:
            l.append(v * 2)
        x = x + v
    return x, l
