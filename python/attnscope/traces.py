"""Traces of arrays that something else computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _attnscope
from ._attnscope import Trace
from .errors import usage_error


def as_array(array: Any) -> np.ndarray:
    """The array in NumPy; tensors of PyTorch are detached and brought to the CPU."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":
            array = array.float()
        array = array.numpy()
    return np.asarray(array)


def _as_floats(array: Any) -> np.ndarray:
    """float64 as it is, anything else as float32."""
    array = as_array(array)
    return array if array.dtype == np.float64 else array.astype(np.float32, copy=False)


def layers_of(array: Any, name: str = "array") -> list[np.ndarray]:
    """The layers [heads, N, M] of an array [..., N, M], or of a list with one such array a layer.
    The axis before the last two is the heads; those before it count as layers."""
    several = isinstance(array, (list, tuple)) and len(array) > 0 and np.ndim(array[0]) >= 2
    parts = [_as_floats(one) for one in array] if several else [_as_floats(array)]
    layers = []
    for part in parts:
        if part.ndim < 2 or part.size == 0:
            raise usage_error("an array of maps has at least two axes, none of them empty",
                              subject=name, expected="[..., N, M]", found=str(list(part.shape)))
        heads = part.shape[-3] if part.ndim > 2 else 1
        layers += list(part.reshape(-1, heads, *part.shape[-2:]))
    return layers


def maps(array: Any, *, tokens: Any = None, image: Any = None, grid: Any = None,
         prefix: int | None = None, q: Any = None, k: Any = None, v: Any = None,
         identity: bool = False, causal: bool = False, scale: float | None = None,
         name: str = "maps", input: str = "", mechanism: str = "unknown") -> Trace:
    """A trace of any array of maps, which every analysis and figure takes.

    Args:
        array: [layers, heads, N, M], [heads, N, M] or [N, M], or a list of one array [heads, N, M]
            a layer, as Hugging Face returns with output_attentions=True; NumPy or PyTorch, rows are
            queries. Further axes in front, such as a batch, count as layers. float64 is kept.
        tokens: the text of each token, N of them.
        image: the picture that the grid covers, uint8 [height, width, 3].
        grid: (rows, columns) of the tokens on a grid of patches.
        prefix: number of tokens before the grid, such as the class token; N - rows * columns if
            None.
        q, k, v: queries, keys and values of each layer, [heads, N, d] and [heads, M, d].
        identity: True if the maps contain I.
        causal: True if no token sees later ones.
        scale: the factor of q·k; 1/√d if None.
        name, input: labels of the model and of its input in tables and figures.
        mechanism: the mechanism that made the maps: "softmax". Ranks at equal entropy need it.

    Raises:
        UsageError: if shapes do not fit.
    """
    layers = layers_of(array)
    rows, columns = grid or (0, 0)
    if prefix is None:
        prefix = max(layers[0].shape[1] - rows * columns, 0) if grid else 0
    vectors = []
    for given, label in ((q, "q"), (k, "k"), (v, "v")):
        found = [None] * len(layers) if given is None else layers_of(given, label)
        if len(found) != len(layers):
            raise usage_error("there must be vectors for each layer", subject=label,
                              expected=str(len(layers)), found=str(len(found)))
        vectors.append(found)
    if image is not None:
        image = np.asarray(image)
        if image.dtype.kind == "f":  # 0 to 1, as matplotlib takes pictures
            image = np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)
    texts = [] if tokens is None else [str(token) for token in tokens]
    return _attnscope.trace_of_maps(layers, *vectors, image, texts, prefix, rows, columns, identity,
                                    causal, scale, name, input, mechanism)


def as_trace(x: Any) -> Trace:
    """`x` if it is a trace, else the trace of an array."""
    return x if isinstance(x, Trace) else maps(x)
