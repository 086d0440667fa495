"""asked.md B.11: a counter and a global list; one multiplication, no recompile."""

import torch

LETTERS = "guec"
LOG = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        LOG.append(self.calls)
        return x * 2


def f(m, x):
    return m(x)


def args():
    return Net(), torch.ones(2)
