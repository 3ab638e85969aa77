"""The compiled part."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "__version__",
    "Error",
    "Set",
    "Loss",
    "Learner",
    "Model",
    "with_intercept",
    "predict",
    "Columns",
    "read_table",
    "Stream",
    "entries",
    "citations",
    "theorems",
    "theorem",
    "play_rows",
    "fit",
    "are_among",
    "play_stream",
    "best",
    "dataset_entries",
    "dataset",
    "compare",
    "load",
]

_Vector: TypeAlias = NDArray[np.float64]
# Stored by rows, or indptr, indices, data and the number of columns.
_Matrix: TypeAlias = _Vector | tuple[NDArray[np.int64], NDArray[np.uint32], _Vector, int]
_Storage: TypeAlias = Literal["dense", "lazy", "sparse"]

class _Guarantee(TypedDict):
    theorem: str
    exponent: float
    bound: float
    vacuous: bool
    assumptions: list[tuple[bool, str]]

class _Certificate(TypedDict):
    level: str
    regret: float
    vacuous: bool
    strong_convexity: float

class _Parameter(TypedDict):
    name: str
    about: str
    default: str | None
    allowed: str

class _Entry(TypedDict):
    name: str
    summary: str
    cost: str
    guarantee: str
    reference: str
    examples: list[str]
    parameters: list[_Parameter]

class _Dataset(TypedDict):
    name: str
    summary: str
    rows: int
    columns: int
    task: str
    licence: str

__version__: str

class Error(ValueError): ...

@final
class Set:
    def __new__(cls, spec: str, dim: int | None = None) -> Set: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def custom(
        oracle: Callable[[_Vector], ArrayLike | tuple[ArrayLike, float]],
        *,
        dim: int,
        diameter: float,
        norm_bound: float | None = None,
        inner_radius: float | None = None,
        strong_convexity: float | None = None,
        centre: ArrayLike | None = None,
        violation: Callable[[_Vector], float] | None = None,
        name: str = "custom",
    ) -> Set: ...
    @staticmethod
    def composed(kind: str, sets: list[Set], numbers: _Vector) -> Set: ...
    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> str | None: ...
    @property
    def dim(self) -> int: ...
    @property
    def diameter(self) -> float: ...
    @property
    def norm_bound(self) -> float: ...
    @property
    def inner_radius(self) -> float | None: ...
    @property
    def strong_convexity(self) -> float | None: ...
    @property
    def centre(self) -> _Vector: ...
    def minimise(self, direction: ArrayLike) -> _Vector: ...
    def project(self, x: ArrayLike) -> _Vector: ...
    def violation(self, x: ArrayLike) -> float | None: ...
    def __copy__(self) -> Set: ...
    def __deepcopy__(self, _memo: Any) -> Set: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Loss:
    def __new__(cls, spec: str) -> Loss: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def spec(self) -> str: ...
    @property
    def needs_label(self) -> bool: ...
    @property
    def gives_probabilities(self) -> bool: ...
    @property
    def is_nonnegative(self) -> bool: ...
    @overload
    def value(self, prediction: float, label: float) -> float: ...
    @overload
    def value(self, prediction: ArrayLike, label: ArrayLike) -> Any: ...
    @overload
    def slope(self, prediction: float, label: float) -> float: ...
    @overload
    def slope(self, prediction: ArrayLike, label: ArrayLike) -> Any: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Learner:
    def __new__(
        cls, spec: str, set: Set, storage: _Storage = "dense", state: bytes | None = None
    ) -> Learner: ...
    def grown(self, dim: int) -> Learner: ...
    @staticmethod
    def default_spec(
        set: Set, loss: Loss, l2: float = 0.0, storage: _Storage = "dense"
    ) -> str: ...
    def decide(self, out: _Vector | None = None) -> _Vector: ...
    # a dense gradient, (indices, values), or one row of a scipy matrix, which is no ArrayLike
    def observe(self, gradient: Any) -> None: ...
    # a row as `observe` takes a gradient
    def learn(
        self, row: Any, label: float, loss: Loss | str, weight: float = 1.0
    ) -> float: ...
    def predict(self, row: Any) -> float: ...
    @property
    def range(self) -> tuple[float, float] | None: ...
    @property
    def decision(self) -> _Vector: ...
    @property
    def rounds(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def oracle_calls(self) -> int: ...
    @property
    def largest_gradient(self) -> float: ...
    @property
    def spec(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def storage(self) -> _Storage: ...
    @property
    def set(self) -> Set: ...
    @property
    def has_callback(self) -> bool: ...
    def guarantee(
        self,
        rounds: float | None = None,
        strong_convexity: float = 0.0,
        smoothness: float | None = None,
        oblivious: bool = False,
        total_loss: float | None = None,
    ) -> _Guarantee | None: ...
    def certificate(self, total_loss: float | None = None) -> _Certificate | None: ...
    def save(self) -> bytes: ...
    def load(self, state: bytes) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Model:
    @property
    def plan(self) -> str: ...
    @property
    def rounds(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def kinds(self) -> list[tuple[str, str]] | None: ...
    @property
    def features(self) -> list[str]: ...
    def read_table(self, names: list[str], cells: list[Any]) -> tuple[Any, Any, _Vector]: ...
    def weights(self) -> list[_Vector]: ...
    def scores(self, rows: _Matrix, intercept: bool) -> _Vector: ...

@final
class Columns:
    def __new__(cls, saved: str) -> Columns: ...
    def save(self) -> str: ...
    @property
    def kinds(self) -> list[tuple[str, str]]: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def width(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def read_table(
    names: list[str],
    cells: list[Any],
    categorical: list[str],
    numeric: list[str],
    dates: list[str],
    missing: list[str],
    known: Columns | None,
    frozen: bool,
) -> tuple[tuple[Any, Any, _Vector], Columns]: ...

@final
class Stream:
    def __new__(cls, spec: str, dim: int, seed: int | None = None) -> Stream: ...
    @property
    def spec(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def row_bound(self) -> float: ...
    @property
    def label_bound(self) -> float: ...
    def take(self, rounds: int) -> tuple[_Vector, _Vector | None]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def with_intercept(spec: str, intercept: bool) -> str: ...
def predict(learner: Learner, rows: _Matrix, intercept: bool) -> _Vector: ...
def entries(kind: str) -> list[_Entry]: ...
def citations(learner: str) -> str: ...
def theorems() -> list[tuple[str, str, list[str]]]: ...
def theorem(name: str, arguments: list[float]) -> float: ...
def play_rows(
    learner: Learner,
    loss: Loss,
    l2: float,
    rows: _Matrix,
    y: _Vector | None,
    weights: _Vector | None,
    start: int,
    records: _Vector | None,
    release: bool,
) -> int: ...
def fit(
    learners: list[Learner],
    loss: Loss,
    l2: float,
    rows: _Matrix,
    y: _Vector,
    classes: Sequence[float | None],
    weights: _Vector | None,
    order: NDArray[np.int64] | None,
    intercept: bool,
    undo: bool,
    release: bool,
) -> float: ...
def are_among(labels: _Vector, classes: list[float]) -> bool: ...
def play_stream(
    learner: Learner,
    stream: Stream,
    loss: Loss,
    l2: float,
    rounds: int,
    records: _Vector | None,
) -> int: ...
def best(
    set: Set,
    loss: Loss,
    l2: float,
    rows: _Matrix,
    y: _Vector | None,
    weights: _Vector | None,
    gap: float,
    intercept: bool,
    learner: Learner | None,
) -> tuple[_Vector, float, float]: ...
def dataset_entries() -> list[_Dataset]: ...
def dataset(name: str) -> tuple[_Vector, _Vector | None]: ...
def compare(
    text: str,
    name: str | PathLike[str],
    out: str | PathLike[str],
    *,
    json: bool = False,
    update: bool = False,
    threads: int | None = None,
    note: Callable[[str], object] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str | None: ...
def load(path: str | PathLike[str]) -> Model: ...
