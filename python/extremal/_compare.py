"""Experiments: learners × problems × seeds."""

import json
import os
import sys

from . import _core
from ._play import _bar


def compare(experiment, out=None, *, threads=None, progress=False, quiet=False):
    """Runs an experiment and writes its tables and its report; finished runs are not made again.

    Parameters
    ----------
    experiment : dict, or path of a TOML file, or TOML text
        As `extremal compare` takes it.
    out : path
        The directory; ``extremal-NAME`` after the file, ``extremal-experiment`` otherwise.
    threads : int, optional
        How many; as many as there are cores if left out. The tables do not depend on it.
    progress : bool or callable
        A bar (tqdm, if installed), or a function of the rounds played so far.
    quiet : bool
        Whether not to print the table.

    Returns
    -------
    dict
        ``table`` (text), ``directory``, and ``summary``, ``trace``, ``timing`` as lists of dicts.
    """
    if isinstance(experiment, dict):
        text, name, is_json = json.dumps(experiment), "experiment", True
    else:
        text, is_json = os.fspath(experiment), False
        name = "experiment"
        if "\n" not in text:
            name = text
            with open(text, encoding="utf-8") as file:
                text = file.read()
    if out is None:
        stem = os.path.splitext(os.path.basename(name))[0]
        out = f"extremal-{stem}"
    show, close = _bar(False, 0)
    bar = {}

    def tell(done, expected):
        if "show" not in bar:
            bar["show"], bar["close"] = _bar(progress, expected)
        bar["show"](done)

    try:
        table = _core.compare(text, name, out, json=is_json, threads=threads,
                              progress=tell if progress else None)
    finally:
        bar.get("close", close)()
    if not quiet:
        print(table, file=sys.stdout)
    return {"table": table, "directory": os.fspath(out),
            **{name: _rows(os.path.join(out, f"{name}.csv")) for name in ("summary", "trace", "timing")}}


def _rows(path):
    import csv

    def value(text):
        if text == "":
            return None
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                pass
        return text

    with open(path, newline="", encoding="utf-8") as file:
        return [{k: value(v) for k, v in row.items()} for row in csv.DictReader(file)]
