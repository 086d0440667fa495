"""The trampoline: the corpus through segments, exits, real instructions and plain stretches."""

import itertools

import observe
from engine import module, selftest
from observe import arguments, each_case, observe_slots, plain, same

COUNT = itertools.count()


def options(limit=1000):
    return module.make_options(None, False, None, limit, ("test", next(COUNT)))


@each_case
def test_one_instruction_at_a_time(case):
    want = plain(case)
    o = options()
    selftest.fake(1, True)
    for _ in range(2):  # compiling, then from the cache
        same(observe_slots(case, selftest.tramp, o), want)
    assert selftest.fake_stats()["compiles"] > 0


def test_inlining_happens():
    """The sweep above has frames within frames: the cases that are made for it have."""
    inlined = 0
    for case in (c for c in observe.corpus.CASES if c[0].__name__.startswith("calls")):
        for seed in range(10):
            selftest.fake(seed, False)
            observe_slots(case, selftest.tramp, options())
            inlined += selftest.fake_stats()["inlined"]
    assert inlined > 100


@each_case
def test_at_random(case):
    want = plain(case)
    for seed in range(30):
        o = options(4 if seed % 3 else 1000)
        selftest.fake(seed, False, 2 if seed % 2 else 100)
        for _ in range(4):
            same(observe_slots(case, selftest.tramp, o), want)
