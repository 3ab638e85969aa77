"""Models that the command line wrote, read and used from Python."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp

import extremal as ex


def command():
    """The program: $EXTREMAL, a build of this tree, or on the PATH."""
    if os.environ.get("EXTREMAL"):
        return os.environ["EXTREMAL"]
    here = pathlib.Path(__file__).resolve().parents[2]
    for profile in ("release", "debug"):
        program = here / "target" / profile / "extremal"
        if program.exists():
            return str(program)
    return shutil.which("extremal")


PROGRAM = command()
needs_program = pytest.mark.skipif(
    PROGRAM is None, reason="no program `extremal`: build it, or set EXTREMAL to where it is")


def run(*arguments, **keys):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, **keys)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_program
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("set,storage", [("lp:p=1.5,radius=3", "dense"), ("l2:radius=3", "lazy"),
                                         ("l1:radius=3", "sparse")])
def test_load_a_model(tmp_path, rng, intercept, set, storage):
    rows = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.5)
    labels = rows @ rng.normal(size=6) + 0.5
    data = tmp_path / "data.svm"
    data.write_text("".join(
        f"{y!r} " + " ".join(f"{j + 1}:{a!r}" for j, a in enumerate(row) if a) + "\n"
        for row, y in zip(rows.tolist(), labels.tolist())))
    model = tmp_path / "model"
    run("learn", data, "--set", set, "--loss", "squared", "--learner", "ofw-ls", "--storage", storage, "-q",
        "-f", model, *(["--intercept"] if intercept else []))
    loaded = ex.load(model)
    assert loaded.rounds == 200 and "ofw-ls" in repr(loaded)
    assert loaded.plan["loss"]
    expected = np.array([float(line) for line in run("predict", "-i", model, data).split()])
    for given in (rows, sp.csr_matrix(rows), sp.coo_array(rows), rows.tolist()):
        np.testing.assert_allclose(loaded.predict(given), expected, rtol=1e-5, atol=1e-5)
    assert np.std(expected) > 0.1


@needs_program
def test_load_a_model_of_several_classes(tmp_path, rng):
    rows = rng.normal(size=(300, 5))
    classes = rows[:, :3].argmax(axis=1)
    data = tmp_path / "data.svm"
    data.write_text("".join(
        f"{k + 1} " + " ".join(f"{j + 1}:{a!r}" for j, a in enumerate(row)) + "\n"
        for row, k in zip(rows.tolist(), classes.tolist())))
    model = tmp_path / "model"
    run("learn", data, "--set", "l2:radius=10", "--loss", "logistic", "--classes", "3", "-q", "-f", model)
    loaded = ex.load(model)
    expected = run("predict", "-i", model, data).split()
    predicted = [str(c) for c in loaded.predict(rows)]
    assert predicted == expected
    assert np.mean([p == str(k + 1) for p, k in zip(predicted, classes)]) > 0.7
    assert loaded.decision_function(rows).shape == (300, 3)


@needs_program
def test_load_what_is_no_model(tmp_path):
    (tmp_path / "no").write_bytes(b"nonsense")
    with pytest.raises(ex.Error):
        ex.load(tmp_path / "no")
    with pytest.raises((ex.Error, OSError), match="missing"):
        ex.load(tmp_path / "missing")
