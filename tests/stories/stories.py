#!/usr/bin/python3
"""Walks stories through the window with real clicks and keys:

    xvfb-run -s "-screen 0 1280x800x24" dbus-run-session tests/stories/stories.py PROGRAM [STORY...]

A story fails if what it is for cannot be read at its end, or if it needs more actions than it may
take. An action is a click, a double click or a combination of keys.
"""
import os
import re
import subprocess
import sys
import time

from window import Missing, Window, xdotool

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../sample_data")
FASHION = "/usr/share/datasets/fashion-mnist"  # Debian's package dataset-fashion-mnist
STORIES = {}


def sample(name):
    return os.path.join(SAMPLES, name)


def story(name, at_most, *arguments):
    """Adds a story of at most so many actions, which begins with the program's arguments."""
    def add(walk):
        STORIES[name] = (at_most, arguments, walk)
        return walk
    return add


def read_rank(window, rank):
    """Waits for the mean rank of a model in the title of its maps, where a narrow one has no words."""
    window.read(rf"(mean )?(rank )?{re.escape(rank)}\b.*", role="label")


@story("first maps", 0)
def first_maps(window):
    window.read(r"Attention maps of fashion-softmax")
    window.read(r"Attention maps of fashion-adder")
    window.read(r"T-shirt/top \d+ %")
    read_rank(window, "6.8")
    read_rank(window, "13.4")


@story("lowest-rank head", 1)
def lowest_rank_head(window):
    read_rank(window, "6.8")
    unsorted = rank_table(window)
    window.click("1", role="column header", within="Measure of every layer and head")
    window.wait("the sorted table", lambda widgets: rows_of(widgets) != unsorted)
    layer, head, rank = rank_table(window)[0]
    assert (layer, head, rank) == ("5", "2", "1"), (layer, head, rank)


def rank_table(window):
    return window.wait("ranks", rows_of)


def rows_of(widgets):
    """Layer, head and rank of the first model in the visible rows of the table."""
    columns = {one.name: one.rect[0] for one in widgets if one.role == "column header"}
    cells = {(one.rect[1], one.rect[0]): one.name for one in widgets if one.role == "cell"}
    try:
        return [tuple(cells[y, columns[name]] for name in ("Layer", "Head", "1"))
                for y in sorted({y for y, _ in cells})]
    except KeyError:
        return None  # the table is being filled


@story("softmax beside adder", 2, "gui", sample("models/fashion-softmax.h5"),
       sample("inputs/09_ankle_boot.png"))
def softmax_beside_adder(window):
    read_rank(window, "12.7")
    window.click("Overlay another mechanism")
    window.click("Add", within="Overlay a mechanism")
    window.read(r"Attention maps of fashion-softmax with adder attention")
    read_rank(window, "12.7")
    read_rank(window, "38.3")


@story("identity", 1)
def identity(window):
    read_rank(window, "6.8")
    window.click(r"Identity mapping: A \+ I")
    window.read(r"(.*\+I )?176\.1", role="label")
    # A diagonal entry of A + I is more than 1.
    window.read(r"Colour scale: weight of model 1 .* values up to 1\.\d+ .* model 2 .*")


@story("one-column PDF", 3)
def one_column_pdf(window):
    read_rank(window, "13.4")
    window.click("Export figure")
    window.read(r"84 × \d+ mm", within="Export a figure")
    window.click("Export", within="Export a figure")
    window.read(r"Exported .*\.pdf")
    assert width_mm(window, "attention-maps-fashion-softmax-fashion-adder.pdf") == 84


@story("six-panel page", 8)
def six_panel_page(window):
    read_rank(window, "13.4")
    window.click("File", role="menu item")
    window.click("Compose page…", role="menu item")
    window.click("Add spectra, ranks and maps")
    for figure in ("Rank over depth", "How alike the heads are", "Which heads write the answer"):
        window.click(figure, role="list item", times=2)
    window.click("Export", within="Compose a page")
    window.read(r"Exported .*\.pdf")
    assert width_mm(window, "page.pdf") == 174
    letters = re.findall(r"\(([a-z])\) [A-Z]", pdf_info(window, "page.pdf"))
    assert "".join(letters) == "abcdef", letters


def pdf_info(window, name):
    return subprocess.run(["pdfinfo", os.path.join(window.home.name, name)], check=True,
                          capture_output=True, text=True).stdout


def width_mm(window, name):
    points = float(re.search(r"Page size: +([\d.]+)", pdf_info(window, name))[1])
    return round(points / 72 * 25.4)


@story("importances of a text", 1, "gui", sample("models/shakespeare-fastformer.h5"),
       sample("inputs/20_prospero.txt"))
def importances_of_a_text(window):
    read_rank(window, "110.8")
    window.click("This mechanism", role="page tab")
    window.read(r"Text with importance, query attention.*")
    window.read(r"Text with importance, key attention.*")


@story("training", 2 if os.path.isdir(FASHION) else 3)
def training(window):
    read_rank(window, "13.4")
    window.press("F3")
    measured = r"accuracy [\d.]+ %"
    if not os.path.isdir(FASHION):
        window.click("Training data", role="text")
        xdotool("type", sample("inputs/twelve.npz"))
        measured = r"loss [\d.]+ nats"  # there are no test examples
    window.click("Start", within="Train")
    window.read(r"Attention maps of (softmax|adder|adder-I), step 0")
    window.read(rf"(softmax|adder|adder \+ I): step [1-9]\d* of 600 .* {measured}.*")


@story("sweep", 3)
def sweep(window):
    read_rank(window, "13.4")
    window.click("Experiments", role="menu item")
    window.click("Sweep", role="menu item")
    window.click("Sweep", role="push button")
    window.read(r"\d+ of 1000 inputs.*|12 inputs, complete\.")
    window.read(r"Mean cumulative spectra", role="filler")


def walk(program, name):
    """Prints what the story took, or why it failed. True if it did what it is for."""
    at_most, arguments, steps = STORIES[name]
    window = Window(program, arguments, SAMPLES)
    try:
        steps(window)
        end = time.monotonic()
        assert window.actions <= at_most, f"{window.actions} actions, {at_most} allowed"
    except (AssertionError, Missing) as failure:
        print(f"{name}: FAILED after {window.actions} actions: {failure}")
        if "STORY_PICTURES" in os.environ:  # a folder; needs imagemagick
            subprocess.run(["import", "-window", "root",
                            os.path.join(os.environ["STORY_PICTURES"], name + ".png")], check=False)
        return False
    finally:
        window.close()
    print(f"{name:24}{window.actions:8}{at_most:9}{end - window.began:9.1f}"
          f"{end - window.acted if window.actions else end - window.began:9.1f}", flush=True)
    return True


def main(program, *names):
    print(f"{'story':24}{'actions':>8}{'at most':>9}{'seconds':>9}{'waited':>9}", flush=True)
    return 0 if all([walk(program, name) for name in names or STORIES]) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
