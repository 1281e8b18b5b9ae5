"""Attention maps of a running PyTorch model.

    with attnscope.hook(model, layers=[0, 5], every=100) as recorder:
        train(model)
    attnscope.spectrum(recorder.trace())

The recorder takes queries, keys and values where attention is called, and computes the map itself
in float32: softmax(q kᵀ · scale + mask) (Vaswani et al. 2017, Eq. 1). Where a module computes it by
products and a softmax of its own, the softmax's result is the map. The model runs as before: its
outputs, gradients and random numbers are equal to the bit.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import inspect
import math
import sys
import threading
from collections import deque
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional

__all__ = ["Recorded", "Recorder", "hook"]


class Recorded(NamedTuple):
    """One call of attention. Arrays are float32 of one item of the batch: `map` [heads, N, M],
    `q` [heads, N, d], `k` and `v` [heads, M, d]; None if vectors are not kept. Of a softmax neither
    vectors nor their scale are known."""

    name: str
    layer: int
    step: int
    map: Any
    q: Any
    k: Any
    v: Any
    scale: Optional[float]
    causal: bool


def hook(model: Any = None, *, layers: Optional[Iterable[int]] = None, every: int = 1,
         item: int = 0, vectors: bool = False, steps: int = 1, most_bytes: int = 1 << 30,
         modules: Optional[Iterable[str]] = None) -> "Recorder":
    """A context manager that records the attention of a running PyTorch model.

    It sees nn.MultiheadAttention, its fast path in nn.TransformerEncoderLayer included, and calls
    of F.scaled_dot_product_attention, fused kernels included, as timm and Hugging Face make them.
    Within attention modules it also sees torch.softmax, F.softmax, Tensor.softmax and nn.Softmax
    over the last of four axes [batch, heads, N, M], as timm without fused attention and Hugging
    Face's "eager" compute it. It does not see compiled or scripted modules, functions that a module
    kept in an attribute before, and other ways to normalise. Compile and script outside `with`.

    Args:
        model: an nn.Module. Calls are numbered within each of its forward passes, and a step is one
            forward pass. None records calls of any code on this thread, all in step 0.
        layers: the calls to record, counted from 0 in the order in which they run; all if None.
        every: the steps to record: every n-th, from 0.
        item: the item of the batch to record.
        vectors: True to keep queries, keys and values as well.
        steps: number of the most recent recorded steps to keep.
        most_bytes: limit of the arrays that are kept, in bytes; older steps are dropped beyond it,
            and a step that is larger by itself keeps the calls that fit.
        modules: names of model.named_modules(), or patterns of them as "blocks.*.mixer", in which a
            softmax is attention; those with "attn" or "attention" in their own or their class's
            name if None, no modules if empty.

    Returns:
        A Recorder: `calls` has what was recorded, trace() makes a Trace of a step.
    """
    return Recorder(model, layers=layers, every=every, item=item, vectors=vectors, steps=steps,
                    most_bytes=most_bytes, modules=modules)


def _attention_modules(model: Any, patterns: Optional[Iterable[str]]) -> list:
    """The modules in which a softmax is attention, without compiled and scripted ones and what they
    contain. nn.MultiheadAttention is recorded as a whole."""
    import torch
    found = []

    def visit(name: str, module: Any) -> None:
        is_compiled = (hasattr(module, "_orig_mod")
                       or getattr(module, "_compiled_call_impl", None) is not None)
        if is_compiled or isinstance(module, torch.jit.ScriptModule):
            return
        found.append((name, module))
        for child, one in module.named_children():
            visit(f"{name}.{child}" if name else child, one)

    visit("", model)
    if patterns is not None:
        chosen = []
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            fitting = [one for name, one in found if fnmatch.fnmatchcase(name, pattern)]
            if not fitting:
                from .errors import usage_error
                raise usage_error("the model has no such module", subject="modules",
                                  expected="names of model.named_modules(), or patterns",
                                  found=pattern)
            chosen += fitting
        return chosen
    named = []
    for name, module in found:
        words = f"{name.rpartition('.')[2]} {type(module).__name__}".lower()
        is_own = type(module).__module__.partition(".")[0] != "torch"
        if is_own and ("attn" in words or "attention" in words):
            named.append(module)
    # A whole model that is named after its attention has more than that in it.
    return [one for one in named if one is not model] or named


def _bytes_of(call: Recorded) -> int:
    return sum(array.nbytes for array in (call.map, call.q, call.k, call.v) if array is not None)


class Recorder:
    """Records attention between `with` and its end. See attnscope.hook."""

    def __init__(self, model: Any, *, layers: Optional[Iterable[int]], every: int, item: int,
                 vectors: bool, steps: int, most_bytes: int,
                 modules: Optional[Iterable[str]]) -> None:
        from .errors import usage_error
        for name, value in (("every", every), ("steps", steps), ("most_bytes", most_bytes)):
            if value < 1:
                raise usage_error(f"{name} must be at least 1", subject=name, found=str(value))
        if model is None and modules is not None:
            raise usage_error("modules are those of a model", subject="modules",
                              expected="hook(model, modules=…)")
        self._model, self._every, self._item, self._vectors = model, every, item, vectors
        self._patterns = modules
        self._layers = None if layers is None else frozenset(int(layer) for layer in layers)
        self._most_steps, self._most_bytes = steps, most_bytes
        self._recorded: deque[list[Recorded]] = deque()
        self._bytes = 0
        self._step, self._layer = -1, 0
        self._depth, self._attending = 0, 0  # forwards of the model, of attention modules, that run
        self._busy = False
        self._thread = 0
        self._undo: list = []
        self.dropped = 0  #: number of calls that did not fit into most_bytes

    # --- what was recorded ------------------------------------------------------------------------

    @property
    def steps(self) -> list[int]:
        """Numbers of the steps that are kept, oldest first."""
        return [calls[0].step for calls in self._recorded if calls]

    @property
    def calls(self) -> list[Recorded]:
        """All calls that are kept, oldest first."""
        return [call for calls in self._recorded for call in calls]

    def trace(self, step: Optional[int] = None, **labels: Any) -> Any:
        """The Trace of a step, the last one if None: a layer for each recorded call, in order.

        `labels` are further arguments of attnscope.maps: tokens, image, grid, prefix, name, input.
        """
        from .errors import usage_error
        found = [calls for calls in self._recorded if calls and step in (None, calls[0].step)]
        if not found:
            raise usage_error("no attention was recorded", subject="hook" if step is None
                              else f"step {step}",
                              remedy="call the model within `with`; name the modules that "
                              "compute attention themselves with modules=")
        from .traces import maps
        calls = found[-1]
        if self._vectors and all(call.q is not None for call in calls):
            labels = {"q": [call.q for call in calls], "k": [call.k for call in calls],
                      "v": [call.v for call in calls], **labels}
        labels.setdefault("name", type(self._model).__name__ if self._model is not None else "hook")
        labels.setdefault("causal", all(call.causal for call in calls))
        if len({call.scale for call in calls}) == 1:
            labels.setdefault("scale", calls[0].scale)
        labels.setdefault("mechanism", "softmax")
        return maps([call.map for call in calls], **labels)

    # --- recording --------------------------------------------------------------------------------

    def __enter__(self) -> "Recorder":
        import torch
        import torch.nn.functional as functional
        if self._undo:
            from .errors import usage_error
            raise usage_error("the recorder is recording already", subject="hook")
        self._torch = torch
        self._thread = threading.get_ident()
        attention = [] if self._model is None else _attention_modules(self._model, self._patterns)
        self._replace(torch.nn.MultiheadAttention, "forward", self._around_module)
        if hasattr(torch, "_transformer_encoder_layer_fwd"):
            self._replace(torch, "_transformer_encoder_layer_fwd", self._around_fused_layer)
        functions = {}  # replacements by the functions that they replace
        if hasattr(functional, "scaled_dot_product_attention"):  # from PyTorch 2 on
            functions.update(self._replace(functional, "scaled_dot_product_attention",
                                           self._around_function))
        if attention:
            for owner in (torch, functional, torch.Tensor):
                functions.update(self._replace(owner, "softmax", self._around_softmax))
        if self._model is None:
            self._begin_step()
            return self
        self._replace_imported(functions)
        self._around_forward([self._model], self._begin_forward, self._end_forward)
        self._around_forward(attention, self._begin_attention, self._end_attention)
        return self

    def __exit__(self, *_: Any) -> None:
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, around: Callable) -> dict:
        """Replaces a function until the end of `with`; {original: replacement}."""
        original = getattr(owner, name)
        is_inherited = name not in vars(owner)
        replacement = around(original)
        functools.update_wrapper(replacement, original, updated=())
        setattr(owner, name, replacement)
        self._undo.append(lambda: delattr(owner, name) if is_inherited
                          else setattr(owner, name, original))
        return {original: replacement}

    def _replace_imported(self, functions: dict) -> None:
        """Replaces the names that files of the model's classes imported functions by."""
        by_id = {id(original): replacement for original, replacement in functions.items()}
        files = {base.__module__ for module in self._model.modules()
                 for base in type(module).__mro__}
        for file in sorted(files):
            if file.partition(".")[0] in ("torch", "builtins") or file not in sys.modules:
                continue
            space = sys.modules[file]
            for name, value in list(vars(space).items()):
                if id(value) in by_id:
                    self._replace(space, name, lambda original: by_id[id(original)])

    def _around_forward(self, modules: list, before: Callable, after: Callable) -> None:
        """Calls before() and after() around each forward pass of the modules on this thread."""
        chosen = frozenset(map(id, modules))

        # Not by hooks of modules, which turn fast paths off and so change outputs. Not by
        # attributes of the modules either: copies of them would run the original's forward.
        def around(original: Callable, bound: Any = None) -> Callable:
            def forward(*arguments: Any, **named: Any) -> Any:
                module = arguments[0] if bound is None else bound
                if id(module) not in chosen or threading.get_ident() != self._thread:
                    return original(*arguments, **named)
                before()
                try:
                    return original(*arguments, **named)
                finally:
                    after()

            return forward

        for kind in dict.fromkeys(type(one) for one in modules if "forward" not in vars(one)):
            self._replace(kind, "forward", around)
        for one in modules:
            if "forward" in vars(one):
                self._replace(one, "forward", functools.partial(around, bound=one))

    def _begin_forward(self) -> None:
        if self._depth == 0:
            self._begin_step()
        self._depth += 1

    def _end_forward(self) -> None:
        self._depth -= 1

    def _begin_attention(self) -> None:
        self._attending += 1

    def _end_attention(self) -> None:
        self._attending -= 1

    def _begin_step(self) -> None:
        self._step += 1
        self._layer = 0
        if self._step % self._every == 0:
            self._recorded.append([])
            while len(self._recorded) > self._most_steps:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        self._bytes -= sum(map(_bytes_of, self._recorded.popleft()))

    def _next_layer(self) -> Optional[int]:
        """The number of this call if it is to be recorded."""
        if self._busy or threading.get_ident() != self._thread:
            return None
        if self._model is not None and self._depth == 0:
            return None  # another model's
        layer = self._layer
        self._layer += 1
        if self._step % self._every or (self._layers is not None and layer not in self._layers):
            return None
        return layer

    def _keep(self, call: Recorded) -> None:
        size = _bytes_of(call)
        while self._bytes + size > self._most_bytes and len(self._recorded) > 1:
            self._drop_oldest()
        if self._bytes + size > self._most_bytes:
            self.dropped += 1
            return
        self._bytes += size
        self._recorded[-1].append(call)

    @contextlib.contextmanager
    def _unseen(self) -> Iterator[None]:
        """Records no calls: they are part of an attention that is recorded as a whole."""
        if threading.get_ident() != self._thread:
            yield
            return
        was, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = was

    @contextlib.contextmanager
    def _apart(self, tensor: Any) -> Iterator[None]:
        """Computes without gradients and in float32, whatever the model does."""
        kind = tensor.device.type
        with self._unseen(), self._torch.no_grad(), (
                self._torch.autocast(kind, enabled=False) if kind in ("cpu", "cuda")
                else contextlib.nullcontext()):
            yield

    def _record(self, name: str, layer: int, q: Any, k: Any, v: Any, mask: Any, causal: bool,
                scale: Optional[float]) -> None:
        """Records one call of one item: q [heads, N, d], k [Hk, M, d], v [Hk, M, dv], float32; a
        mask of bool (True is seen) or to be added, that broadcasts to [heads, N, M]."""
        torch = self._torch
        if k.shape[0] != q.shape[0]:  # grouped queries
            k, v = (one.repeat_interleave(q.shape[0] // one.shape[0], 0) for one in (k, v))
        factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
        scores = torch.matmul(q * factor, k.transpose(-2, -1))
        if mask is not None:
            scores = (scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool
                      else scores + mask.float())
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        weights = torch.softmax(scores, -1)
        vectors = (q, k, v) if self._vectors else (None,) * 3
        self._record_map(name, layer, scores, weights, causal or mask is not None, vectors, factor)

    def _record_map(self, name: str, layer: int, scores: Any, weights: Any, masked: bool,
                    vectors: tuple = (None,) * 3, scale: Optional[float] = None) -> None:
        """Records the softmax of scores of one item, both [heads, N, M]."""
        # A row that sees nothing: softmax of −inf alone is NaN.
        weights = weights.masked_fill((scores == -math.inf).all(-1, keepdim=True), 0)

        def array(tensor: Any) -> Any:
            return tensor.detach().to("cpu", copy=True).contiguous().numpy()

        kept = [None if one is None else array(one) for one in vectors]
        n, m = weights.shape[-2:]
        is_causal = masked and n == m > 1 and not bool(weights.triu(1).any())
        self._keep(Recorded(name, layer, self._step, array(weights), *kept, scale, is_causal))

    def _item_of(self, tensor: Any, axes: int) -> Any:
        """One item of the batch of a tensor with `axes` axes after those of the batch."""
        tensor = tensor.detach()
        if tensor.dim() <= axes:
            return tensor
        tensor = tensor.reshape(-1, *tensor.shape[-axes:])
        return tensor[min(self._item, tensor.shape[0] - 1)]

    # --- F.scaled_dot_product_attention -----------------------------------------------------------

    def _around_function(self, original: Any) -> Any:
        def attention(*arguments: Any, **named: Any) -> Any:
            layer = self._next_layer()
            if layer is not None:
                self._take_call(layer, arguments, named)
            with self._unseen():
                return original(*arguments, **named)

        return attention

    def _take_call(self, layer: int, arguments: tuple, named: dict) -> None:
        """Records F.scaled_dot_product_attention: query [..., heads, N, d], key, value."""
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
        given = {**dict(zip(names, arguments)), **named}
        query = given["query"]
        with self._apart(query):
            q, k, v = (self._item_of(given[name], 3).float() for name in names[:3])
            q, k, v = (one if one.dim() == 3 else one.unsqueeze(0) for one in (q, k, v))
            mask = given.get("attn_mask")
            if mask is not None and mask.dim() > 3:
                whole = mask.expand(*query.shape[:-3], *mask.shape[-3:])
                mask = self._item_of(whole, 3)
            self._record("scaled_dot_product_attention", layer, q, k, v,
                         None if mask is None else mask.detach(), bool(given.get("is_causal")),
                         given.get("scale"))

    # --- softmax in attention modules -------------------------------------------------------------

    def _around_softmax(self, original: Any) -> Any:
        def softmax(*arguments: Any, **named: Any) -> Any:
            scores = arguments[0] if arguments else named.get("input")
            axis = named.get("dim", arguments[1] if len(arguments) > 1 else None)
            if not self._makes_maps(scores, axis):
                return original(*arguments, **named)
            layer = self._next_layer()
            with self._unseen():  # F.softmax calls Tensor.softmax
                weights = original(*arguments, **named)
            if layer is not None:
                with self._apart(weights):
                    self._record_map("softmax", layer, self._item_of(scores, 3),
                                     self._item_of(weights, 3).float(), True)
            return weights

        return softmax

    def _makes_maps(self, scores: Any, axis: Any) -> bool:
        """True within an attention module if the softmax over the axis is [batch, heads, N, M]."""
        return (self._attending > 0 and isinstance(scores, self._torch.Tensor)
                and scores.dim() == 4 and axis in (-1, 3))

    # --- nn.MultiheadAttention, and the fused nn.TransformerEncoderLayer --------------------------

    def _around_module(self, original: Any) -> Any:
        recorder = self
        signature = inspect.signature(original)

        def forward(*arguments: Any, **named: Any) -> Any:
            layer = recorder._next_layer()
            if layer is not None:
                recorder._take_module(layer, signature.bind(*arguments, **named).arguments)
            with recorder._unseen():
                return original(*arguments, **named)

        return forward

    def _take_module(self, layer: int, given: dict) -> None:
        module = given["self"]
        inputs = [given[name] for name in ("query", "key", "value")]
        with self._apart(inputs[0]):
            batched = inputs[0].is_nested or inputs[0].dim() == 3
            if batched and not module.batch_first:
                inputs = [one.transpose(0, 1) for one in inputs]
            tokens = [self._tokens_of(one) for one in inputs]
            weights = ([module.q_proj_weight, module.k_proj_weight, module.v_proj_weight]
                       if module.in_proj_weight is None
                       else module.in_proj_weight.split(module.embed_dim))
            padding = given.get("key_padding_mask")
            if padding is not None:
                padding = self._item_of(padding, 1)
            self._take_projected("MultiheadAttention", layer, tokens, weights, module.in_proj_bias,
                                 module.num_heads, padding, given.get("attn_mask"),
                                 (module.bias_k, module.bias_v), module.add_zero_attn)

    def _around_fused_layer(self, original: Any) -> Any:
        def fused_layer(*arguments: Any, **named: Any) -> Any:
            layer = self._next_layer()
            if layer is not None:
                self._take_fused_layer(layer, *arguments, **named)
            return original(*arguments, **named)

        return fused_layer

    def _take_fused_layer(self, layer: int, tokens: Any, width: int, heads: int, weight: Any,
                          bias: Any, out_weight: Any, out_bias: Any, uses_gelu: bool,
                          norm_first: bool, eps: float, norm_weight: Any, norm_bias: Any,
                          *rest: Any, **named: Any) -> None:
        """Records torch._transformer_encoder_layer_fwd, which nn.TransformerEncoderLayer calls when
        it does not train: its arguments end with a mask and the mask's kind."""
        mask = named.get("mask", rest[6] if len(rest) > 6 else None)
        kind = named.get("mask_type", rest[7] if len(rest) > 7 else None)
        with self._apart(tokens):
            own = self._tokens_of(tokens)
            if norm_first:
                own = self._torch.nn.functional.layer_norm(own, (width,), norm_weight.float(),
                                                           norm_bias.float(), eps)
            is_padding = mask is not None and kind == 1
            self._take_projected("TransformerEncoderLayer", layer, [own] * 3, weight.split(width),
                                 bias, heads, self._item_of(mask, 1) if is_padding else None,
                                 None if is_padding else mask)

    def _tokens_of(self, batch: Any) -> Any:
        """The tokens [n, D] of one item of [batch, n, D], of [n, D], or of a nested tensor."""
        if batch.is_nested:
            items = batch.unbind()
            return items[min(self._item, len(items) - 1)].detach().float()
        return self._item_of(batch, 2).float()

    def _take_projected(self, name: str, layer: int, tokens: Any, weights: Any, bias: Any,
                        heads: int, padding: Any, mask: Any, added: tuple = (None, None),
                        adds_zero: bool = False) -> None:
        """Records attention of tokens [n, D] each, projected by weights [E, D] and a bias [3 E].
        True hides a key in `padding` [M], and a pair in `mask`, [N, M] or [batch · heads, N, M]."""
        torch = self._torch
        biases = [None] * 3 if bias is None else bias.chunk(3)
        projected = []
        for own, weight, one in zip(tokens, weights, biases):
            rows = own @ weight.detach().float().t()
            projected.append(rows if one is None else rows + one.detach().float())
        for index, row in zip((1, 2), added):
            if row is not None:
                projected[index] = torch.cat([projected[index], row.detach().float()[0]])
            if adds_zero:
                zeros = projected[index].new_zeros(1, projected[index].shape[1])
                projected[index] = torch.cat([projected[index], zeros])
        q, k, v = (one.reshape(one.shape[0], heads, -1).transpose(0, 1) for one in projected)
        hidden = []
        if padding is not None:
            hidden.append(padding[:tokens[1].shape[0]].reshape(1, 1, -1))  # nested: without padding
        if mask is not None:
            own = mask.shape[0] > 1 and mask.dim() == 3
            hidden.append(self._item_of(mask.reshape(-1, heads, *mask.shape[-2:]), 3) if own
                          else mask)
        bias_of_scores = None
        for one in hidden:
            one = one.detach()
            if one.dtype in (torch.bool, torch.uint8):
                one = torch.zeros_like(one, dtype=torch.float32).masked_fill(one.bool(), -math.inf)
            # Keys that the module adds at the end are always seen.
            one = torch.nn.functional.pad(one.float(), (0, k.shape[1] - one.shape[-1]))
            bias_of_scores = one if bias_of_scores is None else bias_of_scores + one
        self._record(name, layer, q, k, v, bias_of_scores, False, None)
