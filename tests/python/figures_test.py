"""Tests of figures as pictures: drawn by the program, the same as from the command line."""

import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

import numpy as np

import attnscope
from attnscope import _program

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = SOURCE / "sample_data"
MODELS = [str(SAMPLES / "models" / name) for name in ("fashion-softmax.h5", "fashion-adder.h5")]
IMAGE, OTHER = (str(SAMPLES / "inputs" / name) for name in ("08_bag.png", "03_dress.png"))


def texts_of(svg):
    """The words that the picture shows."""
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter()
            if one.tag.endswith("}text")]


class PicturesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.models = [attnscope.open(file) for file in MODELS]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def of_command_line(self, *arguments):
        """The bytes of the file after --out."""
        subprocess.run([_program.program(), "figure", *map(str, arguments)], check=True,
                       stdout=subprocess.DEVNULL)
        return pathlib.Path(arguments[-1]).read_bytes()

    def test_models_draw_the_bytes_of_the_command_line(self):
        figure = attnscope.figure("cumulative-spectrum", self.models, IMAGE, threshold=0.8)
        for suffix in ("svg", "png"):
            file = self.folder / f"figure.{suffix}"
            figure.save(file)
            drawn = file.read_bytes()
            expected = self.of_command_line("cumulative-spectrum", *MODELS, "--input", IMAGE,
                                            "--set", "threshold=0.8", "--out", file)
            self.assertEqual(drawn, expected)
        texts = texts_of(figure._repr_svg_())
        for words in ("softmax", "adder + I", "τ = 0.8", "number of singular values r"):
            self.assertIn(words, texts)

    def test_every_format_is_written(self):
        figure = attnscope.figure("attention-maps", self.models[0].run(IMAGE), layers=0)
        signs = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG", "tex": b"%", "csv": b"",
                 "json": b"{", "h5": b"\x89HDF", "npz": b"PK"}
        for suffix, sign in signs.items():
            file = self.folder / f"maps.{suffix}"
            figure.save(file)
            self.assertTrue(file.read_bytes().startswith(sign), suffix)
            self.assertGreater(file.stat().st_size, 500)
        with self.assertRaisesRegex(ValueError, "cannot be written in this format"):
            figure.save(self.folder / "maps.gif")

    def test_the_look_of_pictures_is_chosen(self):
        maps = attnscope.figure("attention-maps", np.eye(4), width_mm=50.8)
        file = self.folder / "maps.png"
        maps.save(file, dpi=50)
        width = int.from_bytes(file.read_bytes()[16:20], "big")
        self.assertEqual(width, 100)
        maps.save(self.folder / "maps.svg", letters=True, caption="Own words")
        svg = (self.folder / "maps.svg").read_text()
        self.assertIn("Own words", svg)
        self.assertIn("--letters", svg)
        with self.assertRaisesRegex(attnscope.Error, "dpi"):
            maps.save(file, dpi=1)
        with self.assertRaisesRegex(ValueError, "only pictures have a look"):
            maps.save(self.folder / "maps.csv", dpi=50)

    def test_traces_that_no_file_holds_are_drawn(self):
        def even(layer, head, weights):
            weights[:] = 1 / weights.shape[1]

        changed = self.models[0].run(IMAGE, change=even)
        own = np.random.default_rng(1).random((2, 3, 9, 9))
        figure = attnscope.figure("rank-by-layer", [changed, own], labels=["even", "random"])
        texts = texts_of(figure._repr_svg_())
        self.assertIn("even", texts)
        self.assertIn("random", texts)
        self.assertEqual(attnscope.spectrum(changed)["equivalent_rank"].tolist(), [1] * 18)
        with self.assertRaisesRegex(ValueError, "one label per model and input"):
            attnscope.figure("rank-by-layer", [changed, own], labels=["even"])

    def test_models_in_memory_and_files_are_taken(self):
        file = self.folder / "trace.h5"
        self.models[1].run(IMAGE).save(file)
        figure = attnscope.figure("rank-by-layer", [MODELS[0], file], IMAGE)
        texts = texts_of(figure._repr_svg_())
        self.assertIn("softmax", texts)
        self.assertIn("adder", texts)

    def test_figures_of_weights_need_no_input(self):
        figure = attnscope.figure("energy-breakdown", self.models)
        bundle = figure._repr_mimebundle_()
        self.assertTrue(bundle["image/svg+xml"].startswith("<svg"))
        self.assertTrue(bundle["text/html"].startswith('<img alt="Energy by component"'))
        with self.assertRaisesRegex(ValueError, "a model needs an input to run on"):
            attnscope.figure("cumulative-spectrum", self.models)

    def test_every_model_runs_on_every_input(self):
        figure = attnscope.figure("attention-maps", self.models[0], IMAGE, OTHER, layers=5)
        file = self.folder / "figure.svg"
        figure.save(file)
        drawn = file.read_bytes()
        self.assertEqual(drawn, self.of_command_line("attention-maps", MODELS[0], "--input", IMAGE,
                                                     "--input", OTHER, "--set", "layers=5",
                                                     "--out", file))
        self.assertIn("03_dress", texts_of(drawn))


class TablesTest(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("pandas") is None, "pandas is missing")
    def test_pandas_reads_a_csv_as_the_page_on_exports_says(self):
        import pandas

        page = (SOURCE / "docs" / "exports.md").read_text()
        printed = re.search(r"```python\n(t = pandas\.read_csv.*?)```", page, re.DOTALL).group(1)
        self.assertTrue(printed.endswith(".plot()\n"))
        # The table that is plotted, without matplotlib.
        code = printed.replace("means.pivot", "table = means.pivot").replace(".plot()", "")
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "rank.csv")
            subprocess.run([_program.program(), "figure", "rank-by-layer", *MODELS, "--input", IMAGE,
                            "--out", file], check=True, stdout=subprocess.DEVNULL)
            names = {"pandas": pandas}
            exec(code.replace('"rank.csv"', repr(file)), names)
        table = names["table"]
        self.assertEqual(table.shape[0], 6, "layers")
        for file, label in zip(MODELS, ("softmax", "adder")):
            ranks = attnscope.spectrum(attnscope.open(file).run(IMAGE))["equivalent_rank"]
            means = np.asarray(ranks).reshape(6, 3).mean(axis=1)
            np.testing.assert_allclose(table.filter(like=label).iloc[:, 0], means, err_msg=label)


class ProgramTest(unittest.TestCase):
    def test_a_missing_program_is_named_with_where_it_was_looked_for(self):
        figure = attnscope.figure("attention-maps", np.eye(3))
        places = {"ATTNSCOPE": "", "PATH": "/nonexistent"}
        with mock.patch.object(_program, "__file__", "/nonexistent/python/attnscope/_program.py"), \
                mock.patch.object(_program.sys, "prefix", "/nonexistent/prefix"), \
                mock.patch.dict(os.environ, places):
            with self.assertRaises(attnscope.UsageError) as raised:
                figure.save("figure.svg")
        for words in ("/nonexistent/bin/attnscope", "$ATTNSCOPE", "PATH", "install the package"):
            self.assertIn(words, str(raised.exception))

    def test_the_variable_names_the_program(self):
        with mock.patch.dict(os.environ, {"ATTNSCOPE": _program.program()}):
            self.assertTrue(re.match(rb"attnscope \d", _program.run_program(["--version"])))
        with mock.patch.dict(os.environ, {"ATTNSCOPE": "/nonexistent/attnscope"}):
            with self.assertRaisesRegex(ValueError, r"\$ATTNSCOPE.*found /nonexistent/attnscope"):
                _program.program()

    def test_errors_have_the_words_of_the_program(self):
        with self.assertRaises(attnscope.UsageError) as raised:
            _program.run_program(["figure", "no-such-figure", "--out", "x.svg"])
        self.assertIn("no-such-figure", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
