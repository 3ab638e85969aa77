"""Experiments from Python."""

import json
import re
import warnings

import numpy as np
import pytest

import extremal as ex

EXPERIMENT = {
    "title": "A test", "seeds": 2, "horizons": {"from": 64, "to": 256},
    "learner": {"ofw": {"name": "ofw"}, "ofw-ls": {"name": "ofw-ls"}},
    "problem": {"ball": {"title": "A ball", "set": {"name": "l2", "dim": 4}, "loss": "linear",
                         "stream": "drift"}},
}
TOML = """
title = "A test"
seeds = 2
horizons = { from = 64, to = 256 }
[learner.ofw]
name = "ofw"
[learner.ofw-ls]
name = "ofw-ls"
[problem.ball]
title = "A ball"
set = { name = "l2", dim = 4 }
loss = "linear"
stream = "drift"
"""


def without_times(rows):
    return [{k: v for k, v in row.items() if "time" not in k and "seconds" not in k and "ns" not in k}
            for row in rows]


def test_compare_a_dict(tmp_path, capsys):
    result = ex.compare(EXPERIMENT, tmp_path / "out")
    assert result["directory"] == str(tmp_path / "out")
    assert "ofw-ls" in result["table"] and result["table"] in capsys.readouterr().out
    assert {row["learner"] for row in result["summary"]} == {"ofw", "ofw-ls"}
    assert result["trace"] and result["timing"] == []  # timed where the experiment says so
    timed = ex.compare(dict(EXPERIMENT, timing=True), tmp_path / "timed", quiet=True)["timing"]
    assert timed and all(row["seconds"] > 0 for row in timed)
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000


def test_compare_text_and_file_are_the_same(tmp_path):
    one = ex.compare(TOML, tmp_path / "one", quiet=True)
    (tmp_path / "mine.toml").write_text(TOML)
    other = ex.compare(tmp_path / "mine.toml", tmp_path / "other", quiet=True)
    table = ex.compare(EXPERIMENT, tmp_path / "third", quiet=True)
    assert without_times(one["summary"]) == without_times(other["summary"])
    assert without_times(one["summary"]) == without_times(table["summary"])


def test_compare_again_plays_nothing(tmp_path):
    seen, out = {}, tmp_path / "out"

    def cells():
        return {file.name: file.stat().st_mtime_ns for file in (out / "cells").glob("*.json")}

    one = ex.compare(TOML, out, quiet=True, progress=lambda done: seen.update(first=done))
    before = cells()
    again = ex.compare(TOML, out, quiet=True, progress=lambda done: seen.update(second=done))
    assert len(before) >= 12 and cells() == before
    assert again["summary"] == one["summary"] and again["trace"] == one["trace"]
    assert seen.get("second", 0) == 0
    other = dict(EXPERIMENT, title="Another", seeds=3)
    with pytest.raises(ex.Error, match="a different experiment"):
        ex.compare(other, tmp_path / "out", quiet=True)


def test_compare_takes_objects(tmp_path):
    ball = ex.sets.lp(p=1.5, dim=4)
    problem = {"set": ball, "loss": ex.losses.linear(), "stream": ex.streams.drift(4, noise=1.0), "l2": None}
    assert ex.compare({**EXPERIMENT, "horizons": np.logspace(1, 2, 2)}, tmp_path / "nought", quiet=True)
    mine = {"rounds": 5e1, "seeds": range(2), "problem": {"7": problem},
            "learner": {"a": "ofw", "b": ex.learners.gauge_ftrl(ball)}}
    written = {"rounds": 50, "seeds": [0, 1],
               "problem": {"7": {"set": "lp:p=1.5,dim=4", "loss": "linear", "stream": "drift:noise=1"}},
               "learner": {"a": {"name": "ofw"}, "b": {"name": "gauge-ftrl"}}}
    one = ex.compare(mine, tmp_path / "one", quiet=True)
    assert one == {**ex.compare(written, tmp_path / "two", quiet=True), "directory": str(tmp_path / "one")}
    assert {row["problem"] for row in one["summary"]} == {"7"}
    assert all(row["holds"] is True for row in one["checks"]) and one["checks"]
    own = ex.sets.custom(lambda g: -np.sign(g), dim=4, diameter=4)
    with pytest.raises(ValueError, match="Python callback.*registered component"):
        ex.compare({**mine, "problem": {"7": {**problem, "set": own}}}, tmp_path / "three")


def test_comparisons_show_themselves(tmp_path):
    experiment = dict(EXPERIMENT, scales=[0.5, 1.0])
    experiment["learner"] = {name: dict(learner, tune="eta-scale") for name, learner in EXPERIMENT["learner"].items()}
    result = ex.compare(EXPERIMENT, tmp_path / "out", quiet=True)
    assert repr(result) == f"<Comparison of {', '.join(EXPERIMENT['learner'])} on ball, in {tmp_path / 'out'}>"
    pandas, plt = pytest.importorskip("pandas"), pytest.importorskip("matplotlib.pyplot")
    for name in ("summary", "trace", "checks"):
        frame = result.to_pandas(name)
        assert isinstance(frame, pandas.DataFrame) and len(frame) == len(result[name])
    with pytest.raises(ValueError, match="no table 'nothing'; the tables are summary"):
        result.to_pandas("nothing")
    ax = result.plot(ax=plt.figure().gca())
    assert ax.get_legend_handles_labels()[1] == list(EXPERIMENT["learner"])
    horizon = max(row["horizon"] for row in result["summary"])
    for line, name in zip(ax.get_lines(), EXPERIMENT["learner"]):
        last = [row["regret_upper"] for row in result["summary"] if (row["learner"], row["horizon"]) == (name, horizon)]
        assert line.get_xdata()[-1] == horizon and line.get_ydata()[-1] == pytest.approx(last[0])
    with pytest.raises(ValueError, match="no problem 'x'; the problems are ball"):
        result.plot("x")
    assert ax.get_yscale() == "log"
    won = ex.Comparison(result, trace=[dict(row, regret_upper=-row["regret_upper"]) for row in result["trace"]])
    assert won.plot(ax=plt.figure().gca()).get_yscale() == "linear"
    assert result.to_pandas("trace")["certificate"].dtype == float
    scaled = ex.compare(experiment, tmp_path / "scaled", quiet=True).plot(ax=plt.figure().gca())
    labels = scaled.get_legend_handles_labels()[1]
    assert labels == [f"{name} × {scale}" for name in EXPERIMENT["learner"] for scale in ("0.5", "1")]


def test_compare_goes_on_elsewhere_or_updates(tmp_path):
    ex.compare(EXPERIMENT, tmp_path / "out", quiet=True)
    cells = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "cells").glob("*.json")}
    more = dict(EXPERIMENT, seeds=4)
    result = ex.compare(more, tmp_path / "out", quiet=True, update=True)
    assert {row["seeds"] for row in result["summary"]} == {4}
    assert all(file.stat().st_mtime_ns == time for file, time in cells.items())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("mine")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.toml").write_text("[database]\n")
    for update in (False, True):
        with pytest.raises(ex.Error, match="config.toml is not a file of this experiment"):
            ex.compare(EXPERIMENT, tmp_path / "theirs", quiet=True, update=update)
        with pytest.raises(ex.Error, match="report.html is not a file of this experiment"):
            ex.compare(EXPERIMENT, tmp_path / "mine", quiet=True, update=update)
    assert (tmp_path / "mine" / "report.html").read_text() == "mine"
    assert (tmp_path / "theirs" / "config.toml").read_text() == "[database]\n"


def test_which_column_is_the_label_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("a,price\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(20)))
    mine = {"rounds": 20, "learner": {"a": "ofw-free"}, "problem": {"p": {
        "set": "l2", "loss": "squared", "stream": {"file": tmp_path / "a.csv"}}}}
    with pytest.warns(UserWarning, match="the first column, `a`, is used as the label"):
        ex.compare(mine, tmp_path / "first", quiet=True)
    mine["problem"]["p"]["stream"]["label"] = "price"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ex.compare(mine, tmp_path / "second", quiet=True)["summary"]


def test_the_command_in_the_report_runs_it_again(tmp_path):
    one = ex.compare(EXPERIMENT, tmp_path / "out", quiet=True)
    command = json.loads((tmp_path / "out" / "run.json").read_text())["command"]
    path = re.fullmatch(r'extremal\.compare\("(.*)"\)', command)[1]
    again = ex.compare(path, tmp_path / "again", quiet=True)
    assert again["trace"] == one["trace"]


def test_compare_tells_its_errors(tmp_path):
    for change, match in [
        ({"learner": {"a": {"name": "nonsense"}}}, "^learner.a.name: unknown variant `nonsense`"),
        ({"learner": {"a": "nonsense"}}, "^learner.a.spec: no learner `nonsense`"),
        ({"seedz": 3}, "^seedz: unknown field"),
        ({"problem": {"ball": {"loss": "linear", "stream": "drift"}}}, "^problem.ball: missing field `set`"),
        ({"learner": {}}, "^the experiment defines no learner; "),
        ({"problem": None}, "^the experiment defines no problem; "),
        ({"problem": None, "problems": {}}, "^problems: unknown field `problems`"),
        ({"rounds": float("nan")}, "^rounds: expected a finite number, found nan"),
        ({"problem": {"set": "l2:dim=3", "loss": "linear"}}, "^problem must be a dict with one item per problem"),
        ({"learner": ["ofw", "ofw-ls"]}, "^learner must be a dict with one item per learner"),
        ({"seeds": {1, 2}}, r"^seeds: .* can't contain \{1, 2\}$"),
        ({"learner": {"a": ex.learners.ofw}}, "^learner.a: .*; call this function"),
    ]:
        with pytest.raises((ValueError, TypeError), match=match):
            ex.compare(dict(EXPERIMENT, **change), tmp_path / "out")
    with pytest.raises(ValueError, match="at least 1, not -1"):
        ex.compare(EXPERIMENT, tmp_path / "out", threads=-1)
    with pytest.raises(ex.Error, match="^experiment:2: "):
        ex.compare(TOML.replace("\n", "\nseedz = 1\n", 1), tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        ex.compare(str(tmp_path / "missing.toml"))
    assert not (tmp_path / "out").exists()


def test_compare_names_its_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(TOML)
    assert ex.compare("mine.toml", quiet=True)["directory"] == "extremal-mine"
    assert ex.compare(EXPERIMENT, quiet=True)["directory"] == "extremal-experiment"
