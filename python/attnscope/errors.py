"""Errors: one class for each kind of failure, with the words that the command line prints."""

from __future__ import annotations

__all__ = ["Error", "UsageError", "FileError", "InputOutputError"]


class Error(Exception):
    """Any error of Attnscope. str(error) is the whole error in one line:
    "FILE: SUBJECT: MESSAGE (expected X, found Y); REMEDY". Parts that do not apply are "".

    Attributes:
        kind: "usage", "not_this_format", "damaged", "unsupported" or "io".
        message: the rule that was broken.
        file: the file concerned.
        subject: the tensor, argument, key or token concerned.
        expected, found: what was expected, and what was found instead.
        remedy: what helps.
    """

    kind = "usage"
    message = file = subject = expected = found = remedy = ""


class UsageError(Error, ValueError):
    """An invalid request: an unknown name, a value out of range, arrays that do not fit."""


class FileError(Error, ValueError):
    """A file of another format, a damaged one, or one that is not supported."""


class InputOutputError(Error, OSError):
    """An operation of the operating system failed."""


_CLASSES = {"usage": UsageError, "io": InputOutputError}


def error_of_kind(kind: str, line: str, message: str = "", file: str = "", subject: str = "",
                  expected: str = "", found: str = "", remedy: str = "") -> Error:
    """The error of this kind whose words are `line`, with its parts as attributes."""
    error = _CLASSES.get(kind, FileError)(line)
    error.kind, error.message, error.file, error.subject = kind, message, file, subject
    error.expected, error.found, error.remedy = expected, found, remedy
    return error


def usage_error(message: str, *, subject: str = "", expected: str = "", found: str = "",
                remedy: str = "") -> Error:
    """A UsageError composed as those of the program are."""
    line = (subject + ": " if subject else "") + message
    details = [f"{word} {text}" for word, text in (("expected", expected), ("found", found)) if text]
    line += f" ({', '.join(details)})" if details else ""
    line += f"; {remedy}" if remedy else ""
    return error_of_kind("usage", line, message, "", subject, expected, found, remedy)
