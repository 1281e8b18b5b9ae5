"""Studies: many runs of models, over a data set or a text, and trainings. They take minutes to days,
show their progress, and end on Ctrl-C. What is kept in a file resumes by the same call."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from . import _attnscope
from ._arguments import as_texts, identity_view, layer_list, mechanism_of, shown
from ._attnscope import Model, Report
from .errors import usage_error


def _studied(models: Any, mechanism: Any) -> list[tuple]:
    """Each model with the name and the settings of the mechanism laid over it."""
    several = models if isinstance(models, list) else [models]
    pairs = [one if isinstance(one, tuple) else (one, mechanism) for one in several]
    for model, _ in pairs:
        if not isinstance(model, Model):
            raise usage_error("a study runs models", subject="model", expected="attnscope.open(…)",
                              found=type(model).__name__)
    return [(model, *mechanism_of(words)) for model, words in pairs]


def _hdf5(out: Any) -> str:
    name = "" if out is None else os.fspath(out)
    if name and pathlib.Path(name).suffix not in (".h5", ".hdf5"):
        raise usage_error("the output is an HDF5 file and must have the extension of one",
                          subject="out", expected="a name that ends in .h5 or .hdf5", found=name)
    return name


def _path(name: Any) -> str:
    return "" if name is None else os.fspath(name)


def truncate(models: Any, dataset: Any = None, *, input: Any = None, ranks: Any = None,
             layers: Any = None, heads: Any = None, cut: str = "without-identity",
             rows: str = "as-is", threshold: float = 0.9, share: str = "values",
             baselines: bool = False, mechanism: str | None = None, count: int = 0, seed: int = 0,
             out: Any = None, restart: bool = False, progress: Any = None) -> Report:
    """How a model's answers change when its maps are replaced by their best approximations of rank
    r, A_r = Σ_{k≤r} σ_k u_k v_kᵀ (Eckart and Young 1936): a row for each rank, first the unchanged
    model. Accuracies are shares with standard errors √(p(1 − p)/n); the divergence is the mean
    KL(p ‖ p_r) of the answers in bits.

    Args:
        models: a Model, a (Model, mechanism), or a list of these.
        dataset: labelled images: IDX, HDF5, NPZ, or a folder.
        input: a text instead, for language models: a .txt file, "text:To be", "ids:1,2,3".
        ranks: the ranks r, at least 1; powers of two if None.
        layers, heads: the truncated maps, from 0; all if None.
        cut: with an identity mapping: "without-identity" truncates A and runs A_r + I,
            "with-identity" (A + I)_r, "both" one after the other.
        rows: "as-is", "renormalised" to their former sums, or "both".
        threshold: τ of the mean equivalent rank in `heading` and parts["series"].
        share: what the threshold is a share of: "values" for Σσ, "energy" for Σσ².
        baselines: True for the equivalent rank of null models, too.
        mechanism: the attention laid over the weights, "adder,identity=true"; their own if None.
        count, seed: number of images or chunks of the text, all if 0, and the seed of their
            choice.
        out: an HDF5 file that keeps every answer, for figures and for resuming.
        restart: True to compute what `out` has again.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.

    Returns:
        A Report; parts["series"] has a row for each model, with mean ranks.
    """
    studied = _studied(models, mechanism)
    file = _hdf5(out)
    with shown(progress) as show:
        return _attnscope.truncate(studied, _path(dataset), _path(input), layer_list(ranks),
                                   layer_list(layers), layer_list(heads), cut, rows,
                                   (threshold, share), baselines, count, seed, file, restart, show)


def ablate(models: Any, dataset: Any = None, *, input: Any = None, by: str = "zero",
           other: Any = None, each: str = "head", layers: Any = None, heads: Any = None,
           answers: int = 0, mechanism: str | None = None, count: int = 0, seed: int = 0,
           out: Any = None, restart: bool = False, progress: Any = None) -> Report:
    """How a model's answers change when maps are replaced, one head at a time: a row for each
    replacement, first the unchanged model. The error of the change of the accuracy is
    √(b + c − (b − c)²/n)/n, with b and c the answers that only one of both has right; the
    divergence is the mean KL of the answers in bits.

    Args:
        models: a Model, a (Model, mechanism), or a list of these.
        dataset: labelled images: IDX, HDF5, NPZ, or a folder.
        input: a text instead, for language models; with `answers` any one input.
        by: the replacement of A: "zero", "uniform", "mean" (over the data set), "shuffled", "head"
            or "mechanism". The I of an identity mapping stays.
        other: the head's number for by="head"; the mechanism, "hash,bits=16", for by="mechanism".
        each: what is replaced at a time: a "head", the heads of a "layer", or "all".
        layers, heads: the replaced maps, from 0; all if None.
        answers: number of classes or tokens whose logits are shown for the one `input`, with all
            chosen maps replaced at once: a row for each, instead.
        mechanism, count, seed, out, restart, progress: as in attnscope.truncate.
    """
    studied = _studied(models, mechanism)
    name, settings = mechanism_of(other)
    if answers:
        if len(studied) != 1 or input is None or dataset is not None or out is not None:
            raise usage_error("answers need one model and one input", subject="answers",
                              expected="ablate(model, input=…, answers=5)")
        with shown(progress) as show:
            return _attnscope.ablate_once(studied[0], _path(input), by, name, settings,
                                          layer_list(layers), layer_list(heads), answers, show)
    file = _hdf5(out)
    with shown(progress) as show:
        return _attnscope.ablate(studied, _path(dataset), _path(input), by, name, settings, each,
                                 layer_list(layers), layer_list(heads), count, seed, file, restart,
                                 show)


def sweep(models: Any, dataset: Any, out: Any = None, *, identity: Any = None,
          thresholds: Any = (0.9,), share: str = "values", of: str = "map",
          centred: bool = False, added: str = "none", head_numbers: bool = False,
          baselines: bool = False, at_entropy: float | None = None, first: int = 0, end: int = 0,
          mechanism: str | None = None, count: int = 10_000, seed: int = 0, restart: bool = False,
          progress: Any = None) -> Report:
    """Spectra and ranks over a data set: a row for each layer of each model, with the mean, the
    deviation and the quantiles of the maps' equivalent ranks at the first threshold, and of the
    statistics of their maps and mechanisms.

    Args:
        models: a Model, a (Model, mechanism), or a list of these.
        dataset: images: IDX, HDF5, NPZ, or a folder.
        out: the HDF5 file of the result, with the mean spectra; a temporary one if None. After an
            interruption the same call resumes from FILE.unfinished.
        identity: None for maps as the mechanism has them, True with I, False without, "both".
        thresholds: τ of the equivalent ranks, each above 0, at most 1.
        share: what the thresholds are shares of: "values" for Σσ, "energy" for Σσ².
        of, centred, added: the analysed matrix, as in attnscope.spectrum.
        head_numbers: True for every number of attnscope.heads: parts["heads of …"].
        baselines: True for ranks of null models.
        at_entropy: the share of ln n at which the mean row entropy of each map is brought by a
            temperature, for "rank_at_entropy", its rank there.
        first, end: the first item, and the first that is left out again; 0 for no end.
        mechanism, count, seed, restart, progress: as in attnscope.truncate.
    """
    studied = _studied(models, mechanism)
    file = _hdf5(out)
    if isinstance(thresholds, (int, float)):
        thresholds = [thresholds]
    with tempfile.TemporaryDirectory() as folder, shown(progress) as show:
        return _attnscope.sweep(studied, _path(dataset), file or os.path.join(folder, "sweep.h5"),
                                identity_view(identity), [float(one) for one in thresholds],
                                share, of, added, centred, head_numbers, baselines, at_entropy,
                                first, end, count, seed, restart, show)


def train(folder: Any, recipe: Any = None, *, study: str | None = None, only: Any = None,
          seeds: int = 3, resume: bool = False, progress: Any = None, **settings: Any) -> Report:
    """Trains a network and keeps its models at some steps in a folder: a row for each step at which
    it was tested, with losses (nats), accuracy, and the ranks and entropy of its maps. Ctrl-C keeps
    its state; `train(folder, resume=True)` continues, with the same result to the bit.

    Args:
        folder: the new folder of the run.
        recipe: settings as a dict, or a JSON file of `attnscope train --print-recipe`.
        study: the name of a study, "adder-rank", which trains several variants: a row for each
            variant and layer untrained, at equal steps and at equal accuracy.
        only: the variants of the study, by names or parts of them; all if None.
        seeds: number of runs per variant of a study.
        resume: True to continue the run or study in the folder, with its own recipe.
        settings: settings that override the recipe's: `dataset="images"`, `steps=500`,
            `mechanism="adder,identity=true"`. attnscope.recipe_settings() lists them.
        progress: as in attnscope.truncate.
    """
    if resume:
        if recipe is not None or study or only or settings:
            raise usage_error("a resumed run keeps the recipe that it began with", subject="resume",
                              remedy="leave the other arguments out, or begin another run")
        with shown(progress) as show:
            return _attnscope.resume_training(os.fspath(folder), show)
    words = ""
    if isinstance(recipe, Mapping):
        words = json.dumps(dict(recipe))
    elif recipe is not None:
        words = pathlib.Path(recipe).read_text(encoding="utf-8")
    if only is not None and not study:
        raise usage_error("only a study has variants", subject="only", expected="study=")
    chosen = "" if only is None else only if isinstance(only, str) else ",".join(only)
    with shown(progress) as show:
        return _attnscope.train(os.fspath(folder), words, as_texts(settings), study or "", chosen,
                                seeds, show)


def recipe_settings() -> list[tuple[str, str, str, str]]:
    """The settings of attnscope.train: (name, default, range, explanation)."""
    return _attnscope.recipe_settings()
