"""Tests of the bar that long calls show: in a terminal, with tqdm and without it."""

import contextlib
import importlib.util
import io
import os
import pathlib
import signal
import sys
import threading
import unittest
from unittest import mock

import numpy as np

import attnscope
from attnscope import _arguments

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "sample_data"
MODEL = SAMPLES / "models" / "fashion-softmax.h5"
IMAGE = SAMPLES / "inputs" / "08_bag.png"
HAS_TQDM = importlib.util.find_spec("tqdm") is not None


class Terminal(io.StringIO):
    written = None  # called before the first text is written

    def isatty(self):
        return True

    def write(self, text):
        if self.written and not self.getvalue():
            self.written()
        return super().write(text)


@contextlib.contextmanager
def terminal(delay=0.0):
    """Standard error as a terminal, in which bars appear after `delay` seconds."""
    shown = Terminal()
    with mock.patch.object(sys, "stderr", shown), mock.patch.object(_arguments, "BAR_DELAY", delay):
        yield shown


def without_tqdm():
    return mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None})


class ProgressTest(unittest.TestCase):
    LONG = np.random.default_rng(12).random((30, 1, 400, 400))

    @unittest.skipUnless(HAS_TQDM, "tqdm is not installed")
    def test_a_long_call_shows_a_bar_of_tqdm(self):
        with terminal() as shown:
            attnscope.spectrum(self.LONG)
        self.assertRegex(shown.getvalue(), r"\d+%\|.*\| 00:0\d")
        self.assertFalse(shown.getvalue().split("\r")[-1].strip())  # the bar is cleared

    def test_without_tqdm_it_shows_a_line(self):
        with terminal() as shown, without_tqdm():
            attnscope.spectrum(self.LONG)
        self.assertRegex(shown.getvalue(), r"\r\x1b\[K *\d+ % \w+")
        self.assertTrue(shown.getvalue().endswith("\r\033[K"))

    def test_short_calls_print_nothing(self):
        with terminal(delay=60) as shown:
            attnscope.spectrum(self.LONG)
        self.assertEqual(shown.getvalue(), "")

    def test_no_bar_without_a_terminal_or_if_it_is_switched_off(self):
        with terminal() as shown:
            attnscope.spectrum(self.LONG, progress=False)
        self.assertEqual(shown.getvalue(), "")
        with contextlib.redirect_stderr(io.StringIO()) as log:
            with mock.patch.object(_arguments, "BAR_DELAY", 0.0):
                attnscope.spectrum(self.LONG)
        self.assertEqual(log.getvalue(), "")

    @unittest.skipUnless(HAS_TQDM, "tqdm is not installed")
    def test_a_bar_that_is_asked_for_needs_no_terminal(self):
        with contextlib.redirect_stderr(io.StringIO()) as log:
            attnscope.spectrum(self.LONG, progress=True)
        self.assertIn("%|", log.getvalue())

    def test_an_interrupted_call_clears_its_bar(self):
        long = np.random.default_rng(13).random((60, 1, 800, 800))
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        with terminal() as shown, without_tqdm():
            shown.written = timer.start
            with self.assertRaises(KeyboardInterrupt):
                attnscope.spectrum(long)
        timer.join()
        self.assertTrue(shown.getvalue().endswith("\r\033[K"))

    def test_every_long_call_has_one_bar(self):
        model = attnscope.open(MODEL)
        trace = model.run(IMAGE)
        calls = {
            "open": lambda: attnscope.open(MODEL),
            "run": lambda: model.run(IMAGE),
            "spectrum": lambda: attnscope.spectrum(trace, layers=0),
            "heads": lambda: attnscope.heads(trace, layers=0),
            "compare": lambda: attnscope.compare(trace, trace, heads=0),
            "components": lambda: attnscope.components(trace, heads=0),
            "relevance": lambda: attnscope.relevance(trace),
            "weights": lambda: attnscope.weights(model),
            "rollout": lambda: attnscope.rollout(trace),
            "groups": lambda: attnscope.groups(trace),
            "mixing": lambda: attnscope.mixing(trace),
            "frequencies": lambda: attnscope.frequencies(trace),
            "lens": lambda: attnscope.lens(trace),
            "figure": lambda: attnscope.figure("rank-by-layer", [model, MODEL], IMAGE),
            "html": lambda: attnscope.html(trace, layers=0),
            "ablate": lambda: attnscope.ablate(model, input=IMAGE, answers=2, layers=0),
        }
        for name, call in calls.items():
            with self.subTest(name), terminal(), mock.patch.object(
                    _arguments, "_Bar", side_effect=_arguments._Bar) as bar:
                call()
                self.assertEqual(bar.call_count, 1)


if __name__ == "__main__":
    unittest.main()
