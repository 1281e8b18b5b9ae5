"""Attention as a PyTorch function in C++, compiled when imported; `python3 attention.py` checks
it against torch.cdist.
"""

import ctypes
import math
import pathlib
import subprocess
import tempfile

import torch

HEAD_WIDTH = 16  # D in attention.cpp


def _compile():
    source = pathlib.Path(__file__).with_name("attention.cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/attention.so"
        subprocess.run(
            [
                "g++",
                "-O3",
                "-march=native",
                "-ffast-math",
                "-shared",
                "-fPIC",
                source,
                "-o",
                library,
            ],
            check=True,
        )
        return ctypes.CDLL(library)


_library = _compile()


def _pointer(tensor):
    assert tensor.is_contiguous() and tensor.dtype == torch.float32
    return ctypes.c_void_p(tensor.data_ptr())


class Attention(torch.autograd.Function):
    """qkv [B, N, 3, H, 16] -> [B, N, H, 16]: softmax attention, or adder attention (Adder, Eq.
    7), plus V with identity mapping.
    """

    @staticmethod
    def forward(context, qkv, adder, identity):
        context.save_for_backward(qkv)
        context.shape = (*qkv.shape[:2], qkv.shape[3], int(adder), int(identity))
        out = torch.empty_like(qkv[:, :, 0], memory_format=torch.contiguous_format)
        _library.attention_forward(_pointer(qkv), _pointer(out), *context.shape)
        return out

    @staticmethod
    def backward(context, gradient):
        (qkv,) = context.saved_tensors
        result = torch.empty_like(qkv)
        _library.attention_backward(
            _pointer(qkv), _pointer(gradient.contiguous()), _pointer(result), *context.shape
        )
        return result, None, None


def implied_map(q, k, adder, identity):
    """[..., N, d] queries and keys -> [..., N, N]: the plain transcription of the equations."""
    d = q.shape[-1]
    if adder:
        scores = -torch.cdist(q, k, p=1) / math.sqrt(2 * d * (1 - 2 / math.pi))
    else:
        scores = q @ k.transpose(-1, -2) / math.sqrt(d)
    weights = scores.softmax(-1)
    return weights + torch.eye(q.shape[-2], dtype=q.dtype) if identity else weights


def check():
    """Largest differences from plain PyTorch, over token counts around the vector length."""
    torch.manual_seed(0)
    for adder, identity in ((False, False), (True, False), (True, True)):
        for tokens in (1, 15, 16, 17, 50, 197):
            qkv = torch.randn(2, tokens, 3, 3, HEAD_WIDTH, requires_grad=True)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            expected = (implied_map(q, k, adder, identity) @ v).transpose(1, 2)
            found = Attention.apply(qkv, adder, identity)
            gradient = torch.randn(expected.shape)
            (expected_gradient,) = torch.autograd.grad(expected, qkv, gradient)
            (found_gradient,) = torch.autograd.grad(found, qkv, gradient)
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(found_gradient, expected_gradient, rtol=1e-5, atol=1e-5)
    print("the kernel agrees with plain PyTorch")


if __name__ == "__main__":
    check()
