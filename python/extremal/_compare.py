"""Experiments: several learners play several problems, with several seeds."""

import json
import math
import os
import sys
import warnings

from . import _core, _optional
from ._play import _bar

_TABLES = ("summary", "trace", "checks", "timing")


class Comparison(dict):
    """The results of an experiment.

    Items
    -----
    table : str
        The table that `compare` prints.
    directory : str
        The directory of the report and the tables.
    summary : list of dicts
        One row per problem, learner, factor on the step size and horizon.
    trace : list of dicts
        One row per checkpoint, which is a round after which the state of a run is recorded. A run of the
        longest horizon has several checkpoints. A shorter run has one checkpoint, after its last round.
    checks : list of dicts
        One row per assumption of a theorem. The row says whether the assumption holds.
    timing : list of dicts
        Running times in seconds, if the experiment sets ``timing``.
    """

    def to_pandas(self, table="summary"):
        """Returns one of the tables as a data frame. Needs the package pandas."""
        if table not in _TABLES:
            raise ValueError(f"there is no table {table!r}; the tables are {', '.join(_TABLES)}")
        frame = _optional.pandas().DataFrame(self[table])
        # an empty column becomes a column of numbers
        return frame.astype({name: float for name in frame if frame[name].isna().all()})

    def plot(self, problem=None, ax=None, **style):
        """Plots the regret of each learner against the round. The regret is the mean over the seeds for
        the longest horizon. There is one curve for each factor on the step size. The axis of rounds is
        logarithmic. The axis of regret is logarithmic too if all regrets are positive. Needs the
        package matplotlib.

        Parameters
        ----------
        problem : str, optional
            The name of the problem; the first problem by default.
        ax : matplotlib axes, optional
            The axes to draw on; matplotlib's current axes by default.
        **style
            Arguments for ``ax.plot``.

        Returns
        -------
        matplotlib axes
        """
        problems = list(dict.fromkeys(row["problem"] for row in self["trace"]))
        problem = problems[0] if problem is None else problem
        if problem not in problems:
            raise ValueError(f"there is no problem {problem!r}; the problems are {', '.join(problems)}")
        rows = [row for row in self["trace"] if row["problem"] == problem]
        longest = max(row["horizon"] for row in rows)
        curves = {}
        for row in rows:
            if row["horizon"] == longest:
                curve = curves.setdefault((row["learner"], row["scale"]), {})
                curve.setdefault(row["round"], []).append(row["regret_upper"])
        ax = ax or _optional.pyplot().gca()
        positive = True
        for (learner, scale), curve in curves.items():
            several = sum(name == learner for name, _ in curves) > 1
            rounds = sorted(curve)
            means = [sum(curve[t]) / len(curve[t]) for t in rounds]
            positive &= min(means) > 0
            ax.plot(rounds, means, label=f"{learner} × {scale:g}" if several else learner, **style)
        ax.set(xscale="log", yscale="log" if positive else "linear", xlabel="round", ylabel="regret",
               title=problem)
        ax.legend()
        return ax

    def __repr__(self):
        def names(key):
            return ", ".join(dict.fromkeys(row[key] for row in self["summary"]))

        return f"<Comparison of {names('learner')} on {names('problem')}, in {self['directory']}>"


_COUNTS = ("rounds", "horizons", "seeds", "from", "to")


def _plain(value, place):
    """Converts a dict's value to one that JSON can represent. Objects become their specs, and numpy
    numbers become Python numbers. `place` is the value's key, for error messages."""
    if isinstance(value, dict):
        parts = ((str(key), part) for key, part in value.items() if part is not None)
        return {key: _plain(part, f"{place}.{key}".lstrip(".")) for key, part in parts}
    if hasattr(value, "tolist"):  # a numpy array or a numpy number
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [_plain(part, place) for part in value]
    if isinstance(value, (_core.Set, _core.Loss, _core.Learner, _core.Stream)):
        if value.spec is None:
            raise ValueError(f"{place}: {value!r} calls a Python function, which an experiment can't use; give a "
                             "registered component")
        return value.spec
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and value.is_integer() and place.rpartition(".")[2] in _COUNTS:
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place}: expected a finite number, found {value}")
    if isinstance(value, (str, bool, int, float)):
        return value
    called = "; call this function and pass its result" if callable(value) else ""
    raise TypeError(f"{place}: an experiment can't contain {value!r}{called}")


def _written(experiment):
    """Converts an experiment in a dict to JSON. A learner may be a spec or an object instead of a
    dict."""
    experiment = _plain(experiment, "")
    for key, example in (("problem", '{"ball": {"set": …, "loss": …, "stream": …}}'),
                         ("learner", '{"mine": "ofw-ls"}')):
        parts = experiment.get(key, {})
        if not isinstance(parts, dict) or key == "problem" and any(not isinstance(p, dict) for p in parts.values()):
            raise TypeError(f"{key} must be a dict with one item per {key}, for example {example}")
    if "learner" in experiment:
        experiment["learner"] = {name: {"spec": learner} if isinstance(learner, str) else learner
                                 for name, learner in experiment["learner"].items()}
    return json.dumps(experiment)


def compare(experiment, out=None, *, update=False, threads=None, progress=False, quiet=False):
    """Runs an experiment, and writes its tables and its report. A repeated call reuses finished runs.

    Parameters
    ----------
    experiment : dict, or path of a TOML file, or TOML text
        The experiment, as for `extremal compare`. In a dict, sets, losses, streams and learners may be
        Python objects. Only the specs of these objects are used: a learner's state, set and storage are
        ignored, and so are a stream's dimension and seed.
    out : path
        The output directory; by default ``extremal-NAME`` for a file NAME.toml, otherwise
        ``extremal-experiment``.
    update : bool
        Whether `out` may hold a different experiment. The files of that experiment are replaced.
        Finished runs that belong to both experiments are reused.
    threads : int, optional
        The number of threads; one per core by default. The results do not depend on the number of
        threads.
    progress : bool or callable
        True for a progress bar (tqdm, if installed), or a function that is called with the number of
        rounds of all finished runs.
    quiet : bool
        If true, the table is not printed.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import tempfile
    >>> import extremal as ex
    >>> ball = ex.sets.lp(p=1.5, dim=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = ex.compare({
    ...         "rounds": 1000,
    ...         "seeds": 3,
    ...         "problem": {"ball": {"set": ball, "loss": "linear", "stream": "drift"}},
    ...         "learner": {"paper": "ofw-ls", "ours": "gauge-ftrl"},
    ...     }, folder, quiet=True)
    >>> [(row["learner"], round(row["regret"], 1)) for row in result["summary"]]
    [('paper', 62.7), ('ours', 3.9)]
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if isinstance(experiment, dict):
        text, name, is_json = _written(experiment), "experiment", True
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
    bar = {}

    def report(done, expected):
        if not bar:
            bar["show"], bar["close"] = _bar(progress, expected)
        bar["show"](done)

    try:
        table = _core.compare(text, name, out, json=is_json, update=update, threads=threads,
                              note=lambda text: warnings.warn(text, stacklevel=3),
                              progress=report if progress else None)
    finally:
        bar.get("close", lambda: None)()
    if not quiet:
        print(table, file=sys.stdout)
    return Comparison(table=table, directory=os.fspath(out),
                      **{name: _rows(os.path.join(out, f"{name}.csv")) for name in _TABLES})


def _rows(path):
    import csv

    known = {"": None, "true": True, "false": False}

    def value(text):
        if text in known:
            return known[text]
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                pass
        return text

    with open(path, newline="", encoding="utf-8") as file:
        return [{key: text if key in ("problem", "learner") else value(text) for key, text in row.items()}
                for row in csv.DictReader(file)]
