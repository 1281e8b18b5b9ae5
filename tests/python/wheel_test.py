"""The wheel of the module that is tested: its files, its record, and a run from a fresh folder."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import attnscope

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(attnscope.__file__).resolve().parents[2]


def backend():
    """The file that pyproject.toml names, as pip loads it."""
    spec = importlib.util.spec_from_file_location("build_wheel", SOURCES / "python" / "build_wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.name = backend().build_wheel(folder.name, {"build": BUILD})
        with zipfile.ZipFile(cls.folder / cls.name) as wheel:
            wheel.extractall(cls.folder / "site")

    def test_has_the_version_of_the_module(self):
        self.assertTrue(self.name.startswith(f"attnscope-{attnscope.__version__}-cp3"), self.name)
        (metadata,) = (self.folder / "site").glob("*.dist-info/METADATA")
        self.assertIn(f"\nVersion: {attnscope.__version__}\n", metadata.read_text())

    def test_records_every_file_with_its_checksum(self):
        site = self.folder / "site"
        (record,) = site.glob("*.dist-info/RECORD")
        rows = {name: (code, size) for name, code, size in csv.reader(io.StringIO(record.read_text()))}
        files = {file.relative_to(site).as_posix(): file for file in site.rglob("*") if file.is_file()}
        self.assertEqual(set(rows), set(files))
        for name, file in files.items():
            if file == record:
                continue
            code = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode()
            self.assertEqual(rows[name], ("sha256=" + code.rstrip("="), str(file.stat().st_size)), name)
        self.assertIn("attnscope/py.typed", files)

    def test_runs_from_a_fresh_folder(self):
        code = ("import attnscope, numpy;"
                "maps = numpy.eye(5, dtype=numpy.float32)[None, None];"
                "print(attnscope.__file__, attnscope.spectrum(maps, identity=False)[0]['equivalent_rank'])")
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "site")}
        printed = subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=environment,
                                 check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(printed, [str(self.folder / "site/attnscope/__init__.py"), "5"])


if __name__ == "__main__":
    unittest.main()
