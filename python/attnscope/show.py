"""Maps in the window of the program, from a running Python (docs/protocol.md)."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from typing import Any, Mapping, Sequence

import numpy as np

from . import _attnscope
from ._attnscope import Trace
from ._program import program
from .errors import Error, error_of_kind, usage_error
from .html import Page, html
from .traces import maps

_VERSION = 1
_START = 60.0  # seconds until a window that was started listens
_MOST_HEADER = 1 << 20


def _own_socket() -> str | None:
    """The socket of the user's window: in $XDG_RUNTIME_DIR, else in a folder of /tmp. None if the
    folder is missing, or is not the user's own."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = runtime if runtime.startswith("/") else f"/tmp/attnscope-{os.geteuid()}"
    try:
        found = os.lstat(folder)
    except OSError:
        return None
    is_own = (stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
              and not found.st_mode & 0o077)
    return os.path.join(folder, "attnscope.sock") if is_own else None


def _receive(connection: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        part = connection.recv(count - len(received))
        if not part:
            raise ConnectionError("the window closed the connection")
        received += part
    return bytes(received)


def _send(connection: socket.socket, header: Mapping[str, Any],
          arrays: Sequence[np.ndarray] = ()) -> None:
    text = json.dumps(header).encode()
    size = sum(array.nbytes for array in arrays)
    connection.sendall(b"attn" + struct.pack("<IQ", len(text), size) + text)
    for array in arrays:
        if array.size:
            connection.sendall(memoryview(array).cast("B"))


def _answer(connection: socket.socket) -> dict[str, Any]:
    magic, length, arrays = struct.unpack("<4sIQ", _receive(connection, 16))
    if magic != b"attn" or not 2 <= length <= _MOST_HEADER or arrays:
        raise ConnectionError("the answer is no frame")
    answer = json.loads(_receive(connection, length))
    if "error" in answer:
        names = ("kind", "error", "message", "file", "subject", "expected", "found", "remedy")
        raise error_of_kind(*(str(answer.get(name, "")) for name in names))
    return answer


def _ask(connection: socket.socket, header: Mapping[str, Any],
         arrays: Sequence[np.ndarray] = ()) -> dict[str, Any]:
    """The answer to a message. The window answers before the end if it refuses a message."""
    try:
        _send(connection, header, arrays)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return _answer(connection)


def _connection_to(port: str) -> socket.socket:
    """A connection to HOST:PORT."""
    host, _, number = port.rpartition(":")
    if not host or not number.isdigit():
        raise usage_error("the variable must name a port", subject="$ATTNSCOPE_WINDOW",
                          expected="127.0.0.1:PORT", found=port)
    try:
        return socket.create_connection((host, int(number)))
    except OSError as failure:
        line = f"{port}: the window does not listen ({failure})"
        raise error_of_kind("io", line, "the window does not listen", port) from failure


def _connected() -> socket.socket | None:
    """A connection to the window of $ATTNSCOPE_WINDOW, else to the user's own; None without one."""
    hello: dict[str, Any] = {"message": "hello", "version": _VERSION}
    if named := os.environ.get("ATTNSCOPE_WINDOW"):
        hello["token"] = os.environ.get("ATTNSCOPE_TOKEN", "")
        connection = _connection_to(named)
    elif (file := _own_socket()) is not None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(file)
        except OSError:
            connection.close()
            return None
    else:
        return None
    try:
        _ask(connection, hello)
    except BaseException:
        connection.close()
        raise
    return connection


def _has_display() -> bool:
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _started() -> socket.socket:
    """A connection to a new window, which outlives this process."""
    if not _has_display():
        message = "there is no display to open the window on"
        remedy = "start the window with attnscope gui --listen elsewhere, or use attnscope.html"
        raise error_of_kind("io", f"{message}; {remedy}", message, remedy=remedy)
    with tempfile.TemporaryFile() as errors:
        window = subprocess.Popen([program(), "gui", "--empty"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        end = time.monotonic() + _START
        while time.monotonic() < end and window.poll() is None:
            if connection := _connected():
                window.returncode = 0  # nothing waits for its end
                return connection
            time.sleep(0.05)
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip()
    message = "the window cannot be started"
    raise error_of_kind("io", f"{message}: {words}" if words else message, message)


def show(x: Any, name: str | None = None, step: int | None = None, **settings: Any) -> Page | None:
    """Shows maps in the window that is open, or in a new one.

    Args:
        x: a Trace, or an array of maps as attnscope.maps takes it.
        name: the model's name in the window, by default the trace's. Maps of the same name replace
            the former ones.
        step: the step of a training. Maps of one name and several steps are one model with a slider
            over the steps; while the last step is shown, the next one is shown when it is there.
        settings: those of attnscope.maps for an array: tokens, image, grid, q, k, v and others.

    Returns:
        None; in a notebook without a display, the page of attnscope.html.

    Raises:
        InputOutputError: without a display, or if the window does not answer.
        UsageError: if shapes do not fit, or the maps exceed the window's limit of memory.
    """
    if isinstance(x, Trace):
        if settings:
            raise usage_error("settings belong to an array", subject=next(iter(settings)),
                              expected="an array of maps", found="a Trace")
        trace = x
    else:
        trace = maps(x, **({"name": name} if name else {}), **settings)
    if step is not None and (isinstance(step, bool) or int(step) != step or step < 0):
        raise usage_error("a step is a whole number from 0", subject="step", found=repr(step))
    connection = _connected()
    if connection is None and "ipykernel" in sys.modules and not _has_display():
        return html(trace)
    attributes, arrays = _attnscope.trace_contents(trace)
    header: dict[str, Any] = {"message": "show", "name": name or trace.label,
                              "attributes": attributes}
    if step is not None:
        header["step"] = int(step)
    header["arrays"] = [{"name": key, "dtype": str(array.dtype), "shape": array.shape}
                        for key, array in arrays.items()]
    with connection or _started() as window:
        try:
            _ask(window, header, list(arrays.values()))
        except (ConnectionError, struct.error, ValueError) as failure:
            if isinstance(failure, Error):
                raise
            line = f"the window did not answer: {failure}"
            raise error_of_kind("io", line, "the window did not answer") from failure
    return None
