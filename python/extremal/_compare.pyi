"""Experiments: learners × problems × seeds."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal

class Comparison(dict[str, Any]):
    # pandas and matplotlib are optional, so that their types can't be named here
    def to_pandas(
        self, table: Literal["summary", "trace", "checks", "timing"] = "summary"
    ) -> Any: ...
    def plot(self, problem: str | None = None, ax: Any = None, **style: Any) -> Any: ...

def compare(
    experiment: dict[str, Any] | str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    update: bool = False,
    threads: int | None = None,
    progress: bool | Callable[[int], object] = False,
    quiet: bool = False,
) -> Comparison: ...
