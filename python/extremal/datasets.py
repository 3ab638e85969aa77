"""Small data sets that are part of the package, for examples and tests."""

from typing import NamedTuple

import numpy as np

from . import _core
from ._registry import python_name

__all__ = ["Data", "load"]


_TASKS = {"binary": "binary classification", "regression": "regression", "portfolio": "portfolio selection"}


class Data(NamedTuple):
    """A data set.

    Attributes
    ----------
    rows : array of shape (examples, features)
        The features, not scaled.
    y : array of shape (examples,), or None
        The labels; None if the data set has no labels.
    """

    rows: np.ndarray
    y: np.ndarray | None


def load(name):
    """Loads a data set by its name. `extremal list data` shows the names.

    Examples
    --------
    >>> import extremal as ex
    >>> rows, y = ex.datasets.load("breast-cancer")
    >>> rows.shape
    (569, 30)
    """
    return Data(*_core.dataset(name))


def _function(entry):
    def function():
        return load(entry["name"])

    function.__name__ = function.__qualname__ = python_name(entry["name"])
    function.__module__ = __name__
    summary = entry["summary"]
    function.__doc__ = (
        f"{summary[0].upper()}{summary[1:]}.\n\nNotes\n-----\nThe data set has {entry['rows']} rows and "
        f"{entry['columns']} features. Its task is {_TASKS[entry['task']]}. Its licence: {entry['licence']}."
    )
    return function


_made = {python_name(entry["name"]): _function(entry) for entry in _core.dataset_entries()}
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
