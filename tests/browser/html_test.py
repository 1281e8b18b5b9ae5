#!/usr/bin/python3
"""Opens pages of attnscope export-html in a headless Chromium, with real clicks and keys:

    PROGRAM=build/release/bin/attnscope python3 -m unittest discover -s tests/browser -p '*_test.py'

Skipped where Chromium or chromedriver is not installed.
"""
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import browser

PROGRAM = os.environ.get("PROGRAM", "attnscope")
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "sample_data"
MODELS = SAMPLES / "models"
BOOT = SAMPLES / "inputs" / "09_ankle_boot.png"


def setUpModule():
    if browser.missing():
        raise unittest.SkipTest(browser.missing())


def export(out, models, *arguments):
    subprocess.run([PROGRAM, "export-html", *map(str, models), *map(str, arguments), "--out",
                    str(out)], check=True, stdout=subprocess.DEVNULL)


def data_of(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


class PageCase(unittest.TestCase):
    """A page that each test opens anew in one browser."""
    models = ()
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="attnscope_html_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.page = os.path.join(cls.folder, "page.html")
        export(cls.page, cls.models, *cls.arguments)
        cls.data = data_of(cls.page)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.open(self.page)
        self.browser.wait("return document.documentElement.dataset.ready")

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [])

    def cell(self, subject, layer, head):
        """The selector of a map in an atlas."""
        return (f"#atlases > :nth-child({subject + 1}) [role=row]:nth-child({layer + 2}) "
                f"[role=gridcell]:nth-child({head + 2})")

    def chosen(self):
        return self.browser.run("return [...document.querySelectorAll("
                                "'#atlases [aria-selected=true]')].map(c => c.ariaLabel)")

    def exact_rank(self, subject, layer, head, view, threshold, power=1):
        """The equivalent rank of the page's exact singular values, counted here."""
        for entry in self.data["subjects"][subject]["maps"]:
            if (entry["layer"], entry["head"]) == (layer, head):
                values = [value ** power for value in entry[view]]
                total, share = sum(values), 0.0
                for rank, value in enumerate(values, 1):
                    share += value
                    if share / total >= threshold:
                        return rank
        raise AssertionError("no such map")


class TwoVisionModels(PageCase):
    models = (MODELS / "fashion-softmax.h5", MODELS / "fashion-adder-identity.h5")
    arguments = ("--input", BOOT)

    def test_a_click_on_a_map_chooses_it_in_both_models(self):
        self.browser.click(self.cell(0, 3, 2))
        labels = self.chosen()
        self.assertEqual(len(labels), 2)
        for label in labels:
            self.assertTrue(label.startswith("layer 3, head 2: equivalent rank"), label)
        self.assertEqual(self.browser.text(".sheet ~ .readout") != "", True)
        rows = self.browser.run("return [...document.querySelectorAll("
                                "'#table tr[aria-selected=true]')].map(r => r.innerText)")
        self.assertEqual(len(rows), 2)

    def test_hovering_a_map_reads_its_entry(self):
        self.browser.point("#views .subject:nth-child(1) .sheet", 0.75, 0.25)
        words = self.browser.text("#views .subject:nth-child(1) .readout")
        self.assertRegex(words, r"^[0-9.e-]+ — query \(\d+, \d+\) → key \(\d+, \d+\)$")
        value = float(self.browser.attribute("#views .subject:nth-child(1) .readout", "data-value"))
        query, key = (14 * int(row) + int(column) + 1
                      for row, column in re.findall(r"\((\d+), (\d+)\)", words))
        self.assertAlmostEqual(value, self.exact_entry(query, key), delta=2e-5)

    def exact_entry(self, query, key):
        """The entry of the first map, written by the page's command for this map alone."""
        if not hasattr(type(self), "rows"):
            out = os.path.join(self.folder, "map.csv")
            words = shlex.split(self.browser.text("#maps").splitlines()[0])
            for option, value in (("--layers", "0"), ("--heads", "0"), ("--out", out)):
                words[words.index(option) + 1] = value
            subprocess.run([PROGRAM, *words[1:]], check=True, stdout=subprocess.DEVNULL)
            with open(out, newline="", encoding="utf-8") as file:
                type(self).rows = {(row["y"], row["x"]): float(row["value"])
                                   for row in csv.DictReader(file) if row["mark"] == "cell"}
        return self.rows[str(query), str(key)]

    def test_a_click_in_a_map_shows_that_row_on_the_picture(self):
        self.browser.point("#views .subject:nth-child(1) .sheet", 0.5, (57 + 0.5) / 197, press=True)
        for subject in (1, 2):
            heading = self.browser.text(f"#views .subject:nth-child({subject}) .row h3")
            self.assertEqual(heading, "Row of query (4, 0)")  # 57 = 1 + 4 · 14
        self.assertIn("14 × 14 patches",
                      self.browser.attribute("#views .row canvas", "aria-label"))

    def test_a_click_on_the_picture_chooses_the_query(self):
        self.browser.point("#views .picture canvas", (2 + 0.5) / 14, (9 + 0.5) / 14, press=True)
        self.assertEqual(self.browser.text("#views .row h3"), "Row of query (9, 2)")
        self.assertEqual(self.browser.text("#views .subject:nth-child(2) .row h3"),
                         "Row of query (9, 2)")
        self.browser.click("#views .chips .token")
        self.assertEqual(self.browser.text("#views .row h3"), "Row of query class")

    def test_the_threshold_counts_exact_singular_values(self):
        self.browser.click(self.cell(1, 2, 1))
        self.browser.run("document.getElementById('threshold').focus()")
        self.browser.keys(*["Left"] * 15)
        self.assertEqual(self.browser.text("#threshold-value"), "0.75")
        for subject, view in ((0, "without"), (1, "with")):
            rank = self.exact_rank(subject, 2, 1, view, 0.75)
            self.assertIn(f"equivalent rank {rank} of 197",
                          self.browser.text(f"#plot-text > :nth-child({subject + 1})"))
            self.assertEqual(self.browser.attribute(self.cell(subject, 2, 1), "aria-label"),
                             f"layer 2, head 1: equivalent rank {rank}")

    def test_the_threshold_may_be_a_share_of_squares(self):
        self.browser.click(self.cell(0, 2, 1))
        self.browser.run("const share = document.getElementById('share');"
                         "share.value = 'energy'; share.dispatchEvent(new Event('change'))")
        rank = self.exact_rank(0, 2, 1, "without", 0.9, power=2)
        self.assertIn(f"equivalent rank {rank} of 197", self.browser.text("#plot-text > div"))
        self.assertIn("squares", self.browser.text("#plot svg"))

    def test_the_identity_is_taken_out_and_put_in(self):
        self.assertIn("A + I", self.browser.text("#plot-text > :nth-child(2)").split(":")[0])
        for value, view in (("without", "without"), ("with", "with")):
            self.browser.click(f"#identity label:has([value={value}])")
            for subject in (0, 1):
                rank = self.exact_rank(subject, 0, 0, view, 0.9)
                self.assertIn(f"equivalent rank {rank} of 197",
                              self.browser.text(f"#plot-text > :nth-child({subject + 1})"))
        self.browser.keys("i")
        self.assertTrue(self.browser.run(
            "return document.querySelector('#identity [value=as-is]').checked"))

    def test_light_and_dark(self):
        colour = "return getComputedStyle(document.body).backgroundColor"
        light = self.browser.run(colour)
        self.browser.click("#theme")
        dark = self.browser.run(colour)
        self.assertNotEqual(light, dark)
        self.assertEqual(self.browser.attribute("#theme", "aria-pressed"), "true")
        self.browser.keys("d")
        self.assertEqual(self.browser.run(colour), light)

    def test_keys_move_between_maps_and_rows(self):
        self.browser.click(self.cell(0, 0, 0))
        self.browser.keys("Down", "Down", "Right")
        self.assertTrue(self.chosen()[0].startswith("layer 2, head 1"), self.chosen())
        self.browser.keys("Enter", "Down", "Down", "Right")
        self.assertEqual(self.browser.text("#views .row h3"), "Row of query (0, 1)")
        self.assertIn("query (0, 1) → key", self.browser.text("#views .readout"))
        self.browser.keys("+", "Escape", "Left")
        self.assertTrue(self.chosen()[0].startswith("layer 2, head 0"), self.chosen())
        self.browser.keys("?")
        self.assertTrue(self.browser.run("return document.getElementById('keys').open"))
        self.browser.keys("Escape")
        self.assertFalse(self.browser.run("return document.getElementById('keys').open"))

    def test_a_heading_sorts_the_table_and_a_row_chooses_its_map(self):
        column = "equivalent_rank"
        numbers = ("return [...document.querySelectorAll(`#table td[data-column=${arguments[0]}]`)]"
                   ".map(cell => Number(cell.textContent))")
        self.browser.click(f"#table button[data-column={column}]")
        ranks = self.browser.run(numbers, column)
        self.assertEqual(len(ranks), 36)
        self.assertEqual(ranks, sorted(ranks))
        self.assertEqual(self.browser.attribute("#table th[aria-sort=ascending]", "scope"), "col")
        self.browser.click(f"#table button[data-column={column}]")
        self.assertEqual(self.browser.run(numbers, column), sorted(ranks, reverse=True))
        place = self.browser.run("return [...document.querySelector('#table tbody tr').children]"
                                 ".slice(1, 3).map(cell => cell.textContent)")
        self.browser.click("#table tbody tr:first-child")
        self.assertTrue(self.chosen()[0].startswith(f"layer {place[0]}, head {place[1]}:"))

    def test_the_page_names_commands_and_fits_a_narrow_window(self):
        self.assertIn("attnscope export-html", self.browser.text("#command"))
        self.assertIn("--identity both --csv", self.browser.text("#csv"))
        for width in (1600, 1280, 800, 500):
            self.browser.resize(width, 800)
            wide = self.browser.run("return document.documentElement.scrollWidth - innerWidth")
            self.assertLessEqual(wide, 0, f"the page is wider than a window of {width} pixels")
        self.browser.resize(1280, 800)

    def test_everything_has_a_name_for_a_screen_reader(self):
        nameless = self.browser.run(
            "return [...document.querySelectorAll('button, input, select, [tabindex], [role=img]')]"
            ".filter(e => !(e.ariaLabel || e.textContent.trim() || e.labels?.length"
            " || e.getAttribute('aria-labelledby'))).map(e => e.outerHTML.slice(0, 120))")
        self.assertEqual(nameless, [])
        tabbed = self.browser.run("return document.querySelectorAll('#atlases [tabindex=\"0\"]').length")
        self.assertEqual(tabbed, 2)  # one stop for each atlas

    def test_nothing_can_be_loaded(self):
        blocked = self.browser.run(
            "return fetch('data:text/plain,x').then(() => 'loaded', error => error.name)")
        self.assertEqual(blocked, "TypeError")
        self.browser.problems()  # the refusal that was asked for


class TextModel(PageCase):
    models = (MODELS / "shakespeare-softmax.h5",)
    arguments = ("--input", SAMPLES / "inputs" / "20_prospero.txt")

    def test_a_click_on_a_token_chooses_its_row(self):
        tokens = self.data["subjects"][0]["layouts"][0]["texts"]
        shown = self.browser.run("return document.querySelectorAll('#views .token').length")
        self.assertEqual(shown, len(tokens))
        self.browser.click("#views .token[data-token='5']")
        self.assertEqual(self.browser.attribute("#views .token[aria-selected=true]", "data-token"),
                         "5")
        name = self.data["subjects"][0]["layouts"][0]["names"][5]
        self.assertEqual(self.browser.text("#views .row h3"), f"Row of query {name}")
        # The mask hides later tokens, whose weights are 0.
        painted = self.browser.run("return getComputedStyle(document.querySelector("
                                   "'#views .token[data-token=\"9\"]')).backgroundColor")
        self.assertRegex(painted, r"rgba\(\d+, \d+, \d+, 0\)")


class TwoPicturesAndAQuestion(PageCase):
    models = (MODELS / "garment-questions",)
    arguments = ("--option", "context=256", "--prompt", "where is the bag ?", "--input",
                 f"{MODELS / 'garment-questions' / 'question.png'}+{SAMPLES / 'inputs' / '08_bag.png'}")

    def heading(self):
        return self.browser.text("#views .row h3")

    def test_both_pictures_are_shown_with_the_words_below(self):
        shapes = [(image["width"], image["height"]) for image in self.data["subjects"][0]["images"]]
        self.assertEqual(len(shapes), 2)
        places = self.browser.run("return [...document.querySelectorAll('#views .picture canvas')]"
                                  ".map(c => { const b = c.getBoundingClientRect();"
                                  " return [b.left, b.top, b.right, b.bottom, b.width / b.height]; })")
        self.assertEqual(len(places), 2)
        (_, top, right, bottom, _), (left, second_top, *_) = places
        self.assertEqual(second_top, top)
        self.assertGreater(left, right)
        for (width, height), place in zip(shapes, places):
            self.assertAlmostEqual(place[4], width / height, delta=0.02)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('#views .token')]"
                                          ".map(token => token.textContent).join('')"),
                         "<s> USER: where is the bag ? ASSISTANT:")
        words = self.browser.run(
            "return document.querySelector('#views .text').getBoundingClientRect().top")
        self.assertGreaterEqual(words, bottom)

    def test_a_click_on_a_cell_chooses_it_in_its_own_picture(self):
        for picture in (1, 2):
            self.browser.point(f"#views .picture:nth-child({picture}) canvas", 5.5 / 8, 2.5 / 8,
                               press=True)
            self.assertEqual(self.heading(), f"Row of query picture {picture} (2, 5)")

    def test_cells_of_masked_tokens_are_not_lit(self):
        lit = ("const c = document.querySelectorAll('#views .picture canvas')[arguments[0]];"
               "const at = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
               "return at.reduce((sum, value) => sum + value, 0)")
        before = [self.browser.run(lit, picture) for picture in (0, 1)]
        self.browser.click("#views .token")
        after = [self.browser.run(lit, picture) for picture in (0, 1)]
        # The first token sees nothing but itself: no cell of either picture is lit any more.
        self.assertLess(after[0], before[0])
        self.assertLess(after[1], before[1])


if __name__ == "__main__":
    unittest.main()
