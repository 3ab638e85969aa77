"""The default learner, unit-free: raw data, corrupt rows, and the same numbers as the program."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy import sparse  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine  # noqa: E402
from sklearn.model_selection import cross_val_score, train_test_split  # noqa: E402

import extremal as ex  # noqa: E402
from estimators import assert_same, data, learn, make, state  # noqa: E402
from extremal import OnlineClassifier, OnlineRegressor  # noqa: E402
from test_models import needs_program, run  # noqa: E402


def raw(classes, rows=400):
    """Columns of very different sizes and offsets, with zeros."""
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((rows, 5)) * [1e-3, 1.0, 1e4, 1.0, 30.0] + [0, 0, 1e5, 0, 7]
    X[rng.random((rows, 5)) < 0.3] = 0.0
    scores = (X / [1e-3, 1.0, 1e4, 1.0, 30.0]) @ rng.standard_normal((5, max(classes, 1)))
    scores += 0.3 * rng.standard_normal(scores.shape)
    if classes > 2:
        return X, (scores - scores.mean(axis=0)).argmax(axis=1)
    y = 1e3 * scores[:, 0]
    return X, ((y > np.median(y)).astype(int) if classes else y)


# What is chosen.

def chosen(model):
    X, y = data("dense", 2)
    learner = model.partial_fit(X, y, **({"classes": [0, 1]} if "Class" in repr(model) else {}))._learners[0]
    return learner.spec, learner.set.name, learner.storage


def test_the_default_is_unit_free():
    free, bare = "unit-free:intercept=true", "unit-free"
    for kind in (OnlineRegressor, OnlineClassifier):
        assert chosen(kind()) == (free, "unit-free", "lazy")
        assert chosen(kind(fit_intercept=False)) == (bare, "unit-free", "lazy")
        assert chosen(kind(storage="dense")) == (free, "unit-free", "dense")
        assert chosen(kind("unit-free:radius=64")) == (free, "unit-free", "lazy")
        assert chosen(kind(learner="unit-free:no-clip=true"))[0] == f"{free},no-clip=true"
        assert chosen(kind(learner="unit-free:intercept=false", fit_intercept=False))[0] == "unit-free:intercept=false"
        for value in (True, False):
            with pytest.raises(ValueError, match="contradicts"):
                chosen(kind(learner=f"unit-free:intercept={str(value).lower()}", fit_intercept=not value))
        assert chosen(kind(l2=0.1)) == ("coin-ftrl", "l2", "lazy")
        assert chosen(kind("l2:radius=1024")) == ("coin-ftrl", "l2", "lazy")
        assert chosen(kind(learner="coin-ftrl"))[:2] == ("coin-ftrl", "l2")
        assert chosen(kind("unit-free", learner="gauge-ftrl"))[:2] == ("gauge-ftrl", "unit-free")
    assert chosen(OnlineRegressor(loss="linear"))[1] == "l2"
    for loss in ("hinge", "squared-hinge", "squared"):
        assert chosen(OnlineClassifier(loss=loss))[0] == free


def test_other_losses_do_not_suit_it():
    X, y = data("dense", 0)
    before = OnlineRegressor().fit(X, y)
    kept = state(before)
    for parameters, match in [({"l2": 0.1}, "ridge"), ({"loss": "linear"}, "label")]:
        changed = pickle.loads(pickle.dumps(before)).set_params(**parameters)
        with pytest.raises(ValueError, match=match):
            changed.partial_fit(X, y)
        assert state(changed)[1] == kept[1]
    with pytest.raises(ValueError, match="ridge"):
        OnlineRegressor(learner="unit-free", l2=0.1).fit(X, y)


def test_the_intercept_is_feature_0_of_the_learner():
    for kind in ("dense", "csr"):
        X, y = data(kind, 0)
        ones = np.ones((X.shape[0], 1))
        wide = sparse.hstack([ones, X], format="csr") if kind == "csr" else np.hstack([ones, X])
        learner = ex.Learner("unit-free:intercept=true", ex.sets.unit_free(dim=6), "lazy")
        history = ex.play(learner, wide, y, loss="squared")
        model = OnlineRegressor().partial_fit(X, y)
        assert model._learners[0].save() == learner.save()
        assert [*model.intercept_, *model.coef_] == learner.decision.tolist()
        assert model._total_loss == pytest.approx(history.total_loss, rel=1e-12)


# Raw data.

@pytest.mark.parametrize("load, least", [(load_breast_cancer, 0.9), (load_iris, 0.9), (load_wine, 0.9)])
def test_accuracy_on_raw_data(load, least):
    X, y = load(return_X_y=True)
    X, X_, y, y_ = train_test_split(X, y, random_state=0)
    assert OnlineClassifier(random_state=0).fit(X, y).score(X_, y_) > least


def test_regression_on_raw_data():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    model = OnlineRegressor(random_state=0)
    scores = cross_val_score(model, X, y)
    assert scores.mean() > 0.42
    for units in (1e-6 * X, 1e6 * X):
        assert abs(cross_val_score(model, units, y) - scores).max() < 0.02
    for factor in (1e-6, 1e6):
        assert abs(cross_val_score(model, X, factor * y) - scores).max() < 0.02


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_units_of_a_column_change_little(load, factor):
    X, y = load(return_X_y=True)
    score = cross_val_score(OnlineClassifier(random_state=0), X, y).mean()
    for column in (0, 2):
        other = X.copy()
        other[:, column] *= factor
        assert abs(cross_val_score(OnlineClassifier(random_state=0), other, y).mean() - score) < 0.02


def losses_of(model, X, y, classes):
    """The logistic loss of each row before it is learnt."""
    learn(model, X[:1], y[:1], classes)
    found = [0.0]
    for k in range(1, len(y)):
        at = slice(k, k + 1)
        found.append(np.logaddexp(0, (1 - 2 * y[k]) * model.decision_function(X[at])[0]))
        learn(model, X[at], y[at], classes)
    return np.array(found)


def test_one_corrupt_row_does_not_spoil_the_rest():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 10))
    y = (X @ rng.standard_normal(10) + 0.5 * rng.standard_normal(3000) > 0).astype(int)
    broken, labels = X.copy(), y.copy()
    broken[1000] *= 1e4
    labels[1000] = 1 - labels[1000]
    plain = losses_of(OnlineClassifier(), X, y, 2)[1001:]
    disturbed = losses_of(OnlineClassifier(), broken, labels, 2)[1001:]
    assert disturbed.mean() < 1.05 * plain.mean() < 0.3
    # learnt in passes, it does no harm either
    model = OnlineClassifier(random_state=0).fit(broken, labels)
    assert model.score(X, y) > OnlineClassifier(random_state=0).fit(X, y).score(X, y) - 0.01


def test_one_corrupt_target_does_not_spoil_the_rest():
    X, y = raw(0)
    broken = y.copy()
    broken[150] *= 1e4
    model, disturbed = (OnlineRegressor(random_state=0).fit(X, target) for target in (y, broken))
    assert disturbed.score(X, y) > model.score(X, y) - 0.02 > 0.9


def test_predictions_are_clipped_to_the_targets_seen():
    X, y = raw(0)
    model = OnlineRegressor(shuffle=False).fit(X, y)
    free = OnlineRegressor(learner="unit-free:no-clip=true", shuffle=False).fit(X, y)
    far, limits = 3 * X, [y.min(), y.max()]  # the guard would not believe much larger values
    assert model._learners[0].range == tuple(limits)
    clipped = model.predict(far)
    np.testing.assert_allclose([clipped.min(), clipped.max()], limits, rtol=1e-12)
    assert free._learners[0].range is None and np.ptp(free.predict(far)) > 1.5 * np.ptp(y)
    assert OnlineClassifier().fit(X, y > 0)._learners[0].range is None


# A prediction is what is played next.

@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_prediction_is_what_is_played_next(classes, kind):
    X, y = raw(classes, rows=60)
    X[50] *= 1e6
    rows = sparse.csr_array(X) if kind == "csr" else X
    model = make(classes)
    for k in range(len(y)):
        at = slice(k, k + 1)
        if k:
            before = state(model)
            scores = model._scores(rows[at])[0]
            assert_same(state(model), before)
            row = np.concatenate([[1.0], X[k]])
            played = [ex.Learner(own.spec, own.set, own.storage, own.save()).learn(row, 1.0, model.loss)
                      for own in model._learners]
            assert scores.tolist() == played
            assert [own.predict(row) for own in model._learners] == played
        learn(model, rows[at], y[at], classes)


# The same bits whatever the way.

@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_any_batches_and_storages_give_the_same_bits(classes, kind):
    X, y = raw(classes)
    X = sparse.csr_array(X) if kind == "csr" else X
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 5, len(y)) / 4
    rows, batches = make(classes), make(classes)
    for k in range(len(y)):
        learn(rows, X[k:k + 1], y[k:k + 1], classes, weights[k:k + 1])
    start = 0
    while start < len(y):
        end = start + rng.integers(1, 60)
        learn(batches, X[start:end], y[start:end], classes, weights[start:end])
        # through a file in the middle
        batches, start = pickle.loads(pickle.dumps(batches)), end
    assert_same(state(rows), state(batches))
    dense = learn(make(classes), X.toarray() if kind == "csr" else X, y, classes, weights)
    assert_same(state(dense), state(batches))
    full = learn(make(classes, storage="dense"), X, y, classes, weights)
    np.testing.assert_array_equal(full.coef_, rows.coef_)
    np.testing.assert_array_equal(full.intercept_, rows.intercept_)


@needs_program
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_the_program_gives_the_same_bits(classes, intercept, tmp_path):
    X, y = raw(classes)
    lines = ["".join([repr(label), *(f" {j + 1}:{a!r}" for j, a in enumerate(row) if a)]) + "\n"
             for row, label in zip(X.tolist(), (2 * y - 1 if classes == 2 else y).tolist())]
    (tmp_path / "first").write_text("".join(lines[:250]))
    (tmp_path / "rest").write_text("".join(lines[250:]))
    model, about = tmp_path / "model", []
    if classes:
        about += ["--loss", "logistic"]
    if classes > 2:
        about += ["--classes", ",".join(map(str, range(classes)))]
    if not intercept:
        about += ["--no-intercept"]
    run("learn", tmp_path / "first", *about, "-q", "-f", model)
    run("learn", tmp_path / "rest", "-q", "-i", model, "-f", model)
    ours = learn(make(classes, fit_intercept=intercept), X[:250], y[:250], classes)
    learn(ours, X[250:], y[250:], classes)

    # lines [class] feature weight, for the weights that are not 0
    found = {}
    for line in run("inspect", "--weights", model).splitlines():
        *name, weight = line.split()
        found[tuple(name)] = float(weight)
    names = ["intercept", *map(str, range(1, 6))]
    whole = np.column_stack([np.atleast_1d(ours.intercept_), np.atleast_2d(ours.coef_)])
    expected = {(*([str(k)] if classes > 2 else []), name): w
                for k, row in enumerate(whole.tolist()) for name, w in zip(names, row) if w}
    assert found == expected and len(found) >= 5

    loaded = ex.load(model)
    np.testing.assert_array_equal(loaded.weights_[:, -5:], np.atleast_2d(ours.coef_))
    far = np.vstack([X, 1e3 * X])
    if classes != 2:
        np.testing.assert_allclose(loaded.predict(far).astype(float), ours.predict(far), rtol=1e-12)
    (tmp_path / "far").write_text("".join(
        f"0 {' '.join(f'{j + 1}:{a!r}' for j, a in enumerate(row) if a)}\n" for row in far.tolist()))
    np.testing.assert_array_equal(np.ravel(loaded.decision_function(far)), np.ravel(ours._scores(far)))
    if not classes:
        predicted = [float(p) for p in run("predict", "-i", model, tmp_path / "far").split()]
        np.testing.assert_allclose(predicted, ours.predict(far), rtol=1e-5, atol=1e-3)


@needs_program
def test_the_program_weighs_rows_to_the_same_bits(tmp_path):
    X, y = raw(0)
    weights = np.random.default_rng(2).integers(0, 5, len(y)) / 4
    table, model = tmp_path / "table.csv", tmp_path / "model"
    table.write_text("y,w,a,b,c,d,e\n" + "".join(
        ",".join(map(repr, row)) + "\n" for row in np.column_stack([y, weights, X]).tolist()))
    run("learn", table, "--label", "y", "--weight", "w", "-q", "-f", model)
    ours = OnlineRegressor().partial_fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(ex.load(model).weights_[0], [*ours.intercept_, *ours.coef_])


# Errors change nothing.

@pytest.mark.parametrize("classes", [0, 2, 3])
def test_errors_change_nothing(classes):
    X, y = raw(classes)
    model = learn(make(classes), X[:100], y[:100], classes)
    before = state(model)
    for bad in (np.nan, np.inf, 1e300):
        broken = X[100:200].copy()
        broken[-1] = bad
        with pytest.raises(ValueError):
            learn(model, broken, y[100:200], classes)
        with pytest.raises(ValueError):
            learn(model, broken[-1:], y[199:200], classes)
        assert_same(state(model), before)
    if not classes:
        for bad in (np.nan, np.inf, 1e300):
            with pytest.raises(ValueError):
                model.partial_fit(X[100:102], [0.0, bad])
            assert_same(state(model), before)


def test_wide_rows_after_large_targets_change_nothing_on_error():
    """Where no row can fail, no state is kept for undo. The targets before decide that, too."""
    X = sparse.random_array((40, 5000), density=0.01, format="csr", random_state=1)
    y = np.arange(40.0)
    model = OnlineRegressor(learner="unit-free:no-clip=true").partial_fit(X, 1e97 * y)
    before = state(model)
    broken = X.copy()
    broken.data[-30:] *= 1e8
    with pytest.raises(ex.Error, match="too large"):
        model.partial_fit(broken, y)
    assert_same(state(model), before)
    model.partial_fit(X, y)


# Regret.

@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_regret_is_that_of_the_set_of_the_data(classes, kind):
    X, y = raw(classes, rows=150)
    given = sparse.csr_array(X) if kind == "csr" else X
    model = make(classes, regret=True, passes=2, random_state=0).fit(given, y)
    lower, upper = model.regret_
    certificates = model.certificate_ if classes > 2 else [model.certificate_]
    assert lower <= upper <= sum(c["regret"] for c in certificates)
    assert all(c["level"] == "linear" and c["strong_convexity"] == 0 for c in certificates)
    # by hand: rows in units of their largest values, in the ball of the learner's radius
    sizes = np.abs(X).max(axis=0)
    wide = np.hstack([np.ones((len(y), 1)), X / sizes])
    loss, least = "logistic" if classes else "squared", 0.0
    radius = 1024.0 if classes else 2.0 ** np.ceil(np.log2(1024 * max(abs(y).max(), np.ptp(y))))
    for chosen in model._chosen:
        label = y if chosen is None else np.where(y == chosen, 1.0, -1.0)
        best = ex.best_in_hindsight(ex.sets.l2(radius=radius, dim=6), wide, label, loss=loss)
        least += 2 * best.value
    slack = 1e-5 * (1 + model._total_loss)
    assert lower - slack <= model._total_loss - least <= upper + slack


@pytest.mark.parametrize("intercept", [False, True])
def test_regret_without_anything_to_learn(intercept):
    X, y = raw(0, rows=50)
    model = OnlineRegressor(regret=True, fit_intercept=intercept)
    assert model.fit(X, 0 * y).regret_ == pytest.approx((0, 0), abs=1e-30)
    assert (model.coef_ == 0).all() and model.certificate_["regret"] == 0
    lower, upper = model.fit(0 * X, abs(y)).regret_
    assert 0 <= lower + 1e-6 * model._total_loss and lower <= upper and (model.coef_ == 0).all()


def test_a_certificate_is_vacuous_only_above_the_total_loss():
    X, y = raw(0)
    learner = OnlineRegressor().fit(X, y)._learners[0]
    regret = learner.certificate()["regret"]
    assert learner.certificate()["vacuous"] is False
    assert learner.certificate(0.5 * regret)["vacuous"] is True
    assert learner.certificate(2.0 * regret)["vacuous"] is False
    assert learner.guarantee(total_loss=np.inf)["vacuous"] is False


# The learner by itself.

def test_a_loop_of_learn():
    X, y = raw(0)
    wide = np.hstack([np.ones((len(y), 1)), X])
    played = ex.Learner("unit-free:intercept=true", ex.sets.unit_free(dim=6), "lazy")
    history = ex.play(played, wide, y, loss="squared", sample_weight=np.full(len(y), 0.5))
    loop = ex.Learner("unit-free:intercept=true", ex.sets.unit_free(dim=6), "lazy")
    predictions = []
    for k, (row, label) in enumerate(zip(wide, y)):
        given = (row, sparse.csr_array(row[None]), (np.flatnonzero(row), row[row != 0]))[k % 3]
        loss = ("squared", ex.losses.squared())[k % 2]
        predictions.append(loop.learn(given, label, loss, weight=0.5))
    assert loop.save() == played.save() and loop.rounds == len(y)
    np.testing.assert_array_equal(predictions, history["prediction"])


def test_streams_and_experiments():
    learner = ex.learners.unit_free(ex.sets.unit_free(dim=5))
    history = ex.play(learner, ex.streams.regression(5), loss="squared", rounds=2000)
    assert learner.rounds == 2000 and history["loss"][-500:].mean() < 0.2 * history["loss"][:20].mean()
    with pytest.raises(ex.Error, match="never negative, not linear"):
        ex.play(learner, ex.streams.drift(5), rounds=10)
    problem = {"set": "unit-free:dim=5", "loss": "squared", "stream": "regression", "rounds": 10}
    with pytest.raises(ex.Error, match="with `extremal learn`"):
        ex.compare({"problem": {"p": problem}, "learner": {"a": "unit-free"}})


def test_learn_refuses():
    learner = ex.Learner("unit-free:intercept=true", ex.sets.unit_free(dim=3), "lazy")
    learner.learn([1.0, 2.0, 3.0], 1.0, "squared")
    before = learner.save()
    for row, label, loss, match in [
        ([0.0, 2.0, 3.0], 1.0, "squared", "value 1 for feature 0"),
        ([1.0, 2.0], 1.0, "squared", "expected 3"),
        ([1.0, np.nan, 2.0], 1.0, "squared", "NaN|nan|finite"),
        ([1.0, 2.0, 2.0], np.nan, "squared", "label"),
        ([1.0, 2.0, 2.0], 1.0, "logistic", "one kind of labels"),
        ([1.0, 2.0, 2.0], 1.0, "linear", "never negative"),
    ]:
        with pytest.raises(ex.Error, match=match):
            learner.learn(row, label, loss)
        assert learner.save() == before
    with pytest.raises(ValueError, match="weight"):
        learner.learn([1.0, 2.0, 3.0], 1.0, "squared", -1.0)
    with pytest.raises(TypeError, match="loss must be"):
        learner.learn([1.0, 2.0, 3.0], 1.0, 5)
    with pytest.raises(ex.Error, match="call learn"):
        learner.observe([1.0, 2.0, 3.0])
    assert learner.save() == before
    with pytest.raises(ex.Error, match="observe|gradients"):
        ex.learners.gauge_ftrl(ex.sets.l2(dim=3)).learn([1.0, 2.0, 3.0], 1.0, "squared")
