"""Projection-free online learning: one linear minimisation per round."""

from . import datasets, learners, losses, sets, streams, theory
from ._compare import Comparison, compare
from ._core import Error, Learner, Loss, Set, Stream, __version__
from ._history import History
from ._model import Model, load
from ._play import Best, best_in_hindsight, play, regret
from ._registry import cite
from .sklearn import OnlineClassifier as OnlineClassifier
from .sklearn import OnlineRegressor as OnlineRegressor

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
