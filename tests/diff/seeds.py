"""Seeds and the state of random numbers, set and read in the program: in order with what draws, whoever reads them afterwards."""
import torch
import torch.nn.functional as F
from kit import Env, T, program


@program()
def seed_before_and_after(x):
    torch.manual_seed(3)
    a = x + torch.rand(3)
    torch.manual_seed(3)
    return a, torch.rand(3)


@program()
def what_manual_seed_returns(x):
    g = torch.manual_seed(7)
    return g is torch.default_generator, g.initial_seed(), x + torch.randn(3)


@program(lambda: (T(), 1), lambda: (T(), 2), lambda: (T(), 2**40), lambda: (T(), -5))
def seed_from_an_argument(x, n):
    torch.manual_seed(n)
    return x + torch.rand(3), torch.rand(())


@program(lambda: (T(), 1), lambda: (T(), 2), lambda: (T(), 3))
def seed_computed(x, n):
    torch.manual_seed(n * 2 + 1)
    return x + torch.rand(3)


@program(lambda: (T(), Env()))
def seed_from_an_attribute_that_changes(x, env):
    env.n += 1
    torch.random.manual_seed(env.n)
    return x + torch.rand(3), env.n


@program(lambda: (T(), True), lambda: (T(), 2.0), lambda: (T(), 2**65), lambda: (T(), -2**64))
def seeds_of_other_kinds(x, n):
    torch.manual_seed(1)
    try:
        torch.manual_seed(n)
    except RuntimeError as e:
        return x + torch.rand(3), type(e)
    return x + torch.rand(3)


@program()
def seed_that_nobody_needs(x):
    torch.manual_seed(0)
    torch.rand(5)
    torch.manual_seed(9)
    return x + 1, torch.initial_seed()


@program()
def state_read_and_put_back(x):
    torch.manual_seed(4)
    s = torch.get_rng_state()
    a = x * torch.rand(3)
    torch.set_rng_state(s)
    b = torch.rand(3)
    return a, b, s.shape, s.dtype, s, torch.get_rng_state()


@program(lambda: torch.get_rng_state())
def state_from_outside(s):
    torch.set_rng_state(s)
    a = torch.rand(3)
    s = s.clone()
    torch.random.set_rng_state(s)
    return a, torch.rand(3)


@program(lambda: (T(), torch.zeros(3, dtype=torch.uint8)), lambda: (T(), torch.get_rng_state()))
def bad_state(x, s):
    torch.manual_seed(2)
    y = x + torch.rand(3)
    try:
        torch.set_rng_state(s)
    except (RuntimeError, TypeError) as e:
        return y, type(e), torch.rand(3)
    torch.manual_seed(5)
    return y, torch.rand(3)


@program()
def forked(x):
    torch.manual_seed(6)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        a = x + torch.rand(3)
    return a, torch.rand(3)


@program()
def forked_with_its_defaults(x):
    torch.manual_seed(6)
    with torch.random.fork_rng():
        a = x + torch.rand(3)
    return a, torch.rand(3)


@program()
def dropout_twice_alike(x):
    torch.manual_seed(11)
    a = F.dropout(x, 0.5)
    torch.manual_seed(11)
    return a, F.dropout(x, 0.5)


@program(lambda: (T(), Env()))
def seed_kept_for_later(x, env):
    torch.manual_seed(13)
    env.seed = int(torch.initial_seed() % 2**31)
    torch.manual_seed(env.seed)
    return x + torch.rand(3), env.seed


@program(lambda: (T(), torch.tensor(0)), lambda: (T(), torch.tensor(7)))
def operation_behind_a_seed_fails(x, i):
    torch.manual_seed(3)
    a = torch.rand(3)
    try:
        b = x[i]
    except IndexError as e:
        return a, str(e), torch.rand(3)
    return a, b, torch.rand(3)


@program(lambda: T(2, 3))
def new_of_a_tensor(x):
    a, b = x.new(2, 3), x.new(x.size())
    return a.fill_(1), b.fill_(2) + x, x.new(4).shape, x.new([1, 2])
