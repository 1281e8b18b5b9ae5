"""Runs every line of docs/coming-from.md that answers a call of another library."""

import contextlib
import os
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "coming-from.md").read_text()
STARTS = ("attnscope.", "lm", "text", "vit", "picture", "np.", "list(", "print(")


def lines_of_page():
    """The code in the last column of the tables. Hooks need a model of PyTorch: hook_test.py."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row.rsplit(" | ", 1)[1])]
    return [span for span in spans if span.startswith(STARTS) and "hook(" not in span]


class ComingFromTest(unittest.TestCase):
    def test_every_line_runs(self):
        lines = lines_of_page()
        self.assertGreater(len(lines), 45)
        names = {}
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "sample_data", os.path.join(folder, "sample_data"))
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], names)
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                for line in lines:
                    with self.subTest(line):
                        exec(f"answer = {line}" if " = " not in line else line, names)
                        if " = " not in line and not line.startswith("print(") and "save(" not in line:
                            self.assertIsNotNone(names["answer"])
            os.chdir(ROOT)

    def test_sections_have_ten_calls(self):
        sections = PAGE.split("\n## ")[1:]
        self.assertEqual(len(sections), 5)
        for section in sections:
            self.assertGreaterEqual(section.count("\n| "), 11, section[:20])  # a header and ten


if __name__ == "__main__":
    unittest.main()
