"""A headless Chromium driven through chromedriver (W3C WebDriver), with real clicks and keys."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
    "google-chrome")
DRIVER = shutil.which("chromedriver")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's id (WebDriver, 12)
KEYS = {"Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "Enter": "\ue007",
        "Escape": "\ue00c", "Tab": "\ue004"}


def missing():
    """The program that is missing, in words; empty if there is a browser with its driver."""
    if CHROMIUM is None:
        return "no Chromium is installed (scripts/install-packages browser)"
    return "" if DRIVER else "chromedriver is not installed (scripts/install-packages browser)"


class Refused(Exception):
    """An answer of the driver that is an error."""


class Browser:
    """One window of a browser without a network."""

    def __init__(self, width=1280, height=800, dark=False):
        self.folder = tempfile.mkdtemp(prefix="attnscope_browser_")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        with open(os.path.join(self.folder, "driver.log"), "wb") as log:
            self.driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=log, stderr=log,
                                           start_new_session=True)
        try:
            self._begin(width, height, dark)
        except BaseException:
            self.close()
            raise

    def _begin(self, width, height, dark):
        arguments = ["--headless=new", "--disable-gpu", f"--window-size={width},{height}",
                     f"--user-data-dir={self.folder}/profile", "--no-first-run",
                     "--host-resolver-rules=MAP * ~NOTFOUND", "--force-device-scale-factor=1"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        options = {"binary": CHROMIUM, "args": arguments}
        wanted = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}}
        until = time.monotonic() + 60
        while True:
            try:
                self.session = "/session/" + self._send("POST", "/session", wanted)["sessionId"]
                return
            except urllib.error.URLError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            value = json.loads(error.read())["value"]
            raise Refused(value["error"] + ": " + value["message"]) from None

    def close(self):
        """Ends the browser and its driver."""
        try:
            self._send("DELETE", self.session)
        except (AttributeError, OSError, Refused):
            pass
        os.killpg(self.driver.pid, signal.SIGTERM)
        self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, file):
        """Opens a file from disk and waits until its maps are shown."""
        self._send("POST", self.session + "/url", {"url": "file://" + os.path.abspath(file)})

    def run(self, script, *arguments):
        """The value that a script returns."""
        return self._send("POST", self.session + "/execute/sync",
                          {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=60):
        """Waits until a script returns something true, and returns that."""
        until = time.monotonic() + seconds
        while not (value := self.run(script, *arguments)):
            if time.monotonic() > until:
                raise TimeoutError(script)
            time.sleep(0.05)
        return value

    def find(self, selector):
        return self._send("POST", self.session + "/element",
                          {"using": "css selector", "value": selector})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def attribute(self, selector, name):
        return self.run("return document.querySelector(arguments[0]).getAttribute(arguments[1])",
                        selector, name)

    def click(self, selector):
        """A click of the mouse in the middle of an element."""
        self._send("POST", f"{self.session}/element/{self.find(selector)[ELEMENT]}/click", {})

    def point(self, selector, x, y, press=False):
        """Moves the mouse to a fraction of an element, and clicks there if `press`."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        left, top = self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.left + arguments[1] * box.width, box.top + arguments[2] * box.height]",
            selector, x, y)
        actions = [{"type": "pointerMove", "duration": 0, "x": round(left), "y": round(top)}]
        if press:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": actions}]})

    def keys(self, *names):
        """Presses keys one after the other, by their names or characters."""
        actions = []
        for name in names:
            for kind in ("keyDown", "keyUp"):
                actions.append({"type": kind, "value": KEYS.get(name, name)})
        self._send("POST", self.session + "/actions",
                   {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def resize(self, width, height):
        self._send("POST", self.session + "/window/rect", {"width": width, "height": height})

    def problems(self):
        """Warnings and errors that the browser wrote since the last call."""
        log = self._send("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, file):
        import base64
        with open(file, "wb") as out:
            out.write(base64.b64decode(self._send("GET", self.session + "/screenshot")))
