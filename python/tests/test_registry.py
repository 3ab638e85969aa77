"""Functions for everything that is registered, and the data sets that come along."""

import inspect
import math

import numpy as np
import pytest

import extremal as ex
from extremal import _core
from extremal._registry import python_name

KINDS = {"sets": ex.sets, "losses": ex.losses, "learners": ex.learners, "streams": ex.streams}


def test_cite():
    text = ex.cite("ofw-ls")
    assert "@" in text and "Wan" in text and "Zhang" in text
    assert ex.cite(ex.learners.ofw_ls(ex.sets.l2(dim=2))) == text
    with pytest.raises(ex.Error, match="nonsense"):
        ex.cite("nonsense")


ENTRIES = [(kind, entry) for kind in KINDS for entry in _core.entries(kind)]


@pytest.mark.parametrize("kind,entry", ENTRIES, ids=lambda e: e if isinstance(e, str) else e["name"])
def test_every_entry_has_a_function(kind, entry):
    name = python_name(entry["name"])
    function = getattr(KINDS[kind], name)
    assert name in KINDS[kind].__all__
    assert function.__name__ == name and function.__module__ == f"extremal.{kind}"
    keys = inspect.signature(function).parameters
    for p in entry["parameters"]:
        assert python_name(p["name"]) in keys
    text = inspect.getdoc(function)
    assert entry["guarantee"] and entry["guarantee"] in text
    assert entry["reference"] and entry["reference"] in text
    assert entry["summary"][1:] in text
    with pytest.raises(TypeError, match="no_such_key"):
        function(**{k: 1 for k in keys if keys[k].default is inspect.Parameter.empty}, no_such_key=1)


ENTRY_OF = {entry["name"]: entry for kind, entry in ENTRIES if kind == "sets"}

# Sets that learners which refuse most of them can play on.
HOMES = ["l2:dim=10", "simplex:dim=10", "box:dim=10", "hypercube:dim=10", "unit-free:dim=10"]


def build(kind, spec):
    if kind == "sets":
        try:
            return ex.sets.from_spec(spec)
        except ex.Error as error:
            if "dim" not in str(error):
                raise
            for dim in (10, 4, 6, 12):
                try:
                    return ex.sets.from_spec(spec, dim)
                except ex.Error:
                    pass
            raise
    if kind == "losses":
        return ex.losses.from_spec(spec)
    if kind == "streams":
        return ex.streams.from_spec(spec, 10)
    problems = []
    for home in HOMES:
        try:
            return ex.learners.from_spec(spec, ex.sets.from_spec(home))
        except ex.Error as error:
            problems.append(str(error))
    raise AssertionError(problems)


@pytest.mark.parametrize("kind,spec", [(k, s) for k, e in ENTRIES for s in e["examples"]])
def test_examples_build(kind, spec):
    made = build(kind, spec)
    if kind == "sets":
        point = made.minimise(np.arange(1.0, made.dim + 1))
        assert made.violation(point) <= 1e-9 and made.violation(made.centre) <= 1e-9
        assert ex.sets.from_spec(made.spec, made.dim).spec == made.spec
        if any(p["name"] == "dim" for p in ENTRY_OF[made.spec.partition(":")[0]]["parameters"]):
            assert ex.sets.from_spec(made.spec).dim == made.dim  # the dimension is part of it
    elif kind == "losses":
        assert ex.losses.from_spec(made.spec).spec == made.spec
        assert math.isfinite(made.value(0.5, 1.0))
    elif kind == "streams":
        assert made.row_bound > 0
    else:
        learner = made
        for g in np.random.default_rng(0).normal(size=(20, learner.dim)):
            if learner.name == "unit-free":
                g[0] = 1.0  # an intercept
                learner.learn(g, g.sum(), "squared")
            else:
                learner.observe(g / np.linalg.norm(g))
        assert learner.set.violation(learner.decide()) <= 1e-9 and learner.rounds == 20


def test_keys_are_specs():
    assert ex.sets.lp(p=1.5, radius=3, dim=4).spec == ex.sets.from_spec("lp:p=1.5,radius=3,dim=4").spec
    learner = ex.learners.sc_ofw(ex.sets.l2(dim=2), lambda_=0.5, start=np.array([0.1, 0.2]))
    np.testing.assert_allclose(learner.decide(), [0.1, 0.2])
    both = ex.sets.product(sets=[ex.sets.l2(dim=3), "simplex:dim=2"])
    assert both.dim == 5
    assert ex.sets.product(sets=[ex.Set("l2", 3), ex.Set("lp:p=1.5", 4)]).dim == 7
    for nested in ("l2:dim=3", "(l2:dim=3)", ex.sets.l2(dim=3)):
        assert ex.sets.scale(by=np.float64(2), set=nested).diameter == pytest.approx(4)
    for flag in (True, np.True_):
        corner = ex.sets.simplex(dim=3, at_most=flag)
        assert corner.violation(np.zeros(3)) == 0
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert ex.sets.ellipsoid(matrix=matrix).dim == 2
    hedge = ex.learners.hedge(ex.sets.l2(dim=3), base="ofw-free:growth=steady", grid=[1, 8])
    assert hedge.name == "hedge"


def test_default_learner():
    ball = ex.sets.l2(dim=3)
    learner = ex.learners.default(ball, "squared", l2=0.1)
    assert isinstance(learner, ex.Learner) and learner.set.dim == 3
    assert ex.learners.default(ball, ex.losses.squared(), l2=0.1).spec == learner.spec


def test_doctest():
    import doctest

    assert doctest.testmod(ex).failed == 0


@pytest.mark.parametrize("entry", _core.dataset_entries(), ids=lambda entry: entry["name"])
def test_datasets(entry):
    function = getattr(ex.datasets, python_name(entry["name"]))
    assert function.__name__ in ex.datasets.__all__ and entry["licence"] in function.__doc__
    rows, y = function()
    assert rows.shape == (entry["rows"], entry["columns"]) and rows.dtype == np.float64
    assert np.isfinite(rows).all() and rows.flags.c_contiguous
    if entry["task"] == "binary":
        assert set(y) == {-1.0, 1.0}
    elif entry["task"] == "regression":
        assert y.shape == (len(rows),) and np.abs(y).max() <= 1
    else:
        assert y is None and rows.min() > 0
    np.testing.assert_array_equal(ex.datasets.load(entry["name"]).rows, rows)


def test_no_such_dataset():
    with pytest.raises(ex.Error, match="nonsense.*djia"):
        ex.datasets.load("nonsense")
