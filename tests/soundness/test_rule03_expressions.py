"""Rule 3: expressions are a DAG of at most 64 nodes with shared parts; at most 8 predicates an input, then one equality."""
from follow import X, follows


@follows(graphs=1)
def test_constants_fold(compile):
    """`(n + 1) + 1` is n + 2: no more than one graph, and the value is right."""
    def f(x, n):
        k = ((n + 1) + 1) - 2
        return x + 1, k, ((n + 1) + 1) + 1

    f = compile(f)
    for n in 0, 5, -7, 10 ** 12, 2 ** 62, 2 ** 63 - 1, 10 ** 25:
        yield f(X, n)


@follows(graphs=(1, 2))
def test_floats_do_not_fold(compile):
    """(v + 0.1) + 0.2 is not v + 0.3."""
    def f(x, v):
        return x + 1, (v + 0.1) + 0.2, (v + 1e16) - 1e16, (v * 3) / 3

    f = compile(f)
    for v in 0.0, 0.1, 1.0, -0.0, 1e308, 3, 7:
        yield f(X, v)


@follows(graphs=(1, 3))
def test_more_than_64_nodes(compile):
    """A long sum of one input: the input's value is known instead."""
    def f(x, n):
        for k in range(100):
            n = n + k if k % 2 else n * 3 - 1
        return x + 1, n

    f = compile(f)
    for n in 1, 2, 1, 0:
        yield f(X, n)


@follows(graphs=(1, 8))
def test_more_than_8_predicates(compile):
    """Each branch asks another question of the input."""
    def f(x, n):
        log = []
        for k in range(12):
            if n > k:
                log.append(k)
        return x + len(log), log

    f = compile(f)
    for n in 3, 4, 3, 11, 20, 3:
        yield f(X, n)


@follows(graphs=(1, 8))
def test_predicates_before_the_equality_stay_right(compile):
    """The ninth question comes in the middle: what was answered before is still guarded, for two inputs at once."""
    def f(x, a, b):
        hits = 0
        for k in range(10):
            hits += a + b > k
            hits += a * b > k * k
            hits += a - b == k
        return x + hits, hits

    f = compile(f)
    for a, b in [(3, 4), (4, 3), (3, 4), (7, 0), (12, 0), (0, 12)]:
        yield f(X, a, b)


@follows(graphs=(1, 6))
def test_shared_parts(compile):
    """A DAG whose tree would have 2**20 nodes."""
    def f(x, n):
        for _ in range(20):
            n = n + n
        return x + 1, n

    f = compile(f)
    for n in 1, 2, 3, -1, 0, 10 ** 12:
        yield f(X, n)


@follows(graphs=(1, 6))
def test_strings_and_numbers_mixed(compile):
    def f(x, s, n):
        t = s * n + str(n)
        return x + (1 if t.startswith("abab") else 2), t, len(t)

    f = compile(f)
    for s, n in [("ab", 2), ("ab", 1), ("abab", 1), ("", 5), ("ab", 3), ("ab", -1)]:
        yield f(X, s, n)


@follows(graphs=(1, 6))
def test_comparison_chains(compile):
    def f(x, a, b, c):
        return x + (1 if a < b <= c != 5 else 2), min(a, b, c), max(a, b, c), sorted([a, b, c])

    f = compile(f)
    for args in [(1, 2, 3), (1, 2, 5), (3, 2, 1), (1.0, 2, 3), (1, 1, 1), (True, 2, 3)]:
        yield f(X, *args)


@follows(graphs=1)
def test_counter_of_an_object(compile):
    """A step counter that is asked nothing of compiles once for any number of calls."""
    class Box:
        n = 0

    o = Box()
    o.n = 0

    def f(x):
        o.n += 1
        return x + 1

    f = compile(f)
    for _ in range(30):
        yield f(X), o.n


@follows(graphs=2)
def test_predicate_on_a_counter(compile):
    class Box:
        pass

    o = Box()
    o.n = 0

    def f(x):
        o.n += 1
        return x * 2 if o.n > 5 else x * 3

    f = compile(f)
    for _ in range(12):
        yield f(X + 0), o.n


@follows(graphs=(1, 8))
def test_min_max_abs_round(compile):
    def f(x, v):
        return x + (1 if abs(v) > 2 else 2), round(v, 1), -v, +v, min(v, 3), max(v, 0)

    f = compile(f)
    for v in 1.25, 2.75, -3.0, 0.0, -0.0, 5, -5, True:
        yield f(X, v)



@follows(graphs=2)
def test_what_is_shared_counts_once(compile):
    """Twenty doublings are twenty nodes, not a million: another value needs no other entry."""
    def f(x, n):
        for _ in range(20):
            n = n + n
        return (x.sin(), n) if n > 5 else (x.cos(), n)

    f = compile(f)
    for n in 1, 2, 7, 123456789, -4, 0, -7:
        yield f(X, n)


@follows(graphs=1)
def test_two_chains_over_each_other(compile):
    def f(x, a, b):
        for _ in range(12):
            a, b = b, a + b
        return x + 1, a, b, b % 7 == 3

    f = compile(f)
    for a, b in (0, 1), (5, 8), (-3, 4), (100, 0), (2, 2):
        yield f(X, a, b)


@follows(graphs=(1, 8))
def test_texts_of_shared_expressions_stay_short(compile):
    """They are written for reports: as often as they are used, they would not end."""
    def f(x, n):
        for _ in range(40):
            n = n * 1.5 + n
        return (x, n) if n > 100 else (x + 1, n)

    f = compile(f)
    for n in 3.0, 1e-30, 0.0, -4.5:
        yield f(X, n)
