"""The compiled part."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "__version__",
    "Error",
    "Set",
    "Loss",
    "Learner",
    "Model",
    "Stream",
    "entries",
    "citations",
    "theorems",
    "theorem",
    "play_dense",
    "play_sparse",
    "play_stream",
    "best_dense",
    "best_sparse",
    "compare",
    "load",
]

_Vector: TypeAlias = NDArray[np.float64]
_Storage: TypeAlias = Literal["dense", "lazy", "sparse"]

class _Guarantee(TypedDict):
    theorem: str
    exponent: float
    bound: float
    assumptions: list[tuple[bool, str]]

class _Certificate(TypedDict):
    level: str
    regret: float
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

__version__: str

class Error(ValueError): ...

@final
class Set:
    def __new__(cls, spec: str, dim: int | None = None) -> Set: ...
    @staticmethod
    def custom(
        oracle: Callable[[_Vector], ArrayLike],
        *,
        dim: int,
        diameter: float,
        norm_bound: float | None = None,
        inner_radius: float | None = None,
        strong_convexity: float | None = None,
        centre: _Vector | None = None,
        violation: Callable[[_Vector], float] | None = None,
        name: str = "custom",
    ) -> Set: ...
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
    def minimise(self, direction: _Vector) -> _Vector: ...
    def project(self, x: _Vector) -> _Vector: ...
    def violation(self, x: _Vector) -> float | None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Loss:
    def __new__(cls, spec: str) -> Loss: ...
    @property
    def spec(self) -> str: ...
    def value(self, prediction: float, label: float) -> float: ...
    def slope(self, prediction: float, label: float) -> float: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Learner:
    def __new__(
        cls, spec: str, set: Set, storage: _Storage = "dense", state: bytes | None = None
    ) -> Learner: ...
    @staticmethod
    def default_spec(
        set: Set, loss: Loss, l2: float = 0.0, storage: _Storage = "dense"
    ) -> str: ...
    def decide(self, out: _Vector | None = None) -> _Vector: ...
    # a dense gradient, (indices, values), or one row of a scipy matrix, which is no ArrayLike
    def observe(self, gradient: Any) -> None: ...
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
    def guarantee(
        self, rounds: float | None = None, strong_convexity: float = 0.0
    ) -> _Guarantee | None: ...
    def certificate(self) -> _Certificate | None: ...
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
    def weights(self) -> list[_Vector]: ...

@final
class Stream:
    def __new__(cls, spec: str, dim: int, seed: int = 0) -> Stream: ...
    @property
    def row_bound(self) -> float: ...
    @property
    def label_bound(self) -> float: ...

def entries(kind: str) -> list[_Entry]: ...
def citations(learner: str) -> str: ...
def theorems() -> list[tuple[str, str, list[str]]]: ...
def theorem(name: str, arguments: list[float]) -> float: ...
def play_dense(
    learner: Learner,
    loss: Loss,
    l2: float,
    x: _Vector,
    y: _Vector | None,
    weights: _Vector | None,
    start: int,
    records: _Vector | None,
) -> int: ...
def play_sparse(
    learner: Learner,
    loss: Loss,
    l2: float,
    indptr: NDArray[np.int64],
    indices: NDArray[np.uint32],
    values: _Vector,
    y: _Vector | None,
    weights: _Vector | None,
    start: int,
    records: _Vector | None,
) -> int: ...
def play_stream(
    learner: Learner,
    stream: Stream,
    loss: Loss,
    l2: float,
    rounds: int,
    records: _Vector | None,
) -> int: ...
def best_dense(
    set: Set,
    loss: Loss,
    l2: float,
    x: _Vector,
    y: _Vector | None,
    weights: _Vector | None,
    gap: float,
) -> tuple[_Vector, float, float]: ...
def best_sparse(
    set: Set,
    loss: Loss,
    l2: float,
    indptr: NDArray[np.int64],
    indices: NDArray[np.uint32],
    values: _Vector,
    y: _Vector | None,
    weights: _Vector | None,
    gap: float,
) -> tuple[_Vector, float, float]: ...
def compare(
    text: str,
    name: str | PathLike[str],
    out: str | PathLike[str],
    *,
    json: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str | None: ...
def load(path: str | PathLike[str]) -> Model: ...
