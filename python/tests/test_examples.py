"""Every example runs, as a user would run it, and shows what it claims."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def run(name, cwd, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True,
                          text=True, cwd=cwd, timeout=300, env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip(), done.stderr  # no warnings either
    return done.stdout


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return [float(n) for n in found.groups()]


def test_paper(tmp_path):
    said = run("paper.py", tmp_path, tmp_path / "paper.png")
    picture = (tmp_path / "paper.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000
    regret = {name: numbers(rf"{name} +regret +([\d.]+)", said)[0]
              for name in ("OFW", "OFW with line search", "Gauge-FTRL")}
    assert 0 < regret["Gauge-FTRL"] < regret["OFW with line search"] < regret["OFW"]


def test_the_paper_takes_40_lines():
    text = (EXAMPLES / "paper.py").read_text().split('"""', 2)[2]
    code = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) <= 40


def test_custom_oracle(tmp_path):
    said = run("custom_oracle.py", tmp_path)
    assert said.count("Python callback") == 2
    mean, best, stayed = numbers(r"per day: ([\d.]+), best fixed path ([\d.]+), .* ([\d.]+)\n", said)
    assert best < mean < stayed
    days, paths = numbers(r"after (\d+) days and (\d+) shortest", said)
    assert days == paths == 1000
    late, stayed = numbers(r"lateness per day: ([\d.]+), .* ([\d.]+)\n", said)
    assert late < 0.8 * stayed


def test_streaming(tmp_path):
    pytest.importorskip("sklearn")
    said = run("streaming.py", tmp_path)
    before, = numbers(r"before the change +accuracy ([\d.]+)", said)
    during, = numbers(r"at the change +accuracy ([\d.]+)", said)
    last, = numbers(r"last batches +accuracy ([\d.]+)", said)
    assert before > 0.8 and last > 0.7 and during < min(before, last)


def test_portfolio(tmp_path):
    said = run("portfolio.py", tmp_path)
    equal, = numbers(r"equal parts, every day +([\d.]+)", said)
    stock, = numbers(r"the best stock +([\d.]+)", said)
    best, = numbers(r"the best fixed portfolio +([\d.]+)", said)
    assert best >= stock > equal
    regrets = [float(r) for r in re.findall(r"regret ([\d.]+)", said)]
    assert len(regrets) == 5 and all(0 < r < 1 for r in regrets)


def test_all_examples_are_tested():
    here = pathlib.Path(__file__).read_text()
    for example in EXAMPLES.glob("*.py"):
        assert f'run("{example.name}"' in here
        assert "# %% " in example.read_text()
