"""Traces as a self-contained page of HTML, which a notebook shows in place."""

from __future__ import annotations

import html as markup
import os
import pathlib
import tempfile
from typing import Any

from . import _attnscope
from ._arguments import identity_view, layer_list, shown
from ._attnscope import Trace
from .traces import as_trace


class Page:
    """A page of HTML. A notebook shows it; `text` is the whole page, and `save` writes it."""

    def __init__(self, text: str, height: int = 860) -> None:
        self.text = text
        self.height = height  # height of the frame in a notebook, in pixels

    def save(self, path: Any) -> pathlib.Path:
        """Writes the page, at once under its name: no half of it is ever seen."""
        path = pathlib.Path(path)
        folder = path.parent
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(self.text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        return path

    def _repr_html_(self) -> str:
        # The frame can run the page's script and reach nothing of the notebook.
        return (f'<iframe sandbox="allow-scripts" title="Attention maps" width="100%" '
                f'height="{self.height}" style="border: 0" srcdoc="{markup.escape(self.text)}">'
                f'</iframe>')

    def __repr__(self) -> str:
        return f"<Page of HTML, {len(self.text) / 1e6:.1f} MB; save() writes it>"


def html(x: Any, path: Any = None, *, identity: Any = None, layers: Any = None, heads: Any = None,
         threshold: float = 0.9, share: str = "values", title: str = "",
         progress: Any = None) -> Page:
    """A page of HTML with the maps, their rows, spectra and ranks: to look at in a notebook, to
    send, or to open from disk without a network. `attnscope export-html` writes the same.

    Args:
        x: a Trace, a list of traces to show next to each other, or any array of maps.
        path: the file to write; none if None.
        identity: the view in which the page opens: None for maps as the mechanism has them, True
            with I, False without. A button changes it.
        layers, heads: the maps, from 0; all if None. A page holds 64 million entries at most.
        threshold: τ of the equivalent rank, above 0, at most 1. A slider changes it.
        share: what the threshold is a share of: "values" for Σσ, "energy" for Σσ².
        title: the page's title; the labels of the traces if empty.
        progress: None for a bar after one second if someone watches, False for none, True for one
            at once, or a function of a number from 0 to 1 and a text.

    Returns:
        A Page. Its spectra and ranks are exact; entries of maps are rounded to 16 bits of each
        map's range, or to 8 bits in pages of more than 3.2 million entries.
    """
    several = (isinstance(x, (list, tuple)) and len(x) > 0
               and all(isinstance(one, Trace) for one in x))
    traces = list(x) if several else [as_trace(x)]
    with shown(progress) as show:
        page = Page(_attnscope.trace_page(traces, identity_view(identity), layer_list(layers),
                                          layer_list(heads), (threshold, share), title, show))
    if path is not None:
        page.save(path)
    return page
