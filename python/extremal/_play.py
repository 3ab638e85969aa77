"""Plays whole runs, and finds the best fixed decision in hindsight."""

import math
import operator
import threading
import warnings
from typing import NamedTuple

import numpy as np

from . import _arrays, _core
from ._history import COLUMNS, History
from .losses import from_spec as as_loss


# A run over at most this many numbers takes about a millisecond (more if the learner's rounds cost more
# than reading the rows). Each row counts as a few extra numbers. Such a short run keeps Python's lock,
# so that no other thread can write to the run's arrays. A run that calls a Python function releases the
# lock.
_SHORT = 1 << 18
_ROW = 32


class Best(NamedTuple):
    """The best fixed decision. No decision of the set has a total loss below ``value - gap``.

    Attributes
    ----------
    point : array
        The decision.
    value : float
        The total loss of the decision.
    gap : float
        An upper bound on ``value`` minus the smallest total loss of a decision.
    """

    point: np.ndarray
    value: float
    gap: float


def _is_writeable(owner):
    """Whether numpy may write to memory that another object owns."""
    try:
        return not memoryview(owner).readonly
    except TypeError:
        return False


class _ReadOnly:
    """Makes arrays read-only while a run reads them without Python's lock.

    An array is locked together with the arrays that it is a view of. Several threads may read the
    same array: the last run to finish unlocks it. Three cases are not covered. Views that were made
    before the run can still be written to. Memory that numpy does not own is not locked if numpy could
    not unlock it. Views that are made during the run stay read-only.
    """

    _lock = threading.Lock()
    _readers = {}  # maps the id of an array to the number of runs that read the array
    _locked = {}  # maps ids to arrays to unlock; a view can be unlocked only after its base

    def __init__(self, *arrays):
        self.arrays = {}
        for array in arrays:
            views = []
            while isinstance(array, np.ndarray):
                views.append(array)
                array = array.base
            if array is None or _is_writeable(array):
                self.arrays.update((id(view), view) for view in reversed(views))

    def __enter__(self):
        with self._lock:
            for key, array in self.arrays.items():
                self._readers[key] = self._readers.get(key, 0) + 1
                if array.flags.writeable and self._is_restorable(array.base):
                    self._locked[key] = array
                    array.flags.writeable = False

    def __exit__(self, *_):
        with self._lock:
            for key in self.arrays:
                self._readers[key] -= 1
                if not self._readers[key]:
                    del self._readers[key]
            free = [key for key in self._locked if key not in self._readers]
            while freed := [key for key in free if self._free(self._locked[key])]:
                for key in freed:
                    del self._locked[key]
                free = [key for key in free if key in self._locked]

    def _is_restorable(self, base):
        """Whether numpy can make a view of this array writeable again."""
        return not isinstance(base, np.ndarray) or base.flags.writeable or id(base) in self._locked

    @staticmethod
    def _free(array):
        try:
            array.flags.writeable = True
        except ValueError:
            return False
        return True


def _bar(progress, rounds):
    """Returns the functions (show, close) of a progress display: the caller's function, a tqdm bar if
    tqdm is installed, or no output."""
    if not progress:
        return lambda done: None, lambda: None
    if callable(progress):
        return progress, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda done: None, lambda: None
    bar = tqdm(total=rounds, unit="round")

    def show(done):
        bar.update(done - bar.n)

    return show, bar.close


def play(learner, rows, y=None, *, loss="linear", l2=0.0, sample_weight=None, rounds=None,
         record=True, progress=False):
    """Plays a whole run in compiled code.

    Parameters
    ----------
    learner : Learner
        The learner, which continues from its current state.
    rows : matrix, sparse matrix, Stream, or a loss of your own
        A matrix has one row per round. A float64 matrix stored by rows and the data of a CSR matrix are
        not copied. Other types are copied once. A stream needs ``rounds``. A loss of your own is an
        object with ``gradient(x)`` and ``value(x)``, or an iterable of such objects, one per round.
        With such a loss, every round calls Python.
    y : vector, optional
        The labels.
    loss : Loss or spec
        The loss of the prediction ⟨row, x⟩ and the label; linear by default.
    l2 : float
        λ of the ridge term (λ/2)‖x‖², which is added to the loss.
    sample_weight : vector, optional
        A factor on the loss of each row.
    rounds : int, optional
        The number of rounds. Only streams and losses of your own accept this argument.
    record : bool
        Whether to record every round.
    progress : bool or callable
        True for a progress bar (tqdm, if installed), or a function that is called with the number of
        rounds played so far.

    Returns
    -------
    History, or None without ``record``.

    Raises
    ------
    Error
        If a round can't be played. The learner keeps the rounds before the failed round.

    With ``record``, every exception that ends a run has an attribute ``history``. This attribute holds
    the rounds played before the exception. `KeyboardInterrupt` has this attribute too.
    """
    if not isinstance(learner, _core.Learner):
        raise TypeError(f"learner must be a Learner, not {learner!r}")
    if isinstance(rows, _core.Stream):
        if rounds is None:
            raise ValueError("a stream has no end: pass the number of rounds")
        _refuse("a stream has its own", y=y, sample_weight=sample_weight)
        if rows.dim != learner.dim:
            raise ValueError(f"the stream has dimension {rows.dim}, the learner has dimension {learner.dim}")
        return _run(learner, _count(rounds), record, progress, lambda start, records, count:
                    _core.play_stream(learner, rows, as_loss(loss), l2, count, records))
    if _is_own(rows):
        _refuse("a loss of your own does not use", y=y, sample_weight=sample_weight, l2=l2 or None,
                loss=None if loss == "linear" else loss)
        return _play_own(learner, rows, rounds, record, progress)
    if rounds is not None:
        raise ValueError("a matrix has one round per row: leave rounds out. Only streams and losses of your own accept rounds")
    loss = as_loss(loss)
    matrix, (count, width) = _arrays.rows(rows)
    if width != learner.dim:
        raise ValueError(f"rows have length {width}, the learner has dimension {learner.dim}")
    y = _labels(y, count, loss)
    weights = None if sample_weight is None else _arrays.vector(sample_weight, "weights", count)
    release = _is_long(matrix, [learner], count, l2)

    def step(start, records, _):
        return _core.play_rows(learner, loss, l2, matrix, y, weights, start, records, release)

    if not release:
        return _run(learner, count, record, progress, step)
    with _ReadOnly(*_arrays.given(matrix, y, weights, rows)):
        return _run(learner, count, record, progress, step)


def fit(learners, rows, y, classes, *, loss, l2, weights=None, order=None, intercept=False, undo=False):
    """Lets each learner play all rows in the given order, and returns the sum of the learners' total
    losses. A learner with a class learns to separate this class from all others. A learner with None as
    its class gets the labels unchanged. `intercept` puts a 1 in front of each row. With `undo`, an
    exception restores all learners."""
    matrix, (count, _) = _arrays.rows(rows)
    release = _is_long(matrix, learners, count, l2)
    arguments = (learners, as_loss(loss), l2, matrix, y, classes, weights, order, intercept, undo, release)
    if not release:
        return _core.fit(*arguments)
    with _ReadOnly(*_arrays.given(matrix, y, weights, order, rows)):
        return _core.fit(*arguments)


def _count(rounds):
    count = operator.index(rounds)
    if count < 0:
        raise ValueError(f"rounds must be at least 0, not {rounds}")
    return count


def _refuse(why, **given):
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{why} {name}: leave {name} out")


def _labels(y, count, loss):
    if y is not None and not loss.needs_label:
        raise ValueError(f"the loss {loss.spec} does not use labels: leave y out, or choose a different loss")
    if y is not None:
        return _arrays.vector(y, "labels", count)
    if loss.needs_label:
        raise ValueError(f"the loss {loss.spec} needs labels: pass y")
    return None


def _is_long(matrix, learners, count, l2):
    """Whether a run takes so long that other threads should be able to run at the same time."""
    first = learners[0]
    if isinstance(matrix, tuple) and first.storage != "dense" and not l2:
        numbers = matrix[2].size  # zeros cost no time
    else:
        numbers = count * first.dim
    return (numbers + _ROW * count) * len(learners) > _SHORT or first.has_callback


def _is_own(rows):
    """Whether `rows` holds a user's own losses instead of rows of numbers. An object with a shape
    counts as rows, because a data frame may have a column called `gradient`."""
    if hasattr(rows, "shape"):
        return False
    if isinstance(rows, (list, tuple)):
        return len(rows) > 0 and hasattr(rows[0], "gradient")
    return True


def _run(learner, count, record, progress, step):
    """Calls `step` until all rounds are played. Each call returns after a few hundredths of a second, so
    that Python handles signals in between."""
    first = learner.rounds + 1
    records = np.empty((count, len(COLUMNS))) if record else None
    show, close = _bar(progress, count)
    played = 0
    try:
        while played < count:
            part = None if records is None else records[played:]
            more = step(played, part, count - played)
            if more == 0:
                break
            played += more
            show(played)
    except BaseException as error:
        if record:
            played += getattr(error, "_played", 0)  # the rounds of the call that raised the exception
            error.history = History.from_records(records[:played], first)
        raise
    finally:
        close()
    return History.from_records(records[:played], first) if record else None


def _play_own(learner, losses, rounds, record, progress):
    """Plays a user's own losses, each with `value(x)` and `gradient(x)`."""
    from itertools import islice, repeat

    if hasattr(losses, "gradient"):
        if rounds is None:
            raise ValueError("a single loss of your own is played in every round: pass the number of rounds")
        losses = repeat(losses, _count(rounds))
    elif rounds is not None:
        losses = islice(losses, _count(rounds))
    first = learner.rounds + 1
    values = []

    def history():
        records = np.full((len(values), len(COLUMNS)), np.nan)
        records[:, 0] = values
        return History.from_records(records, first)

    show, close = _bar(progress, rounds)
    x = np.empty(learner.dim)
    try:
        for played, loss in enumerate(losses, 1):
            learner.decide(x)
            value = float(loss.value(x.copy())) if record else 0.0
            if not math.isfinite(value):
                raise _core.Error(f"round {first + played - 1}: the loss is {value}")
            learner.observe(loss.gradient(x.copy()))
            values.append(value)
            if played % 256 == 0:
                show(played)
    except BaseException as error:
        if record:
            error.history = history()
        raise
    finally:
        close()
    return history() if record else None


def best_in_hindsight(set, rows, y=None, *, loss="linear", l2=0.0, sample_weight=None, gap=1e-6):
    """Finds the fixed decision with the smallest total loss, and a proven bound on the error.

    If the search stops with a larger gap than requested, it gives a warning. This happens if the search
    reaches its limit of steps, or if rounding errors prevent further progress.

    Parameters
    ----------
    set : Set or spec
        The constraint set.
    rows : matrix or sparse matrix
        One row per round.
    y : vector, optional
        The labels.
    loss : Loss or spec
        The loss of the prediction ⟨row, x⟩ and the label; linear by default.
    l2 : float
        λ of the ridge term (λ/2)‖x‖², which is added to the loss of every row.
    sample_weight : vector, optional
        A factor on the loss of each row.
    gap : float, default 1e-6
        The largest accepted gap, relative to the total loss.

    Returns
    -------
    Best
    """
    return search(set, rows, y, loss=loss, l2=l2, sample_weight=sample_weight, gap=gap)


def search(set, rows, y, *, loss, l2, sample_weight, gap=1e-6, intercept=False, learner=None):
    """Like `best_in_hindsight`, but optionally with an intercept, which is a 1 in front of each row. If
    a learner's set follows the data, the decision is in the learner's current set."""
    if isinstance(rows, _core.Stream):
        raise TypeError("a stream keeps no rows: pass the rows that stream.take(rounds) returns")
    loss = as_loss(loss)
    matrix, (count, width) = _arrays.rows(rows)
    if isinstance(set, str):
        set = _core.Set(set, width + intercept)
    if not isinstance(set, _core.Set):
        raise TypeError(f"set must be a set or its spec, not {set!r}")
    if width + intercept != set.dim:
        ones = " plus the intercept" if intercept else ""
        raise ValueError(f"rows have length {width}{ones}, the set has dimension {set.dim}")
    y = _labels(y, count, loss)
    weights = None if sample_weight is None else _arrays.vector(sample_weight, "weights", count)
    point, value, floor = _core.best(set, loss, l2, matrix, y, weights, gap, intercept, learner)
    # a total of 0 may have rounding errors
    if value - floor > gap * abs(value) + 1e-9 * (1 + count):
        warnings.warn(f"the search stopped at a gap of {value - floor:.3g}; the requested gap was "
                      f"{gap * abs(value):.3g}", RuntimeWarning, stacklevel=3)
    return Best(point, value, value - floor)


def regret(history, best):
    """Returns a lower and an upper bound on a run's regret against the best fixed decision.

    Parameters
    ----------
    history : History or float
        The run, or its total loss.
    best : Best
        The best decision for the same rows, labels and loss.
    """
    total = history.total_loss if isinstance(history, History) else float(history)
    return total - best.value, total - best.value + best.gap
