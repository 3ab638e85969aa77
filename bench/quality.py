"""Compares the regret per round of the untuned default and of tuned OGD.

    bash bench/run quality [--streams 5] [--rounds 20000] [--dims 10 100] [--ours PATH] [--learner SPEC ...]

A stream: rows ~ N(0, I/d), a hidden w with |w|_2 = 2 sqrt(d) on the boundary of the set, and
logistic labels, or <a, w> + N(0, 1/4) under the squared loss with ridge 0.01.

OGD tunes two families of step sizes: c D/(G sqrt t) with 14 values of c, 4^-6 .. 4^7, and a/(t + b)
with 15 values of a, 2^-2 .. 2^12, times 8 of b, 0 and 4^0 .. 4^6. One stream of the same kind
chooses the step size with the least loss; every learner is then played on fresh streams. Untuned
OGD has the step D/sqrt(2 sum |g|^2), or 1/(lambda t) where there is a ridge.

Regret is against the best fixed decision, solved to a Frank-Wolfe gap of 1e-8 of the loss. The
default is given the set and the loss with its ridge, no other number; sc-ofw is given the ridge.
"""

import argparse
import pathlib
import subprocess
import tempfile

import numpy as np

FACTORS = [4.0**k for k in range(-6, 8)]
LEADS = [2.0**k for k in range(-2, 13)]
OFFSETS = [0.0, *(4.0**k for k in range(7))]
RIDGE = 1e-2


class Ball:
    """The ball of radius r in the norm l2, l1.5 or l1: its atom, and its projection."""

    def __init__(self, p, radius):
        self.p, self.radius = p, radius
        self.spec = f"l{p}:{radius!r}" if p in (1, 2) else f"lp:{p}:{radius!r}"

    def norm(self, x):
        return np.sum(np.abs(x) ** self.p) ** (1 / self.p)

    def atom(self, c):
        if self.p == 1:
            v = np.zeros_like(c)
            k = np.argmax(np.abs(c))
            v[k] = -np.copysign(self.radius, c[k])
            return v
        v = -np.copysign(np.abs(c) ** (1 / (self.p - 1)), c)
        return v * (self.radius / self.norm(v))

    def project(self, x):
        if self.norm(x) <= self.radius:
            return x
        if self.p == 2:
            return x * (self.radius / self.norm(x))
        if self.p == 1:
            size = np.sort(np.abs(x))[::-1]
            cuts = (np.cumsum(size) - self.radius) / np.arange(1, len(x) + 1)
            cut = cuts[np.nonzero(size > cuts)[0][-1]]
            return np.copysign(np.maximum(np.abs(x) - cut, 0.0), x)
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
    """The lowest average loss over the ball, minus the Frank-Wolfe gap of the solution."""
    rounds = len(labels)

    def at(x):
        z = rows @ x
        if loss == "logistic":
            value = np.logaddexp(0, -labels * z).mean()
            slope = -labels / (1 + np.exp(labels * z))
        else:
            value, slope = 0.5 * np.mean((z - labels) ** 2), z - labels
        return value + 0.5 * ridge * (x @ x), rows.T @ slope / rounds + ridge * x

    # projected gradient with momentum, restarted whenever the loss increases
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
    raise RuntimeError(f"the best fixed decision was not found; the search ended at a gap of {gap:e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--ours", default=here.parent / "target/release/extremal-bench")
    parser.add_argument("--streams", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--dims", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learner", action="append", default=[], help="the spec of another learner; LAMBDA stands for the ridge's λ")
    options = parser.parse_args()

    titles = ["OGD, c/√t", "OGD, untuned", "default", "gauge-ftrl", "sc-ofw", *options.learner]
    print("| loss | d | set | OGD, a/(t+b) | its regret/T | " + " | ".join(titles) + " |")
    print("|---" * (5 + len(titles)) + "|")
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
                for p in (2, 1.5, 1):
                    ball = Ball(p, float(np.sum(np.abs(hidden) ** p) ** (1 / p)))

                    def play(stream, learners):
                        words = [str(options.ours), "quality", ball.spec, loss, str(dim), str(options.rounds)]
                        words += [repr(ridge), str(stream[2]), *learners]
                        lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
                        return np.array([float(line.split()[0]) for line in lines])

                    # a/(t + b) is the step a/(lambda (t + b)) for lambda = 1
                    leads = {(a, b): f"ogd:lambda=1.0,eta-scale={a!r},offset={b!r}" for a in LEADS for b in OFFSETS}
                    (a, b), lead = list(leads.items())[int(np.argmin(play(tuning, leads.values())))]
                    roots = [f"ogd:gradient-bound={bound!r},eta-scale={c!r}" for c in FACTORS]
                    root = roots[int(np.argmin(play(tuning, roots)))]
                    learners = [lead, root, f"ogd:lambda={ridge}" if ridge else "ogd", "default"]
                    learners += ["gauge-ftrl"] * (p > 1) + [f"sc-ofw:lambda={ridge}"] * (ridge > 0)
                    learners += [text.replace("LAMBDA", repr(ridge)) for text in options.learner]
                    regrets = [play(s, learners) - best_fixed(s[0], s[1], ball, loss, ridge) for s in streams]
                    ogd, *others = np.median(regrets, axis=0)
                    ratios = [f"{r / ogd:.2f}" for r in others]
                    if p == 1:
                        ratios.insert(3, "—")
                    if not ridge:
                        ratios.insert(4, "—")
                    row = [loss, str(dim), f"l{p}", f"{a:g}/(t+{b:g})", f"{ogd:.5f}", *ratios]
                    print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
