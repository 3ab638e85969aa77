"""Data sets that come with the package."""

# Written by python/tools/make_stubs.py from the registry.

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Data",
    "load",
    "breast_cancer",
    "diabetes",
    "mushroom",
    "phishing",
    "trump_approval",
    "djia",
]

class Data(NamedTuple):
    rows: NDArray[np.float64]
    y: NDArray[np.float64] | None

def load(name: str) -> Data: ...
def breast_cancer() -> Data: ...
def diabetes() -> Data: ...
def mushroom() -> Data: ...
def phishing() -> Data: ...
def trump_approval() -> Data: ...
def djia() -> Data: ...
