"""asked.md B.3: what nothing reachable refers to leaves no instruction behind."""

import torch

LETTERS = "gec"


def f(x):
    seen = []
    for i in range(3):
        seen.append(i)
        x = x + i
    return x


def args():
    return (torch.ones(2),)
