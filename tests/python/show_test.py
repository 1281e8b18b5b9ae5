"""Tests of attnscope.show and attnscope open with real windows, which draw nothing."""

import contextlib
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import numpy as np

import attnscope

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "sample_data"
PROGRAM = os.environ.get("ATTNSCOPE_PROGRAM", "")
show_module = sys.modules["attnscope.show"]


def models():
    """The names of the models in the open window."""
    with show_module._connected() as window:
        return show_module._ask(window, {"message": "hello", "version": 1})["models"]


@unittest.skipUnless(PROGRAM, "ATTNSCOPE_PROGRAM names no program")
class ShowTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.started = []
        self.addCleanup(self.end_windows)
        change = mock.patch.dict(os.environ, {
            "XDG_RUNTIME_DIR": self.folder.name, "XDG_CONFIG_HOME": self.folder.name,
            "XDG_DATA_HOME": self.folder.name, "QT_QPA_PLATFORM": "offscreen", "ATTNSCOPE": PROGRAM,
            "ATTNSCOPE_WINDOW": "", "ATTNSCOPE_TOKEN": ""})
        change.start()
        self.addCleanup(change.stop)

    def end_windows(self):
        for window in self.started:
            window.terminate()
            window.communicate()
        lock = pathlib.Path(self.folder.name) / "attnscope.sock.lock"
        if lock.exists():  # a window that this process did not start itself
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(lock.read_text().split()[0]), 15)
        for _ in range(100):
            if show_module._connected() is None:
                break
            time.sleep(0.05)

    def start(self, *arguments):
        """Starts a window and waits until it listens."""
        window = subprocess.Popen([PROGRAM, "gui", "--empty", *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.started.append(window)
        for _ in range(600):
            if (found := show_module._connected()) is not None:
                found.close()
                return window
            time.sleep(0.05)
        self.fail("the window does not listen")

    def test_arrays_and_traces_are_models_of_the_window(self):
        self.start()
        maps = np.random.default_rng(0).random((2, 3, 5, 5))
        self.assertIsNone(attnscope.show(maps, "mine", tokens="abcde"))
        self.assertIsNone(attnscope.show(maps.astype(np.float32), "mine"))
        model = attnscope.open(SAMPLES / "models" / "fashion-softmax.h5")
        trace = model.run(SAMPLES / "inputs" / "08_bag.png")
        attnscope.show(trace)
        self.assertEqual(models(), ["mine", trace.label])
        with self.assertRaisesRegex(attnscope.UsageError, "tokens"):
            attnscope.show(trace, tokens="ab")

    def test_steps_are_one_model(self):
        self.start()
        for step in range(4):
            attnscope.show(np.eye(3)[None], "live", step=100 * step)
        self.assertEqual(models(), ["live, step 300"])
        for step in (-1, 0.5, True):
            with self.assertRaises(attnscope.UsageError):
                attnscope.show(np.eye(3)[None], "live", step=step)

    def test_a_window_is_started_and_reused(self):
        attnscope.show(np.eye(3)[None], "first")
        attnscope.show(np.eye(4)[None], "second")
        self.assertEqual(models(), ["first", "second"])
        sock = pathlib.Path(self.folder.name) / "attnscope.sock"
        self.assertEqual(stat.S_IMODE(sock.stat().st_mode) & 0o077, 0)

    def test_the_next_window_listens_when_the_first_one_ends(self):
        first = self.start()
        attnscope.show(np.eye(3)[None], "of the first")
        second = self.start("--listen", "0")
        second.stdout.readline()  # it has looked for the socket
        self.assertEqual(models(), ["of the first"])
        first.terminate()
        first.communicate()
        for _ in range(200):
            if (found := show_module._connected()) is not None:
                found.close()
                break
            time.sleep(0.05)
        attnscope.show(np.eye(3)[None], "of the second")
        self.assertEqual(models(), ["of the second"])
        self.assertIsNone(second.poll())

    def test_open_uses_the_open_window(self):
        self.start()
        model = SAMPLES / "models" / "fashion-softmax.h5"
        done = subprocess.run([PROGRAM, "open", os.path.relpath(model)], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for _ in range(100):
            if models():
                break
            time.sleep(0.05)
        self.assertEqual(models(), ["fashion-softmax"])
        missing = subprocess.run([PROGRAM, "open", "/nonexistent/x.h5"], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/nonexistent/x.h5", missing.stderr)

    def test_open_starts_a_window(self):
        model = SAMPLES / "models" / "fashion-softmax.h5"
        subprocess.run([PROGRAM, "open", str(model)], check=True)
        self.assertEqual(len(models()), 1)

    def test_a_port_takes_maps_with_its_token(self):
        window = self.start("--listen", "0")
        place = dict(pair.split("=") for pair in window.stdout.readline().split())
        with mock.patch.dict(os.environ, place):
            attnscope.show(np.eye(3)[None], "far")
        self.assertEqual(models(), ["far"])
        with mock.patch.dict(os.environ, {**place, "ATTNSCOPE_TOKEN": "no"}):
            with self.assertRaisesRegex(attnscope.UsageError, "token"):
                attnscope.show(np.eye(3)[None], "far")

    def test_the_limit_of_memory_is_told(self):
        self.start("--message-memory", "0.001")
        with self.assertRaisesRegex(attnscope.Error, "limit of memory"):
            attnscope.show(np.zeros((1, 600, 600)), "large")
        attnscope.show(np.eye(3)[None], "small")

    def test_without_a_display(self):
        with mock.patch.dict(os.environ):
            for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
                os.environ.pop(name, None)
            with self.assertRaisesRegex(attnscope.InputOutputError, "no display"):
                attnscope.show(np.eye(3)[None])
            with mock.patch.dict(sys.modules, {"ipykernel": types.ModuleType("ipykernel")}):
                self.assertIsInstance(attnscope.show(np.eye(3)[None]), attnscope.Page)


if __name__ == "__main__":
    unittest.main()
