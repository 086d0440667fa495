"""Functions of C modules that were imported afresh; what classes say of themselves: dir(), reversed(), __subclasshook__."""
import abc
import importlib
import sys

import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)


def fresh(name):
    """The module once more, with function objects of its own."""
    old = sys.modules.pop(name)
    try:
        return importlib.import_module(name)
    finally:
        sys.modules[name] = old


HEAP, BISECT, OPERATOR = fresh("_heapq"), fresh("_bisect"), fresh("_operator")


class Told:
    def __init__(self, *names):
        self.names = names

    def __dir__(self):
        return self.names


class Meta(type):
    def __dir__(cls):
        return ["z", "a"]

    def __reversed__(cls):
        yield from "cba"


class Has(metaclass=Meta):
    pass


class Hooked(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        if hasattr(other, "names"):
            return True
        return super().__subclasshook__(other)


@program()
def heaps_and_places(x):
    import heapq
    h = [5, 1, 4]
    HEAP.heapify(h)
    HEAP.heappush(h, 0)
    out = [HEAP.heappop(h), BISECT.bisect_left([1, 2, 3], 2), OPERATOR.add(1, 2), HEAP.heappush is heapq.heappush]
    BISECT.insort_right(h, 2)
    return OPERATOR.mul(x, 3), h, out


@program(lambda: (T(), 3), lambda: (T(), 5))
def operators_on_numbers(x, n):
    return OPERATOR.add(x, n), OPERATOR.mod(n, 2), OPERATOR.pow(n, 2), OPERATOR.lt(n, 4)


@program(lambda: (T(), Told("b", "a")))
def listed(x, t):
    out = [dir(t), dir(Told("k")), dir(Has)]
    for odd in (Told(1, 2), Told(1, "a")):
        try:
            out.append(dir(odd))
        except TypeError as e:
            out.append(str(e))
    return x + 1, out


@program()
def turned_round(x):
    class Local(metaclass=Meta):
        pass
    out = [list(reversed(Has)), list(reversed(Local))]
    try:
        reversed(Told)
    except TypeError as e:
        out.append(str(e))
    return x + 1, out


@program()
def asked_for_an_opinion(x):
    return x + 1, issubclass(Told, Hooked), object.__subclasshook__(int), Told.__subclasshook__(int), Hooked.__subclasshook__(int)


@program()
def flags_of_the_interpreter(x):
    return x + sys.flags.optimize, sys.flags.hash_randomization >= 0, sys.implementation.name


@program(lambda: (T(), [1], {}.get), lambda: (T(), [1], {}.get))
def bound_functions_are_equal(x, given, get):
    made, other = [1], [1]
    out = [made.append == made.append, made.append == other.append, made.append != made.append, made.append == made.pop, given.append == given.append,
           dict.fromkeys == dict.fromkeys, "a".join == "b".join, len == len, len == max, int.__add__ == int.__add__, get == get, get == {}.get,
           made.__len__ == made.__len__, made.__len__ == other.__len__, Told.__init_subclass__ == Told.__init_subclass__,
           Told.__init_subclass__ == Has.__init_subclass__, made.append == 5, made.append is made.append, {len: 1}[len]]
    return x + 1, out


@program(graphs=0)
def bound_functions_as_keys(x):
    made = [1]
    return x + 1, {made.append: 1}[made.append], dict.fromkeys in {dict.fromkeys}


@program()
def functions_in_sets(x):
    s = {len, HEAP.heappop, torch.sin, dict.get}
    t = {len: 1, OPERATOR.add: 2}
    return x + len(s), len in s, HEAP.heappush in s, [k in s for k in (dict.get, dict.pop)], t[OPERATOR.add], len([f for f in {len, max}]), object.__new__ in {None, None.__new__, object.__new__}, int.__new__ in {str.__new__}, len(sorted(t, key=repr))
