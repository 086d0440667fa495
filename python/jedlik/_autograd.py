"""What a graph calls for `torch.autograd.Function.apply`.

A bound classmethod cannot be a node's target: torch.fx would write it down by the name of the method, which all
functions share.
"""


def function(cls):
    def call(*args):
        return cls.apply(*args)

    call.__name__ = call.__qualname__ = cls.__name__ + "_apply"
    return call
