"""Whole runs, and the best fixed decision in hindsight."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Learner, Loss, Set, Stream
from ._history import History

class Best(NamedTuple):
    point: NDArray[np.float64]
    value: float
    gap: float

class _OwnLoss(Protocol):
    def value(self, x: NDArray[np.float64], /) -> Any: ...
    def gradient(self, x: NDArray[np.float64], /) -> Any: ...

class _Sparse(Protocol):
    """scipy's sparse matrices and arrays."""

    def tocsr(self) -> Any: ...
    @property
    def nnz(self) -> Any: ...

# Rows of numbers, a table (any object with __array__), a stream, or a user's own losses.
@overload
def play(
    learner: Learner,
    rows: ArrayLike | _Sparse | Stream | _OwnLoss | Iterable[_OwnLoss],
    y: ArrayLike | None = None,
    *,
    loss: Loss | str = "linear",
    l2: float = 0.0,
    sample_weight: ArrayLike | None = None,
    rounds: int | None = None,
    record: Literal[True] = True,
    progress: bool | Callable[[int], object] = False,
) -> History: ...
@overload
def play(
    learner: Learner,
    rows: ArrayLike | _Sparse | Stream | _OwnLoss | Iterable[_OwnLoss],
    y: ArrayLike | None = None,
    *,
    loss: Loss | str = "linear",
    l2: float = 0.0,
    sample_weight: ArrayLike | None = None,
    rounds: int | None = None,
    record: bool = True,
    progress: bool | Callable[[int], object] = False,
) -> History | None: ...
def best_in_hindsight(
    set: Set | str,
    rows: ArrayLike | _Sparse,
    y: ArrayLike | None = None,
    *,
    loss: Loss | str = "linear",
    l2: float = 0.0,
    sample_weight: ArrayLike | None = None,
    gap: float = 1e-6,
) -> Best: ...
def search(
    set: Set | str,
    rows: ArrayLike | _Sparse,
    y: ArrayLike | None,
    *,
    loss: Loss | str,
    l2: float,
    sample_weight: ArrayLike | None,
    gap: float = 1e-6,
    intercept: bool = False,
    learner: Learner | None = None,
) -> Best: ...
def fit(
    learners: list[Learner],
    rows: ArrayLike | _Sparse,
    y: NDArray[np.float64],
    classes: Sequence[float | None],
    *,
    loss: Loss | str,
    l2: float,
    weights: NDArray[np.float64] | None = None,
    order: NDArray[np.int64] | None = None,
    intercept: bool = False,
    undo: bool = False,
) -> float: ...
def regret(history: History | float, best: Best) -> tuple[float, float]: ...
