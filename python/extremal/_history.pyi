"""What happened in a run."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

COLUMNS: tuple[str, ...]

class History(dict[str, NDArray[Any]]):
    @classmethod
    def from_records(cls, records: NDArray[np.float64], first_round: int = 1) -> History: ...
    @property
    def total_loss(self) -> float: ...
    # pandas and matplotlib are optional, so that their types can't be named here
    def to_pandas(self) -> Any: ...
    def plot(self, best: ArrayLike | None = None, ax: Any = None, **style: Any) -> Any: ...
