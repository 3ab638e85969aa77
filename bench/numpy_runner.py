"""Our learners, written in numpy for speed: in-place operations, no copies.

    numpy_runner.py ALGO SET LOSS D T LAMBDA DATAFILE

README.md describes the arguments and the ready/go protocol.
"""

import math
import sys
import time

import numpy as np


def logistic(margin):
    """log(1 + exp(-margin)) and minus its derivative, without overflow."""
    e = math.exp(-abs(margin))
    if margin < 0:
        return math.log1p(e) - margin, 1 / (1 + e)
    return math.log1p(e), e / (1 + e)


def minimise_over_ball(gradient, p, radius, out):
    """out = the point of the lp ball that minimises <gradient, point>."""
    if p == 2:
        norm = math.sqrt(gradient @ gradient)
        np.multiply(gradient, -radius / norm if norm > 0 else 0.0, out=out)
        return
    np.abs(gradient, out=out)
    if p == 1.5:
        out *= gradient
    else:
        np.power(out, 1 / (p - 1), out=out)
        np.copysign(out, gradient, out=out)
    power_sum = gradient @ out
    out *= -radius / power_sum ** (1 / p) if power_sum > 0 else 0.0


def play(algo, p, radius, loss, lam, eta, rows, labels):
    """One pass over the stream; returns the average loss and the last decision."""
    rounds, d = rows.shape
    ridge, sc = loss == "ridge", algo == "sc-ofw"
    x, c, gradient, step = np.zeros(d), np.zeros(d), np.empty(d), np.empty(d)
    total, curvature = 0.0, 2.0
    for t, y in enumerate(labels.tolist(), 1):
        a = rows[t - 1]
        if ridge:
            slope = float(a @ x) - y
            total += 0.5 * slope * slope + 0.5 * lam * float(x @ x)
        else:
            value, slope = logistic(y * float(a @ x))
            total += value
            slope *= -y

        np.multiply(a, slope if sc else eta * slope, out=step)
        c += step
        if sc:
            curvature = lam * t
        elif ridge:
            np.multiply(x, eta * lam, out=step)
            c += step

        np.multiply(x, curvature, out=gradient)
        gradient += c
        minimise_over_ball(gradient, p, radius, out=step)
        step -= x
        length2 = float(step @ step)
        if length2 > 0:
            step *= min(1.0, max(0.0, -float(gradient @ step) / (curvature * length2)))
            x += step
    return total / rounds, x


def main():
    algo, ball, loss, d, rounds, lam, path = sys.argv[1:]
    d, rounds, lam = int(d), int(rounds), float(lam)
    kind, *numbers = ball.split(":")
    p, radius = (2.0, float(numbers[0])) if kind == "l2" else map(float, numbers)

    data = np.fromfile(path)
    rows, labels = data[: rounds * d].reshape(rounds, d), data[rounds * d :]
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if loss == "ridge":
        bound = (norms * (np.abs(labels) + radius * norms) + lam * radius).max()
    else:
        bound = norms.max()
    eta = 2 * radius / (2 * float(bound) * (rounds + 2) ** (2 / 3))

    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        average, x = play(algo, p, radius, loss, lam, eta, rows, labels)
        seconds = time.perf_counter() - start
        print(f"{seconds:.9f} {average!r} {math.sqrt(x @ x)!r}", flush=True)


main()
