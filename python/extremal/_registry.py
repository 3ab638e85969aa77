"""Makes a function for each registered component, with its signature and documentation."""

import difflib
import inspect
import keyword
import re
import textwrap

from . import _core


def cite(learner):
    """Returns BibTeX records of the papers that a learner comes from.

    Parameters
    ----------
    learner : str or Learner
        A learner, or the name of a learner. `extremal list learners` shows the names.

    Returns
    -------
    str

    Examples
    --------
    >>> import extremal as ex
    >>> print(ex.cite("ofw-ls").splitlines()[0])
    % ofw-ls: Wan & Zhang, AAAI 2021, Theorem 1
    """
    name = getattr(learner, "name", learner)
    if not isinstance(name, str):
        raise TypeError(f"learner must be a Learner or its name, not {learner!r}")
    return _core.citations(name)


def python_name(name):
    """The name of a parameter in Python, such as `gradient_bound` for `gradient-bound`, or `lambda_` for
    `lambda`."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def as_text(value, nested):
    """A value in the syntax of specs, where nested specs stand in parentheses."""
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
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if hasattr(value, "name") and hasattr(value, "dim"):
        raise _core.Error(f"{value!r} can't be a parameter of another component, because it has no spec")
    raise TypeError(f"a parameter must be a number, a string, a list or a set, not {value!r}")


def spec_of(entry, given):
    """The spec `name:key=value,...` of an entry with the given parameters."""
    parameters = {python_name(p["name"]): p for p in entry["parameters"]}
    parts = []
    for key, value in given.items():
        if value is None:
            continue
        if key not in parameters:
            known = ", ".join(parameters) or "none"
            raise TypeError(f"{entry['name']} has no parameter {key!r}; its parameters are {known}")
        parameter = parameters[key]
        parts.append(f"{parameter['name']}={as_text(value, parameter['nested'])}")
    return entry["name"] + (":" + ",".join(parts) if parts else "")


def _sentence(text):
    """The text with a full stop, and with a capital letter unless it starts with a symbol (``ln(1 + …``,
    ``k-sparse``)."""
    if re.match(r"[a-z]+[ ,:;'-]", text) and not re.match(r"[b-z]\b|ln\b", text):
        text = text[0].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def _documentation(entry, guarantee, documented):
    """The docstring of an entry. `documented` maps each parameter to its type and text. None stands for
    the type and the text in the registry."""
    about = {}
    for p in entry["parameters"]:
        optional = "" if p["required"] else ", optional"
        default = f", default {p['default']}" if p["default"] else optional
        about[python_name(p["name"])] = (p["allowed"] + default, _sentence(p["about"]))
    lines = [_sentence(entry["summary"]), ""]
    if documented:
        lines += ["Parameters", "----------"]
    for name, said in documented.items():
        kind, text = said or about[name]
        lines.append(f"{name} : {kind}")
        lines += textwrap.wrap(text, 88, initial_indent="    ", subsequent_indent="    ")
    if documented:
        lines.append("")
    lines += ["Notes", "-----", f"Cost: {entry['cost']}.", "", f"{guarantee}: {entry['guarantee']}.", ""]
    lines += ["Specs: " + ", ".join(f"``{e}``" for e in entry["examples"]) + ".", ""]
    lines += ["References", "----------", entry["reference"]]
    return "\n".join(lines)


def make(kind, module, build, *, before=(), after=(), about=None, guarantee="Constants", instead=None):
    """Makes a function for each entry of a kind. The function calls `build(spec, *before, **after)`.
    `about` has the types and texts of some parameters. The registry lacks these parameters, or
    describes them for the command line. `instead(name, given)` may return an object that no spec can
    describe, or None."""
    made = {}
    for entry in _core.entries(kind):
        made[python_name(entry["name"])] = _function(entry, module, build, before, after, about or {},
                                                     guarantee, instead)
    return made


def _suggestion(given, signature):
    """A suggestion for a misspelt keyword."""
    for key in given:
        near = difflib.get_close_matches(key, signature.parameters, 1)
        if key not in signature.parameters and near:
            return f"; did you mean {near[0]!r}?"
    return ""


def _function(entry, module, build, before, after, about, guarantee, instead):
    keys = [python_name(p["name"]) for p in entry["parameters"]]
    kept = [a for a in after if a.name not in keys]
    signature = inspect.Signature(
        [inspect.Parameter(b, inspect.Parameter.POSITIONAL_OR_KEYWORD) for b in before]
        + [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=None) for k in keys]
        + kept
    )
    others = {a.name for a in kept}

    def function(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}{_suggestion(kwargs, signature)}") from None
        bound.apply_defaults()
        given = bound.arguments
        head = [given.pop(b) for b in before]
        tail = {k: given.pop(k) for k in list(given) if k in others}
        made = instead(entry["name"], given) if instead else None
        return build(spec_of(entry, given), *head, **tail) if made is None else made

    name = python_name(entry["name"])
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__signature__ = signature
    function.__doc__ = _documentation(entry, guarantee, {n: about.get(n) for n in signature.parameters})
    return function
