"""The program attnscope, which does for the package what needs Qt: it draws figures."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Sequence

from .errors import error_of_kind, usage_error

VARIABLE = "ATTNSCOPE"


def program() -> str:
    """The program's file: $ATTNSCOPE, else that of the build tree or the prefix that the package is
    in, else that of PATH. Raises UsageError if there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        if file := shutil.which(named):
            return file
        raise usage_error("the variable must name the program attnscope", subject="$" + VARIABLE,
                          expected="an executable file", found=named)
    package = pathlib.Path(__file__).resolve().parent
    prefixes = (package.parents[1], pathlib.Path(sys.prefix))
    beside = [prefix / "bin" / "attnscope" for prefix in prefixes]
    for file in beside:
        if os.access(file, os.X_OK) and file.is_file():
            return str(file)
    if file := shutil.which("attnscope"):
        return file
    raise usage_error("the program that draws figures was not found", subject="attnscope",
                      expected=f"in ${VARIABLE} or PATH, or as " + " or ".join(map(str, beside)),
                      remedy="install the package attnscope, or set the environment variable "
                      f"{VARIABLE} to the program's file; csv, json, tex, h5 and npz need no program")


def run_program(arguments: Sequence[str], given: bytes = b"") -> bytes:
    """Runs the program with bytes as its standard input, without a display, and returns its standard
    output. Raises an Error with the program's words."""
    file = program()
    done = subprocess.run([file, *arguments], input=given, capture_output=True, check=False,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    if done.returncode == 0:
        return done.stdout
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    words = lines[-1].removeprefix("attnscope: ") if lines else f"ended with {done.returncode}"
    raise error_of_kind("usage" if done.returncode == 2 else "io", words, words, file)
