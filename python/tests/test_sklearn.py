"""The estimators: scikit-learn's own checks, and what this package promises beyond them."""

import doctest
import pickle
import subprocess
import sys
from copy import deepcopy
from functools import partial

import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy import sparse  # noqa: E402
from scipy.special import expit  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import (  # noqa: E402
    load_breast_cancer, load_diabetes, load_digits, load_iris)
from sklearn.linear_model import SGDClassifier, SGDRegressor  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import extremal as ex  # noqa: E402
import extremal.sklearn as layer  # noqa: E402
from estimators import PARAMETERS, ROWS, assert_same, data, learn, make, state  # noqa: E402
from extremal import OnlineClassifier, OnlineRegressor  # noqa: E402

# A row of weight 2 is one round with twice the loss, not two rounds; and weights do not change the
# order of rows. SGDClassifier and SGDRegressor fail these two as well, for the same reason.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a weight is no repetition"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [OnlineRegressor(), OnlineClassifier(), OnlineRegressor(fit_intercept=False, shuffle=False),
     OnlineRegressor("l2:radius=1024"), OnlineClassifier("l2:radius=1024"),
     OnlineRegressor("lp:p=1.5,radius=3", storage="dense"),
     OnlineClassifier("l2:radius=10", "hinge", "gauge-ftrl"),
     OnlineClassifier("l1:radius=10", l2=1e-3)],
    expected_failed_checks=lambda estimator: EXPECTED)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("theirs", [SGDClassifier, SGDRegressor])
def test_expected_failures_are_those_of_sgd(theirs):
    common = pytest.importorskip("sklearn.utils._test_common.instance_generator")
    assert set(EXPECTED) <= set(common.PER_ESTIMATOR_XFAIL_CHECKS[theirs])


def test_examples():
    result = doctest.testmod(layer)
    assert result.attempted > 10 and result.failed == 0


def test_scikit_learn_is_imported_only_when_used():
    code = "import sys, extremal; assert 'sklearn' not in sys.modules; extremal.OnlineRegressor"
    subprocess.run([sys.executable, "-c", code], check=True)


# What is learnt from a batch.

@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: ",".join(p) or "default")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 4])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_batch_is_its_rows_one_by_one(kind, classes, weighted, parameters, monkeypatch):
    X, y = data(kind, classes)
    weights = np.random.default_rng(0).integers(0, 4, ROWS) / 2 if weighted else None
    rows = make(classes, **parameters)
    for i in range(ROWS):
        learn(rows, X[i:i + 1], y[i:i + 1], classes, None if weights is None else weights[i:i + 1])
    for short in (1 << 20, 20):  # Python's lock is kept, or given back
        monkeypatch.setattr(ex._play, "_SHORT", short)
        whole = learn(make(classes, **parameters), X, y, classes, weights)
        assert_same(state(whole), state(rows))
        parts = make(classes, **parameters)
        for at in (slice(0, 7), slice(7, 50), slice(50, None)):
            learn(parts, X[at], y[at], classes, None if weights is None else weights[at])
        assert_same(state(parts), state(rows))


@pytest.mark.parametrize("classes", [0, 2, 4])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_fit_in_order_is_partial_fit_for_each_pass(kind, classes):
    X, y = data(kind, classes)
    fitted = make(classes, shuffle=False, passes=3).fit(X, y)
    once = make(classes, shuffle=False, passes=3)
    for _ in range(3):
        learn(once, X, y, classes)
    assert_same(state(fitted), state(once))


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_fit_shuffles_by_the_random_state(kind, monkeypatch):
    X, y = data(kind, 0)
    fitted = OnlineRegressor(passes=2, random_state=3).fit(X, y)
    random, by_hand = np.random.RandomState(3), OnlineRegressor(passes=2, random_state=3)
    for _ in range(2):
        order = random.permutation(ROWS)
        by_hand.partial_fit(X[order], y[order])
    assert_same(state(fitted), state(by_hand))
    monkeypatch.setattr(ex._play, "_SHORT", 20)
    assert_same(state(OnlineRegressor(passes=2, random_state=3).fit(X, y)), state(by_hand))
    other = OnlineRegressor(passes=2, random_state=4).fit(X, y)
    assert not np.array_equal(fitted.coef_, other.coef_)


def test_whatever_holds_the_numbers_gives_the_same():
    pandas = pytest.importorskip("pandas")
    X, y = data("dense", 0)
    plain = state(OnlineRegressor().partial_fit(X, y))
    for other in (np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=0)[::2]):
        assert_same(state(OnlineRegressor().partial_fit(other, y)), plain)
    frame = OnlineRegressor().partial_fit(pandas.DataFrame(X, columns=list("abcde")), y)
    assert frame.feature_names_in_.tolist() == list("abcde")
    assert state(frame)[1] == plain[1]
    with pytest.warns(UserWarning, match="feature names"):
        frame.partial_fit(X, y)
    assert not hasattr(frame.fit(X, y), "feature_names_in_")
    csr = sparse.csr_array(X)
    sparsely = state(OnlineRegressor().partial_fit(csr, y))
    wide = sparse.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)),
                            csr.shape)
    for other in (csr.tocsc(), csr.tocoo(), wide):
        assert_same(state(OnlineRegressor().partial_fit(other, y)), sparsely)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_are_borrowed(kind, intercept, shuffle, monkeypatch):
    X, y = data(kind, 2)
    seen, fit = [], ex._core.fit

    def watched(*arguments):
        seen.append(arguments[3])
        return fit(*arguments)

    monkeypatch.setattr(ex._core, "fit", watched)
    OnlineClassifier(fit_intercept=intercept, shuffle=shuffle, passes=1).fit(X, y)
    OnlineClassifier(fit_intercept=intercept).partial_fit(X, y, classes=[0, 1])
    theirs = [rows[2] if kind == "csr" else rows for rows in seen]
    mine = X.data if kind == "csr" else X
    assert len(seen) == 2 and all(np.shares_memory(rows, mine) for rows in theirs)


def test_rows_without_entries_take_their_time(monkeypatch):
    """Other threads run meanwhile, and signals are heard."""
    seen, fit = [], ex._core.fit
    monkeypatch.setattr(ex._core, "fit", lambda *arguments: seen.append(arguments[-1]) or fit(*arguments))
    for rows in (100, 20_000):
        OnlineRegressor().partial_fit(sparse.csr_array((rows, 5)), np.ones(rows))
    assert seen == [False, True]


# unit-free treats an intercept as such, which test_unit_free.py tests
@pytest.mark.parametrize("parameters", PARAMETERS[2:], ids=lambda p: ",".join(p))
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_an_intercept_is_a_column_of_ones(kind, parameters):
    X, y = data(kind, 0)
    ones = np.ones((ROWS, 1))
    wide = sparse.hstack([ones, X], format="csr") if kind == "csr" else np.hstack([ones, X])
    parameters = {**parameters, "regret": True, "random_state": 1}
    with_ones = OnlineRegressor(**{**parameters, "fit_intercept": False}).fit(wide, y)
    own = OnlineRegressor(**{**parameters, "fit_intercept": True}).fit(X, y)
    assert own._learners[0].save() == with_ones._learners[0].save()
    assert own.regret_ == with_ones.regret_
    assert own.intercept_[0] == with_ones.coef_[0]


def test_storage_follows_the_rows():
    def chosen(kind, **parameters):
        X, y = data(kind, 2)
        learner, = OnlineClassifier(**parameters).fit(X, y)._learners
        return learner.name, learner.storage

    ball = {"set": "l2:radius=1024"}
    assert chosen("dense") == chosen("csr") == ("unit-free", "lazy")
    assert chosen("dense", learner="unit-free") == chosen("csr", learner="unit-free") == ("unit-free", "lazy")
    assert chosen("dense", storage="dense") == ("unit-free", "dense")
    assert chosen("dense", **ball) == chosen("csr", **ball) == ("coin-ftrl", "lazy")
    assert chosen("csr", l2=0.1) == ("coin-ftrl", "lazy")
    assert chosen("dense", storage="dense", **ball) == ("hedge", "dense")
    assert chosen("dense", learner="gauge-ftrl") == ("gauge-ftrl", "dense")
    assert chosen("csr", learner="gauge-ftrl") == ("gauge-ftrl", "lazy")
    assert chosen("dense", set="l1:radius=9") == ("hedge", "dense")
    assert chosen("csr", set="l1:radius=9")[1] == "sparse"
    assert chosen("csr", set="lp:p=1.5")[1] == "dense"


def test_sets_of_all_kinds():
    X, y = data("dense", 0)
    by_text = OnlineRegressor("box:lower=-2,upper=2").partial_fit(X, y)
    for box in (ex.sets.box(lower=-2, upper=2, dim=6),
                lambda dim: ex.sets.box(lower=-2, upper=2, dim=dim), lambda dim: "box:lower=-2,upper=2",
                partial(ex.sets.box, lower=-2, upper=2)):
        np.testing.assert_array_equal(OnlineRegressor(box).partial_fit(X, y).coef_, by_text.coef_)

    def ball(dim):
        return ex.sets.custom(lambda g: -g / max(np.linalg.norm(g), 1e-300), dim=dim, diameter=2.0)

    own = OnlineRegressor(ball, learner="ofw-free").partial_fit(X, y)
    theirs = OnlineRegressor("l2", learner="ofw-free").partial_fit(X, y)
    np.testing.assert_allclose(own.coef_, theirs.coef_, rtol=1e-9)
    clone(own).fit(X, y)


# What is learnt is good.

@pytest.mark.parametrize("load, least", [
    (load_breast_cancer, 0.95), (load_digits, 0.93), (load_iris, 0.93)])
def test_accuracy(load, least):
    X, y = load(return_X_y=True)
    X, X_, y, y_ = train_test_split(X, y, random_state=0)
    for space in (None, "l2:radius=1024"):
        model = make_pipeline(StandardScaler(), OnlineClassifier(space, random_state=0)).fit(X, y)
        assert model.score(X_, y_) > least


@pytest.mark.parametrize("space", [None, "l2:radius=1024"])
def test_regression_on_diabetes(space):
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), OnlineRegressor(space, random_state=0))
    assert cross_val_score(model, X, y).mean() > 0.42
    model.set_params(onlineregressor__l2=1e-4)
    assert cross_val_score(model, X, y).mean() > 0.42
    # columns of norm 1: the coefficients are in the hundreds
    assert cross_val_score(OnlineRegressor(space, random_state=0), X, y).mean() > 0.35


def test_search_and_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), OnlineClassifier(random_state=0))
    grid = {"onlineclassifier__set": ["l2:radius=0.01", "l2:radius=10", "l1:radius=10"],
            "onlineclassifier__loss": ["logistic", "hinge"]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_[-1].coef_.shape == (1, 30)
    parallel = GridSearchCV(model, grid, cv=3, n_jobs=2, error_score="raise").fit(X, y)
    np.testing.assert_array_equal(parallel.cv_results_["mean_test_score"],
                                  search.cv_results_["mean_test_score"])


def test_coefficients_and_scores():
    X, y = data("dense", 4)
    model = OnlineClassifier("l2:radius=3", random_state=0).fit(X, y)
    assert model.coef_.shape == (4, 5) and model.intercept_.shape == (4,)
    whole = np.column_stack([model.coef_, model.intercept_])
    assert (np.linalg.norm(whole, axis=1) <= 3 + 1e-12).all()
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), scores, rtol=1e-12)
    names = np.array(["d", "b", "a", "c"])
    named = OnlineClassifier("l2:radius=3", random_state=0).fit(X, names[y])
    assert named.classes_.tolist() == ["a", "b", "c", "d"]
    assert (named.predict(X) == names[model.predict(X)]).all()
    assert (OnlineClassifier(fit_intercept=False).fit(X, y).intercept_ == 0).all()


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities(classes):
    X, y = data("dense", classes)
    model = OnlineClassifier(random_state=0).fit(X, y)
    chances = model.predict_proba(X)
    assert chances.shape == (ROWS, classes) and (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))
    if classes == 2:
        np.testing.assert_allclose(chances[:, 1], expit(model.decision_function(X)))
    far = model.predict_proba(X * 1e6)
    np.testing.assert_allclose(far.sum(axis=1), 1, rtol=1e-12)
    assert not hasattr(OnlineClassifier(loss="hinge").fit(X, y), "predict_proba")


# Regret.

def total_of(x, X, labels, weights, loss, l2):
    """Σ of the losses of a fixed decision, and its gradient."""
    z = X @ x
    if loss == "squared":
        losses, slopes = 0.5 * (z - labels) ** 2, z - labels
    else:
        losses, slopes = np.logaddexp(0, -labels * z), -labels * expit(-labels * z)
    return (weights @ losses + 0.5 * l2 * len(X) * x @ x,
            X.T @ (weights * slopes) + l2 * len(X) * x)


def least_total(radius, *problem):
    """Σ of the losses of the best fixed decision of a ball, by projected gradient descent."""
    x, step, value = np.zeros(problem[0].shape[1]), 1.0, np.inf
    for _ in range(20_000):
        now, gradient = total_of(x, *problem)
        if now > value:
            x, step = before, step / 2
            continue
        before, value = x, now
        x = x - step * gradient
        x = x * min(1.0, radius / np.linalg.norm(x))
    return value


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("classes, radius, l2", [(0, 0.7, 0.0), (0, 50, 0.2), (2, 2, 0.0), (4, 5, 0.01)])
def test_regret(kind, classes, radius, l2):
    X, y = data(kind, classes)
    weights = np.random.default_rng(5).random(ROWS) + 0.5
    parameters = {"set": f"l2:radius={radius}", "l2": l2, "passes": 2, "shuffle": False}
    model = make(classes, regret=True, **parameters).fit(X, y, sample_weight=weights)
    lower, upper = model.regret_

    # the same again, one row at a time
    dense = np.column_stack([X.toarray() if kind == "csr" else X, np.ones(ROWS)])
    loss = "logistic" if classes else "squared"
    if not classes:
        labels = [y]
    else:
        labels = [np.where(y == c, 1.0, -1.0) for c in ([1] if classes == 2 else range(classes))]
    again, total = make(classes, **parameters), 0.0
    for t in range(2 * ROWS):
        i = t % ROWS
        if t == 0:
            played = np.zeros((len(labels), 6))
        else:
            played = np.column_stack([np.atleast_2d(again.coef_), again.intercept_])
        for x, label in zip(played, labels):
            at = slice(i, i + 1)
            total += total_of(x, dense[at], label[at], weights[at], loss, l2)[0]
        learn(again, X[i:i + 1], y[i:i + 1], classes, weights[i:i + 1])
    least = sum(2 * least_total(radius, dense, label, weights, loss, l2) for label in labels)
    assert lower <= upper <= lower + 1e-4 * abs(total)
    slack = 1e-6 * abs(total)
    assert lower - slack <= total - least <= upper + slack

    certificates = model.certificate_ if classes > 2 else [model.certificate_]
    assert total - least <= sum(c["regret"] for c in certificates)


def test_regret_is_of_fit_alone():
    X, y = data("dense", 0)
    assert OnlineRegressor().fit(X, y).regret_ is None
    model = OnlineRegressor(regret=True, random_state=0).fit(X, y)
    assert model.regret_[0] <= model.regret_[1]
    assert model.partial_fit(X, y).regret_ is None
    with pytest.raises(AttributeError):
        OnlineRegressor().regret_
    assert OnlineRegressor("l1", learner="ofw-free").fit(X, y).certificate_ is None


def test_a_certificate_above_the_total_loss_is_vacuous():
    X, y = data("dense", 0)
    # in a set of radius 1024 or more, the linear certificate is far above the loss
    assert OnlineRegressor().fit(X, y).certificate_["vacuous"] is True
    assert OnlineRegressor("l2:radius=1024").fit(X, y).certificate_["vacuous"] is True
    small = OnlineRegressor("l2:radius=1e-3").fit(X, 10 + y)
    assert small.certificate_["vacuous"] is False


# Copies.

@pytest.mark.parametrize("copy", [deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("parameters", PARAMETERS[:-1], ids=lambda p: ",".join(p) or "default")
@pytest.mark.parametrize("classes", [0, 4])
def test_a_copy_goes_on_the_same(copy, parameters, classes):
    X, y = data("dense", classes)
    model = learn(make(classes, **parameters), X[:30], y[:30], classes)
    other = copy(model)
    assert_same(state(other), state(model))
    learn(model, X[30:], y[30:], classes)
    assert not state(other)[1] == state(model)[1]
    learn(other, X[30:], y[30:], classes)
    assert_same(state(other), state(model))


def test_clones_have_learnt_nothing():
    X, y = data("dense", 0)
    model = OnlineRegressor(ex.sets.l2(radius=3, dim=6), ex.losses.huber(), l2=0.1).fit(X, y)
    other = clone(model)
    assert not hasattr(other, "coef_")
    assert other.fit(X, y).coef_.shape == (5,)
