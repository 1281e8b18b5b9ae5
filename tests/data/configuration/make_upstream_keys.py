#!/usr/bin/python3
"""Names and default values of the keys of the configuration classes in Hugging Face's transformers.

    make_upstream_keys.py CHECKOUT [KIND …] > upstream_keys.json

CHECKOUT is a copy of the repository, of version 4 or 5; nothing in it is run: its Python is only
parsed. Without KIND the kinds (model_type) that upstream_keys.json has already are made anew.

For each kind: the class, its keys with their defaults (what is no literal is null), also those that
it takes from its other arguments (kwargs), the names that stand for others (attribute_map), and the
keys that no line of the kind's modelling code names.
"""
import ast
import json
import pathlib
import sys


def literal(node):
    """The value of a default, null for what is no literal of JSON nor a product of two."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = literal(node.left), literal(node.right)
        return None if left is None or right is None else left * right
    try:
        value = ast.literal_eval(node)
        json.dumps(value)
    except (ValueError, TypeError):
        return None
    return list(value) if isinstance(value, tuple) else value


def assigned(body, name):
    """The literal that a class gives to `name`."""
    for node in body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            target = node.target
        elif isinstance(node, ast.Assign):
            target = node.targets[0]
        else:
            continue
        if isinstance(target, ast.Name) and target.id == name:
            return literal(node.value)
    return None


def fields(body):
    """Keys of a data class: annotated names with a value that are not of all classes."""
    found = {}
    for node in body:
        if not isinstance(node, ast.AnnAssign) or node.value is None:
            continue
        if "ClassVar" in ast.dump(node.annotation):
            continue
        value = node.value
        for word in value.keywords if isinstance(value, ast.Call) else ():
            if word.arg == "default":
                value = word.value
        found[node.target.id] = literal(value)
    return found


def parameters(body):
    """Keys of a class that takes them in __init__; nothing where it has none."""
    for node in body:
        if not isinstance(node, ast.FunctionDef) or node.name != "__init__":
            continue
        names = node.args.args[1:] + node.args.kwonlyargs
        values = [None] * (len(node.args.args) - 1 - len(node.args.defaults))
        values += node.args.defaults + node.args.kw_defaults
        return {a.arg: literal(v) if v is not None else None for a, v in zip(names, values)}
    return {}


def from_kwargs(node):
    """Keys that a class takes from kwargs by pop, get or setdefault, with their defaults."""
    theta = assigned(node.body, "default_theta")
    found = {}
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        of = call.func.value
        if not isinstance(of, ast.Name) or of.id != "kwargs" or len(call.args) != 2:
            continue
        key, default = literal(call.args[0]), call.args[1]
        if ast.unparse(default) in ("self.default_theta", "default_theta"):
            found[key] = theta if theta is not None else 10000.0
        elif ast.unparse(default).startswith("self.default_theta["):
            found[key] = theta[literal(default.slice)]
        else:
            found[key] = literal(default)
    return found


def named_in(folder):
    """What the modelling code of a folder reads of any configuration, or might."""
    names = set()
    for path in folder.glob("modeling_*.py"):
        if path.name.startswith(("modeling_tf_", "modeling_flax_")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return names


def classes_of(models):
    """(kind, folder, class) of every configuration class."""
    for path in sorted(models.glob("*/configuration_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and assigned(node.body, "model_type"):
                yield assigned(node.body, "model_type"), path.parent, node


def entry_of(folder, node):
    keys = parameters(node.body) or fields(node.body)
    others = from_kwargs(node)
    keys.update((key, value) for key, value in others.items() if key not in keys)
    if "rope_parameters" in keys:  # the keys of version 4 are still read
        if not any(key.endswith(("rope_theta", "rotary_emb_base")) for key in keys):
            theta = assigned(node.body, "default_theta")
            keys["rope_theta"] = 10000.0 if theta is None else theta
        keys.setdefault("rope_scaling", None)
    aliases = assigned(node.body, "attribute_map") or {}
    read = named_in(folder)
    standing_for = {real: alias for alias, real in aliases.items()}
    unread = [k for k in keys if k not in read and standing_for.get(k) not in read]
    rotary = ("rope_theta", "rope_scaling", *others)
    return {
        "class": node.name,
        "aliases": aliases,
        "unread": [k for k in unread if k not in rotary],
        "keys": keys,
    }


def main():
    models = pathlib.Path(sys.argv[1]) / "src" / "transformers" / "models"
    kinds = sys.argv[2:]
    if not kinds:
        here = pathlib.Path(__file__).with_name("upstream_keys.json")
        kinds = list(json.loads(here.read_text()))
    found = {}
    for kind, folder, node in classes_of(models):
        if kind in kinds and kind not in found:
            found[kind] = entry_of(folder, node)
    missing = sorted(set(kinds) - set(found))
    if missing:
        sys.exit("no configuration class of: " + ", ".join(missing))
    lines = []
    for kind in sorted(found):
        parts = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in found[kind].items()]
        lines.append(json.dumps(kind) + ": {\n" + ",\n".join(parts) + "}")
    print("{" + ",\n".join(lines) + "}")


main()
