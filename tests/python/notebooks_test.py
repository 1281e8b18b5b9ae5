"""Executes the notebooks of docs/notebooks: their code in order, and by nbconvert where it is
installed, as a reader does."""

import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "notebooks"
PATHS = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def lacks(*modules):
    return [name for name in modules if importlib.util.find_spec(name) is None]


def cells_of(notebook):
    return json.loads(notebook.read_text())["cells"]


def code_of(notebook):
    return ["".join(cell["source"]) for cell in cells_of(notebook) if cell["cell_type"] == "code"]


def execute(notebook):
    """Runs the cells in order, and shows the value of the last line of each as a notebook does."""
    names, shown = {"__name__": "__main__"}, []
    for code in code_of(notebook):
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, notebook.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)
            forms = ("_repr_svg_", "_repr_html_", "__repr__")
            form = next(form for form in forms if hasattr(value, form))
            shown.append(getattr(value, form)())
    return shown


class NotebooksTest(unittest.TestCase):
    def setUp(self):
        self.assertGreaterEqual(len(NOTEBOOKS), 2)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(FOLDER)
        os.environ.setdefault("MPLBACKEND", "Agg")  # curves need no window

    def skip_without_its_modules(self, notebook):
        modules = [name for name in ("torch",) if f"import {name}" in "".join(code_of(notebook))]
        if missing := lacks(*modules):
            self.skipTest(f"{', '.join(missing)} is not installed")

    def test_outputs_are_stripped(self):
        for notebook in NOTEBOOKS:
            self.assertEqual(json.loads(notebook.read_text())["nbformat"], 4)
            for cell in cells_of(notebook):
                self.assertFalse(cell.get("outputs"), notebook.name)
                self.assertIsNone(cell.get("execution_count"), notebook.name)

    def test_cells_run_in_order(self):
        for notebook in NOTEBOOKS:
            with self.subTest(notebook.name):
                self.skip_without_its_modules(notebook)
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    shown = execute(notebook)
                self.assertTrue(any("<svg" in form for form in shown))
                self.assertTrue(printed.getvalue())

    @unittest.skipIf(lacks("nbconvert", "ipykernel"), "jupyter-nbconvert is not installed")
    def test_nbconvert_executes_them(self):
        for notebook in NOTEBOOKS:
            with self.subTest(notebook.name), tempfile.TemporaryDirectory() as folder:
                self.skip_without_its_modules(notebook)
                own = {name: folder for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR",
                                                 "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
                environment = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"}
                environment["PYTHONPATH"] = os.pathsep.join(PATHS)
                done = subprocess.run(
                    [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                     "--output-dir", folder, str(notebook)],
                    env={**environment, **own}, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
                outputs = [one for cell in cells_of(pathlib.Path(folder) / notebook.name)
                           for one in cell.get("outputs", [])]
                for form in ("image/svg+xml", "text/html"):
                    self.assertTrue(any(form in one.get("data", {}) for one in outputs))
                self.assertFalse([one for one in outputs if one["output_type"] == "error"])


if __name__ == "__main__":
    unittest.main()
