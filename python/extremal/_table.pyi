"""Data frames, as the compiled core reads them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Columns

def is_frame(X: Any) -> bool: ...
def is_missing(value: Any) -> bool: ...
def labelled(y: NDArray[Any]) -> NDArray[np.bool_]: ...
def cells(
    X: Any, kinds: Mapping[str, str], missing: Iterable[str] = (), features: Iterable[str] = ()
) -> tuple[list[str], list[Any]]: ...

class Frame:
    shape: tuple[int, ...]
    columns: list[str]
    def __init__(self, matrix: Any, names: list[str]) -> None: ...
    def __getitem__(self, name: str) -> Any: ...

class Reader:
    known: Columns | None
    names: list[str] | None
    def __init__(
        self,
        categorical: Iterable[str] | None,
        numeric: Iterable[str] | None,
        dates: Iterable[str] | None,
        missing: Iterable[str] | None,
    ) -> None: ...
    def read(self, X: Any, frozen: bool = False) -> tuple[Any, Reader]: ...
