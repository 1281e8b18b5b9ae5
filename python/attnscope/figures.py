"""Figures: made here as data, drawn by the program, shown in notebooks."""

from __future__ import annotations

import base64
import html
import os
import pathlib
import shlex
from typing import Any

from . import _attnscope
from ._arguments import as_text, as_texts, shown
from ._attnscope import Figure, Model, Trace
from ._program import run_program
from .errors import usage_error
from .models import open, open_trace
from .traces import as_trace

_PICTURES = ("pdf", "svg", "png")
_DATA = ("csv", "json", "tex", "h5", "npz")


def figures() -> list[tuple]:
    """The figures that can be made: (name, title, source, settings), each setting (name, default,
    range, explanation)."""
    return _attnscope.figures()


def _things_of(things: Any, progress: Any) -> list[Trace | Model]:
    """Models and traces of what attnscope.figure takes. A list without any of them is one array."""
    known = (Trace, Model, str, os.PathLike)
    listed = isinstance(things, (list, tuple))
    several = list(things) if listed and any(isinstance(one, known) for one in things) else [things]
    if listed and not things:
        return []
    found: list[Trace | Model] = []
    for one in several:
        if isinstance(one, (str, os.PathLike)):
            opens = open_trace if _attnscope.is_trace_file(os.fspath(one)) else open
            one = opens(one, progress=progress)
        found.append(one if isinstance(one, Model) else as_trace(one))
    return found


def _runs_of(things: list[Trace | Model], inputs: tuple, needs: dict[str, bool],
             progress: Any) -> tuple[list[Trace | Model], list[str]]:
    """What a figure shows, with its labels, "" for its own: each model's runs on every input, if
    the figure needs them, and everything else as it is."""
    record = ["factors", "quantities", *(one for one in ("vectors", "hidden") if needs[one])]
    drawn, labels = [], []
    for thing in things:
        if isinstance(thing, Trace) or not needs["runs"]:
            drawn.append(thing)
            labels.append("")
            continue
        if not inputs:
            raise usage_error("a model needs an input to run on", subject=thing.name,
                              expected="an input after the models: attnscope.figure(name, model, "
                              "\"cat.png\")")
        for given in inputs:
            run = thing.run(given, record=record, progress=progress)
            drawn.append(run)
            labels.append(f"{run.label} on {run.input}" if len(inputs) > 1 else "")
    return drawn, labels


def figure(name: str, things: Any = (), *inputs: Any, labels: Any = None, width_mm: float = 84,
           first_layer: int = 0, progress: Any = None, **settings: Any) -> Figure:
    """Makes a figure by the name that `attnscope figure` takes: "cumulative-spectrum".

    Args:
        name: the figure; attnscope.figures() lists them.
        things: a Model, a Trace, a file of either, or an array of maps, or a list of several. A list
            of arrays alone is one trace, with an array for each layer.
        inputs: what the models run on, as Model.run takes it; each model runs on every input.
        labels: a label for each trace that is shown: models × inputs, in that order.
        width_mm: width of the figure in mm.
        first_layer: number of the first layer in the figure, 0 or 1.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.
        settings: the figure's settings, with _ for -: `threshold=0.8, smallest_weight=0.05`.

    Returns:
        A Figure: notebooks show it, and Figure.save writes it in any format.

    Raises:
        UsageError: for an unknown setting, or models and traces that the figure cannot show.
    """
    # Settings with a hyphen are written with an underscore here: smallest_weight.
    own_names = {setting[0].replace("-", "_"): setting[0] for known in _attnscope.figures()
                 if known[0] == name for setting in known[3]}
    texts = as_texts({own_names.get(key, key): value for key, value in settings.items()})
    needs = _attnscope.figure_needs(name, texts)
    with shown(progress) as show:
        drawn, own = _runs_of(_things_of(things, show or False), inputs, needs, show or False)
        if labels is not None:
            own = [labels] if isinstance(labels, str) else [str(label) for label in labels]
            if len(own) != len(drawn):
                raise usage_error("there must be one label per model and input, or none",
                                  subject="labels", expected=str(len(drawn)), found=str(len(own)))
        return _attnscope.make_figure(name, drawn, own, texts, width_mm, first_layer, show)


def _drawn(self: Figure, suffix: str, look: dict[str, Any], out: str = "") -> bytes:
    """The picture in one format, with the command line that draws the same."""
    words = []
    for option, value in look.items():
        if value is not None and value is not False:
            flag = "--" + option.replace("_", "-")
            words += [flag] if value is True else [flag, as_text(value)]
    command = " ".join([self.command, *map(shlex.quote, words + (["--out", out] if out else []))])
    return run_program(["figure", "-", "--format", suffix, "--out", "-", *words],
                       self._bytes(command))


def save(self: Figure, file: Any, **look: Any) -> None:
    """Writes the figure as its name ends: .pdf, .svg or .png, drawn by the program attnscope, or
    .csv, .json, .tex (PGFPlots), .h5 or .npz.

    Args:
        file: the file; an existing one is replaced.
        look: for pictures, the options of `attnscope figure --help` under "Look": `dpi=600`,
            `background="transparent"`, `font_family="Inter"`, `colour_map="magma"`, `letters=True`.
    """
    path = pathlib.Path(file)
    suffix = path.suffix[1:].lower()
    if suffix not in _PICTURES + _DATA:
        raise usage_error("the figure cannot be written in this format", subject=path.name,
                          expected="." + ", .".join(_PICTURES + _DATA), found=path.suffix)
    if suffix in _PICTURES:
        path.write_bytes(_drawn(self, suffix, look, os.fspath(file)))
        return
    if look:
        raise usage_error("only pictures have a look", subject=", ".join(look),
                          expected="." + ", .".join(_PICTURES), found=path.name)
    for name, data in self._files(suffix, path.stem).items():
        path.with_name(name).write_bytes(data)


def _repr_svg_(self: Figure) -> str:
    """The figure as SVG, as notebooks show it: without the XML declaration, which their pages, and
    nbconvert, do not take."""
    picture = _drawn(self, "svg", {}).decode()
    return picture[picture.index("<svg"):]


def _repr_mimebundle_(self: Figure, include: Any = None, exclude: Any = None) -> dict[str, str]:
    """The figure as SVG, and as HTML with the SVG as an image, which notebooks prefer: two pictures
    in one page keep their own names of gradients, and nbconvert keeps the picture whole."""
    picture = self._repr_svg_()
    data = base64.b64encode(picture.encode()).decode()
    return {"image/svg+xml": picture,
            "text/html": f'<img alt="{html.escape(self.title)}" style="max-width: 100%" '
                         f'src="data:image/svg+xml;base64,{data}">'}


Figure.save = save
Figure._repr_svg_ = _repr_svg_
Figure._repr_mimebundle_ = _repr_mimebundle_
