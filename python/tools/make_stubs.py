"""Writes the type stubs of the modules that are made from the registry.

    python python/tools/make_stubs.py          writes the stubs into python/extremal
    python python/tools/make_stubs.py --check  names stubs that are out of date, and then fails
"""

import keyword
import pathlib
import re
import sys

from extremal import _core

HERE = pathlib.Path(__file__).resolve().parents[1] / "extremal"
NOTE = "# Written by python/tools/make_stubs.py from the registry."


def python_name(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def function(name, arguments, result):
    lines = [f"def {name}("] + [f"    {a}," for a in arguments] + [f") -> {result}: ..."]
    short = f"def {name}({', '.join(arguments)}) -> {result}: ..."
    return short if len(short) <= 100 else "\n".join(lines)


def entries(kind_, before, after, result):
    made = []
    for entry in _core.entries(kind_):
        keys = [f"{python_name(p['name'])}: {p['type']} | None = None" for p in entry["parameters"]]
        names = {key.split(":")[0] for key in keys}
        keys += [a for a in after if a.split(":")[0] not in names]
        arguments = [*before, *(["*"] if keys else []), *keys]
        made.append((python_name(entry["name"]), function(python_name(entry["name"]), arguments, result)))
    return made


def imports(body):
    """The imports of the names that the body uses, in the usual order."""
    found = set(re.findall(r"\w+", body))
    lines = []
    for source, names in IMPORTS:
        used = [name for name in names if name in found]
        if source == "numpy" and used:
            lines.append("import numpy as np")
        elif used:
            lines.append(f"from {source} import {', '.join(used)}")
        elif not source and lines and lines[-1]:
            lines.append("")
    return lines


IMPORTS = [("collections.abc", ["Callable", "Sequence"]), ("typing", ["Any", "Literal", "NamedTuple"]), ("", []),
           ("numpy", ["np"]), ("numpy.typing", ["ArrayLike", "NDArray"]), ("", []),
           ("._core", ["Learner", "Loss", "Set", "Stream"]), ("", [])]


def module(about, own, made, names=()):
    all_names = [*names, *(name for name, _ in made)]
    exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in all_names) + "]"
    body = "\n".join([*own, *(text for _, text in made)])
    return "\n".join([f'"""{about}"""', "", NOTE, "", *imports(body), exported, "", body, ""])


def stubs():
    storage = 'storage: Literal["dense", "lazy", "sparse"] = "dense"'
    custom = [
        "oracle: Callable[[NDArray[np.float64]], ArrayLike | tuple[ArrayLike, float]]", "*", "dim: int", "diameter: float",
        "norm_bound: float | None = None", "inner_radius: float | None = None",
        "strong_convexity: float | None = None", "centre: ArrayLike | None = None",
        "violation: Callable[[NDArray[np.float64]], float] | None = None", 'name: str = "custom"']
    return {
        "sets": module(
            "Constraint sets.",
            [function("from_spec", ["spec: str", "dim: int | None = None"], "Set"),
             function("custom", custom, "Set")],
            entries("sets", [], [], "Set"), ["Set", "custom", "from_spec"]),
        "losses": module(
            "Losses of a prediction ⟨a, x⟩ and a label.",
            [function("from_spec", ["spec: str | Loss"], "Loss")],
            entries("losses", [], [], "Loss"), ["Loss", "from_spec"]),
        "learners": module(
            "Learners.",
            [function("from_spec", ["spec: str", "set: Set | str", storage], "Learner"),
             function("default", ["set: Set | str", "loss: Loss | str", "l2: float = 0.0", storage], "Learner")],
            entries("learners", ["set: Set | str"], [storage], "Learner"), ["Learner", "default", "from_spec"]),
        "streams": module(
            "Synthetic streams.",
            [function("from_spec", ["spec: str", "dim: int", "seed: int = 0"], "Stream")],
            entries("streams", ["dim: int"], ["seed: int = 0"], "Stream"), ["Stream", "from_spec"]),
        "theory": module(
            "The theorems' bounds, as functions of their constants.", [],
            [(name, function(name, [f"{python_name(a)}: ArrayLike" for a in arguments], "Any"))
             for name, _, arguments in _core.theorems()]),
        "datasets": module(
            "Data sets that come with the package.",
            ["class Data(NamedTuple):", "    rows: NDArray[np.float64]", "    y: NDArray[np.float64] | None", "",
             function("load", ["name: str"], "Data")],
            [(python_name(entry["name"]), function(python_name(entry["name"]), [], "Data"))
             for entry in _core.dataset_entries()], ["Data", "load"]),
    }


def main():
    late = []
    for name, text in stubs().items():
        path = HERE / f"{name}.pyi"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        late.append(path.name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    if late:
        print(("out of date: " if "--check" in sys.argv else "written: ") + ", ".join(late))
    return 1 if late and "--check" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())
