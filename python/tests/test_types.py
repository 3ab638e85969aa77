"""The type stubs: they say what there is, and the examples keep to them."""

import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1]


def python(*arguments, cwd):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def test_stubs_are_up_to_date(tmp_path):
    """Those made from the registry are what it says today."""
    code, said = python(HERE / "tools" / "make_stubs.py", "--check", cwd=tmp_path)
    assert code == 0, said


def test_stubs_are_true(tmp_path):
    pytest.importorskip("mypy")
    code, said = python("-m", "mypy.stubtest", "extremal", cwd=tmp_path)
    assert code == 0, said


def test_stubs_are_strict(tmp_path):
    pytest.importorskip("mypy")
    code, said = python("-m", "mypy", "--strict", "--no-incremental", *sorted(HERE.glob("extremal/*.pyi")),
                        cwd=tmp_path)
    assert code == 0, said


def test_examples_keep_to_the_stubs(tmp_path):
    pytest.importorskip("mypy")
    code, said = python("-m", "mypy", "--strict", "--no-incremental", *sorted(HERE.glob("examples/*.py")),
                        cwd=tmp_path)
    assert code == 0, said


def test_mistakes_are_found(tmp_path):
    pytest.importorskip("mypy")
    wrong = {
        'ex.sets.l2(radius="wide", dim=3)': "arg-type",
        "ex.sets.l2(diameter=3)": "call-arg",
        "ex.learners.ofw(3)": "arg-type",
        'ex.learners.gauge_ftrl(ex.sets.l2(dim=3), balance="none")': "arg-type",
        "ex.play(ex.sets.l2(dim=3), [[1.0, 2.0, 3.0]])": "call-overload",
        "ex.theory.ofw(1.0, 2.0)": "call-arg",
        "ex.OnlineClassifier(passes=2.5)": "arg-type",
        "ex.nothing": "attr-defined",
    }
    script = tmp_path / "wrong.py"
    script.write_text("import extremal as ex\n" + "\n".join(wrong) + "\n")
    code, said = python("-m", "mypy", "--strict", "--no-incremental", script, cwd=tmp_path)
    assert code == 1
    for line, kind in enumerate(wrong.values(), 2):
        assert any(f"wrong.py:{line}:" in told and f"[{kind}]" in told for told in said.splitlines()), said
