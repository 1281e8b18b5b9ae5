"""Figures as data, and the files that need no drawing."""

from __future__ import annotations

import pathlib
from typing import Any

from . import _attnscope
from ._arguments import as_texts, shower
from ._attnscope import Figure, Trace
from .errors import usage_error
from .traces import as_trace

_FORMATS = ("csv", "json", "tex", "h5", "npz")


def figures() -> list[tuple]:
    """The figures that can be made: (name, title, source, settings), each setting (name, default,
    range, explanation)."""
    return _attnscope.figures()


def figure(name: str, things: Any = (), *, width_mm: float = 84, first_layer: int = 0,
           progress: Any = None, **settings: Any) -> Figure:
    """Makes a figure by the name that `attnscope figure` takes: "cumulative-spectrum".

    Args:
        name: the figure; attnscope.figures() lists them.
        things: a trace or an array of maps, or a list of several.
        width_mm: width of the figure in mm.
        first_layer: number of the first layer in the figure, 0 or 1.
        progress: True for a bar, or a function of a number from 0 to 1 and a text.
        settings: the figure's settings: `threshold=0.8`.

    Returns:
        A Figure, whose save() writes .csv, .json, .tex, .h5 or .npz. Pictures (.pdf, .svg, .png) are
        drawn by the program: Figure.command is the command line.
    """
    several = isinstance(things, (list, tuple)) and all(isinstance(one, Trace) for one in things)
    traces = list(things) if several else [as_trace(things)]
    return _attnscope.make_figure(name, traces, as_texts(settings), width_mm, first_layer,
                                  shower(progress))


def save(self: Figure, file: Any) -> None:
    """Writes the figure as .csv, .json, .tex (PGFPlots), .h5 or .npz, as the file's name ends."""
    path = pathlib.Path(file)
    suffix = path.suffix[1:].lower()
    if suffix not in _FORMATS:
        raise usage_error("the figure cannot be written in this format", subject=path.name,
                          expected="." + ", .".join(_FORMATS), found=path.suffix,
                          remedy="attnscope figure draws PDF, SVG and PNG: " + self.command)
    for name, data in self._files(suffix, path.stem).items():
        path.with_name(name).write_bytes(data)


Figure.save = save
