"""The guide's pages about Python say what the package does: those made from docstrings are what it
says today, and the code on the others runs and prints what stands below it."""

import contextlib
import doctest
import importlib
import importlib.util
import io
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {
    "python": (ROOT / "docs/src/python.md", ""),
    "coming-from": (ROOT / "docs/src/coming-from.md", ""),
    "start-oracle": (ROOT / "docs/src/start-oracle.md", ""),
    "README": (ROOT / "README.md", "### Python\n"),
}
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def test_reference_pages_are_up_to_date(tmp_path):
    tool = ROOT / "python" / "tools" / "make_reference.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["learners", "sets", "losses", "streams", "theory", "_registry", "_play",
                                  "_model", "_history", "_compare", "datasets"])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"extremal.{name}")).failed == 0


def blocks(text):
    """The blocks of Python, and what is to be printed: the block of text right after. ``python,NAME``
    is code for another package of that name."""
    fence = r"^```(python[\w,]*)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?"
    for tag, code, said in re.findall(fence, text, flags=re.MULTILINE | re.DOTALL):
        yield tag.partition(",")[2], code, said


def section(text, heading):
    """From a heading up to the next one as large; all of it without a heading."""
    if not heading:
        return text
    return text[text.index(heading) + len(heading):].split("\n## ")[0]


def alike(printed, said):
    """Whether two texts are the same, but for the last digits of numbers."""
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (printed, said)]
    return NUMBER.sub("#", printed) == NUMBER.sub("#", said) and numbers[0] == pytest.approx(numbers[1], rel=1e-6)


def run(code, names, where):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, where, "exec"), names)
    return printed.getvalue()


@pytest.mark.parametrize("page", PAGES)
def test_code_on_pages_prints_what_stands_below_it(page, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    path, heading = PAGES[page]
    names, ran = {"__name__": "guide"}, 0
    for package, code, said in blocks(section(path.read_text(encoding="utf-8"), heading)):
        if package and importlib.util.find_spec(package) is None:
            continue
        # what is written for others leaves nothing behind
        printed = run(code, dict(names) if package else names, path.name)
        assert alike(printed, said), f"{code}\nprints\n{printed}\nand not\n{said}"
        ran += not package
    assert ran >= {"python": 4, "coming-from": 6, "start-oracle": 1, "README": 1}[page]


def test_code_for_other_packages_is_named_after_them():
    """A name that is misspelt would never be run."""
    text = PAGES["coming-from"][0].read_text(encoding="utf-8")
    named = {package for package, _, _ in blocks(text) if package}
    assert named == {"pynol", "vowpalwabbit", "river", "sklearn"}
    assert "```julia\n" in text
