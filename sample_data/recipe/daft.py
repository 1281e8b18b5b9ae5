"""Dot product Attention Free Transformer (DAFT): the full form, and the convolutional form on a
2-D grid of tokens.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


def exp_keys(k):
    """exp(K) up to a factor for each channel, which cancels in the quotient; without it exp would
    overflow.
    """
    return (k - k.detach().amax(1, keepdim=True)).exp()


class DaftFull(nn.Module):
    """sigma(Q) * (exp(w) (exp(K) V)) / (exp(w) exp(K)) with w = pe0 pe1^T: DAFT, Algorithm 1."""

    def __init__(self, width, tokens, position_width):
        super().__init__()
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.project = nn.Linear(width, width)
        self.pe0 = nn.Parameter(0.1 * torch.randn(tokens, position_width))
        self.pe1 = nn.Parameter(0.1 * torch.randn(tokens, position_width))

    def forward(self, x):
        k, v = exp_keys(self.to_k(x)), self.to_v(x)
        w = self.pe0 @ self.pe1.T
        w = (w - w.detach().amax(1, keepdim=True)).exp()  # the factor of each row cancels too
        return self.project(self.to_q(x).sigmoid() * (w @ (k * v)) / (w @ k))


class DaftConv(nn.Module):
    """Local position biases r [heads, window, window], shared by all positions: DAFT, Algorithm
    2. One key channel a head.
    """

    def __init__(self, width, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, heads)
        self.to_v = nn.Linear(width, width)
        self.project = nn.Linear(width, width)
        self.r = nn.Parameter(torch.randn(heads, window, window))
        self.gamma = nn.Parameter(torch.zeros(heads, 1, 1))
        self.beta = nn.Parameter(torch.zeros(heads, 1, 1))

    def biases(self):
        """r as Eq. 9 reparameterises it; the deviation is that of the population."""
        deviation = self.r.std((1, 2), unbiased=False, keepdim=True)
        return self.gamma * (self.r - self.r.mean((1, 2), keepdim=True)) / deviation + self.beta

    def forward(self, x):
        side = round(x.shape[1] ** 0.5)
        grid = lambda t: t.transpose(1, 2).unflatten(
            2, (side, side)
        )  # [B, T, channels] -> [B, channels, side, side]
        channels = x.shape[2] // self.heads  # of one head
        kernel = self.biases().exp()[:, None] - 1

        def aggregate(t, kernel):
            return F.conv2d(t, kernel, groups=t.shape[1], padding=self.window // 2) + t.sum(
                (2, 3), keepdim=True
            )

        k, v = grid(exp_keys(self.to_k(x))), grid(self.to_v(x))
        kv = k.repeat_interleave(channels, 1) * v
        y = aggregate(kv, kernel.repeat_interleave(channels, 0)) / aggregate(
            k, kernel
        ).repeat_interleave(channels, 1)
        return self.project(self.to_q(x).sigmoid() * y.flatten(2).transpose(1, 2))
