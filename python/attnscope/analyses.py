"""Analyses: each returns the table of the command of its name."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from . import _attnscope
from ._arguments import as_texts, identity_view, layer_list, shown
from ._attnscope import Model, Report, Trace
from .errors import usage_error
from .traces import as_trace


def spectrum(x: Any, *, identity: Any = None, threshold: float = 0.9, share: str = "values",
             of: str = "map", centred: bool = False, added: str = "none", layers: Any = None,
             heads: Any = None, channel: str | None = None, method: str = "automatic",
             dense_limit: int = 4095, proposition: bool = False, baselines: bool = False,
             at_entropy: float | None = None, stacked: bool = False,
             progress: Any = None) -> Report:
    """Singular values and ranks of every map, a row for each.

    Args:
        x: a Trace, or any array [..., N, M], or a list of arrays (see attnscope.maps). With
            `stacked` a list of traces of one model.
        identity: None for maps as the mechanism has them, True with I, False without, "both".
        threshold: τ of the equivalent rank, the smallest r with σ_1 + … + σ_r ≥ τ Σσ (Adder,
            Section 3.2.2), above 0, at most 1.
        share: "values" for that, or "energy" for σ_1² + … + σ_r² ≥ τ Σσ².
        of: the analysed matrix: "map", "scores", "log-map", "norm-weighted", "head-output", …
        centred: True to subtract the mean row, X − 1x̄ᵀ.
        added: "none", "residual", "without-convolution" or "convolution".
        layers, heads: the maps, from 0; all if None.
        channel: "all" for a row for each channel, if each channel of a head has its own map (DAFT):
            the trace's model runs again for each. None for the channel that Model.run recorded, or
            their mean.
        method: "automatic", "dense", "factored" or "estimated".
        dense_limit: number of tokens above which the values of a map are estimated.
        proposition: True to check Proposition 1 on each map.
        baselines: True for ranks of null models, which take nine times the work.
        at_entropy: a share of ln N, in (0, 1): also ranks at that row entropy.
        stacked: True for one spectrum of all traces together: the rows of their queries, keys,
            values, outputs or tokens (`of`), one above the other, without null models.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.

    Returns:
        A Report with the columns layer, head, equivalent_rank, effective_rank, stable_rank,
        numerical_rank, singular_values and others; parts["means"] has means of each layer and all.
    """
    if channel not in (None, "all"):
        raise usage_error("a trace holds the maps of one channel, or their mean",
                          subject="channel", expected='"all"', found=str(channel),
                          remedy="record another channel with Model.run(…, channel=)")
    if stacked:
        if channel or proposition or baselines or at_entropy or method != "automatic":
            raise usage_error("stacked rows have a spectrum and ranks alone", subject="stacked",
                              remedy="leave the other options out")
        with shown(progress) as show:
            return _attnscope.stacked_spectrum([as_trace(one) for one in x],
                                               identity_view(identity), (threshold, share), of,
                                               added, centred, layer_list(layers),
                                               layer_list(heads), show)
    with shown(progress) as show:
        return _attnscope.spectrum(as_trace(x), identity_view(identity), (threshold, share), of,
                                   added, centred, layer_list(layers), layer_list(heads),
                                   channel == "all", method, dense_limit, proposition, baselines,
                                   at_entropy, show)


def frequencies(x: Any, *, of: str = "filter-response", profile: str = "radius",
                identity: Any = None, layers: Any = None, heads: Any = None,
                progress: Any = None) -> Report:
    """Use of the frequencies of rotary positions by heads, a row for each, or spatial frequencies
    over the grid of patches, a row for each layer, with its numbers by frequency as a column.

    Args:
        x: a Trace, for "rotary-use" recorded with "vectors"; or a list of traces of one model, over
            whose inputs the rows are averaged.
        of: "rotary-use", mean ‖q_c‖ · mean ‖k_c‖ of each pair of channels next to its wavelength
            (Barbero et al. 2025); "filter-response", ‖(F A)_k‖ of the maps, mean over heads (Wang
            et al. 2022); "amplitude", ln|F x| of the tokens at each depth (Park & Kim 2022).
        profile: means over frequencies of equal "radius", or those along the "diagonal" alone.
        identity: of the maps of "filter-response", as in attnscope.spectrum.
        layers, heads: the rows, from 0; all if None. "filter-response" is a mean over `heads`.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.frequencies(x if isinstance(x, list) else [x], of, profile,
                                      identity_view(identity), layer_list(layers),
                                      layer_list(heads), show)


def heads(x: Any, *, threshold: float = 0.9, share: str = "values", sink: float = 0.3,
          mass: float = 0.6, layers: Any = None, heads: Any = None, baselines: bool = False,
          of: str = "map", centred: bool = False, added: str = "none",
          at_entropy: float | None = None, progress: Any = None) -> Report:
    """The measures that papers report for each attention head: entropy (nats), sinks, distances,
    ranks, norms. `formulas` of the report has their definitions.

    Args:
        x: a Trace, or an array of maps (see attnscope.maps).
        threshold: τ of the equivalent rank, above 0, at most 1.
        share: what the threshold is a share of: "values" for Σσ, "energy" for Σσ².
        sink: the share of the attention above which a key is a sink (Gu et al. 2024), in (0, 1).
        mass: the share of the class token's row that the counted strongest patches hold.
        layers, heads: the heads that are listed, from 0; all if None.
        baselines: True for ranks of null models: maps with shuffled rows.
        of, centred, added: the matrix whose ranks are given, as in attnscope.spectrum.
        at_entropy: a share of ln N, in (0, 1): also ranks at that row entropy.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.heads(as_trace(x), (threshold, share), sink, mass, layer_list(layers),
                                layer_list(heads), baselines, of, added, centred, at_entropy, show)


def compare(reference: Any, other: Any, *, align: str = "index", match_heads: bool = False,
            threshold: float = 0.9, share: str = "values", baselines: bool = False,
            at_entropy: float | None = None, identity: Any = None, of: str = "map",
            centred: bool = False, added: str = "none", heads: Any = None,
            progress: Any = None) -> Report:
    """Distances of two models' maps on the same input, a row for each map of `other`:
    Jensen–Shannon divergence (bits), cosine and Frobenius distances, spectra, ranks, CKA.

    Args:
        reference, other: traces, or arrays of maps (see attnscope.maps).
        align: the counterpart of a layer: "index", or "depth" for the same relative depth.
        match_heads: True to pair heads by the similarity of their maps.
        threshold: τ of the equivalent rank, above 0, at most 1.
        share: what the threshold is a share of: "values" for Σσ, "energy" for Σσ².
        baselines: True for ranks of null models.
        at_entropy: a share of ln N, in (0, 1), or 0 for the entropy of the reference's map.
        identity, of, centred, added: the compared matrix, as in attnscope.spectrum.
        heads: the heads of `other`, from 0; all if None.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.compare(as_trace(reference), as_trace(other), align, match_heads,
                                  (threshold, share), baselines, at_entropy,
                                  identity_view(identity), of, added, centred, layer_list(heads),
                                  show)


def components(x: Any, *, layers: Any = 0, heads: Any = None, count: int = 4, identity: Any = None,
               of: str = "map", centred: bool = False, added: str = "none",
               progress: Any = None) -> Report:
    """The rank-one components whose sum is a map, A = Σ_k σ_k u_k v_kᵀ, a row for each map. The
    column components has for each its sigma, its share of Σσ and of Σσ², and the vectors: keys [M]
    that it reads and queries [N] that use it.

    Args:
        x: a Trace, or an array of maps (see attnscope.maps).
        layers, heads: the maps, from 0; None for all. The first layer unless given.
        count: number of the leading components.
        identity, of, centred, added: the matrix, as in attnscope.spectrum.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.components(as_trace(x), identity_view(identity), of, added, centred,
                                     layer_list(layers), layer_list(heads), count, show)


def relevance(trace: Trace, target: Any = None, *, place: int = -1, progress: Any = None) -> Report:
    """The relevance of each token to an answer, from the gradient of its logit: R ← R + Ā R from
    R = I through all layers, Ā the mean over heads of max(0, ∇A ⊙ A) (Chefer, Gur & Wolf 2021,
    Eq. 5 and 6). A row for each token.

    Args:
        trace: a run of a model.
        target: a class or token by number or name; the likeliest if None.
        place: the token position that a language model reads; -1 for the last.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.relevance(trace, "" if target is None else str(target), place, show)


def weights(model: Model, *, of: str = "ov", minus: Model | None = None, threshold: float = 0.9,
            share: str = "values", progress: Any = None) -> Report:
    """Spectra and composition of weights, without an input.

    Args:
        model: a Model.
        of: "ov" or "qk": W_OV = W_V W_O or W_QK = W_Q W_Kᵀ of each head, [D, D] of rank d at most
            (Elhage et al. 2021); "ov-layer" or "qk-layer": their sums over the heads of a layer;
            "q-composition", "k-composition" or "v-composition": a row for each head and later head;
            "matrices": a row for each weight matrix of the layers.
        minus: a Model whose matrices are subtracted, for "matrices".
        threshold: τ of the equivalent rank, above 0, at most 1.
        share: what the threshold is a share of: "values" for Σσ, "energy" for Σσ².
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.weights(model, of, minus, (threshold, share), show)


def rollout(x: Any, *, layers: int = 0, fusion: str = "mean", progress: Any = None) -> np.ndarray:
    """Attention rollout float32 [N, N], the share of each input token in each token: R_l = Ã_l
    R_{l−1}, Ã = ½ Ā + ½ I (Abnar & Zuidema 2020, Eq. 1).

    Args:
        x: a Trace, or an array of maps (see attnscope.maps).
        layers: number of layers from the first; 0 for all.
        fusion: "mean", "max" or "min" over the heads.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.rollout(as_trace(x), layers, fusion, show)


def mixing(trace: Trace, *, by: str = "norms", rollout: bool = False, layers: Any = None,
           heads: Any = None, progress: Any = None) -> Report:
    """The share of each token in every other token's output, by norms of what is added instead of
    weights: f(x_j) = v_j W_O. A row for each matrix, with the mean mixing ratio (Kobayashi et al.
    2021, Eq. 11), the mean share of a token's own input, the strongest keys, and the matrix [N, M],
    rows are the receiving tokens.

    Args:
        trace: a run of a model, recorded with "vectors" and "hidden", as by default.
        by: "head-norms", ‖a_ij f(x_j)‖ of each head; "norms", ‖Σ_h a_ij f_h(x_j)‖ (Kobayashi et al.
            2020); "block-norms", with residual and norm (2021); "globenc" (Modarressi et al. 2022);
            "alti" (Ferrando et al. 2022); "value-zeroing" (Mohebbi et al. 2023).
        rollout: True for one matrix through all layers, R_l = M_l R_{l−1}, with rows divided by
            their sums; for block-norms, globenc and alti.
        layers: the layers, from 0; all if None.
        heads: the heads of head-norms, from 0; all if None.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    with shown(progress) as show:
        return _attnscope.mixing(trace, by, rollout, layer_list(layers), layer_list(heads), show)


def groups(x: Any, groups: Any = "auto", *, of: Any = "all", layers: Any = None, heads: Any = None,
           apart: int = 4, receivers: int = 0, progress: Any = None) -> Report:
    """The attention of groups of tokens: a row for each group, with its share of the attention,
    mean over heads, and its receiver score (Thought Anchors, 2025). parts["heads"] has a row for
    each head and for the mean of each layer, with the kurtosis of the head's receiver scores and
    the maps by groups: "shares", rows sum to 1 if every token is in a group, and "mean_weights",
    the same divided by the number of tokens of the group of keys.

    Args:
        x: a Trace, or an array of maps (see attnscope.maps).
        groups: "words", "sentences", "parts", "roles", "auto"; or a dict of names with positions,
            {"subject": [3, 4], "others": "rest"}; or text as for `attnscope groups --groups`.
        of: the name or number of the group whose queries the shares are of; "all" for all queries.
        layers: the layers, from 0; all if None.
        heads: the heads of parts["heads"], from 0; all if None.
        apart: least distance, in groups, of the later groups in receiver scores.
        receivers: number of receiver heads; 0 for 20, but at most a tenth of the heads.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    named = groups if isinstance(groups, (str, os.PathLike)) else ",".join(
        f"{json.dumps(name)}={places if isinstance(places, str) else '+'.join(map(str, places))}"
        for name, places in groups.items())
    with shown(progress) as show:
        return _attnscope.groups(as_trace(x), os.fspath(named), str(of), layer_list(layers),
                                 layer_list(heads), apart, receivers, show)


def experts(trace: Trace, *, layers: Any = None) -> Report:
    """The experts of a mixture that the tokens of a text pass through: a row for each layer and
    token, with the experts and their weights. parts["layers"] has a row for each layer: how many of
    its experts are used, the busiest one, and the balance of their loads.

    Args:
        trace: a run of a mixture of experts.
        layers: the layers, from 0; all that have experts if None.
    """
    return _attnscope.experts(trace, layer_list(layers))


def lens(trace: Trace, *, top: int = 3, target: Any = None, place: int | None = None,
         by_head: bool = False, heads: Any = None, progress: Any = None) -> Report:
    """The model's answer if it ended after each layer, head(norm(x_l)) (nostalgebraist 2020): a row
    for each layer and, in texts, token position, with the likeliest answers, the entropy and the
    divergence from the model's own answer (bits).

    With `by_head` the parts of one logit (Elhage et al. 2021), a row for each part, whose column
    `logit` sums to it: each head's A^h v^h W_O^h through the last norm with its statistics fixed,
    biases, the rest of each layer, the embedding and constants. parts["layers"] has a row a layer.

    Args:
        trace: a run of a model, recorded with "vectors" and "hidden", as by default.
        top: number of the likeliest answers.
        target: a class or token by number or name, which is followed; with `by_head` the likeliest
            if None.
        place: the token position, from 0; all if None. With `by_head` the last if None; others
            need record="token_logits" besides.
        by_head: True for the parts of a logit; for pre-norm models with a linear head.
        heads: the heads of `by_head`, from 0; all if None.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
    """
    name = "" if target is None else str(target)
    with shown(progress) as show:
        if by_head:
            return _attnscope.lens_by_head(trace, name, -1 if place is None else place,
                                           layer_list(heads), show)
        return _attnscope.lens(trace, top, name, place, show)


def energy(network: Any = None, *, mechanism: str | None = None, convention: str = "complete",
           constants: str = "fp32", tokens: int | None = None, by_layer: bool = False,
           paper: str | None = None, **settings: Any) -> Report:
    """Operations and energy (pJ) of a network for one input: a row for each component, and their
    total. parts["sums"] has attention, FFN and all; parts["parameters"] the numbers of parameters.

    Args:
        network: a Model, or the name of a network without weights, as "deit-tiny"; they are those
            of `attnscope energy --list`.
        mechanism: the attention that is counted; the network's own if None.
        convention: what is counted: "complete", "adder" (Adder, Table 1) or "ecoformer".
        constants: energies of the operations: "fp32", "fp16", "int32", "int8", or a JSON file.
        tokens: the number of tokens N, class tokens included; the network's own if None.
        by_layer: True for a row for each component of each layer.
        paper: a published table, "adder:1": its figures next to the computed ones, instead.
        settings: settings of the network and parameters of the mechanism: `classes=10`, `bits=8`.
    """
    if (network is None) == (paper is None):
        raise usage_error("give either a network or a published table", subject="energy",
                          expected='energy("deit-tiny") or energy(paper="adder:1")')
    if paper is not None:
        return _attnscope.published_energy(paper)
    model, name = (network, "") if isinstance(network, Model) else (None, str(network))
    return _attnscope.energy(model, name, mechanism or "", convention, os.fspath(constants),
                             tokens or 0, by_layer, as_texts(settings))
