"""Model files that the program `extremal learn` writes."""

import json
import os

import numpy as np

from . import _core
from ._arrays import is_sparse, matrix


class Model:
    """A model that `extremal learn -f` wrote. The model makes predictions.

    Attributes
    ----------
    weights_ : array
        One row of coefficients, or one row per class. If the model has an intercept, the first column
        holds the intercept.
    classes_ : list
        The classes; empty if the model has a single row.
    rounds : int
        The number of rounds played.
    """

    def __init__(self, core):
        self._plan = json.loads(core.plan)
        self.weights_ = np.array(core.weights())
        self.rounds = core.rounds
        self._range = core.range
        self.classes_ = list(self._plan.get("classes") or [])

    @property
    def plan(self):
        """The configuration of the model: set, loss, learner and the other settings."""
        return dict(self._plan)

    def decision_function(self, rows):
        """Returns the score of each row: the inner product with the coefficients, plus the intercept. A
        model with classes returns one column of scores per class.

        Parameters
        ----------
        rows : matrix or sparse matrix
            The rows to predict. There is one column per feature, in the order of the model, and no column
            for the intercept. Columns after the model's last feature are ignored.
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
        """Returns the prediction for each row: its score, or the class with the largest score.

        The scores of a "unit-free" model are clipped to the range of the labels that the model has
        seen.

        Parameters
        ----------
        rows : matrix or sparse matrix
            The rows to predict, as for `decision_function`.
        """
        scores = self.decision_function(rows)
        if self.classes_:
            return np.array(self.classes_)[scores.argmax(axis=1)]
        return scores if self._range is None else scores.clip(*self._range)

    def __repr__(self):
        return f"<Model of {self.rounds} rounds: {self._plan['learner']}>"


def load(path):
    """Reads a model that `extremal learn -f` wrote.

    Parameters
    ----------
    path : path
        The model file.

    Returns
    -------
    Model

    Raises
    ------
    Error
        If the file is not a model file, or is damaged.
    """
    return Model(_core.load(os.fspath(path)))
