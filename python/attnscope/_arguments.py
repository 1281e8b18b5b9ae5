"""Arguments as the extension module takes them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

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


def mechanism_of(text: Any) -> tuple[str, dict[str, str]]:
    """The name and the settings of "adder,identity=true"; ("", {}) for the model's own."""
    name, *settings = ("" if text is None else str(text)).split(",")
    parts = [setting.partition("=") for setting in settings]
    if wrong := [key for key, equals, _ in parts if not key or not equals]:
        raise usage_error("a setting of a mechanism is written key=value", subject=str(text),
                          expected="adder,identity=true", found=wrong[0])
    return name, {key: value for key, _, value in parts}


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

    def show(fraction: float, what: str) -> None:  # the bar is cleared with the last reference
        bar.set_description_str(what, refresh=False)
        bar.n = round(100 * fraction)
        bar.refresh()

    return show


class _Line:
    """Progress in one line of a terminal, for those without tqdm."""

    def __init__(self) -> None:
        self._shown = time.monotonic()

    def __call__(self, fraction: float, what: str) -> None:
        if time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            sys.stderr.write(f"\r\033[K{100 * fraction:3.0f} % {what}")
            sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def _is_watched() -> bool:
    """True in a notebook, and if standard error is a terminal."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


@contextlib.contextmanager
def shown(progress: Any) -> Iterator[Show]:
    """The function that shows the progress of a long call, which is cleared at its end. None shows a
    bar of tqdm, or else a line, if someone watches; False nothing."""
    if progress is None and not _is_watched():
        progress = False
    show = shower(True if progress is None else progress)
    line = _Line() if show is None and progress is not False and _is_watched() else None
    try:
        yield line or show
    finally:
        if line:
            line.clear()
