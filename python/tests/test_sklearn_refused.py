"""What the estimators refuse, and that nothing has changed then."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy import sparse  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402

import extremal as ex  # noqa: E402
from estimators import PARAMETERS, ROWS, assert_same, data, learn, make, state  # noqa: E402
from extremal import OnlineClassifier, OnlineRegressor  # noqa: E402


def refused(model, match, *args, method="partial_fit", error=ValueError, **extra):
    before = state(model)
    with pytest.raises(error, match=match):
        getattr(model, method)(*args, **extra)
    assert_same(state(model), before)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("classes", [0, 2, 4])
def test_refused_rows(classes, kind, fitted):
    X, y = data(kind, classes)
    model = learn(make(classes), X, y, classes) if fitted else make(classes)
    extra = {"classes": np.arange(classes)} if classes else {}
    broken = X.copy()
    (broken.data if kind == "csr" else broken)[-1] = np.nan
    for method, how in (("partial_fit", extra), ("fit", {})):
        def no(match, *args, **more):
            refused(model, match, *args, method=method, **how, **more)

        no("NaN", broken, y)
        no("inconsistent", X, y[:-1])
        no("0 sample", X[:0], y[:0])
        no("sample_weight has shape", X, y, sample_weight=np.ones(ROWS - 1))
        no("sample_weight has shape", X, y, sample_weight=np.ones((ROWS, 1)))
        no("Negative", X, y, sample_weight=-np.ones(ROWS))
        no("sample_weight contains NaN", X, y, sample_weight=np.full(ROWS, np.nan))
        no("Input y contains NaN", X, np.full(ROWS, np.nan))
    refused(model, "non-zero", X, y, sample_weight=np.zeros(ROWS), method="fit")
    if fitted:
        refused(model, "expecting 5 features", X[:, :4], y, **extra)
        refused(model, "expecting 5 features", X[:, :4], method="predict")
        refused(model, "NaN", broken, method="predict")
    else:
        refused(model, "not fitted", X, method="predict", error=NotFittedError)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: ",".join(p) or "default")
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("what", [np.nan, np.inf])
def test_one_bad_number_is_found_wherever_it_is(what, kind, parameters, loss):
    """Also in a row whose loss is 0, and in a feature that the decision does not have."""
    X, y = data("dense", 2)
    X[:, 4] = 0.0
    given = sparse.csr_array(X) if kind == "csr" else X
    model = learn(OnlineClassifier(loss=loss, **parameters), given, y, 2)
    for _ in range(20):
        model.partial_fit(given, y)
    right = int(np.argmax(model.decision_function(given) * (2 * y - 1)))  # where the loss is least
    for row in (right, ROWS - 1):
        broken = X.copy()
        broken[row, 4] = what
        broken = sparse.csr_array(broken) if kind == "csr" else broken
        refused(model, "NaN|inf", broken, y)
        refused(model, "NaN|inf", broken[row:row + 1], y[row:row + 1])


@pytest.mark.parametrize("names", [["no", "yes"], [3, 9], [-1.5, 2.5], [False, True], [2**53, 2**53 + 1],
                                   ["a", "b", "c"], [10, 20, 30], [2**60, 2**60 + 1, 2**60 + 2]])
def test_classes_may_have_any_names(names):
    classes = len(names)
    X, y = data("dense", classes)
    numbered = learn(OnlineClassifier(), X, y, classes)
    for kind in (None, object):
        labels = np.array(names, dtype=kind)
        model = OnlineClassifier().partial_fit(X, labels[y], classes=labels)
        assert [a.save() for a in model._learners] == [a.save() for a in numbered._learners]
        np.testing.assert_array_equal(model.predict(X), labels[numbered.predict(X)])
        if names[0] is not False:  # of those there are two
            with pytest.raises(ValueError, match="not among the classes"):
                model.partial_fit(X[:1], np.array([type(names[0])(7)]))


def test_classes_from_pandas():
    pandas = pytest.importorskip("pandas")
    X, y = data("dense", 2)
    for kind in ("Int64", "Float64", "boolean", "int64", "category"):
        classes = pandas.Series([0, 1]).astype(kind)
        model = OnlineClassifier().partial_fit(X, y, classes=classes)
        assert model.score(X, y) == learn(OnlineClassifier(), X, y, 2).score(X, y), kind


def test_a_refused_fit_draws_nothing():
    X, y = data("dense", 0)
    random = np.random.RandomState(0)
    refused(OnlineRegressor(random_state=random), "y contains NaN", X, np.where(y > 0, np.nan, y), method="fit")
    assert random.randint(1 << 30) == np.random.RandomState(0).randint(1 << 30)


def test_small_batches_of_wide_rows():
    """No state is kept for those where nothing can go wrong; where it can, all is taken back."""
    rng, width = np.random.default_rng(5), 5000
    X = sparse.random_array((60, width), density=0.01, format="csr", random_state=1)
    y = rng.integers(0, 3, 60)
    whole = learn(OnlineClassifier(), X, y, 3)
    parts = OnlineClassifier()
    for at in range(0, 60, 7):
        learn(parts, X[at:at + 7], y[at:at + 7], 3)
    assert_same(state(parts), state(whole))
    for size in (np.nan, np.inf, 1e200, 1e300):
        broken = X.copy()
        broken.data[-1] = size
        before = state(parts)
        try:
            parts.partial_fit(broken, y)
        except ValueError:
            assert_same(state(parts), before)
        else:
            assert np.isfinite(size) and np.isfinite(parts.coef_).all()
    prices = np.abs(X.toarray()) + 1e-3
    shares = OnlineRegressor("simplex", "log-wealth", fit_intercept=False).partial_fit(prices, y)
    before = state(shares)
    prices[-1] = -1.0
    with pytest.raises(ValueError, match="log-wealth"):
        shares.partial_fit(prices, y)
    assert_same(state(shares), before)


def test_refused_classes():
    X, y = data("dense", 4)
    new = OnlineClassifier()
    refused(new, "classes must be passed on the first call", X, y)
    refused(new, "not among the classes.*3", X, y, classes=[0, 1, 2])
    refused(new, "greater than one; got 1 class", X, y * 0, classes=[0])
    refused(new, "1d array", X, y, classes=[[0, 1], [2, 3]])
    refused(new, "0 feature", X[:, :0], y, classes=range(4))
    refused(new, "NaN", X, np.where(y == 2, np.nan, y), classes=range(4))
    refused(new, "infinity", X, np.where(y == 2, np.inf, y), classes=[0, 1, np.inf, 3])
    refused(new, "[Cc]omplex", X, y, classes=[0, 1, 2j, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(new, "Input y contains NaN", X, np.where(y == 2, np.nan, y), method="fit")
    refused(new, "greater than one; got 1 class", X, y * 0, method="fit")
    refused(new, "continuous", X, y + 0.5 * X[:, 0], method="fit")
    model = learn(OnlineClassifier(), X, y, 4)
    refused(model, "not among the classes.*7", X, np.where(y == 2, 7, y))
    refused(model, "not the same as on last call", X, y, classes=[0, 1, 2])
    refused(model, "greater than one; got 1 class", X, y * 0, method="fit")
    # a batch may well have one class alone
    model.partial_fit(X[:3], [2, 2, 2])


def test_refused_parameters():
    X, y = data("dense", 0)
    for parameters, match in [
        ({"set": "l3"}, "l3"),
        ({"set": "l2:dim=3"}, "dim"),
        ({"set": ex.sets.l2(dim=5)}, "the set has dimension 5, expected 6 for 5 features and an intercept"),
        ({"loss": "cubed"}, "cubed"),
        ({"learner": "sgd"}, "sgd"),
        ({"learner": "ons"}, "exp-concavity"),
        ({"storage": "disk"}, "storage"),
        ({"storage": "lazy", "set": "l1"}, "lazy storage"),
        ({"l2": -1.0}, "l2|ridge|λ"),
    ]:
        refused(OnlineRegressor(**parameters), match, X, y)
    for passes in (0, 1.5):
        refused(OnlineRegressor(passes=passes), "passes", X, y, method="fit")
    for parameters in ({"set": 5}, {"set": b"l2"}, {"set": lambda dim: None}, {"learner": ex.learners.ofw}):
        refused(OnlineRegressor(**parameters), "must be a spec", X, y, error=TypeError)


def test_what_was_learnt_belongs_to_its_set():
    X, y = data("dense", 2)
    model = learn(OnlineClassifier("l2:radius=1024"), X, y, 2)
    for change in ({"set": "l1:radius=2"}, {"learner": "gauge-ftrl"}, {"fit_intercept": False}):
        before = model.get_params()
        refused(model.set_params(**change), f"^the parameter {[*change][0]} has changed", X, y)
        model.set_params(**before).partial_fit(X, y)
    copied = pickle.loads(pickle.dumps(model.set_params(set=str(model.set)))).partial_fit(X, y)
    assert_same(state(copied), state(model.partial_fit(X, y)))
    model.set_params(set="l1:radius=2").fit(X, y)
    assert abs(model.coef_).sum() + abs(model.intercept_).sum() <= 2 + 1e-9


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_rounds_before_one_that_breaks_down_are_taken_back(classes):
    X, y = data("dense", classes)
    model = learn(make(classes), X, y, classes)
    broken = X.copy()
    broken[ROWS // 2] = 1e300
    refused(model, "too large", broken, y)
    coefficients = model.coef_
    with pytest.raises(ex.Error, match="too large"):
        model.partial_fit(broken[ROWS // 2:][:1], y[ROWS // 2:][:1])
    np.testing.assert_array_equal(model.coef_, coefficients)
    learn(model, X, y, classes)
    straight = make(classes)
    for _ in range(2):
        learn(straight, X, y, classes)
    assert_same(state(model), state(straight))


def test_rounds_before_an_error_of_a_users_oracle_are_taken_back():
    class Tired(Exception):
        pass

    left = [10**9]

    def oracle(direction):
        left[0] -= 1
        if left[0] < 0:
            raise Tired("no more")
        return -np.sign(direction)

    X, y = data("dense", 4)
    model = OnlineClassifier(
        lambda dim: ex.sets.custom(oracle, dim=dim, diameter=2 * dim**0.5), learner="ofw-free")
    learn(model, X, y, 4)
    coefficients = model.coef_
    left[0] = ROWS + 5
    refused(model, "no more", X, y, error=Tired)
    np.testing.assert_array_equal(model.coef_, coefficients)
    left[0] = ROWS + 5
    refused(model, "no more", X, y, method="fit", error=Tired)
    np.testing.assert_array_equal(model.coef_, coefficients)
