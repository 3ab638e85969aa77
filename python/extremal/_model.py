"""Model files that the program `extremal learn` writes."""

import json
import os

import numpy as np

from . import _arrays, _core, _table


class Model:
    """A model that `extremal learn -f` wrote. The model makes predictions.

    Attributes
    ----------
    weights_ : array
        One row of coefficients, or one row per class. If the model has an intercept, the first column
        holds the intercept. The coefficients of a "unit-free" model are a linear summary: the predictions
        also depend on the ranges of the features and the labels seen.
    classes_ : list
        The classes; empty if the model has a single row.
    rounds : int
        The number of rounds played.
    """

    def __init__(self, core):
        self._core = core
        self._plan = json.loads(core.plan)
        self.weights_ = np.array(core.weights())
        self.rounds = core.rounds
        self.classes_ = list(self._plan.get("classes") or [])

    @property
    def plan(self):
        """The configuration of the model: set, loss, learner and the other settings."""
        return dict(self._plan)

    def decision_function(self, rows):
        """Returns the score of each row: the inner product with the coefficients, plus the intercept. A
        model with classes returns one column of scores per class. The score of a "unit-free" model is
        the prediction that the learner would play next for this row.

        Parameters
        ----------
        rows : data frame, matrix or sparse matrix
            The rows to predict. If the model was trained on a table, a pandas or Polars data frame has
            the columns of this table, in any order. They are read as `extremal predict` reads them: texts,
            dates and missing values included. The columns of the label and of the weight may be missing.
            A matrix has one column per feature, in the order of the model, and no column
            for the intercept. Columns after the model's last feature are ignored. A "unit-free" model
            treats these columns as features that it has not seen.
        """
        if self._core.kinds is not None and _table.is_frame(rows):
            names, columns = self._cells(rows)
            rows = (*self._core.read_table(names, columns), self._core.dim)
            scores = self._core.scores(rows, False)
        else:
            scores = self._core.scores(_arrays.rows(rows)[0], bool(self._plan.get("intercept")))
        return scores if self.classes_ else scores[:, 0]

    def _cells(self, frame):
        """The columns of a frame that are features of the model."""
        kinds = dict(self._core.kinds)
        unused = [name for name in frame.columns
                  if kinds.get(str(name).strip(" ")) in ("label", "weight", "ignored")]
        if unused:
            frame = frame[[name for name in frame.columns if name not in unused]]
        return _table.cells(frame, kinds, self._plan.get("missing") or (), self._core.features)

    def predict(self, rows):
        """Returns the prediction for each row: its score, or the class with the largest score.

        Parameters
        ----------
        rows : data frame, matrix or sparse matrix
            The rows to predict, as for `decision_function`.
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
