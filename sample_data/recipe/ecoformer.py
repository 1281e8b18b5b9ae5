"""Kernelised hashing attention (EcoFormer), its hash functions learned from the attention map.

Tensor names are those of EcoFormer's published code.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BITS, SUPPORTS, PAIRS = 16, 25, 10  # b, m and l of EcoFormer, 5.1
# Of one bit, as the published code has them.
LEARNING_STEPS, LEARNING_RATE, MOMENTUM = 100, 5e-4, 0.9


class StraightThroughSign(torch.autograd.Function):
    """+1 or -1; backward, the gradient of hard tanh (EcoFormer, 4.2)."""

    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return torch.ones_like(x).copysign_(x + 0.0)  # + 0 makes of -0 a 0

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * (x.abs() <= 1)


sign = StraightThroughSign.apply


class Hash(nn.Module):
    """Tokens [B, H, N, d] -> codes [B, H, N, b]: EcoFormer, Eq. 10 and 11."""

    def __init__(self, heads, width):
        super().__init__()
        self.register_buffer("A", torch.randn(heads, BITS, SUPPORTS))
        self.register_buffer("mvec", torch.zeros(1, heads, 1, SUPPORTS))  # mu
        self.register_buffer("anchor", torch.zeros(1, heads, SUPPORTS, width))

    def kernel(self, x):
        """RBF to every anchor; its width is the mean squared distance in this image and head. x has
        length 1; torch.cdist would say the same, but its gradient takes most of a step.
        """
        anchor = self.anchor[0]
        squared = 1 + (anchor**2).sum(-1)[None, :, None] - 2 * x @ anchor.transpose(1, 2)
        return torch.exp(-squared / (2 * squared.mean((2, 3), keepdim=True)))

    def forward(self, x):
        return sign((self.kernel(x) - self.mvec) @ self.A.transpose(1, 2))

    @torch.no_grad()
    def choose_anchors(self, x):
        """Support samples: random tokens of x. Their kernels get zero mean."""
        tokens = x.transpose(0, 1).flatten(1, 2)  # [H, B N, d]
        self.anchor[0] = tokens[:, torch.randperm(tokens.shape[1])[:SUPPORTS]]
        self.mvec[:] = self.kernel(x).mean((0, 2))[None, :, None]

    def learn(self, x):
        """Learns A bit by bit, so that H H^T imitates b Y (Eq. 12 to 14).

        Y is +1 for the l keys most like a query, -1 for the l least like it, 0 otherwise. Returns
        ||H H^T - b Y||^2 / ||b Y||^2 before and after.
        """
        with torch.no_grad():
            g = self.kernel(x) - self.mvec
            similarity = x @ x.transpose(2, 3)
            wanted = torch.zeros_like(similarity)
            wanted.scatter_(3, similarity.topk(PAIRS, 3).indices, 1.0)
            wanted.scatter_(3, similarity.topk(PAIRS, 3, largest=False).indices, -1.0)
            residual = (
                BITS * (wanted + wanted.transpose(2, 3)) / 2
            )  # a hash can only imitate the symmetric part
            whole = (residual**2).sum()
            error = lambda codes: (((codes @ codes.transpose(2, 3)) - residual) ** 2).sum() / whole
            before = error(self(x))
        loss = lambda h, r: -(h * (r @ h)).sum((0, 2, 3))  # [H]: Eq. 14
        remaining = residual.clone()
        for bit in range(BITS):
            a = self.A[:, bit, :, None].clone().requires_grad_()  # [H, m, 1]
            optimiser = torch.optim.SGD([a], LEARNING_RATE, MOMENTUM, nesterov=True)
            for _ in range(LEARNING_STEPS):
                relaxed = torch.tanh(g @ a / 2)  # = 2 / (1 + exp(-g a)) - 1
                optimiser.zero_grad()
                (loss(relaxed, remaining).sum() / g.shape[2]).backward()
                optimiser.step()
            with torch.no_grad():
                old, new = sign(g @ self.A[:, bit, :, None]), sign(g @ a)
                better = loss(new, remaining) < loss(
                    old, remaining
                )  # by the hard sign, head by head
                self.A[:, bit] = torch.where(better[:, None], a[..., 0], self.A[:, bit])
                h = torch.where(better[None, :, None, None], new, old)
                remaining -= h @ h.transpose(2, 3)
        with torch.no_grad():
            return before.item(), error(self(x)).item()


class FastAttention(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.ksh = Hash(heads, width)


class HashAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.to_qk = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.proj = nn.Linear(width, width)
        self.fast_attention = FastAttention(heads, width // heads)

    def tokens_to_hash(self, x):
        """Queries and keys are one (5.1), of length 1."""
        return F.normalize(self.to_qk(x).unflatten(2, (self.heads, -1)).transpose(1, 2), dim=3)

    def forward(self, x):
        codes = self.fast_attention.ksh(self.tokens_to_hash(x))
        v = self.to_v(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
        bias = 2.0 ** BITS.bit_length()  # 2^c, c = ceil(log2(b + 1)): keeps every weight positive
        numerator = codes @ (codes.transpose(2, 3) @ v) + bias * v.sum(2, keepdim=True)  # Eq. 9
        denominator = codes @ codes.sum(2)[..., None] + bias * x.shape[1]
        return self.proj((numerator * denominator.reciprocal()).transpose(1, 2).flatten(2))
