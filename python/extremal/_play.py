"""Whole runs, and what would have been best."""

import math
import operator
import threading
import warnings
from typing import NamedTuple

import numpy as np

from . import _arrays, _core
from ._history import COLUMNS, History
from .losses import from_spec as as_loss


# A run over no more numbers than these takes about a millisecond (more with learners whose rounds
# take longer than their rows), where a row counts for some numbers of its own: Python's lock is kept,
# which keeps others from writing into what is read, unless a Python function is called on the way.
_SHORT = 1 << 18
_ROW = 32


class Best(NamedTuple):
    """The best fixed decision, and how good it is: no decision's total loss is below
    ``value - gap``.

    Attributes
    ----------
    point : array
        The decision.
    value : float
        Its total loss.
    gap : float
        How far that may be above the least one, at most.
    """

    point: np.ndarray
    value: float
    gap: float


def _is_writeable(owner):
    """Whether numpy takes another's memory for one that may be written to."""
    try:
        return not memoryview(owner).readonly
    except TypeError:
        return False


class _ReadOnly:
    """Keeps others from writing into arrays that are being read without Python's lock.

    An array is locked together with those that it is a view of. Runs in several threads may read
    the same one: the last of them gives it back. Other views that a user has made before are out
    of reach, and so is memory that numpy does not own and would not let be written to again. Views
    that are made meanwhile stay read-only.
    """

    _lock = threading.Lock()
    _readers = {}  # by id: how many runs read it
    _locked = {}  # by id: what is to be given back; a view can't be before what it is a view of

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
        """Whether numpy will let a view of it be written to again."""
        return not isinstance(base, np.ndarray) or base.flags.writeable or id(base) in self._locked

    @staticmethod
    def _free(array):
        try:
            array.flags.writeable = True
        except ValueError:
            return False
        return True


def _bar(progress, rounds):
    """Whatever shows progress: nothing, a function, or tqdm where that is installed."""
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
    """Plays a whole run inside the library, without Python in between.

    Parameters
    ----------
    learner : Learner
        Who plays; it goes on from where it is.
    rows : matrix, sparse matrix, Stream, or a loss of your own
        One round per row. A float64 matrix stored by rows, and the data of a CSR matrix, are
        borrowed; anything else is copied once. A stream needs ``rounds``. An object with
        ``gradient(x)`` and ``value(x)`` (or an iterable of them, one per round) is a loss of your own:
        then Python is in the loop.
    y : vector, optional
        The labels.
    loss : Loss or spec
        The loss of ⟨row, x⟩ and the label; linear if left out.
    l2 : float
        λ of (λ/2)‖x‖², added to the loss.
    sample_weight : vector, optional
        What each row's loss is multiplied by.
    rounds : int, optional
        How many, for streams and for losses of your own; otherwise there is one per row.
    record : bool
        Whether to keep what happened in every round.
    progress : bool or callable
        A bar (tqdm, if installed), or a function of the rounds played so far.

    Returns
    -------
    History, or None without ``record``.

    Raises
    ------
    Error
        At a round that can't be played; the rounds before it have been.

    Whatever is raised on the way, a `KeyboardInterrupt` too, has the history of the rounds before, as its
    ``history``, with ``record``.
    """
    if not isinstance(learner, _core.Learner):
        raise TypeError(f"a learner plays, not {learner!r}")
    if isinstance(rows, _core.Stream):
        if rounds is None:
            raise ValueError("a stream does not end: give rounds")
        _refuse("a stream brings its own", y=y, sample_weight=sample_weight)
        if rows.dim != learner.dim:
            raise ValueError(f"a stream of dimension {rows.dim} for a learner of dimension {learner.dim}")
        return _run(learner, _count(rounds), record, progress, lambda start, records, count:
                    _core.play_stream(learner, rows, as_loss(loss), l2, count, records))
    if _is_own(rows):
        _refuse("a loss of your own has no use for", y=y, sample_weight=sample_weight, l2=l2 or None,
                loss=None if loss == "linear" else loss)
        return _play_own(learner, rows, rounds, record, progress)
    if rounds is not None:
        raise ValueError("there is a round for every row: rounds is for streams and own losses")
    loss = as_loss(loss)
    matrix, (count, width) = _arrays.rows(rows)
    if width != learner.dim:
        raise ValueError(f"rows of length {width} for a learner of dimension {learner.dim}")
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
    """Learners play all rows, in an order, with a 1 behind each row for an intercept. Each has its class,
    which it tells from all others, or None for the labels themselves. Returns the total loss. With
    `undo` learners are as they were if something is raised."""
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
        raise ValueError(f"{rounds} rounds can't be played")
    return count


def _refuse(why, **given):
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{why} {name}: leave it out")


def _labels(y, count, loss):
    if y is not None and not loss.needs_label:
        raise ValueError(f"the loss {loss.spec} has no use for labels: leave y out, or give another loss")
    if y is not None:
        return _arrays.vector(y, "labels", count)
    if loss.needs_label:
        raise ValueError(f"the loss {loss.spec} needs labels: give y")
    return None


def _is_long(matrix, learners, count, l2):
    """Whether to let other threads run meanwhile."""
    first = learners[0]
    if isinstance(matrix, tuple) and first.storage != "dense" and not l2:
        numbers = matrix[2].size  # what is not stored takes no time
    else:
        numbers = count * first.dim
    return (numbers + _ROW * count) * len(learners) > _SHORT or first.has_callback


def _is_own(rows):
    """Whether these are losses of a user's own, and no rows of numbers. (A table may well have a
    column called `gradient`.)"""
    if hasattr(rows, "shape"):
        return False
    if isinstance(rows, (list, tuple)):
        return len(rows) > 0 and hasattr(rows[0], "gradient")
    return True


def _run(learner, count, record, progress, step):
    """Calls `step` until all rounds are played: it comes back every few hundredths of a second, so
    that signals are heard."""
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
            played += getattr(error, "_played", 0)  # by the call that raised it
            error.history = History.from_records(records[:played], first)
        raise
    finally:
        close()
    return History.from_records(records[:played], first) if record else None


def _play_own(learner, losses, rounds, record, progress):
    """Losses of a user's own, each with `value(x)` and `gradient(x)`."""
    from itertools import islice, repeat

    if hasattr(losses, "gradient"):
        if rounds is None:
            raise ValueError("one loss for all rounds: give rounds")
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
    """The fixed decision of the set with the least total loss, and the proof of how good it is.

    A search that ends with a larger gap than was asked for, because its steps are used up or change
    nothing any more, warns.

    Parameters
    ----------
    set : Set or spec
        Where decisions lie.
    rows : matrix or sparse matrix
        One per round.
    y : vector, optional
        The labels.
    loss : Loss or spec
        The loss of ⟨row, x⟩ and the label; linear if left out.
    l2 : float
        λ of (λ/2)‖x‖², added to the loss of every row.
    sample_weight : vector, optional
        What each row's loss is multiplied by.
    gap : float, default 1e-6
        How far the total may be from the least one, relative to it.

    Returns
    -------
    Best
    """
    return search(set, rows, y, loss=loss, l2=l2, sample_weight=sample_weight, gap=gap)


def search(set, rows, y, *, loss, l2, sample_weight, gap=1e-6, intercept=False):
    """The same, with a 1 behind each row for an intercept if told so."""
    if isinstance(rows, _core.Stream):
        raise TypeError("a stream keeps no rows to look back at: give those that its take(rounds) gives")
    loss = as_loss(loss)
    matrix, (count, width) = _arrays.rows(rows)
    if isinstance(set, str):
        set = _core.Set(set, width + intercept)
    if not isinstance(set, _core.Set):
        raise TypeError(f"set must be a set or its spec, not {set!r}")
    if width + intercept != set.dim:
        ones = " and a 1" if intercept else ""
        raise ValueError(f"rows of length {width}{ones} for a set of dimension {set.dim}")
    y = _labels(y, count, loss)
    weights = None if sample_weight is None else _arrays.vector(sample_weight, "weights", count)
    point, value, floor = _core.best(set, loss, l2, matrix, y, weights, gap, intercept)
    # what rounding leaves of a total of 0 is no gap
    if value - floor > gap * abs(value) + 1e-9 * (1 + count):
        warnings.warn(f"the search ended {value - floor:.3g} above what is proven to be the least "
                      f"total, {gap * abs(value):.3g} was asked for", RuntimeWarning, stacklevel=3)
    return Best(point, value, value - floor)


def regret(history, best):
    """The regret of a run against the best fixed decision: (lower, upper), between which it lies.

    Parameters
    ----------
    history : History or float
        The run, or its total loss.
    best : Best
        Of the same rows, labels and loss.
    """
    total = history.total_loss if isinstance(history, History) else float(history)
    return total - best.value, total - best.value + best.gap
