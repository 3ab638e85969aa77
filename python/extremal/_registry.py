"""Functions for everything that the library has registered, with signature and documentation."""

import inspect
import keyword
import textwrap

from . import _core


def cite(learner):
    """The papers behind a learner, as BibTeX."""
    name = getattr(learner, "name", learner)
    return _core.citations(name)


def python_name(name):
    """`gradient-bound` is `gradient_bound` in Python, and `lambda` is `lambda_`."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def as_text(value, nested):
    """A value as specs write it. Specs within specs stand in parentheses."""
    spec = getattr(value, "spec", None)
    if isinstance(spec, str):
        return f"({spec})"
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"({value})" if nested and not value.startswith("(") else value
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(as_text(v, nested) for v in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    if hasattr(value, "name") and hasattr(value, "dim"):
        raise _core.Error(f"{value!r} can't be part of another: only registered ones can")
    raise TypeError(f"{value!r} is no value of a spec: give a number, a text, a list, or a set")


def spec_of(entry, given):
    """`name:key=value,...` of the keys that are given."""
    parameters = {python_name(p["name"]): p for p in entry["parameters"]}
    parts = []
    for key, value in given.items():
        if value is None:
            continue
        if key not in parameters:
            known = ", ".join(parameters) or "none"
            raise TypeError(f"{entry['name']} has no parameter {key!r}; it has {known}")
        parameter = parameters[key]
        nested = "spec" in parameter["allowed"] or "parenthes" in parameter["allowed"]
        parts.append(f"{parameter['name']}={as_text(value, nested)}")
    return entry["name"] + (":" + ",".join(parts) if parts else "")


def _documentation(entry, first):
    lines = [entry["summary"][0].upper() + entry["summary"][1:] + ".", ""]
    if first or entry["parameters"]:
        lines += ["Parameters", "----------"]
        lines += first
        for p in entry["parameters"]:
            default = f", default {p['default']}" if p["default"] else ", optional"
            lines.append(f"{python_name(p['name'])} : {p['allowed']}{default}")
            lines += textwrap.wrap(p["about"], 88, initial_indent="    ", subsequent_indent="    ")
        lines.append("")
    lines += ["Notes", "-----", f"Cost: {entry['cost']}.", f"Guarantee: {entry['guarantee']}.", ""]
    lines += ["References", "----------", entry["reference"], ""]
    lines += ["Examples of specs: " + ", ".join(f"``{e}``" for e in entry["examples"])]
    return "\n".join(lines)


def make(kind, module, build, *, before=(), after=(), about=()):
    """A function for every entry of a kind: `build(spec, *before, **after)`."""
    made = {}
    for entry in _core.entries(kind):
        made[python_name(entry["name"])] = _function(entry, module, build, before, after, about)
    return made


def _function(entry, module, build, before, after, about):
    keys = [python_name(p["name"]) for p in entry["parameters"]]
    kept = [a for a in after if a.name not in keys]
    signature = inspect.Signature(
        [inspect.Parameter(b, inspect.Parameter.POSITIONAL_OR_KEYWORD) for b in before]
        + [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=None) for k in keys]
        + kept
    )
    others = {a.name for a in kept}

    def function(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        head = [given.pop(b) for b in before]
        tail = {k: given.pop(k) for k in list(given) if k in others}
        return build(spec_of(entry, given), *head, **tail)

    name = python_name(entry["name"])
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__signature__ = signature
    function.__doc__ = _documentation(entry, list(about))
    return function
