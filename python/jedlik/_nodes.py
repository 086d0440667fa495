"""What a graph calls for things that are no operation on tensors: the state of random numbers, parameters made on the way.

Takes: what the program gave. Holds: such a node means something only where the graph's operations are called one by one. A compiler that traces
the graph would run it once: OutOfGraph tells it, and the front-end breaks there.
"""
import torch
from torch.fx.node import has_side_effect


class OutOfGraph(RuntimeError):
    """A node was traced that has to run each time."""


def each_time(name):
    if torch._C._len_torch_dispatch_stack():
        raise OutOfGraph(f"{name} in a graph that is being traced")


@has_side_effect
def manual_seed(seed):
    each_time("torch.manual_seed")
    torch.random.manual_seed(seed)


@has_side_effect
def get_rng_state():
    each_time("torch.get_rng_state")
    return torch.random.get_rng_state()


@has_side_effect
def set_rng_state(state):
    each_time("torch.set_rng_state")
    torch.random.set_rng_state(state)


def parameter(data, requires_grad):
    each_time("torch.nn.Parameter")
    return torch.nn.Parameter(data, requires_grad)


def out_of_graph(error):
    """The OutOfGraph behind an exception, or None."""
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, OutOfGraph):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def is_out_of_graph(error):
    return out_of_graph(error) is not None
