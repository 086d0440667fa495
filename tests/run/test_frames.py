"""Frames that rest anywhere, and every instruction run for real: compared with plain Python."""

from engine import selftest
from observe import arguments, each_case, observe_slots, plain, same

# -- The sweep -----------------------------------------------------------------------


@each_case
def test_all_real(case):
    want = plain(case)
    same(observe_slots(case, selftest.step_from, -1), want)


@each_case
def test_real_then_plain(case):
    """k instructions for real, the rest by the interpreter: every k."""
    want = plain(case)
    n = selftest.count_steps(case[0], arguments(case))
    for k in range(0, n + 1, 1 if n < 1500 else 13):
        same(observe_slots(case, selftest.step_from, k), want)


@each_case
def test_one_real(case):
    """One instruction for real whenever it comes, all others by the interpreter."""
    want = plain(case)
    code = case[0].__code__
    for i in range(min(len(selftest.decode(code)), 400)):
        stops = selftest.stops_new(code)
        if selftest.stops_set(stops, code, i, True):
            same(observe_slots(case, selftest.run_stops, stops), want)


@each_case
def test_stop_everywhere(case):
    want = plain(case)
    code = case[0].__code__
    stops = selftest.stops_new(code)
    can = [selftest.stops_set(stops, code, i, True) for i in range(len(selftest.decode(code)))]
    same(observe_slots(case, selftest.run_stops, stops), want)
    assert not any(can) or selftest.stops_met() > 0


@each_case
def test_stop_in_warm_code(case):
    """Stops set in a copy that has been specialised, and taken out again."""
    want = plain(case)
    code = case[0].__code__
    n = len(selftest.decode(code))
    for i in range(0, n, 1 if n < 500 else 29):
        stops = selftest.stops_new(code)
        for _ in range(12):
            observe_slots(case, selftest.run_stops, stops)
        if selftest.stops_set(stops, code, i, True):
            same(observe_slots(case, selftest.run_stops, stops), want)
            selftest.stops_set(stops, code, i, False)
            same(observe_slots(case, selftest.run_stops, stops), want)
            assert selftest.stops_met() == 0
