"""Online portfolio selection: the shares of 30 stocks in a portfolio, day by day.

The set is the simplex. The loss is −log⟨price ratios, portfolio⟩. The best fixed decision is the best
constantly rebalanced portfolio. The data are in the package: the Dow Jones stocks of 2001 to 2003.
"""

# %% Each row holds the factors by which the stocks grew on one day
import numpy as np

import extremal as ex

days = ex.datasets.djia().rows
count, stocks = days.shape
simplex = ex.sets.simplex(dim=stocks)

# %% A bound of the gradients: ‖∇‖ = ‖r‖/⟨r, x⟩ ≤ ‖r‖/min r
bound = float((np.linalg.norm(days, axis=1) / days.min(axis=1)).max())
learners = {
    "OFW": ex.learners.ofw(simplex, horizon=count, gradient_bound=bound),
    "OFW with line search": ex.learners.ofw_ls(simplex, horizon=count, gradient_bound=bound),
    "parameter-free OFW": ex.learners.ofw_free(simplex),
    "exponentiated gradient": ex.learners.eg(simplex),
    "online Newton step": ex.learners.ons(simplex, exp_concavity=1.0, gradient_bound=bound),
}
histories = {name: ex.play(learner, days, loss="log-wealth") for name, learner in learners.items()}

# %% The final wealth from 1 dollar
best = ex.best_in_hindsight(simplex, days, loss="log-wealth", gap=1e-4)
uniform = np.log(days.mean(axis=1)).sum()
print(f"{'equal parts, every day':26} {np.exp(uniform):.3f}")
print(f"{'the best stock':26} {days.prod(axis=0).max():.3f}")
print(f"{'the best fixed portfolio':26} {np.exp(-best.value):.3f}")
for name, history in histories.items():
    low, high = ex.regret(history, best)
    print(f"{name:26} {np.exp(-history.total_loss):.3f}   regret {high:.3f}, "
          f"{learners[name].oracle_calls} oracle calls")

# %% The best fixed portfolio holds only a few stocks
held = {f"stock {i + 1}": round(float(share), 3) for i, share in enumerate(best.point) if share > 1e-3}
print(held)
