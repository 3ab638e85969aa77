"""scikit-learn's SGD over the same stream, in one partial_fit call.

    sklearn_runner.py ALGO SET LOSS D T LAMBDA DATAFILE

README.md describes the arguments and the ready/go protocol. ALGO and SET are ignored: plain SGD has no
constraint set, so only its speed is comparable. SGD does not report the loss of each round, so the loss
is `nan`. For the highest speed, SGD has a constant step, no intercept and no shuffling.
"""

import sys
import time

import numpy as np
from sklearn.linear_model import SGDClassifier, SGDRegressor

FASTEST = {"learning_rate": "constant", "eta0": 0.01, "fit_intercept": False, "shuffle": False}


def fit(loss, lam, rows, labels):
    """One pass of SGD from zero; returns the weights."""
    if loss == "ridge":
        return SGDRegressor(penalty="l2", alpha=lam, **FASTEST).partial_fit(rows, labels).coef_
    model = SGDClassifier(loss="log_loss", penalty=None, **FASTEST)
    return model.partial_fit(rows, labels, classes=[-1.0, 1.0]).coef_


def main():
    _, _, loss, d, rounds, lam, path = sys.argv[1:]
    d, rounds, lam = int(d), int(rounds), float(lam)
    data = np.fromfile(path)
    rows, labels = data[: rounds * d].reshape(rounds, d), data[rounds * d :]

    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        weights = fit(loss, lam, rows, labels)
        seconds = time.perf_counter() - start
        print(f"{seconds:.9f} nan {float(np.linalg.norm(weights))!r}", flush=True)


main()
