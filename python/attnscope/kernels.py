"""Every mechanism on plain arrays: attnscope.kernels.adder(q, k, v, identity=True).

Each function takes queries [heads, N, d] (or [N, d], [batch, heads, N, d]), keys [heads, M, d] and
values [heads, M, dv], and returns an Attended: the output [heads, N, dv] and the map [heads, N, M]
with output = map · v. Where each channel has a map of its own (DAFT), the map is their mean, or that
of `channel`. help(attnscope.kernels.adder) has its equation, source and parameters.

Those that can be trained have gradients: attnscope.kernels.adder.gradient(q, k, v, d_output).
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _attnscope
from ._arguments import as_texts
from .errors import usage_error
from .traces import as_array


class Attended(NamedTuple):
    """What a mechanism gives: `output` [..., N, dv] and `map` [..., N, M], float32."""

    output: Optional[np.ndarray]
    map: Optional[np.ndarray]


class Gradients(NamedTuple):
    """Gradients of a number with respect to `q`, `k`, `v` (of their shapes), and to the learned
    `tensors` by name (sums over a batch), float32."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    tensors: dict[str, np.ndarray]


def _as_rows(array: np.ndarray) -> np.ndarray:
    """[heads, tokens, channels] as [tokens, heads · channels]."""
    heads, tokens, channels = array.shape
    return np.ascontiguousarray(array.transpose(1, 0, 2)).reshape(tokens, heads * channels)


def _attend(name: str, q: Any, k: Any, v: Any, *, causal: bool, scale: Optional[float],
            grid: Any, prefix: int, layer: int, channel: Optional[int], tensors: Any, output: bool,
            map: bool, parameters: dict) -> Attended:
    q, k, v = (as_array(array).astype(np.float32, copy=False) for array in (q, k, v))
    if not q.ndim == k.ndim == v.ndim or q.ndim < 2:
        raise usage_error("queries, keys and values must have the same axes", subject=name,
                          expected="[heads, tokens, channels] of each",
                          found=f"{list(q.shape)}, {list(k.shape)}, {list(v.shape)}")
    if not (output or map):
        raise usage_error("a call computes the output, the map or both", subject=name)
    if q.ndim > 3:
        if not q.shape[:-3] == k.shape[:-3] == v.shape[:-3]:
            raise usage_error("queries, keys and values must be of the same batch", subject=name,
                              expected=str(list(q.shape[:-3])),
                              found=f"{list(k.shape[:-3])}, {list(v.shape[:-3])}")
        items = [_attend(name, *item, causal=causal, scale=scale, grid=grid, prefix=prefix,
                         layer=layer, channel=channel, tensors=tensors, output=output, map=map,
                         parameters=parameters) for item in zip(q, k, v)]
        return Attended(*(None if part[0] is None else np.stack(part) for part in zip(*items)))
    single = q.ndim == 2
    if single:
        q, k, v = q[None], k[None], v[None]
    rows, columns = grid or (0, 0)
    tensors = {key: as_array(value).astype(np.float32) for key, value in (tensors or {}).items()}
    made, weights = _attnscope.attend(
        name, as_texts(parameters), _as_rows(q), _as_rows(k), _as_rows(v), tensors, q.shape[0],
        k.shape[0], causal, scale, layer, prefix, rows, columns, channel, output, map)
    if made is not None:
        made = np.ascontiguousarray(made.reshape(q.shape[1], q.shape[0], -1).transpose(1, 0, 2))
    if single:
        made, weights = (None if part is None else part[0] for part in (made, weights))
    return Attended(made, weights)


def _as_heads(rows: np.ndarray, heads: int) -> np.ndarray:
    """[tokens, heads · channels] as [heads, tokens, channels]."""
    return np.ascontiguousarray(rows.reshape(rows.shape[0], heads, -1).transpose(1, 0, 2))


def _gradient(name: str, q: Any, k: Any, v: Any, d_output: Any, *, causal: bool, grid: Any,
              prefix: int, layer: int, tensors: Any, score_gradient: str,
              parameters: dict) -> Gradients:
    arrays = [as_array(one).astype(np.float32, copy=False) for one in (q, k, v, d_output)]
    axes = {one.ndim for one in arrays}
    if len(axes) > 1 or min(axes) < 2:
        raise usage_error("queries, keys, values and the gradient must have the same axes",
                          subject=name, expected="[heads, tokens, channels] of each",
                          found=", ".join(str(list(one.shape)) for one in arrays))
    batch = arrays[0].shape[:-3]
    if any(one.shape[:-3] != batch or one.shape[:-2] != arrays[0].shape[:-2] for one in arrays):
        raise usage_error("queries, keys, values and the gradient must have the same heads",
                          subject=name, expected=str(list(arrays[0].shape[:-2])),
                          found=", ".join(str(list(one.shape[:-2])) for one in arrays[1:]))
    heads = arrays[0].shape[-3] if arrays[0].ndim > 2 else 1
    rows, columns = grid or (0, 0)
    learned = {key: as_array(value).astype(np.float32) for key, value in (tensors or {}).items()}
    items = [one.reshape(-1, heads, *one.shape[-2:]) for one in arrays]
    found = [_attnscope.attend_gradient(name, as_texts(parameters), score_gradient,
                                        *map(_as_rows, item), learned, heads, causal, layer, prefix,
                                        rows, columns) for item in zip(*items)]
    d_q, d_k, d_v = (np.stack([_as_heads(one[part], heads) for one in found])
                     .reshape(arrays[part].shape) for part in range(3))
    sums = {key: sum(one[3][key] for one in found) for key in found[0][3]}
    return Gradients(d_q, d_k, d_v, sums)


def _gradient_of(mechanism: dict) -> Callable[..., Gradients]:
    """The function of a mechanism's gradient."""
    name = mechanism["name"]

    def gradient(q: Any, k: Any, v: Any, d_output: Any, *, causal: bool = False, grid: Any = None,
                 prefix: int = 0, layer: int = 0, tensors: Any = None,
                 score_gradient: str = "sign", **parameters: Any) -> Gradients:
        return _gradient(name, q, k, v, d_output, causal=causal, grid=grid, prefix=prefix,
                         layer=layer, tensors=tensors, score_gradient=score_gradient,
                         parameters=parameters)

    gradient.__doc__ = (
        f"Gradients of Σ output · d_output of {mechanism['title']}, as it is trained here: q, k, v of "
        "their shapes,\nand the learned tensors by name, which `tensors` must hold. q [heads, N, d], "
        "k [heads, M, d],\nv [heads, M, dv], d_output [heads, N, dv]; one axis fewer for a single "
        "head, more in front for a batch.\nscore_gradient is the derivative of |x| in adder "
        "attention: \"sign\" (exact; Adder, Eq. 23),\n\"hard_tanh\" (Eq. 6) or \"full\" (Eq. 5); "
        "hash codes are passed straight through.")
    gradient.__name__ = "gradient"
    gradient.__qualname__ = f"{name.replace('-', '_')}.gradient"
    gradient.__module__ = __name__
    return gradient


def _function_of(mechanism: dict) -> Callable[..., Attended]:
    """The function of a mechanism, with its parameters in its signature and docstring."""
    name = mechanism["name"]
    known = {one["name"]: one for one in mechanism["parameters"]}

    def attend(q: Any, k: Any, v: Any, *, causal: bool = False, scale: Optional[float] = None,
               grid: Any = None, prefix: int = 0, layer: int = 0, channel: Optional[int] = None,
               tensors: Any = None, output: bool = True, map: bool = True,
               **parameters: Any) -> Attended:
        return _attend(name, q, k, v, causal=causal, scale=scale, grid=grid, prefix=prefix,
                       layer=layer, channel=channel, tensors=tensors, output=output, map=map,
                       parameters=parameters)

    def described(one: dict) -> str:
        return f"    {one['name']}={one['default']}: {one['explanation']}; {one['range']}."

    lines = [f"{mechanism['title']} ({mechanism['source']}): {mechanism['formula']}.", "",
             "q [heads, N, d], k [heads, M, d], v [heads, M, dv], float32 (others are converted); "
             "one axis fewer for", "a single head, more in front for a batch. Returns Attended("
             "output [heads, N, dv], map [heads, N, M]).", "", "Parameters:"]
    lines += [described(one) for one in mechanism["parameters"]]
    if mechanism["causal"]:
        lines.append("    causal=False: no query sees later keys.")
    if mechanism["scaled"]:
        lines.append("    scale=None: the factor of q·k; 1/√d.")
    lines += ["    grid=None, prefix=0: (rows, columns) of tokens on a grid, after prefix others.",
              "    layer=0: the layer, on which random parameters depend.",
              "    channel=None: the channel of the map if each has its own; their mean.",
              "    output=True, map=True: what to compute; the other is None."]
    if mechanism["tensors"]:
        lines.append("    tensors=None: learned tensors by name:")
        lines += [f"        {key}: {text}." for key, text in mechanism["tensors"]]
    if mechanism["gradient"]:
        lines.append("    .gradient(q, k, v, d_output, …): gradients of q, k, v and learned tensors.")
    attend.__doc__ = "\n".join(lines)
    attend.__name__ = attend.__qualname__ = name.replace("-", "_")
    attend.__module__ = __name__
    signature = inspect.signature(attend)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    own += [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=one["default"])
            for key, one in known.items() if key not in signature.parameters]
    attend.__signature__ = signature.replace(parameters=own)
    if mechanism["gradient"]:
        attend.gradient = _gradient_of(mechanism)
    return attend


def mechanisms() -> list[dict]:
    """The mechanisms: name, title, source, formula, parameters, tensors."""
    return _attnscope.mechanisms()


_functions = {one.__name__: one for one in map(_function_of, _attnscope.mechanisms())}
globals().update(_functions)
__all__ = ["Attended", "Gradients", "mechanisms", *_functions]
