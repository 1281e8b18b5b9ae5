"""Arguments as the extension module takes them."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Optional, Sequence

from .errors import usage_error

Show = Optional[Callable[[float, str], None]]


def as_text(value: Any) -> str:
    """A setting as text: True is "true", [1, 2] is "1,2"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, range)):
        return ",".join(as_text(one) for one in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def as_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as text; those that are None are left out."""
    return {name: as_text(value) for name, value in settings.items() if value is not None}


def layer_list(layers: Any) -> list[int]:
    """Layer indices from None (all), a number, or several."""
    if layers is None:
        return []
    return [int(one) for one in layers] if isinstance(layers, (Sequence, range)) else [int(layers)]


def identity_view(identity: Any) -> str:
    """The view of an identity mapping: None as the mechanism has it, True with I, False without."""
    names = {None: "as-is", True: "with", False: "without"}
    return names[identity] if identity is None or isinstance(identity, bool) else str(identity)


def shower(progress: Any) -> Show:
    """A function that shows progress. True takes a bar of tqdm, and nothing if it is missing."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    if progress is not True:
        raise usage_error("progress is a function or a truth value", subject="progress",
                          expected="True, False or a function of (fraction, text)",
                          found=repr(progress))
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = tqdm(total=100, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}", leave=False)

    def show(fraction: float, what: str) -> None:
        bar.set_description_str(what, refresh=False)
        bar.n = round(100 * fraction)
        bar.refresh()

    return show
