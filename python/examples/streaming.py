"""Classification of a stream in batches with `partial_fit`, in a set that keeps most weights 0.

Needs scikit-learn.
"""

# %% A stream: halfway, other features begin to determine the class
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import extremal as ex

FEATURES, BATCH = 50, 100
rng = np.random.default_rng(0)


def batches(count: int, shown: slice) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Batches in which the features `shown` determine the class."""
    for _ in range(count):
        X = rng.normal(size=(BATCH, FEATURES))
        noise = 0.5 * rng.normal(size=BATCH)
        yield X, (X[:, shown].sum(axis=1) + noise > 0).astype(np.int64)


# %% Predict each batch, then learn from it once
model = ex.OnlineClassifier(set="l1:radius=20", loss="logistic")
first, *rest = [*batches(60, slice(0, 3)), *batches(60, slice(3, 6))]
model.partial_fit(*first, classes=[0, 1])
correct = []
for X, y in rest:
    correct.append(float(np.mean(model.predict(X) == y)))
    model.partial_fit(X, y)

for name, part in (("first batches", correct[:5]), ("before the change", correct[50:59]),
                   ("at the change", correct[59:61]), ("last batches", correct[-10:])):
    print(f"{name:18} accuracy {np.mean(part):.3f}")

# %% The fitted model
weights = np.abs(model.coef_[0])
print("largest weights at", np.sort(np.argsort(-weights)[:6]).tolist(),
      f"with {weights[:6].sum() / weights.sum():.0%} of the total weight")
X, y = next(batches(1, slice(3, 6)))
print("probabilities of the first rows:", model.predict_proba(X[:3])[:, 1].round(2).tolist())

# %% Single rows give the same model as a batch, to the last bit
one, other = (ex.OnlineClassifier(set="l1:radius=20", storage="dense") for _ in range(2))
one.partial_fit(X, y, classes=[0, 1])
for row, label in zip(X, y):
    other.partial_fit(row[None, :], [label], classes=[0, 1])
assert np.array_equal(one.coef_, other.coef_)
