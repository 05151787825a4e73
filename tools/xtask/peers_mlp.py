"""Measures a training step of the network in `tests/programs/mlp.rs` in PyTorch: prints lines like `benches/mlp.rs`.

    peers_mlp.py THREADS BATCH..
"""

import sys

import torch
from peers_clock import measure

RATE, EPS = 0.5, 1e-7
torch.set_num_threads(int(sys.argv[1]))


def numbers(start, *shape):
    """The same numbers as in `benches/mlp.rs`."""
    k = torch.arange(start, start + torch.Size(shape).numel())
    return (((k * 37 + 11) % 101).float() / 101 - 0.5).reshape(shape)


for n in (int(n) for n in sys.argv[2:]):
    x, y = numbers(0, n, 4), (torch.arange(n) % 2).float().reshape(n, 1)
    params = [numbers(7, *shape).requires_grad_() for shape in ((4, 16), (1, 16), (16, 1), (1, 1))]

    def step():
        w1, b1, w2, b2 = params
        hidden = torch.relu(x @ w1 + b1)
        p = torch.sigmoid(hidden @ w2 + b2)
        loss = -(y * torch.log(p + EPS) + (1 - y) * torch.log(1 - p + EPS)).mean()
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for param, g in zip(params, grads):
                param.sub_(g, alpha=RATE)
        return loss.item()

    measure("PyTorch, eager", "step of a 4-16-1 network", n, step)
