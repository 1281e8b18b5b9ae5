#!/usr/bin/python3
"""Times what a new user does in the first ten minutes, step by step, in seconds on the wall: a notebook with a
PyTorch model, a training that streams its maps, a model on a server, and a page of HTML in a browser.

    PYTHONPATH=build/release/python xvfb-run -a -s "-screen 0 1280x800x24" dbus-run-session \\
      /usr/bin/python3 tests/bench/first_ten_minutes.py build/release/bin/attnscope [FOLDER [WALK...]]

FOLDER takes pictures of the screen at the end of each walk (needs imagemagick). The walks are notebook, training,
server and page. A walk is left out with a message where what it needs is not installed.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("stories", "python", "browser")]
SAMPLES = ROOT / "sample_data"
MODELS = SAMPLES / "models"
BOOT = SAMPLES / "inputs" / "09_ankle_boot.png"
NOTEBOOKS = ("attention-rank", "watching-a-training")
SIZE = ("--size", "1280x800")

# The cells that a user types, each with what it does. The model is one of timm's shape, of deit_tiny.py.
CELLS = {
    "import attnscope": "import attnscope",
    "open the state dict in memory": 'm = attnscope.open(model.state_dict(), like="timm-vit", heads=3)',
    "run a picture": "t = m.run(picture)",
    "maps of a layer": "t.maps[3]",
    "72 spectra with ranks, A and A + I": 's = attnscope.spectrum(t, identity="both")',
    "means by layer as a table": 's.parts["means without"]._repr_html_()',
    "a figure as SVG": 'attnscope.figure("attention-maps", t, layers=[0, 5, 11]).save("maps.svg")',
}

# A training loop, and the same loop with the lines that stream its maps. The model and the optimiser are those
# of the second worked notebook.
STEP = """
    tokens = torch.randint(SYMBOLS, (32, LENGTH))
    loss = nn.functional.cross_entropy(model(tokens)[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
"""
LOOP = "for step in range(401):" + STEP
STREAMING_LOOP = """
with attnscope.hook(model, every=20, steps=1) as recorder:
  for step in range(401):""" + STEP + """
    if step % 20 == 0:
        attnscope.show(recorder.trace(), "repeater", step=step)
"""
TIMED = "\nimport time\nbegan = time.perf_counter()\n{}\nprint(time.perf_counter() - began)"


def row(*cells):
    print("|", " | ".join(map(str, cells)), "|", flush=True)


class Steps:
    """The steps of one walk, which are printed as they end."""

    def __init__(self, walk, typed):
        self.walk, self.typed = walk, typed
        self.began = self.last = time.perf_counter()

    def done(self, what):
        now = time.perf_counter()
        row(self.walk, what, f"{now - self.last:.2f}")
        self.last = now

    def end(self):
        row(self.walk, f"**all, {self.typed} typed**", f"**{self.last - self.began:.1f}**")


def missing(*modules):
    lacks = [name for name in modules if not importlib.util.find_spec(name)]
    return ", ".join(lacks) + " must be installed" if lacks else ""


def picture(folder, name):
    if folder:
        time.sleep(1)  # The last frames are drawn.
        subprocess.run(["import", "-window", "root", folder / f"{name}.png"], check=True)


def notebook(program, folder):
    if why := missing("torch", "nbconvert", "ipykernel"):
        return row("notebook", "left out: " + why, "")
    os.environ["ATTNSCOPE"] = program
    steps = Steps("notebook", f"{len(CELLS)} lines")
    from deit_tiny import DeiT
    names = {"model": DeiT().eval(), "picture": str(BOOT)}
    steps.done("PyTorch's start, and the model")
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for what, code in CELLS.items():
            exec(code, names)
            steps.done(what)
        steps.end()
        check_logits(names["model"], names["t"])
        if folder:
            shutil.copy("maps.svg", folder)
        for name in NOTEBOOKS:
            steps = Steps("worked notebook", "nothing")
            subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "--output-dir",
                            folder or scratch, ROOT / f"docs/notebooks/{name}.ipynb"], check=True,
                           capture_output=True)
            steps.done(f"all cells of {name}, with Jupyter's start")
        os.chdir(ROOT)


def check_logits(model, trace):
    """Compares the answer with that of the model's own code."""
    import torch
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    pixels = (torch.from_numpy(trace.image.copy()).float() / 255 - mean) / deviation
    with torch.no_grad():
        own = model(pixels.permute(2, 0, 1)[None])[0].numpy()
    difference = abs(own - trace.logits).max()
    assert difference < 1e-4 * abs(own).max(), difference


def training(program, folder):
    if why := missing("torch"):
        return row("training", "left out: " + why, "")
    from notebooks_test import FOLDER, code_of
    from window import Window
    model = code_of(FOLDER / "watching-a-training.ipynb")[0]

    def start(loop):
        return subprocess.Popen([sys.executable, "-c", model + TIMED.format(loop)], stdout=subprocess.PIPE,
                                text=True)

    alone = start(LOOP).communicate()[0]
    row("training", "the loop without attnscope, which is not part of the sum", f"{float(alone):.2f}")
    steps = Steps("training", "1 command and 4 lines")
    window = Window(program, ["gui", "--empty", "--panel", "over-training", *SIZE], str(SAMPLES))
    try:
        window.read("Open a folder of checkpoints…")
        steps.done("attnscope gui --empty --panel over-training, until the window is on the screen")
        loop = start(STREAMING_LOOP)
        window.read("repeater: step .*")
        steps.done("PyTorch's start, until the first maps are on the screen")
        seconds = float(loop.communicate()[0])
        steps.done(f"until the loop has ended, which took {seconds:.2f} s and sent 21 steps")
        window.read("repeater: step 400, 21 of 21")
        window.wait("the ranks of all steps", lambda widgets: not any(
            one.name == "Progress of background work" for one in widgets))
        steps.done("until the slider and the curve have all of them")
        steps.end()
        picture(folder, "training")
    finally:
        window.close()


def server(program, folder):
    import ssh_server
    from stories import read_rank
    from window import Window
    if why := ssh_server.missing():
        return row("server", "left out: " + why, "")
    host = ssh_server.SshServer(program)
    try:
        address = host.address(MODELS / "fashion-softmax.h5")
        steps = Steps("server", "1 command")
        window = Window(program, ["gui", address, "--input", str(BOOT), *SIZE], str(SAMPLES))
        try:
            window.read("Attention maps of fashion-softmax on 127.0.0.1")
            steps.done("attnscope gui ssh://…, until the maps are on the screen")
            read_rank(window, "12.7")
            steps.done("until their mean rank is there")
            steps.end()
            picture(folder, "server")
        finally:
            window.close()
    finally:
        host.close()


def page(program, folder):
    import browser
    if why := browser.missing():
        return row("page", "left out: " + why, "")
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "page.html"
        steps = Steps("page", "1 command")
        subprocess.run([program, "export-html", MODELS / "fashion-softmax.h5", MODELS / "fashion-adder-identity.h5",
                        "--input", BOOT, "--out", out], check=True, stdout=subprocess.DEVNULL)
        steps.done(f"attnscope export-html of two models, {out.stat().st_size / 1e6:.1f} MB")
        chromium = browser.Browser()
        try:
            steps.done("Chromium's start")
            chromium.open(out)
            chromium.wait("return document.documentElement.dataset.ready")
            steps.done("until the page is ready")
            chromium.point("#views .subject:nth-child(1) .sheet", 0.75, 0.25)
            chromium.wait("return /query/.test(document.querySelector(arguments[0]).textContent)",
                          "#views .subject:nth-child(1) .readout")
            steps.done("until it reads the entry under the pointer")
            steps.end()
            if folder:
                chromium.picture(folder / "page.png")
                for one in [*folder.glob("*.html"), *folder.glob("*.svg")]:
                    chromium.open(one)
                    chromium.picture(one.with_suffix(".png"))
        finally:
            chromium.close()


WALKS = {"notebook": notebook, "training": training, "server": server, "page": page}


def main(program, folder=None, *names):
    program, folder = os.path.abspath(program), folder and pathlib.Path(folder).resolve()
    # Paths stay right when a walk changes the folder.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path)
    sys.path[:] = [os.path.abspath(path) for path in sys.path]
    with tempfile.TemporaryDirectory() as runtime:  # where the window's socket lies
        os.environ["XDG_RUNTIME_DIR"] = runtime
        print("| walk | step | seconds |\n|---|---|---|")
        for name in names or WALKS:
            WALKS[name](program, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
