"""Experiments: learners × problems × seeds."""

from collections.abc import Callable
from os import PathLike
from typing import Any, TypedDict

class _Compared(TypedDict):
    table: str
    directory: str
    summary: list[dict[str, Any]]
    trace: list[dict[str, Any]]
    timing: list[dict[str, Any]]

def compare(
    experiment: dict[str, Any] | str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    threads: int | None = None,
    progress: bool | Callable[[int], object] = False,
    quiet: bool = False,
) -> _Compared: ...
