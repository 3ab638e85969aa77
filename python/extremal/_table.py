"""Data frames. Their columns are read by the compiled core, which makes the same features as
`extremal learn` makes from the same table in a CSV file. Frames of pandas and of Polars have the
methods that this module uses; neither package is imported."""

import numpy as np

from . import _core
from ._arrays import floats, is_sparse


def is_frame(X):
    """Whether the value is a table with names and kinds of columns."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray) and not is_sparse(X)


def is_missing(value):
    """Whether a value is None, NaN, NaT or NA."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or isinstance(value, float) and value != value


def labelled(y):
    """Which labels are not missing."""
    if y.dtype.kind == "O":
        return np.array([not is_missing(label) for label in y.tolist()], dtype=bool)
    return ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)


def _text(value):
    if type(value) is str:
        return value
    return None if is_missing(value) else str(value)


def _dates(values, has_times):
    """Dates as text, with the time if a value has one."""
    days = values.astype("datetime64[D]")
    unit = "s" if has_times or not (np.isnat(values) | (values == days)).all() else "D"
    texts = np.datetime_as_string(values, unit=unit).tolist()
    return [None if text == "NaT" else text for text in texts]


def _cells(column, kind, missing, has_times):
    """A column as a float64 array, in which NaN is missing, or as a list of texts, in which None is
    missing."""
    dtype = column.dtype
    is_category = type(dtype).__name__ in ("CategoricalDtype", "Categorical", "Enum")
    if is_category:
        kind = kind or "text"
    if kind == "text" and (is_category or str(dtype).startswith(("Int", "UInt"))):
        # An integer stays one, even if another cell of the column is missing.
        column = column.astype(object) if hasattr(column, "astype") else column
        return [_text(value) for value in column.to_list()]
    if getattr(dtype, "tz", None) is not None and hasattr(column, "dt"):
        column = column.dt.tz_localize(None)
    if not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "") in ("i", "u", "f"):
        values = column.to_numpy(np.float64, na_value=np.nan)
    else:
        values = np.asarray(column.to_numpy())
    numeric = values.dtype.kind in "iuf" or values.dtype.kind == "b" and kind == "numbers"
    if numeric and kind in (None, "numbers"):
        numbers = floats(values)
        if missing and np.isin(numbers, missing).any():
            numbers = np.where(np.isin(numbers, missing), np.nan, numbers)
        return numbers
    if values.dtype.kind == "M":
        return _dates(values, has_times())
    return [_text(value) for value in values.tolist()]


def _numbers(texts):
    """The texts that are numbers, as numbers."""
    found = []
    for text in texts:
        try:
            found.append(float(text))
        except ValueError:
            pass
    return found


def cells(X, kinds, missing=(), features=()):
    """The names and the columns of a frame, as the core reads them. `kinds` has the known kinds of
    columns. `features` are the names of the features so far."""
    names = [str(name).strip(" ") for name in X.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice!r}")
    numbers = _numbers(missing)
    columns = []
    for label, name in zip(X.columns, names):
        def has_times(start=f"{name}:hour="):
            return any(feature.startswith(start) for feature in features)

        columns.append(_cells(X[label], kinds.get(name), numbers, has_times))
    return names, columns


class Frame:
    """A matrix with names of columns."""

    def __init__(self, matrix, names):
        self._matrix = matrix.toarray() if is_sparse(matrix) else matrix
        self.shape, self.columns = self._matrix.shape, names

    def __getitem__(self, name):
        return _Column(self._matrix[:, self.columns.index(name)])


class _Column:
    def __init__(self, values):
        self._values, self.dtype = values, values.dtype

    def to_numpy(self):
        return self._values


class Reader:
    """Reads frames, and keeps the kinds of their columns and the names of their features.

    Attributes
    ----------
    known : Columns or None
        The columns and the features after the frames read so far.
    """

    def __init__(self, categorical, numeric, dates, missing):
        self._lists = [[str(name).strip(" ") for name in names or ()] for names in (categorical, numeric, dates)]
        self._missing = [str(token) for token in missing or ()]
        self.known = self.names = None

    def read(self, X, frozen=False):
        """Returns a float64 matrix, or the arrays of a CSR matrix, and the reader with the new features."""
        features = ()
        if self.known is None:
            kinds = {}
            for names, kind in zip(self._lists, ("text", "numbers", "date")):
                kinds.update(dict.fromkeys(names, kind))
        else:
            kinds, features = dict(self.known.kinds), self.known.features
        names, columns = cells(X, kinds, self._missing, features)
        rows, known = _core.read_table(names, columns, *self._lists, self._missing, self.known, frozen)
        reader = Reader(*self._lists, self._missing)
        reader.known, reader.names = known, names
        in_order = names == [name for name, kind in known.kinds if kind == "numbers"]
        are_numbers = in_order and known.width == len(columns) and all(isinstance(column, np.ndarray) for column in columns)
        if are_numbers and all(np.isfinite(column).all() for column in columns):
            return np.ascontiguousarray(np.column_stack(columns)), reader
        return rows, reader
