"""A running window of Attnscope, used as a person uses it: widgets are found by their accessible
names on the bus of AT-SPI, and clicks and keys are those of the X server, made by xdotool."""
import os
import re
import subprocess
import tempfile
import time
from collections import namedtuple

from gi.repository import Gio, GLib

ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
ROOT = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
ENABLED, SHOWING = 1 << 8, 1 << 25  # bits of AtspiStateType
PATIENCE = 180  # seconds until a state that does not come is a failure: the machine may be busy
POLL = 0.1      # seconds between two looks at the window

# rect: x, y, width and height in pixels of the screen; path: names from the window to the widget.
Widget = namedtuple("Widget", "name role enabled rect path")


class Missing(Exception):
    """A state that did not come."""


class Bus:
    """The accessibility bus, asked for many properties at a time."""

    def __init__(self):
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress",
                                    None, None, 0, -1, None)[0]
        flags = Gio.DBusConnectionFlags
        self.bus = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)

    def call_all(self, calls):
        """The answers to calls (object, interface, method, arguments); None where one failed."""
        answers = [None] * len(calls)
        waiting = len(calls)

        def answered(bus, result, index):
            nonlocal waiting
            waiting -= 1
            try:
                answers[index] = bus.call_finish(result)[0]
            except GLib.Error:
                pass  # the widget is gone, or has no such property

        for index, ((name, path), interface, method, arguments) in enumerate(calls):
            self.bus.call(name, path, interface, method, arguments, None, 0, 10_000, None, answered,
                          index)
        while waiting:
            GLib.MainContext.default().iteration(True)
        return answers

    def widgets(self):
        """All widgets on the screen that have a name, from the outside in."""
        name = GLib.Variant("(ss)", (ACCESSIBLE, "Name"))
        screen = GLib.Variant("(u)", (0,))
        found = []
        programs = self.call_all([(ROOT, ACCESSIBLE, "GetChildren", None)])[0] or []
        windows = self.call_all([(one, ACCESSIBLE, "GetChildren", None) for one in programs])
        level = [(one, ()) for some in windows for one in some or []]
        while level:
            states = self.call_all([(one, ACCESSIBLE, "GetState", None) for one, _ in level])
            shown = [(one, path, state[0]) for (one, path), state in zip(level, states)
                     if state and state[0] & SHOWING]
            answers = iter(self.call_all([
                call for one, _, _ in shown
                for call in ((one, "org.freedesktop.DBus.Properties", "Get", name),
                             (one, ACCESSIBLE, "GetRoleName", None),
                             (one, COMPONENT, "GetExtents", screen),
                             (one, ACCESSIBLE, "GetChildren", None))]))
            level = []
            for _, path, state in shown:
                called, role, rect, children = (next(answers) for _ in range(4))
                here = path + (called,) if called else path
                # A dock behind another tab is shown outside the screen.
                if called and rect and rect[0] + rect[2] > 0 and rect[1] + rect[3] > 0:
                    found.append(Widget(called, role, bool(state & ENABLED), rect, here))
                level += [(child, here) for child in children or []]
        return found


class Window:
    """The program, started in a home of its own, where it writes its files, and the count of what the
    user did."""

    def __init__(self, program, arguments, sample_data):
        self.bus = Bus()
        self.home = tempfile.TemporaryDirectory(prefix="attnscope-story-")
        settings = os.path.join(self.home.name, ".config/Attnscope/Attnscope.conf")
        os.makedirs(os.path.dirname(settings))
        with open(settings, "w", encoding="ascii") as file:
            file.write("[General]\nexport_opens=false\n")  # no viewer is started on a page
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
        environment.update(HOME=self.home.name, ATTNSCOPE_SAMPLE_DATA=sample_data, LC_ALL="C.UTF-8",
                           QT_QPA_PLATFORM="xcb", QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
        self.actions = 0
        self.began = self.acted = time.monotonic()
        self.process = subprocess.Popen([os.path.abspath(program), *arguments], env=environment,
                                        cwd=self.home.name)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.home.cleanup()

    def wait(self, what, look):
        """The first true result of look(widgets). Raises Missing if there is none for long."""
        while True:
            began = time.monotonic()
            widgets = self.bus.widgets()
            result = look(widgets)
            if result:
                return result
            if self.process.poll() is not None:
                raise Missing(f"{what}: the program has ended with {self.process.returncode}")
            if began > self.acted + PATIENCE:
                names = " | ".join(dict.fromkeys(one.name for one in widgets))
                raise Missing(f"{what} did not come. On the screen: {names}")
            # Looking takes the program's time, too, so that a long wait has fewer looks.
            time.sleep(min(1, max(POLL, (began - self.acted) / 10)))

    def read(self, pattern, role=None, within=None):
        """Waits for a widget whose whole name matches, and returns the match."""
        return self.wait(pattern, lambda widgets: next(
            (match for _, match in matching(widgets, pattern, role, within)), None))

    def find(self, pattern, role=None, within=None):
        """Waits for an enabled widget that stands still."""
        before = None

        def stands_still(widgets):
            nonlocal before
            now = next((one for one, _ in matching(widgets, pattern, role, within) if one.enabled),
                       None)
            before, last = now, before
            return now if now == last else None

        return self.wait(pattern, stands_still)

    def click(self, pattern, role=None, within=None, times=1):
        """Clicks, or double-clicks, the middle of a widget: one action of the user."""
        x, y, width, height = self.find(pattern, role, within).rect
        self.act("mousemove", x + width // 2, y + height // 2,
                 "click", "--repeat", times, "--delay", 40, 1)

    def press(self, keys):
        """Presses a combination of keys: one action of the user."""
        # Without a window manager no window has the focus.
        xdotool("search", "--onlyvisible", "--name", "^Attnscope$", "windowfocus", "--sync")
        self.act("key", keys)

    def act(self, *words):
        self.actions += 1
        xdotool(*words)
        self.acted = time.monotonic()


def xdotool(*words):
    subprocess.run(["xdotool", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def matching(widgets, pattern, role, within):
    for one in widgets:
        match = re.fullmatch(pattern, one.name, re.DOTALL)
        if match and role in (None, one.role) and (within is None or within in one.path):
            yield one, match
