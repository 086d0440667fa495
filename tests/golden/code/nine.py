"""The yardstick of asked.md A.5: nine canonical instructions (RESUME and PUSH_NULL are not counted)."""

import torch

LETTERS = "gc"


def f(x, n):
    return x * n + 1


def args():
    return torch.ones(2), 3
