"""A set of your own: a learner needs only a function that minimises a linear function over the set.

Here the set contains all paths from one corner of a grid to the opposite one. The oracle finds a shortest
path, and a decision gives the share of traffic on each road. Delays change from day to day.
"""

# %% The oracle: the quickest path, as a vector with a 1 for each of its roads
import numpy as np
from numpy.typing import NDArray

import extremal as ex

Vector = NDArray[np.float64]
SIDE = 6
ROADS = [(i, j, di) for i in range(SIDE) for j in range(SIDE) for di in (0, 1)
         if (i + 1 < SIDE if di else j + 1 < SIDE)]
NUMBER = {road: k for k, road in enumerate(ROADS)}


def quickest(delays: Vector) -> Vector:
    """Dynamic programming from the far corner: right (0) or down (1) from each crossing."""
    cost = np.full((SIDE + 1, SIDE + 1), np.inf)
    cost[SIDE - 1, SIDE - 1] = 0.0
    turn: dict[tuple[int, int], int] = {}
    for i in reversed(range(SIDE)):
        for j in reversed(range(SIDE)):
            options = [(delays[NUMBER[i, j, d]] + cost[i + d, j + 1 - d], d)
                       for d in (0, 1) if (i, j, d) in NUMBER]
            if options:
                cost[i, j], turn[i, j] = min(options)
    path, i, j = np.zeros(len(ROADS)), 0, 0
    while (i, j) != (SIDE - 1, SIDE - 1):
        d = turn[i, j]
        path[NUMBER[i, j, d]] = 1.0
        i, j = i + d, j + 1 - d
    return path


# %% The set: its oracle, its diameter, and a starting point
longest = 2 * (SIDE - 1)  # roads of a path; two paths differ in at most twice as many
paths = ex.sets.custom(quickest, dim=len(ROADS), diameter=np.sqrt(2 * longest),
                       norm_bound=np.sqrt(longest), centre=quickest(np.ones(len(ROADS))), name="paths")
print(paths)

# %% A thousand days; some roads are slow on most of them
rng = np.random.default_rng(1)
usual = rng.uniform(1, 3, size=len(ROADS))
days = usual + rng.exponential(0.5, size=(1000, len(ROADS)))

learner = ex.learners.ofw_free(paths)  # needs no constants
print(learner)
history = ex.play(learner, days)

# %% The regret against the best fixed path in hindsight, which the same oracle finds
best = ex.best_in_hindsight(paths, days)
low, high = ex.regret(history, best)
start = float((days @ paths.centre).sum())
print(f"delay per day: {history.total_loss / 1000:.2f}, best fixed path {best.value / 1000:.2f}, "
      f"starting path {start / 1000:.2f}")
print(f"regret {high:.1f} after {learner.rounds} days and {learner.oracle_calls} shortest paths")


# %% A loss of your own, which Python computes: the square of the delay beyond a limit
class Late:
    def __init__(self, day: Vector, patience: float) -> None:
        self.day, self.patience = day, patience

    def value(self, x: Vector) -> float:
        return self.late(x) ** 2

    def gradient(self, x: Vector) -> Vector:
        return 2 * self.late(x) * self.day

    def late(self, x: Vector) -> float:
        return max(0.0, float(self.day @ x) - self.patience)


losses = [Late(day, patience=15.0) for day in days]
late = ex.play(ex.learners.ofw_free(paths), losses)
stayed = sum(loss.value(paths.centre) for loss in losses)
print(f"lateness per day: {late.total_loss / 1000:.1f}, on the starting path {stayed / 1000:.1f}")
