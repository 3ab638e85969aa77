"""What the estimators' tests share: rows, estimators, and all that they have learnt."""

import numpy as np
from scipy import sparse

import extremal as ex
from extremal import OnlineClassifier, OnlineRegressor

ROWS = 60


def data(kind, classes, rows=ROWS):
    rng = np.random.default_rng(len(kind) + classes)
    X = rng.standard_normal((rows, 5)) * (rng.random((rows, 5)) < 0.6)
    scores = X @ rng.standard_normal((5, max(classes, 1)))
    y = scores.argmax(axis=1) if classes > 2 else scores[:, 0]
    y = (y > 0).astype(int) if classes == 2 else y
    return (sparse.csr_array(X) if kind == "csr" else X), y


def make(classes, **parameters):
    return (OnlineClassifier if classes else OnlineRegressor)(**parameters)


def learn(model, X, y, classes, weights=None):
    extra = {"classes": np.arange(classes)} if classes else {}
    return model.partial_fit(X, y, sample_weight=weights, **extra)


def state(model):
    """All that it has learnt, bit for bit."""
    return {k: v for k, v in vars(model).items() if k != "_learners"}, [
        learner.save() for learner in getattr(model, "_learners", [])]


def assert_same(one, other):
    (attributes, learners), (attributes_, learners_) = one, other
    assert learners == learners_
    assert attributes.keys() == attributes_.keys()
    for name, value in attributes.items():
        if name == "_total_loss":  # a sum, whose last digits depend on how the rows are batched
            assert np.isclose(value, attributes_[name], rtol=1e-12, atol=0), name
        else:
            assert np.array_equal(value, attributes_[name]), name


PARAMETERS = [
    {},
    {"fit_intercept": False},
    {"set": "l2:radius=1024"},
    {"l2": 0.1},
    {"set": "l2:radius=2", "learner": "gauge-ftrl"},
    {"set": "lp:p=1.5,radius=3"},
    {"set": "l1:radius=3"},
    {"set": lambda dim: ex.sets.box(dim=dim), "storage": "dense"},
]
