"""Models: opened from files, run on inputs."""

from __future__ import annotations

import builtins
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

from . import _attnscope
from ._arguments import as_texts, layer_list, shown
from ._attnscope import Model, Report, Trace
from .errors import usage_error
from .traces import as_array

RECORDED = ("vectors", "hidden", "factors", "quantities", "token_logits")


def open(path: Any, *, heads: Any = None, architecture: Any = None, like: str | None = None,
         name: str = "state dict", progress: Any = None, **options: Any) -> Model:
    """Opens a weight file or a folder with one, or takes a state dict in memory, recognises its
    architecture and loads its weights.

    Args:
        path: a file of any format that `attnscope inspect` reads, a folder, or tensors by name:
            model.state_dict() of PyTorch, or NumPy arrays. Tensors in memory are copied.
        heads: number of heads of each block, if the file does not say it (--model-heads).
        architecture: a JSON description of the architecture (--architecture).
        like: a family that the tensors' names follow, of `attnscope list architectures`:
            "timm-vit".
        name: the name of a model from memory.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
        options: properties that the file does not say, as --option takes them: `activation="gelu"`.

    Returns:
        A Model, whose repr says what was recognised and assumed.

    Raises:
        Error: as the command line says it; FileError for a file that is not a model.
    """
    if heads is not None:
        options["heads"] = heads
    if like is not None:
        if architecture is not None:
            raise usage_error("the architecture is described or like a family", subject="like",
                              expected="architecture or like", found="both")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "architecture.json")
            with builtins.open(file, "w", encoding="utf-8") as out:
                json.dump({"name": like, "like": like}, out)
            return open(path, architecture=file, name=name, progress=progress, **options)
    description = "" if architecture is None else os.fspath(architecture)
    if isinstance(path, Mapping):
        arrays = [(key, as_array(value).copy(order="C")) for key, value in path.items()]
        with shown(progress) as show:
            return _attnscope.read_arrays(arrays, name, as_texts(options), description, show)
    with shown(progress) as show:
        return _attnscope.open_model(os.fspath(path), as_texts(options), description, show)


def open_trace(path: Any, *, progress: Any = None) -> Trace:
    """Opens recorded maps: a trace of `attnscope trace` or Trace.save, or arrays [heads, N, M] of
    each layer in .npz, .npy or .pt."""
    with shown(progress) as show:
        return _attnscope.open_trace(os.fspath(path), show)


def as_locator(input: Any) -> Any:
    """A list of token ids, or a path, as a text; other inputs as they are."""
    if isinstance(input, (builtins.list, tuple)) and all(isinstance(one, int) for one in input):
        return "ids:" + ",".join(map(str, input))
    return os.fspath(input) if isinstance(input, os.PathLike) else input


def run(self: Model, input: Any, mechanism: str | None = None, *, identity: bool | None = None,
        record: Any = RECORDED[:4], layers: Any = None, channel: int | None = None,
        codes: Any = None, change: Any = None, progress: Any = None, **parameters: Any) -> Trace:
    """Runs the model on an input and records its maps.

    Args:
        input: a file (image, sound, text, .npy), "text:To be, or not", "ids:1,2,3",
            "DATASET#INDEX", token ids as a list of int, a picture (uint8 [height, width, 3] or of
            PIL), or an array float32 [C, H, W] (normalised image) or [N, D] (token vectors).
        mechanism: the mechanism to attend with; the trained one if None.
        identity: True adds I to the maps (Adder, Eq. 20), for mechanisms with that parameter.
        record: what to record besides the maps: "vectors" (q, k, v), "hidden" (the tokens after
            each layer), "factors", "quantities", "token_logits".
        layers: the layers to record; all if None.
        channel: the channel whose map is recorded if each has its own (DAFT); their mean if None.
        codes: a file of `attnscope learn-codes`.
        change: a function of (layer, head, map) that changes a map float32 [N, M] in place before
            it weighs the values, or returns another one.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
        parameters: parameters of the mechanism: `bits=8`.

    Returns:
        A Trace; maps [heads, N, M] are float32, rows are queries.

    Raises:
        UsageError: for an input that does not fit the model, or an unknown parameter.
    """
    input = as_locator(input)
    wanted = {record} if isinstance(record, str) else set(record or ())
    if unknown := wanted - {*RECORDED, "maps"}:
        raise usage_error("what to record is unknown", subject="record",
                          expected=", ".join(RECORDED), found=", ".join(sorted(unknown)))
    parameters = {"identity": identity, **parameters}
    with shown(progress) as show:
        return self._run(input, mechanism or "", as_texts(parameters),
                         *(name in wanted for name in RECORDED), layer_list(layers), channel,
                         "" if codes is None else os.fspath(codes), change, show)


def generate(self: Model, input: Any, tokens: int = 50, mechanism: str | None = None, *,
             temperature: float = 0, top_k: int = 0, top_p: float = 1, seed: int = 1,
             alternatives: int = 0, progress: Any = None, **parameters: Any) -> Report:
    """Continues a text with a language model: a row for each new token, with its probability and
    the entropy in bits. The report's heading is the new text.

    Args:
        input: a text file, "text:To be, or not", "ids:1,2,3", or token ids as a list of int.
        tokens: number of new tokens at most; a token that stands for no text (</s>) ends the text,
            and so does a full context.
        mechanism: the mechanism to attend with; the trained one if None.
        temperature: divisor of the logits before a token is drawn; 0 takes the likeliest.
        top_k: number of likeliest tokens that can be drawn; 0 for all.
        top_p: sum of probabilities of the likeliest tokens that can be drawn, after `top_k`.
        seed: seed of the draws.
        alternatives: number of likeliest tokens that are recorded at each position.

    Raises:
        UsageError: for a model that does not predict the next token of a text.
    """
    with shown(progress) as show:
        return self._generate(as_locator(input), mechanism or "", as_texts(parameters), tokens,
                              temperature, top_k, top_p, seed, alternatives, show)


def patch(self: Model, input: Any, other: Any, answer: Any = None, against: Any = None, *,
          of: str = "head-output", layers: Any = None, heads: Any = None, positions: Any = None,
          to: str | None = None, through_mlps: bool = True, place: int | None = None,
          together: bool = False, mechanism: str | None = None, progress: Any = None,
          **parameters: Any) -> Report:
    """Activation patching: runs the model on `input` with one part at a time of its run on `other`:
    a row for each place. The difference is the logit of `answer` minus that of `against`; the
    effect is (difference − corrupted) / (clean − corrupted), from 0 (as on `input`) to 1 (as on
    `other`). Both inputs need the same number of tokens.

    Args:
        input: the input that the model runs on, as in Model.run.
        other: the input whose run gives the patches.
        answer, against: two classes or tokens, by number or name: " Mary"; the likeliest on `other`
            and on `input` if None.
        of: "head-output" or "map" of each head; at each token position "residual" (the stream
            before a layer), "attention" or "mlp" (their outputs).
        layers, heads, positions: what is patched, from 0; all if None. Positions of maps are
            queries.
        to: path patching: the part reaches only these ends directly, with all heads in between as
            in the unchanged run: "end" (of the residual stream), or "9.6.query,9.9.value".
        through_mlps: False keeps MLPs on the path as in the unchanged run, too.
        place: the token position whose logits are read; the last if None.
        together: True patches all places at once: one row.
        mechanism: the mechanism to attend with; the trained one if None.
        progress: as in Model.run.
        parameters: parameters of the mechanism: `bits=8`.

    Raises:
        UsageError: for inputs with different numbers of tokens, and unknown places or answers.
    """
    with shown(progress) as show:
        return self._patch(as_locator(input), as_locator(other), of, "" if answer is None else str(answer),
                           "" if against is None else str(against), to or "", layer_list(layers), layer_list(heads), layer_list(positions),
                           -1 if place is None else place, through_mlps, together, mechanism or "",
                           as_texts(parameters), show)


Model.run = run
Model.generate = generate
Model.patch = patch
