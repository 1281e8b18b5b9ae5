#!/usr/bin/python3
"""Measures the frames of the window while it is used, on a quiet machine:

    xvfb-run -s "-screen 0 1280x800x24" dbus-run-session tests/stories/frames.py PROGRAM [USE...]

Prints for each use the number of frames, and of the milliseconds that a frame took to draw, and of
those from an action of the user to the end of its frame: the median, the 95th percentile, and the
share that is at most 16.7 (60 frames a second).
"""
import csv
import math
import os
import sys
import time

from stories import SAMPLES, read_rank
from window import Window, xdotool

TURNS = 100  # moves of the mouse, or turns of its wheel
PAUSE = 0.016
FRAME = 16.7  # milliseconds


def still(window, x, y):
    time.sleep(TURNS * PAUSE)


def move(places):
    """Moves the mouse by one process: starting one for each move would take a third of a core."""
    xdotool(*(word for x, y in places for word in ("mousemove", x, y, "sleep", PAUSE)))


def hover(window, x, y):
    angles = [2 * math.pi * turn / TURNS for turn in range(TURNS)]
    move((x + round(60 * math.cos(angle)), y + round(60 * math.sin(angle))) for angle in angles)


def zoom(window, x, y):
    for button in (4, 5):  # the wheel, in and out
        xdotool("mousemove", x, y, "click", "--repeat", TURNS // 4, "--delay", 16, button)


def pan(window, x, y):
    xdotool("mousemove", x, y, "click", "--repeat", 8, "--delay", 16, 4, "mousedown", 1)
    hover(window, x, y)
    xdotool("mouseup", 1)


def temperature(window, x, y):
    left, top, width, height = window.find("Changes the run of the model:").rect
    xdotool("mousemove", left + width // 2, top, "click", "--repeat", 9, "--delay", 16, 5)
    left, top, width, height = window.find("Temperature.*", role="slider").rect
    xdotool("mousemove", left + width // 2, top + height // 2, "mousedown", 1)
    move((left + width // 2 + round(width / 3 * math.sin(turn / 8)), top + height // 2)
         for turn in range(TURNS))
    xdotool("mouseup", 1)


USES = (still, hover, zoom, pan, temperature)


def summary(values):
    if not values:
        return f"{'-':>8}" * 3
    values = sorted(values)
    at_95 = values[math.ceil(0.95 * len(values)) - 1]
    share = sum(value <= FRAME for value in values) / len(values)
    return f"{values[len(values) // 2]:8.1f}{at_95:8.1f}{share:8.0%}"


def main(program, *names):
    uses = [use for use in USES if not names or use.__name__ in names]
    window = Window(program, ["gui", "--size", "1280x800", "--frame-times", "frames.csv"], SAMPLES)
    times = []
    try:
        read_rank(window, "13.4")
        window.click("Close the first minute for good")
        for use in uses:
            if use is temperature:
                window.click("Experiments", role="menu item")
                window.click("What if", role="menu item")
            left, top, width, height = window.find("Attention maps of fashion-softmax").rect
            time.sleep(1)  # the former use's last frames
            began = time.monotonic()
            use(window, left + width // 2, top + height // 2)
            times.append((use.__name__, began, time.monotonic()))
        window.press("ctrl+q")
        window.process.wait(timeout=60)
        with open(os.path.join(window.home.name, "frames.csv"), encoding="ascii") as file:
            frames = list(csv.DictReader(file))
    finally:
        window.close()
    print(f"{'':12}{'':>8}{'drawing, ms':>24}{'after an action, ms':>24}")
    print(f"{'use':12}{'frames':>8}" + f"{'median':>8}{'95 %':>8}{'≤ 16.7':>8}" * 2)
    for name, began, ended in times:
        of_use = [one for one in frames if began <= float(one["end_s"]) <= ended]
        actions = [float(one["after_action_ms"]) for one in of_use if one["after_action_ms"]]
        print(f"{name:12}{len(of_use):8}{summary([float(one['drawing_ms']) for one in of_use])}"
              f"{summary(actions)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
