"""Arguments as the extension module takes them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from .errors import usage_error

Show = Optional[Callable[[float, str], None]]
BAR_DELAY = 1.0  # seconds that a call takes before a bar appears unasked


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


def _is_watched() -> bool:
    """True in a notebook, and if standard error is a terminal."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _TqdmBar:
    """Progress as a bar of tqdm. Raises ImportError if tqdm is missing."""

    def __init__(self, begin: float) -> None:
        with warnings.catch_warnings():  # tqdm warns in notebooks without ipywidgets
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
        form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}"
        self._bar = tqdm(total=100, bar_format=form, leave=False)
        self._bar.start_t -= time.monotonic() - begin

    def show(self, fraction: float, what: str) -> None:
        self._bar.set_description_str(what, refresh=False)
        self._bar.n = round(100 * fraction)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Line:
    """Progress in one line of a terminal, for those without tqdm."""

    def __init__(self) -> None:
        self._shown = 0.0

    def show(self, fraction: float, what: str) -> None:
        if time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            sys.stderr.write(f"\r\033[K{100 * fraction:3.0f} % {what}")
            sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


class _Bar:
    """A bar of tqdm, or a line without it, that appears once a call has taken `delay` seconds."""

    def __init__(self, delay: float) -> None:
        self._begin, self._delay = time.monotonic(), delay
        self._form: Any = None

    def __call__(self, fraction: float, what: str) -> None:
        if self._form is None and time.monotonic() - self._begin >= self._delay:
            try:
                self._form = _TqdmBar(self._begin)
            except ImportError:
                self._form = _Line() if _is_watched() else False
        if self._form:
            self._form.show(fraction, what)

    def close(self) -> None:
        if self._form:
            self._form.close()


@contextlib.contextmanager
def shown(progress: Any) -> Iterator[Show]:
    """The function that shows the progress of a call; what it shows is cleared at the end. None
    takes a bar that appears after one second, if someone watches; True a bar at once."""
    if progress is None and not _is_watched():
        progress = False
    if progress is False or callable(progress):
        yield progress or None
        return
    if progress is not None and progress is not True:
        raise usage_error("progress is a function or a truth value", subject="progress",
                          expected="True, False or a function of (fraction, text)",
                          found=repr(progress))
    bar = _Bar(0.0 if progress else BAR_DELAY)
    try:
        yield bar
    finally:
        bar.close()
