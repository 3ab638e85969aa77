"""Writes the guide's pages about the Python package, from the docstrings of the installed package.

    python python/tools/make_reference.py          writes the pages into docs/src/python
    python python/tools/make_reference.py --check  names pages that are out of date, and then fails
"""

import ast
import importlib
import inspect
import pathlib
import re
import sys
import textwrap

import extremal
from extremal import _core, sklearn
from extremal._registry import python_name

HERE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "src" / "python"
NOTE = "<!-- Written by python/tools/make_reference.py from the docstrings. Change them there. -->"

# Readable names for the private types of the stubs.
WORDS = [
    (r"NDArray\[[\w.]+\]", "ndarray"), (r"\b_Vector\b", "ndarray"), (r"\b_Rows\b", "ArrayLike"),
    (r" \| _Sparse\b", ""), (r"\b_Storage\b", "str"), (r"\b_(Guarantee|Certificate|Compared)\b", "dict"),
]


# Docstrings


def sections(text):
    """A docstring's parts, in order: (title, lines), the first without a title."""
    parts = [("", [])]
    lines = text.splitlines()
    for k, line in enumerate(lines):
        under = lines[k + 1] if k + 1 < len(lines) else ""
        if line and under and set(under) == {"-"}:
            parts.append((line.strip(), []))
        elif not (line and set(line) == {"-"} and not parts[-1][1]):
            parts[-1][1].append(line)
    return [(title, textwrap.dedent("\n".join(lines)).strip()) for title, lines in parts]


def items(text):
    """The entries of a section like Parameters: (names, kind, text)."""
    found = []
    for line in text.splitlines():
        if line and not line[0].isspace():
            name, _, kind = line.partition(" : ")
            found.append((name.strip(), kind.strip(), []))
        else:
            found[-1][2].append(line)
    return [(name, kind, textwrap.dedent("\n".join(lines)).strip()) for name, kind, lines in found]


# Markdown


def plain(text):
    """Text outside of code, with the special characters of Markdown escaped."""
    text = re.sub(r"([\\*\[\]<>#~|])", r"\\\1", text)
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)  # not within words: there it is itself


def prose(text):
    """Text with code in single or double backquotes. Values in quotes become code too, because Markdown
    would make their quotes curly."""
    parts = re.split(r"""(``.+?``|`[^`]+`|"[\w:=.,-]+")""", " ".join(text.split()))
    return "".join(f"`{part.strip('`')}`" if part[:1] in ("`", '"') else plain(part) for part in parts)


def paragraphs(text):
    """Paragraphs and examples. An example starts with Python's prompt."""
    made = []
    for part in re.split(r"\n\s*\n", text.strip()):
        if part.startswith(">>>"):
            made.append(f"```python\n{part}\n```")
        elif part:
            made.append(prose(part))
    return "\n\n".join(made)


def listed(text):
    """A section of parameters or attributes as a list."""
    made = []
    for names, kind, about in items(text):
        code = ", ".join(f"`{name}`" for name in names.split(", "))
        kind = f" ({prose(kind)})" if kind else ""
        about = prose(about)
        made.append(f"- {code}{kind}" + (f": {about}" if about else ""))
    return "\n".join(made)


def returned(text):
    """A section of returned values or raised exceptions: an entry with text below it, or a single line."""
    first, _, rest = text.partition("\n")
    about = prose(rest)
    return prose(first).rstrip(".") + (f": {about}" if about else ".")


def table(head, rows):
    """A table. Bars within cells are escaped, in code too."""
    lines = ["| " + " | ".join(re.sub(r"(?<!\\)\|", r"\|", cell) for cell in row) + " |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines])


def facts(parts, more):
    """The notes of a registered component as a table. Each note has a label."""
    notes = [note.partition(": ") for note in re.split(r"\n\s*\n", parts["Notes"])]
    rows = [(label.lower(), prose(text.removesuffix("."))) for label, _, text in notes]
    rows.append(("reference", prose(parts["References"])))
    return table(["", ""], rows + more)


def documentation(thing, more=None):
    """A docstring as Markdown. For registered components, `more` has further rows for the table of notes."""
    made, parts = [], sections(inspect.getdoc(thing) or "")
    if more:
        made.append(facts(dict(parts), more))
        parts = [part for part in parts if part[0] not in ("Notes", "References")]
    for title, text in parts:
        if not title or title == "Notes":
            made.append(paragraphs(text))
        elif title == "Examples":
            made.append(f"```python\n{text.strip()}\n```")
        elif title in ("Returns", "Raises"):
            made.append(f"**{title}** {returned(text)}")
        else:
            made.append(f"**{title}**\n\n{listed(text)}")
    if more:
        made.append(made.pop(0))  # at the end
    return "\n\n".join(part for part in made if part)


# Signatures: the arguments come from the package, and their types from its stubs


class Stubs(dict):
    """The definitions in a module's stub by name; those in classes by `Class.name`."""

    def __init__(self, module):
        path = pathlib.Path(extremal.__file__).with_name(f"{module}.pyi")
        self._take(ast.parse(path.read_text(encoding="utf-8")), "")

    def _take(self, node, before):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                self[before + child.name] = child
                self._take(child, f"{child.name}.")
            elif isinstance(child, ast.AnnAssign):
                self[before + child.target.id] = child


def words(node):
    text = ast.unparse(node)
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text


def signature(name, thing, stub):
    """A signature. It has the types of parameters unless the docstring describes the parameters."""
    told = any(title == "Parameters" for title, _ in sections(inspect.getdoc(thing) or ""))
    kinds = {}
    if isinstance(stub, ast.FunctionDef) and not told:
        arguments = [*stub.args.posonlyargs, *stub.args.args, *stub.args.kwonlyargs]
        kinds = {a.arg: f": {words(a.annotation)}" for a in arguments if a.annotation}
        kinds = {name: kind for name, kind in kinds.items() if kind != ": Any"}
    made, star = [], False
    for p in inspect.signature(thing).parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            made.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        before = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
        kind = kinds.get(p.name, "")
        default = "" if p.default is p.empty else f" = {p.default!r}" if kind else f"={p.default!r}"
        made.append(before + p.name + kind + default)
    gives = f" -> {words(stub.returns)}" if isinstance(stub, ast.FunctionDef) and stub.returns else ""
    gives = "" if gives == " -> Any" else gives
    short = f"{name}({', '.join(made)}){gives}"
    if len(short) > 90:
        short = f"{name}(\n" + "".join(f"    {a},\n" for a in made) + f"){gives}"
    return f"```python\n{short}\n```"


def function(name, thing, stub, level="##", more=None):
    return "\n\n".join([f"{level} `{name}`", signature(name, thing, stub), documentation(thing, more)])


def class_(name, thing, stubs):
    """A class: its docstring, its properties in a table, and its methods in the order of the stub. Inherited
    methods, for example those of dict, are not shown."""
    made = [f"## `{name}`"]
    # no signature for classes that only the package itself instantiates
    if not issubclass(thing, (tuple, dict, BaseException, extremal.Model)):
        stub = stubs.get(f"{name}.__new__") or stubs.get(f"{name}.__init__")
        made.append(re.sub(r"\) -> .*", ")", signature(name, thing, stub)))
    made.append(documentation(thing))
    if issubclass(thing, Exception):
        made.append(f"The exception is a subclass of `{thing.__base__.__name__}`.")
    documented = {n for title, text in sections(inspect.getdoc(thing)) if title == "Attributes"
                  for n, _, _ in items(text)}
    properties, methods = [], []
    for path, stub in stubs.items():
        n = path.removeprefix(f"{name}.")
        if n == path or n.startswith("_") or n in documented or n not in vars(thing) or n.endswith("_request"):
            continue
        member = vars(thing)[n]
        if n in getattr(thing, "_fields", ()):
            properties.append((n, stub.annotation, ""))
        elif inspect.isdatadescriptor(member):
            properties.append((n, stub.returns, prose(inspect.getdoc(member) or "")))
        else:
            methods.append(function(f"{name}.{n}", getattr(thing, n), stub, "###"))
    if properties:
        made.append(table(["property", "", ""], [(f"`{n}`", f"`{words(kind)}`", about)
                                                 for n, kind, about in properties]))
    return "\n\n".join(made + methods)


# Pages


def whole(names, stubs):
    made = []
    for name in names:
        thing = getattr(extremal, name) if hasattr(extremal, name) else getattr(sklearn, name)
        made.append(class_(name, thing, stubs) if inspect.isclass(thing)
                    else function(name, thing, stubs.get(name)))
    return made


def registered(module):
    """The functions of a module that is made from the registry. Its classes are on a page of their own."""
    source, stubs, made = importlib.import_module(f"extremal.{module}"), Stubs(module), []
    names = {python_name(entry["name"]): entry["name"] for entry in _core.entries(module)} \
        if module not in ("theory", "datasets") else {}
    for name in source.__all__:
        thing = getattr(source, name)
        if inspect.isclass(thing):
            if thing.__module__ == source.__name__:
                made.append(class_(name, thing, stubs))
            continue
        more = None
        if spec := names.get(name):
            link = f"../learners/{spec}.md" if module == "learners" else f"../reference/{module}.md#{spec}"
            more = [("in the guide", f"[`{spec}`]({link})")]
        made.append(function(name, getattr(source, name), stubs[name], more=more))
    return made


def page(title, about, parts):
    return "\n\n".join([NOTE, f"# {title}", about, *parts]) + "\n"


def core():
    """The stubs of all modules that are not made from the registry."""
    return {name: node for module in ("_core", "_history", "_model", "_play", "_compare", "_registry", "sklearn")
            for name, node in Stubs(module).items()}


PAGES = {
    "play": ("Runs and experiments", ["play", "best_in_hindsight", "regret", "History", "Best", "compare",
                                      "Comparison"],
             "`play` plays whole runs in compiled code, and `compare` runs experiments."),
    "objects": ("Learner, Set, Loss, Stream", ["Learner", "Set", "Loss", "Stream"],
                "The functions in [`learners`](learners.md), [`sets`](sets.md), [`losses`](losses.md) and "
                "[`streams`](streams.md) make these objects. Learners, sets and losses can be pickled and copied, unless "
                "they call a Python function of yours."),
    "models": ("Models, papers, errors", ["load", "Model", "cite", "Error"],
               "Model files that the program wrote, the papers to cite, and the package's exception."),
    "sklearn": ("Estimators for scikit-learn", ["OnlineClassifier", "OnlineRegressor"],
                "`extremal.OnlineClassifier` and `extremal.OnlineRegressor` also have the methods of every "
                "estimator, such as `get_params`, `set_params` and `score`. They need the package scikit-learn."),
}

REGISTERED = {
    "learners": ("Learners in Python", "The functions of `extremal.learners`. [Choosing a learner](../choosing-a-learner.md) helps you "
                 "to choose one."),
    "sets": ("Sets in Python", "The functions of `extremal.sets`. [Choosing a set](../choosing-a-set.md) helps you to choose one."),
    "losses": ("Losses in Python", "The functions of `extremal.losses`. [Choosing a loss](../choosing-a-loss.md) helps you to choose "
               "one. Every function that expects a loss also accepts the loss's spec."),
    "streams": ("Streams in Python", "The functions of `extremal.streams`."),
    "theory": ("The theorems' bounds", "The functions of `extremal.theory`."),
    "datasets": ("Data sets", "The functions of `extremal.datasets`."),
}


def index():
    rows = []
    for name, (_, names, _) in PAGES.items():
        for n in names:
            thing = getattr(extremal, n)
            rows.append((f"[`{n}`]({name}.md#{n.lower()})", summary(thing)))
    for name in REGISTERED:
        module = importlib.import_module(f"extremal.{name}")
        rows.append((f"[`{name}`]({name}.md)", summary(module)))
    return page("Python", "Everything in the package `extremal`. [Python](../python.md) in the first part of the guide "
                "shows how to use it.", [table(["in `extremal`", ""], rows)])


def summary(thing):
    return prose((inspect.getdoc(thing) or "").split("\n\n")[0])


def pages():
    made, stubs = {"index": index()}, core()
    for name, (title, names, about) in PAGES.items():
        made[name] = page(title, about, whole(names, stubs))
    for name, (title, about) in REGISTERED.items():
        text = inspect.getdoc(importlib.import_module(f"extremal.{name}"))
        made[name] = page(title, f"{about}\n\n{paragraphs(text)}", registered(name))
    return made


def main():
    check, made = "--check" in sys.argv, pages()
    late = [path.name for path in HERE.glob("*.md") if path.stem not in made]
    for name, text in made.items():
        path = HERE / f"{name}.md"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        late.append(path.name)
        if not check:
            HERE.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if late:
        print(("out of date: " if check else "written or removed: ") + ", ".join(late))
    return 1 if late and check else 0


if __name__ == "__main__":
    raise SystemExit(main())
