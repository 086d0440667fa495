"""Values that cannot be made again after the graph: they are made for real, where they came to be."""
from kit import Env, T, program


@program()
def exception_that_outlives_its_handler(x):
    y = x.sin()
    try:
        raise ValueError(3)
    except ValueError as error:
        kept = error
    return y.cos(), kept, kept.args, kept.__traceback__ is not None


@program(lambda: (T(), []))
def exceptions_in_a_list_that_was_there(x, seen):
    y = x.sin()
    for n in range(2):
        try:
            raise KeyError(n)
        except KeyError as error:
            seen.append(error)
    y = y * len(seen)
    return y.cos(), [e.args for e in seen], [e.__traceback__ is None for e in seen]


@program()
def iterator_over_what_has_changed(x):
    items = [1, 2, 3]
    y = x.sin()
    it = iter(items)
    first = next(it)
    items.insert(0, first)
    y = y * first
    return y.cos(), list(it), it


@program(lambda: (T(), Env()))
def dictionary_of_a_new_object(x, env):
    y = x.sin()
    new = Env()
    env.fields = new.__dict__
    new.count = 5
    y = y * env.fields["count"]
    return y.cos(), env.fields is new.__dict__, sorted(env.fields)


@program()
def generator_that_is_left_running_its_way(x):
    def numbers():
        got = yield 1
        for _ in range(3):
            got = yield (got or 1) * 2

    g = numbers()
    y = x * next(g) + g.send(3)
    return y.sin(), g.send(4), g
