"""Tests of attnscope.html: the page, its file and its frame in a notebook."""

import html as markup
import json
import pathlib
import re
import tempfile
import unittest

import numpy as np

import attnscope

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "sample_data"


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))


class HtmlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        model = attnscope.open(SAMPLES / "models" / "fashion-softmax.h5")
        cls.trace = model.run(SAMPLES / "inputs" / "08_bag.png")
        cls.adder = model.run(SAMPLES / "inputs" / "08_bag.png", mechanism="adder")

    def test_a_page_has_the_spectra_of_numpy(self):
        maps = np.random.default_rng(1).random((2, 3, 11, 11))
        data = data_of(attnscope.html(maps).text)
        entries = data["subjects"][0]["maps"]
        self.assertEqual(len(entries), 6)
        for entry in entries:
            exact = np.linalg.svd(maps[entry["layer"], entry["head"]], compute_uv=False)
            np.testing.assert_allclose(entry["without"], exact, atol=1e-6)

    def test_traces_stand_next_to_each_other(self):
        page = attnscope.html([self.trace, self.adder], layers=[0, 2], identity=False)
        data = data_of(page.text)
        self.assertEqual([len(one["maps"]) for one in data["subjects"]], [6, 6])
        self.assertEqual(data["identity"], "without")
        ranks = attnscope.spectrum(self.trace, identity=False, layers=[0, 2])
        self.assertEqual([entry["without"] for entry in data["subjects"][0]["maps"]],
                         [list(values) for values in ranks["singular_values"]])

    def test_a_page_is_saved_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            page = attnscope.html(self.trace, path, layers=0)
            self.assertEqual(path.read_text(encoding="utf-8"), page.text)
            self.assertEqual([file.name for file in pathlib.Path(folder).iterdir()], ["page.html"])
            with self.assertRaises(OSError):
                page.save(pathlib.Path(folder) / "missing" / "page.html")

    def test_a_notebook_shows_it_in_a_frame_of_its_own(self):
        page = attnscope.html(np.eye(3)[None], title='</iframe>"<b>')
        frame = page._repr_html_()
        self.assertEqual(frame.count("</iframe>"), 1)
        self.assertIn('sandbox="allow-scripts"', frame)
        self.assertEqual(markup.unescape(re.search('srcdoc="(.*?)"', frame, re.S).group(1)),
                         page.text)
        self.assertIn("MB", repr(page))

    def test_unknown_layers_are_refused(self):
        with self.assertRaises(attnscope.UsageError):
            attnscope.html(self.trace, layers=17)


if __name__ == "__main__":
    unittest.main()
