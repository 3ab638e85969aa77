"""The paper in 40 lines: OFW, OFW with line search and Gauge-FTRL on an ℓp ball, with the bounds of the
theorems.

    python paper.py [picture.png]
"""

# %% A ball, and random linear losses with a drift
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import extremal as ex

ROUNDS, DIM = 20_000, 20
ball = ex.sets.lp(p=1.5, dim=DIM)
alpha, diameter = ball.strong_convexity, ball.diameter
assert alpha is not None

rng = np.random.default_rng(0)
rows = rng.normal(size=(ROUNDS, DIM)) + 0.5 * rng.normal(size=DIM)
rows /= np.linalg.norm(rows, axis=1).max()  # gradient norms are at most G = 1

# %% Three learners; a round of each costs one linear minimisation
learners = {
    "OFW": ex.learners.ofw(ball, horizon=ROUNDS, gradient_bound=1),
    "OFW with line search": ex.learners.ofw_ls(ball, horizon=ROUNDS, gradient_bound=1),
    "Gauge-FTRL": ex.learners.gauge_ftrl(ball),
}
histories = {name: ex.play(learner, rows) for name, learner in learners.items()}

# %% Their regret against the best fixed decision
best = ex.best_in_hindsight(ball, rows)
regrets = {name: ex.regret(history, best) for name, history in histories.items()}
for name, (low, high) in regrets.items():
    print(f"{name:22} regret {high:9.2f}   (certified to {high - low:.1e})")

# %% The regret over time, against the decision that is best after the last round. The bounds are for a known
# number of rounds T. Above the dotted line GDT they are vacuous, because no regret exceeds GDT.
figure, axes = plt.subplots(figsize=(7, 4.5))
for name, history in histories.items():
    history.plot(best=rows @ best.point, ax=axes, label=name)
rounds = np.arange(1.0, ROUNDS + 1)
axes.plot(rounds, [ex.theory.ofw(1, diameter, t) for t in rounds], "C0--", label="OFW: 8GDT^(3/4)")
theorem_1 = [ex.theory.ofw_ls(1, diameter, alpha, t) for t in rounds]
axes.plot(rounds, theorem_1, "C1--", label="with line search: Theorem 1")
axes.plot(rounds, diameter * rounds, "k:", label="GDT")
axes.set_ylim(bottom=0.1)
axes.legend(fontsize=8)
picture = sys.argv[1] if len(sys.argv) > 1 else "paper.png"
figure.savefig(picture, dpi=120, bbox_inches="tight")
print(f"written to {picture}")
