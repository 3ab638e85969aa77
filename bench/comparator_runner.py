"""The best fixed decision in hindsight by other software: logistic losses over a ball.

    comparator_runner.py PEER SET D T GAP DATAFILE

PEER is `fista` (accelerated projected gradient in numpy, backtracking and restarts),
`lbfgs` or `liblinear` (scikit-learn's penalised fits) or `copt` (its Frank-Wolfe with
backtracking).
The protocol is that of README.md, with the relative Frank-Wolfe gap reached in the
third place.

Penalised fits have no set. Before the clock starts, bisection finds the penalty whose solution lies on
the sphere. Then one fit with this penalty is timed.
"""

import contextlib
import io
import math
import sys
import time

import numpy as np


class Ball:
    """{|x|_p <= radius}: linear minimisation and projection."""

    def __init__(self, p, radius):
        self.p, self.radius = p, radius

    def norm(self, x):
        return float((np.abs(x) ** self.p).sum() ** (1 / self.p))

    def minimise(self, gradient):
        p, radius = self.p, self.radius
        if p == 1:
            i = np.argmax(np.abs(gradient))
            v = np.zeros_like(gradient)
            v[i] = -math.copysign(radius, gradient[i])
            return v
        size = np.abs(gradient) ** (1 / (p - 1))
        return np.copysign(size, gradient) * (-radius / float(np.abs(gradient) @ size) ** (1 / p))

    def project(self, x):
        p, radius = self.p, self.radius
        if self.norm(x) <= radius:
            return x
        if p == 2:
            return x * (radius / self.norm(x))
        size = np.abs(x)
        if p == 1:
            order = np.sort(size)[::-1]
            excess = np.cumsum(order) - radius
            k = np.nonzero(order * np.arange(1, len(order) + 1) > excess)[0][-1]
            return np.copysign(np.maximum(size - excess[k] / (k + 1), 0), x)
        if p != 1.5:
            sys.exit("comparator_runner: projections are known for p = 1, 1.5 and 2")

        def shrunk(m):  # z + m z^(1/2) = size
            root = np.sqrt(0.25 * m * m + size) - 0.5 * m
            return root * root

        low, high = 0.0, 1.0
        while (shrunk(high) ** p).sum() > radius**p:
            high *= 2
        for _ in range(60):
            middle = 0.5 * (low + high)
            if (shrunk(middle) ** p).sum() > radius**p:
                low = middle
            else:
                high = middle
        return np.copysign(shrunk(high), x)


class Logistic:
    """The mean logistic loss."""

    def __init__(self, rows, labels):
        self.rows, self.labels = rows, labels

    def at(self, x):
        margin = self.labels * (self.rows @ x)
        value = float(np.logaddexp(0, -margin).mean())
        slope = -self.labels / (1 + np.exp(np.clip(margin, -500, 500)))
        return value, self.rows.T @ slope / len(slope)

    def gap(self, x, ball):
        value, gradient = self.at(x)
        return float(gradient @ (x - ball.minimise(gradient))) / value


def fista(loss, ball, d, gap):
    curvature, theta = 1e-3, 1.0
    x = np.zeros(d)
    y = x
    while True:
        value, gradient = loss.at(y)
        while True:
            new = ball.project(y - gradient / curvature)
            way = new - y
            new_value, new_gradient = loss.at(new)
            if new_value <= value + gradient @ way + 0.5 * curvature * (way @ way) + 1e-15:
                break
            curvature *= 2
        if new_gradient @ (new - ball.minimise(new_gradient)) <= gap * new_value:
            return new
        later = 0.5 * (1 + math.sqrt(1 + 4 * theta * theta))
        if (y - new) @ (new - x) > 0:
            later, y = 1.0, new
        else:
            y = new + (theta - 1) / later * (new - x)
        x, theta = new, later


def penalised(solver):
    """scikit-learn's fit with a penalty instead of the ball. The penalty is l1 or squared l2."""

    def prepare(loss, ball, d, gap):
        from sklearn.linear_model import LogisticRegression

        def fit(strength):
            model = LogisticRegression(
                C=strength,
                l1_ratio=1.0 if ball.p == 1 else 0.0,
                solver=solver,
                fit_intercept=False,
                tol=1e-7,
                max_iter=1000,
            )
            return model.fit(loss.rows, loss.labels).coef_[0]

        low, high = 1e-4, 1e4
        for _ in range(18):
            middle = math.sqrt(low * high)
            if ball.norm(fit(middle)) > ball.radius:
                high = middle
            else:
                low = middle
        return lambda: fit(low)

    return prepare


def copt(loss, ball, d, gap):
    from copt import minimize_frank_wolfe

    def lmo(direction, x, active_set=None):
        v = ball.minimise(-direction)
        return v - x, None, None, 1.0

    # copt stops at an absolute gap, and prints its step size.
    least, _ = loss.at(fista(loss, ball, d, gap))

    def go():
        with contextlib.redirect_stdout(io.StringIO()):
            return minimize_frank_wolfe(
                loss.at, np.zeros(d), lmo, step="backtracking", max_iter=3000, tol=gap * least
            ).x

    return go


PREPARE = {"lbfgs": penalised("lbfgs"), "liblinear": penalised("liblinear"), "copt": copt}


def main():
    peer, ball, d, rounds, gap, path = sys.argv[1:]
    d, rounds, gap = int(d), int(rounds), float(gap)
    kind, *numbers = ball.split(":")
    numbers = [float(number) for number in numbers]
    ball = Ball(*numbers) if kind == "lp" else Ball({"l1": 1.0, "l2": 2.0}[kind], *numbers)
    data = np.fromfile(path)
    loss = Logistic(data[: rounds * d].reshape(rounds, d), data[rounds * d :])
    if peer == "fista":
        go = lambda: fista(loss, ball, d, gap)  # noqa: E731
    else:
        go = PREPARE[peer](loss, ball, d, gap)

    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        x = go()
        seconds = time.perf_counter() - start
        print(f"{seconds:.9f} {loss.at(x)[0]!r} {loss.gap(x, ball)!r}", flush=True)


main()
