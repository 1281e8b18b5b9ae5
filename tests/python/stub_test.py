"""Compares the hints of _attnscope.pyi with the extension module that they describe."""

import ast
import inspect
import pathlib
import re
import unittest

import attnscope
from attnscope import _attnscope

STUB = pathlib.Path(attnscope.__file__).with_name("_attnscope.pyi")


def is_compiled(member):
    return not hasattr(member, "__code__")


def parameters_in_stub(function):
    """The parameters of a function's hint, each with the stars that it is written with."""
    given = function.args
    names = [one.arg for one in given.posonlyargs + given.args]
    if given.vararg:
        names.append("*" + given.vararg.arg)
    names += [one.arg for one in given.kwonlyargs]
    if given.kwarg:
        names.append("**" + given.kwarg.arg)
    return names


def parameters_in_python(function):
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(function).parameters.values()
    return [stars.get(one.kind, "") + one.name for one in found]


def compiled_parameters(function):
    """The parameters of each overload, by the signatures that pybind11 writes into docstrings:
    `name(self: Trace, arg0: int, file: str = '') -> str`."""
    name = re.escape(function.__name__)
    signatures = re.findall(rf"^(?:\d+\. )?{name}\((.*)\) -> ", function.__doc__, re.MULTILINE)
    signatures = [one for one in signatures if one != "*args, **kwargs"]
    return [re.findall(r"(?:^|, )(\w+): ", one) for one in signatures]


class StubTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        body = ast.parse(STUB.read_text(encoding="utf-8")).body
        cls.functions = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
        cls.classes = {one.name: one for one in body if isinstance(one, ast.ClassDef)}

    def check_parameters(self, hints, function):
        """Compares all overloads. An unnamed parameter of the module, arg0, fits any name."""
        hinted = [parameters_in_stub(one) for one in hints]
        if not is_compiled(function):
            self.assertEqual(hinted, [parameters_in_python(function)])
            return
        found = compiled_parameters(function)
        self.assertEqual(len(found), len(hinted), function.__doc__)
        for own, names in zip(hinted, found):
            if own[-1:] == ["*arguments"]:
                self.assertLessEqual(len(own) - 1, len(names))
                continue
            self.assertEqual(len(own), len(names), f"parameters of {function.__doc__}")
            named = [(one, two) for one, two in zip(own, names) if not re.fullmatch(r"arg\d+", two)]
            self.assertEqual([one for one, _ in named], [two for _, two in named])

    def test_functions_and_their_parameters(self):
        public = {name: value for name, value in vars(_attnscope).items()
                  if callable(value) and not name.startswith("_") and not isinstance(value, type)}
        self.assertEqual(sorted(self.functions), sorted(public))
        for name, hint in self.functions.items():
            with self.subTest(name):
                self.check_parameters([hint], public[name])

    def test_classes_and_their_members(self):
        found = {name: value for name, value in vars(_attnscope).items() if isinstance(value, type)}
        self.assertEqual(sorted(self.classes), sorted(found))
        for name, kind in found.items():
            hints = {}
            for one in self.classes[name].body:
                if isinstance(one, ast.FunctionDef):
                    hints.setdefault(one.name, []).append(one)
            special = ("__init__", "__doc__", "__module__", "__repr__", "__iter__")
            # Newer versions of pybind11 add members of their own.
            members = {key: value for key, value in vars(kind).items()
                       if key not in special and not key.startswith("_pybind11")}
            with self.subTest(name):
                self.assertEqual(sorted(set(hints) - set(special)), sorted(members))
            for member, value in members.items():
                is_property = [one.id for one in hints[member][0].decorator_list] == ["property"]
                with self.subTest(f"{name}.{member}"):
                    self.assertEqual(is_property, isinstance(value, property))
                    if not is_property:
                        self.check_parameters(hints[member], getattr(kind, member))


if __name__ == "__main__":
    unittest.main()
