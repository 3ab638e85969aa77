"""Projection-free online learning: one linear minimisation per round.

In each round, a learner chooses a decision in a constraint set and receives the gradient of a loss. The
learner updates its decision with one linear minimisation over the set:

>>> import extremal as ex
>>> ball = ex.sets.l2(dim=3)
>>> learner = ex.learners.gauge_ftrl(ball)
>>> x = learner.decide()
>>> learner.observe([1.0, 0.0, 0.0])
>>> learner.rounds
1
"""

from . import datasets, learners, losses, sets, streams, theory
from ._compare import Comparison, compare
from ._core import Error, Learner, Loss, Set, Stream, __version__
from ._history import History
from ._model import Model, load
from ._play import Best, best_in_hindsight, play, regret
from ._registry import cite

__all__ = [
    "Best",
    "Comparison",
    "Error",
    "History",
    "Learner",
    "Loss",
    "Model",
    "Set",
    "Stream",
    "__version__",
    "best_in_hindsight",
    "cite",
    "compare",
    "datasets",
    "learners",
    "load",
    "losses",
    "play",
    "regret",
    "sets",
    "streams",
    "theory",
]


def __getattr__(name):
    # scikit-learn is optional, and slow to import
    if name in ("OnlineClassifier", "OnlineRegressor"):
        try:
            from . import sklearn
        except ImportError as error:
            from ._optional import without_sklearn
            raise ImportError(f"{without_sklearn(name)} ({error})") from error
        return getattr(sklearn, name)
    raise AttributeError(f"module 'extremal' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, "OnlineClassifier", "OnlineRegressor"])
