"""Models that the command line saved."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

class Model:
    weights_: NDArray[np.float64]
    rounds: int
    classes_: list[str]
    def __init__(self, core: _core.Model) -> None: ...
    @property
    def plan(self) -> dict[str, Any]: ...
    # an array, or one of scipy's sparse matrices, which are no ArrayLike
    def decision_function(self, rows: Any) -> NDArray[np.float64]: ...
    def predict(self, rows: Any) -> NDArray[Any]: ...

def load(path: str | PathLike[str]) -> Model: ...
