"""Classification of a stream that comes in batches: `partial_fit`, in a set that keeps most weights 0.

Needs scikit-learn.
"""

# %% A stream: what tells the classes apart moves on after a while
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import extremal as ex

FEATURES, BATCH = 50, 100
rng = np.random.default_rng(0)


def batches(count: int, shown: slice) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Batches in which the features `shown` matter."""
    for _ in range(count):
        X = rng.normal(size=(BATCH, FEATURES))
        noise = 0.5 * rng.normal(size=BATCH)
        yield X, (X[:, shown].sum(axis=1) + noise > 0).astype(np.int64)


# %% Learn from each batch once, after having predicted it
model = ex.OnlineClassifier(set="l1:radius=20", loss="logistic")
first, *rest = [*batches(60, slice(0, 3)), *batches(60, slice(3, 6))]
model.partial_fit(*first, classes=[0, 1])
right = []
for X, y in rest:
    right.append(float(np.mean(model.predict(X) == y)))
    model.partial_fit(X, y)

for name, part in (("first batches", right[:5]), ("before the change", right[50:59]),
                   ("at the change", right[59:61]), ("last batches", right[-10:])):
    print(f"{name:18} {np.mean(part):.3f} right")

# %% What it has learnt
weights = np.abs(model.coef_[0])
print("largest weights at", np.sort(np.argsort(-weights)[:6]).tolist(),
      f"with {weights[:6].sum() / weights.sum():.0%} of all weight")
X, y = next(batches(1, slice(3, 6)))
print("chances of the first rows:", model.predict_proba(X[:3])[:, 1].round(2).tolist())

# %% A batch is its rows: one at a time gives the same, bit for bit
one, other = (ex.OnlineClassifier(set="l1:radius=20", storage="dense") for _ in range(2))
one.partial_fit(X, y, classes=[0, 1])
for row, label in zip(X, y):
    other.partial_fit(row[None, :], [label], classes=[0, 1])
assert np.array_equal(one.coef_, other.coef_)
