"""Learners."""

# Written by python/tools/make_stubs.py from the registry.

from collections.abc import Sequence
from typing import Literal

from numpy.typing import ArrayLike

from ._core import Learner, Loss, Set

__all__ = [
    "Learner",
    "default",
    "from_spec",
    "ofw",
    "ofw_weibel",
    "ofw_ls",
    "sc_ofw",
    "gauge_ftrl",
    "ogd",
    "dual_averaging",
    "ofw_free",
    "hedge",
    "coin_ftrl",
    "ftl",
    "lloo",
    "pairwise",
    "fast_ogd",
    "ospf",
    "fpl",
    "eg",
    "ons",
    "loo_bogd",
    "gauge_wrapper",
    "so_ogd",
    "delayed",
    "dynamic_ofw",
    "unit_free",
]

def from_spec(
    spec: str,
    set: Set | str,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def default(
    set: Set | str,
    loss: Loss | str,
    l2: float = 0.0,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ofw(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    doubling: bool | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ofw_weibel(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    doubling: bool | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ofw_ls(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    doubling: bool | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def sc_ofw(
    set: Set | str,
    *,
    lambda_: float | None = None,
    warm: float | None = None,
    gradient_bound: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def gauge_ftrl(
    set: Set | str,
    *,
    balance: Literal["own", "fixed", "adagrad"] | None = None,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ogd(
    set: Set | str,
    *,
    schedule: Literal["convex", "strongly-convex", "adagrad"] | None = None,
    lambda_: float | None = None,
    offset: float | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def dual_averaging(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ofw_free(
    set: Set | str,
    *,
    growth: Literal["own", "steady"] | None = None,
    lambda_: float | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def hedge(
    set: Set | str,
    *,
    base: str | None = None,
    key: str | None = None,
    grid: ArrayLike | None = None,
    bases: Sequence[str] | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def coin_ftrl(
    set: Set | str,
    *,
    stake: float | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ftl(
    set: Set | str,
    *,
    lambda_: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def lloo(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    lambda_: float | None = None,
    rho: float | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def pairwise(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    lambda_: float | None = None,
    steps: int | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def fast_ogd(
    set: Set | str,
    *,
    lambda_: float | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ospf(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    smoothness: float | None = None,
    eta_scale: float | None = None,
    seed: int | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def fpl(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    smoothness: float | None = None,
    samples: int | None = None,
    eta_scale: float | None = None,
    seed: int | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def eg(
    set: Set | str,
    *,
    horizon: int | None = None,
    entry_bound: float | None = None,
    eta_scale: float | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def ons(
    set: Set | str,
    *,
    exp_concavity: float | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    tolerance: float | None = None,
    steps: int | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def loo_bogd(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    lambda_: float | None = None,
    tolerance: float | None = None,
    block: int | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def gauge_wrapper(
    set: Set | str,
    *,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def so_ogd(
    set: Set | str,
    *,
    horizon: int | None = None,
    gradient_bound: float | None = None,
    eta_scale: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def delayed(
    set: Set | str,
    *,
    base: str | None = None,
    delay: int | None = None,
    random: bool | None = None,
    seed: int | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def dynamic_ofw(
    set: Set | str,
    *,
    smoothness: float | None = None,
    start: ArrayLike | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
def unit_free(
    set: Set | str,
    *,
    intercept: bool | None = None,
    no_clip: bool | None = None,
    storage: Literal["dense", "lazy", "sparse"] = "dense",
) -> Learner: ...
