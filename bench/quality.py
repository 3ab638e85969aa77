"""How far the untuned default is from tuned OGD, as regret per round.

    bash bench/run quality [--streams 5] [--rounds 20000] [--dims 10 100] [--ours PATH] [--learner SPEC ...]

A stream: rows ~ N(0, I/d), a hidden w with |w|_2 = 2 sqrt(d) on the boundary of the set, and
logistic labels, or <a, w> + N(0, 1/4) under the squared loss with ridge 0.01. OGD has the step
c D/(G sqrt t), its c chosen on one stream out of 4^-3 .. 4^7; all are then played on fresh
streams. Regret is against the best fixed decision, solved to a Frank-Wolfe gap of 1e-8 of the
loss. The default is given the set and the loss, no other number.
"""

import argparse
import pathlib
import subprocess
import tempfile

import numpy as np

GRID = [4.0**k for k in range(-3, 8)]
RIDGE = 1e-2


class Ball:
    """The ball of radius r in the norm l2 or l1.5: its atom, and its projection."""

    def __init__(self, p, radius):
        self.p, self.radius = p, radius
        self.spec = f"l2:{radius!r}" if p == 2 else f"lp:{p}:{radius!r}"

    def norm(self, x):
        return np.sum(np.abs(x) ** self.p) ** (1 / self.p)

    def atom(self, c):
        v = -np.copysign(np.abs(c) ** (1 / (self.p - 1)), c)
        return v * (self.radius / self.norm(v))

    def project(self, x):
        if self.norm(x) <= self.radius:
            return x
        if self.p == 2:
            return x * (self.radius / self.norm(x))
        # |z_i| + m sqrt|z_i| = |x_i| with the m that puts z on the sphere: in s = sqrt|z_i| a
        # quadratic equation
        size = np.abs(x)
        root = lambda m: 2 * size / (m + np.sqrt(m * m + 4 * size))
        low, high = 0.0, 1.0
        while np.sum(root(high) ** 3) > self.radius**1.5:
            low, high = high, 2 * high
        for _ in range(100):
            m = (low + high) / 2
            if np.sum(root(m) ** 3) > self.radius**1.5:
                low = m
            else:
                high = m
        return np.copysign(root(high) ** 2, x)


def best_fixed(rows, labels, ball, loss, ridge):
    """The lowest average loss over the ball, less what its Frank-Wolfe gap leaves open."""
    rounds = len(labels)

    def at(x):
        z = rows @ x
        if loss == "logistic":
            value = np.logaddexp(0, -labels * z).mean()
            slope = -labels / (1 + np.exp(labels * z))
        else:
            value, slope = 0.5 * np.mean((z - labels) ** 2), z - labels
        return value + 0.5 * ridge * (x @ x), rows.T @ slope / rounds + ridge * x

    # projected gradient with momentum, restarted whenever it goes uphill
    smooth = (0.25 if loss == "logistic" else 1.0) * np.linalg.eigvalsh(rows.T @ rows / rounds)[-1] + ridge
    x = y = np.zeros(rows.shape[1])
    value, weight = at(x)[0], 1.0
    for _ in range(20_000):
        new = ball.project(y - at(y)[1] / smooth)
        new_value, gradient = at(new)
        gap = gradient @ (new - ball.atom(gradient))
        if gap <= 1e-8 * new_value:
            return new_value - gap
        if new_value > value:
            y, weight = x, 1.0
            continue
        next_weight = (1 + np.sqrt(1 + 4 * weight * weight)) / 2
        y = new + (weight - 1) / next_weight * (new - x)
        x, value, weight = new, new_value, next_weight
    raise RuntimeError(f"the best fixed decision was not found, gap {gap:e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--ours", default=here.parent / "target/release/extremal-bench")
    parser.add_argument("--streams", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--dims", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learner", action="append", default=[], help="one more to be played, LAMBDA for the ridge")
    options = parser.parse_args()

    print("| loss | d | set | tuned OGD, regret/T | " + " | ".join(["default", "gauge-ftrl", "sc-ofw", *options.learner]) + " |")
    print("|---" * (7 + len(options.learner)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for loss in ("logistic", "ridge"):
            ridge = RIDGE if loss == "ridge" else 0.0
            for dim in options.dims:
                rng = np.random.default_rng([options.seed, dim, loss == "ridge"])
                hidden = rng.standard_normal(dim)
                hidden *= 2 * np.sqrt(dim) / np.linalg.norm(hidden)
                streams = []
                for k in range(options.streams + 1):
                    rows = rng.standard_normal((options.rounds, dim)) / np.sqrt(dim)
                    z = rows @ hidden
                    if loss == "logistic":
                        labels = np.where(rng.random(options.rounds) < 1 / (1 + np.exp(-z)), 1.0, -1.0)
                    else:
                        labels = z + 0.5 * rng.standard_normal(options.rounds)
                    file = pathlib.Path(folder, f"{loss}-{dim}-{k}")
                    with file.open("wb") as out:
                        rows.tofile(out)
                        labels.tofile(out)
                    streams.append((rows, labels, file))
                tuning = streams.pop()
                bound = 1.5 if loss == "logistic" else float(3 * np.abs(tuning[1]).mean())
                for p in (2, 1.5):
                    ball = Ball(p, float(np.sum(np.abs(hidden) ** p) ** (1 / p)))

                    def play(stream, learners):
                        words = [str(options.ours), "quality", ball.spec, loss, str(dim), str(options.rounds)]
                        words += [repr(ridge), str(stream[2]), *learners]
                        lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
                        return np.array([float(line.split()[0]) for line in lines])

                    steps = [f"ogd:gradient-bound={bound!r},eta-scale={c!r}" for c in GRID]
                    tuned = steps[int(np.argmin(play(tuning, steps)))]
                    learners = [tuned, "default", "gauge-ftrl", f"sc-ofw:lambda={ridge}" if ridge else "gauge-ftrl"]
                    learners += [text.replace("LAMBDA", repr(ridge)) for text in options.learner]
                    regrets = [play(s, learners) - best_fixed(s[0], s[1], ball, loss, ridge) for s in streams]
                    ogd, *others = np.median(regrets, axis=0)
                    ratios = [f"{r / ogd:.2f}" for r in others]
                    if not ridge:
                        ratios[2] = "—"
                    print(f"| {loss} | {dim} | l{p} | {ogd:.5f} | " + " | ".join(ratios) + " |", flush=True)


if __name__ == "__main__":
    main()
