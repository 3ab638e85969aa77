"""The theorems' bounds, as functions of their constants."""

# Written by python/tools/make_stubs.py from the registry.

from typing import Any

from numpy.typing import ArrayLike

__all__ = [
    "ofw",
    "ofw_weibel",
    "ofw_ls",
    "ofw_ls_lemma",
    "sc_ofw_curved",
    "sc_ofw_general",
    "gauge_ftrl",
    "ogd_convex",
    "ogd_strongly_convex",
]

def ofw(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ofw_weibel(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ofw_ls(
    gradient: ArrayLike,
    diameter: ArrayLike,
    alpha: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def ofw_ls_lemma(diameter: ArrayLike, alpha: ArrayLike, t: ArrayLike) -> Any: ...
def sc_ofw_curved(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    alpha: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def sc_ofw_general(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def gauge_ftrl(gradient: ArrayLike, l: ArrayLike, beta: ArrayLike, rounds: ArrayLike) -> Any: ...
def ogd_convex(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ogd_strongly_convex(gradient: ArrayLike, lambda_: ArrayLike, rounds: ArrayLike) -> Any: ...
