"""Models that the command line saved."""

import json
import os

import numpy as np

from . import _core
from ._arrays import is_sparse, matrix


class Model:
    """A model that `extremal learn -f` wrote, to predict with.

    Attributes
    ----------
    weights_ : array
        One row of coefficients, or one row per class. The first is that of the intercept, where the
        model has one.
    classes_ : list
        The classes; empty where there is but one row.
    rounds : int
        Rounds played.
    """

    def __init__(self, core):
        self._plan = json.loads(core.plan)
        self.weights_ = np.array(core.weights())
        self.rounds = core.rounds
        self.classes_ = list(self._plan.get("classes") or [])

    @property
    def plan(self):
        """What is learnt and how: set, loss, learner and the rest."""
        return dict(self._plan)

    def decision_function(self, rows):
        """The score ⟨row, x⟩ of each row, or one column of scores per class.

        Parameters
        ----------
        rows : matrix or sparse matrix
            Columns are features in the model's own order, without the 1 of its intercept. Those
            beyond the model's last one count for nothing.
        """
        rows = rows.tocsr() if is_sparse(rows) else matrix(rows)
        weights = self.weights_
        first = 1 if self._plan.get("intercept") else 0
        width = min(rows.shape[1], weights.shape[1] - first)
        scores = rows[:, :width] @ weights[:, first:first + width].T
        scores = np.asarray(scores)
        if first:
            scores = scores + weights[:, 0]
        return scores if self.classes_ else scores[:, 0]

    def predict(self, rows):
        """The prediction for each row: its score, or the class with the largest one.

        Parameters
        ----------
        rows : matrix or sparse matrix
            As for `decision_function`.
        """
        scores = self.decision_function(rows)
        if self.classes_:
            return np.array(self.classes_)[scores.argmax(axis=1)]
        return scores

    def __repr__(self):
        return f"<Model of {self.rounds} rounds: {self._plan['learner']}>"


def load(path):
    """Reads a model that `extremal learn -f` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Model

    Raises
    ------
    Error
        If it is no model, or a broken one.
    """
    return Model(_core.load(os.fspath(path)))
