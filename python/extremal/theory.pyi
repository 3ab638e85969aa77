"""The theorems' bounds, as functions of their constants."""

# Written by python/tools/make_stubs.py from the registry.

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

def ofw(gradient: float, diameter: float, rounds: float) -> float: ...
def ofw_weibel(gradient: float, diameter: float, rounds: float) -> float: ...
def ofw_ls(gradient: float, diameter: float, alpha: float, rounds: float) -> float: ...
def ofw_ls_lemma(diameter: float, alpha: float, t: float) -> float: ...
def sc_ofw_curved(
    gradient: float,
    lambda_: float,
    diameter: float,
    alpha: float,
    rounds: float,
) -> float: ...
def sc_ofw_general(gradient: float, lambda_: float, diameter: float, rounds: float) -> float: ...
def gauge_ftrl(gradient: float, l: float, beta: float, rounds: float) -> float: ...
def ogd_convex(gradient: float, diameter: float, rounds: float) -> float: ...
def ogd_strongly_convex(gradient: float, lambda_: float, rounds: float) -> float: ...
