"""Estimators for scikit-learn. Its own classes have no types, so that what is inherited from them
stands here."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

from ._core import Loss, Set, _Certificate

__all__ = ["OnlineClassifier", "OnlineRegressor"]

# An array, a table, or one of scipy's sparse matrices, which are no ArrayLike.
_Rows: TypeAlias = Any
# For metadata routing.
_Request: TypeAlias = bool | str | None
_Storage: TypeAlias = Literal["auto", "dense", "lazy", "sparse"]

class _Online:
    set: Set | str | None
    loss: Loss | str
    learner: str | None
    l2: float
    fit_intercept: bool
    passes: int
    shuffle: bool
    regret: bool
    random_state: int | np.random.RandomState | None
    categorical: list[str] | None
    numeric: list[str] | None
    dates: list[str] | None
    missing: list[str] | None
    storage: _Storage
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    regret_: tuple[float, float] | None
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...
    def __sklearn_tags__(self) -> Any: ...

class OnlineRegressor(_Online):
    def __init__(
        self,
        set: Set | str | None = None,
        loss: Loss | str = "squared",
        learner: str | None = None,
        l2: float = 0.0,
        *,
        fit_intercept: bool = True,
        passes: int = 5,
        shuffle: bool = True,
        regret: bool = False,
        random_state: int | np.random.RandomState | None = None,
        categorical: list[str] | None = None,
        numeric: list[str] | None = None,
        dates: list[str] | None = None,
        missing: list[str] | None = None,
        storage: _Storage = "auto",
    ) -> None: ...
    def fit(self, X: _Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def partial_fit(
        self, X: _Rows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self: ...
    def predict(self, X: _Rows) -> NDArray[np.float64]: ...
    def score(
        self, X: _Rows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float: ...
    def set_fit_request(self, *, sample_weight: _Request = "$UNCHANGED$") -> Self: ...
    def set_partial_fit_request(self, *, sample_weight: _Request = "$UNCHANGED$") -> Self: ...
    def set_score_request(self, *, sample_weight: _Request = "$UNCHANGED$") -> Self: ...
    @property
    def coef_(self) -> NDArray[np.float64]: ...
    @property
    def intercept_(self) -> NDArray[np.float64]: ...
    @property
    def certificate_(self) -> _Certificate | None: ...

class OnlineClassifier(_Online):
    classes_: NDArray[Any]
    def __init__(
        self,
        set: Set | str | None = None,
        loss: Loss | str = "logistic",
        learner: str | None = None,
        l2: float = 0.0,
        *,
        fit_intercept: bool = True,
        passes: int = 5,
        shuffle: bool = True,
        regret: bool = False,
        random_state: int | np.random.RandomState | None = None,
        categorical: list[str] | None = None,
        numeric: list[str] | None = None,
        dates: list[str] | None = None,
        missing: list[str] | None = None,
        storage: _Storage = "auto",
    ) -> None: ...
    def fit(self, X: _Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def partial_fit(
        self,
        X: _Rows,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self: ...
    def decision_function(self, X: _Rows) -> NDArray[np.float64]: ...
    def predict(self, X: _Rows) -> NDArray[Any]: ...
    def predict_proba(self, X: _Rows) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: _Rows) -> NDArray[np.float64]: ...
    def score(
        self, X: _Rows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float: ...
    def set_fit_request(self, *, sample_weight: _Request = "$UNCHANGED$") -> Self: ...
    def set_partial_fit_request(
        self, *, classes: _Request = "$UNCHANGED$", sample_weight: _Request = "$UNCHANGED$"
    ) -> Self: ...
    def set_score_request(self, *, sample_weight: _Request = "$UNCHANGED$") -> Self: ...
    @property
    def coef_(self) -> NDArray[np.float64]: ...
    @property
    def intercept_(self) -> NDArray[np.float64]: ...
    @property
    def certificate_(self) -> _Certificate | list[_Certificate | None] | None: ...
