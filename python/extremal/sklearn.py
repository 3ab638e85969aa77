"""Estimators for scikit-learn: online learning of linear models."""

import inspect
import warnings
from contextlib import contextmanager
from numbers import Integral
from types import NoneType

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, column_or_1d, validate_data

from . import _core, _table
from ._arrays import floats, is_ready
from ._arrays import rows as rows_of
from ._core import Error, Learner, Set
from ._play import fit, search
from .losses import from_spec as as_loss

__all__ = ["OnlineClassifier", "OnlineRegressor"]

_BALL = "l2:radius=1024"

_PARAMETERS = """
    Parameters
    ----------
    set : str, Set, or callable, optional
        The constraint set of the coefficients: a spec, a set, or a function of the dimension that
        returns a set. With ``fit_intercept``, the intercept is an additional first coordinate. The
        default is "unit-free" with the learner "unit-free". With a different ``learner``, with ``l2``,
        or with a loss that can be negative, the default is the ball "l2:radius=1024". The boundary of
        this ball rarely matters, unless targets are hundreds of times larger than the norms of rows.
        Before learning in the ball, scale features of very different sizes, for example with
        scikit-learn's StandardScaler.
    loss : str or Loss, default "{loss}"
        {losses}
    learner : str, optional
        The spec of a learner. The default needs no tuning. Without ``set``, the default is "unit-free",
        a learner for raw data. Its predictions change little or not at all if a feature or the targets
        are multiplied by a constant, or if a constant is added to a feature. A corrupt row does little
        harm. The learner "unit-free" takes O(non-zeros) per row. It needs ``l2=0`` and a loss that depends
        on a prediction and a label and is never negative. In other cases, the default depends on the set
        and the loss. On ℓ2 balls, the default is "coin-ftrl", unless ``storage`` is "dense". The learner
        "coin-ftrl" is for scaled features. It takes O(non-zeros) per row, or O(features) with ``l2``.
    l2 : float, default 0
        λ of the ridge term (λ/2)‖x‖², which is added to the loss of every row. Here x includes the
        intercept.
    fit_intercept : bool, default True
        Whether the model has an intercept. With or without an intercept, float64 matrices stored by
        rows and the data of CSR matrices are not copied.
    passes : int, default 5
        The number of passes that `fit` makes over the rows. `partial_fit` makes one pass.
    shuffle : bool, default True
        Whether `fit` shuffles the rows before each pass. `partial_fit` never shuffles the rows.
    regret : bool, default False
        Whether `fit` computes ``regret_``. To compute it, `fit` also solves the problem offline, which
        can take hundreds of times as long as learning.
    random_state : int, RandomState instance, optional
        Determines the order of the rows in `fit`.
    categorical, numeric, dates : list of str, optional
        The columns of a data frame that are texts, numbers or dates. By default, the first 512 rows decide
        about each column.
    missing : list of str, optional
        More texts that mean a missing value, in addition to NA, N/A, ?, nan, null, none and an empty text.
    storage : "auto", "dense", "lazy" or "sparse", default "auto"
        How the learner stores its decisions. If the first rows are sparse, "auto" chooses "lazy" for
        "unit-free" and on ℓ2 balls, and "sparse" on ℓ1 balls and simplices. If the first rows are
        dense, "auto" chooses "lazy" for "unit-free", and also on ℓ2 balls if ``learner`` is not given.
        In all other cases, "auto" chooses "dense".
"""

_ATTRIBUTES = """
    regret_ : (float, float) or None
        A lower and an upper bound on the regret of `fit`. The regret is the total loss over all passes
        minus the total loss of the best fixed decision{summed}. For "unit-free", the best decision is
        taken from the set after the last row, Σ(M_i·x_i)² ≤ r², where M_i is the largest absolute value
        of feature i. None without ``regret=True``, and after `partial_fit`, which keeps no rows.
    certificate_ : {certificate}
        The bound on the regret that the learner computes while it learns. The keys are ``level``,
        ``regret`` (an upper bound), ``vacuous`` (whether the bound is too large to be informative) and
        ``strong_convexity``. None if the learner computes no bound.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        The names of the features, if X has column names.
"""


def _takes_by_name(function, name):
    """Whether the function has a keyword-only parameter of this name, like the functions of
    `extremal.sets`."""
    try:
        takes = inspect.signature(function).parameters.get(name)
    except ValueError:  # some functions written in C have no signature
        return False
    return takes is not None and takes.kind is takes.KEYWORD_ONLY


def _is_unit_free(spec):
    return spec.partition(":")[0] == "unit-free"


class _Online(BaseEstimator):
    """The part that the two estimators share. Each vector of coefficients has its own learner."""

    # The columns and the features of the data frames so far. None if the rows are matrices.
    _table = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def _unchanged_on_error(self):
        """Restores the estimator's attributes after an exception."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _validated(self, X, *y, reset=False, **how):
        """Returns the arguments after scikit-learn's checks. Training rows are not searched for NaN here.
        The learner refuses NaN itself, and a search would take as long as learning."""
        if not self._is_valid(X, *y, reset=reset) or not (y or np.isfinite(X).all()):
            return validate_data(self, X, *y, reset=reset, accept_sparse="csr", dtype=np.float64,
                                 order="C", ensure_all_finite=not y, **how)
        if reset:
            self.n_features_in_ = X.shape[1]
            vars(self).pop("feature_names_in_", None)
        return (X, *y) if y else X

    def _is_valid(self, X, *y, reset):
        """Whether scikit-learn's checks would return the arguments unchanged. NaN is not checked. The
        checks take longer than learning from a small batch."""
        return (is_ready(X) and X.ndim == 2 and len(X) > 0
                and (X.shape[1] > 0 if reset else
                     X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"))
                and all(type(labels) is np.ndarray and labels.ndim == 1 and len(labels) == len(X)
                        and labels.dtype.kind in "biuf" for labels in y))

    def _rows(self, X, y, sample_weight, reset, **how):
        """Returns rows, labels and weights after all checks. Rows of a data frame without a label are
        read, but left out."""
        if reset:
            vars(self).pop("_table", None)
        if not (_table.is_frame(X) if reset else self._table):
            X, y = self._validated(X, y, reset=reset, **how)
            return X, y, self._weights(sample_weight, X.shape[0])
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        weights = self._weights(sample_weight, len(y))
        X = self._read(X, reset)
        labelled = _table.labelled(y)
        if not labelled.all():
            y = np.array(y[labelled].tolist())
            X, weights = X[labelled], None if weights is None else weights[labelled]
            if reset and not len(y):
                raise ValueError("no row has a label")
        return X, y, weights

    def _read(self, X, reset=False, frozen=False):
        """Returns the rows of a data frame as a matrix."""
        if _table.is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            X = _table.Frame(self._validated(X), self._table.names)
        if X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        reader = self._table or _table.Reader(self.categorical, self.numeric, self.dates, self.missing)
        rows, reader = reader.read(X, frozen)
        if not frozen:
            self._table = reader
        if isinstance(rows, tuple):
            ends, indices, values = rows
            shape = (len(ends) - 1, reader.known.width)
            rows = sparse.csr_array((values, indices.astype(np.int32), ends), shape=shape)
        return rows

    @property
    def _width(self):
        """The number of features."""
        return self._table.known.width if self._table else self.n_features_in_

    def get_feature_names_out(self, input_features=None):
        """The names of the features that ``coef_`` has, for example "age" and "city=Bath"."""
        check_is_fitted(self, "_learners")
        if self._table:
            return np.array(self._table.known.features, dtype=object)
        return _check_feature_names_in(self, input_features)

    @staticmethod
    def _weights(sample_weight, count):
        if sample_weight is None:
            return None
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(count, weights)
        if weights.shape != (count,):
            raise ValueError(f"sample_weight has shape {weights.shape}, expected ({count},)")
        if not np.isfinite(weights).all():
            raise ValueError("sample_weight contains NaN or infinity")
        if weights.min() < 0:
            raise ValueError("Negative values in data passed to `sample_weight`")
        return np.ascontiguousarray(weights)

    def _make_learners(self, rows_are_sparse):
        self._made_with = {name: getattr(self, name) for name in
                           ("set", "learner", "storage", "fit_intercept", "categorical", "numeric", "dates", "missing")}
        dim = self._width + bool(self.fit_intercept)
        if self.storage not in ("auto", "dense", "lazy", "sparse"):
            raise ValueError(f"storage must be 'auto', 'dense', 'lazy' or 'sparse', not {self.storage!r}")
        if not isinstance(self.learner, (str, NoneType)):
            raise TypeError(f"learner must be a spec, for example 'ofw-ls', not {self.learner!r}")
        asked = self.learner and self._with_intercept(self.learner)
        space = self._default_set(asked, dim) if self.set is None else self.set
        if callable(space):
            space = space(dim=dim) if _takes_by_name(space, "dim") else space(dim)
        if isinstance(space, str):
            space = Set(space, dim)
        if not isinstance(space, Set):
            raise TypeError("set must be a spec, a Set, or a function of the dimension that returns one, not "
                            f"{self.set!r}")
        if space.dim != dim:
            intercept = " and an intercept" if self.fit_intercept else ""
            raise ValueError(f"the set has dimension {space.dim}, expected {dim} for "
                             f"{self._width} features{intercept}")
        if self.storage != "auto":
            storages = [self.storage]
        elif rows_are_sparse:
            storages = ["lazy", "sparse", "dense"]
        else:
            storages = ["dense"] if asked and not _is_unit_free(asked) else ["lazy", "dense"]
        for storage in storages:
            # With a ridge term, the default learner would be sc-ofw. On balls as large as the default
            # ball, sc-ofw was measured to be far less accurate.
            l2 = 0.0 if storage == "lazy" and space.name != "unit-free" else self.l2
            spec = asked or self._with_intercept(Learner.default_spec(space, as_loss(self.loss), l2, storage))
            try:
                return [Learner(spec, space, storage) for _ in self._chosen]
            except Error:
                if storage == storages[-1]:
                    raise

    def _with_intercept(self, spec):
        return _core.with_intercept(spec, bool(self.fit_intercept))

    def _default_set(self, asked, dim):
        """Returns the set of the learner unit-free if this learner is requested or can be the default,
        otherwise the default ball."""
        free = Set("unit-free", dim)
        storage = "lazy" if self.storage == "auto" else self.storage
        spec = asked or Learner.default_spec(free, as_loss(self.loss), self.l2, storage)
        return free if _is_unit_free(spec) else Set(_BALL, dim)

    def _play(self, X, y, weights, order=None, undo=False):
        """Lets each learner play all rows, and returns the total loss."""
        try:
            total = fit(self._learners, X, y, self._chosen, loss=self.loss, l2=self.l2, weights=weights,
                        order=order, intercept=self._has_intercept(), undo=undo)
            self._total_loss += total
            return total
        except ValueError:
            for array, name in ((X.data if sparse.issparse(X) else X, "X"), (y, "y")):
                assert_all_finite(array, input_name=name)  # raises scikit-learn's own message
            raise

    def _has_intercept(self):
        return self._learners[0].dim > self._width

    def _first(self):
        """The index of the first feature's coefficient: 1 if there is an intercept, otherwise 0."""
        return self._learners[0].dim - self._width

    def _fit(self, X, y, weights):
        if not isinstance(self.passes, Integral) or self.passes < 1:
            raise ValueError(f"passes must be a positive integer, not {self.passes!r}")
        if weights is not None and not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number")
        self._learners, self._total_loss = self._make_learners(sparse.issparse(X)), 0.0
        random, total = check_random_state(self.random_state), 0.0
        for _ in range(self.passes):
            order = random.permutation(X.shape[0]).astype(np.int64, copy=False) if self.shuffle else None
            total += self._play(X, y, weights, order)
        self.regret_ = self._regret(X, y, weights, total) if self.regret else None
        space = self._learners[0].set
        is_ball = self.set == _BALL or self.set is None and space.name == "l2"
        if is_ball and np.linalg.norm(self._coefficients(), axis=1).max() > 0.9 * space.norm_bound:
            warnings.warn(f"the coefficients have reached the boundary of the default set, {_BALL}: scale "
                          "the targets and the features, or choose a larger set", ConvergenceWarning,
                          stacklevel=3)

    def _regret(self, X, y, weights, total):
        least = most = 0.0
        labelled = as_loss(self.loss).needs_label
        for learner, chosen in zip(self._learners, self._chosen):
            target = y if chosen is None else np.where(y == chosen, 1.0, -1.0)
            best = search(learner.set, X, target if labelled else None, loss=self.loss, l2=self.l2,
                          sample_weight=weights, intercept=self._has_intercept(), learner=learner)
            least += self.passes * (best.value - best.gap)
            most += self.passes * best.value
        return total - most, total - least

    def _certificates(self):
        check_is_fitted(self, "_learners")
        total = self._total_loss if as_loss(self.loss).is_nonnegative else None
        return [learner.certificate(total) for learner in self._learners]

    def _first_rows(self, X, y, weights):
        self._learners, self._total_loss = self._make_learners(sparse.issparse(X)), 0.0
        self._more_rows(X, y, weights)

    def _more_rows(self, X, y, weights):
        for name, value in self._made_with.items():
            if getattr(self, name) is not value and getattr(self, name) != value:
                raise ValueError(f"the parameter {name} has changed since the first call of partial_fit: call fit, "
                                 "or use a new estimator")
        dim = self._width + bool(self.fit_intercept)
        if self._learners[0].dim < dim:  # the rows have new texts
            self._learners = [learner.grown(dim) for learner in self._learners]
        self._play(X, y, weights, undo=True)
        self.regret_ = None

    def _coefficients(self):
        check_is_fitted(self, "_learners")
        return np.stack([learner.decision for learner in self._learners])

    def _intercept(self):
        coefficients = self._coefficients()
        if coefficients.shape[1] > self._width:
            return coefficients[:, 0]
        return np.zeros(len(coefficients))

    def _scores(self, X):
        check_is_fitted(self, "_learners")
        X = self._read(X, frozen=True) if self._table else self._validated(X)
        if _is_unit_free(self._learners[0].spec):
            rows, first = rows_of(X)[0], self._has_intercept()
            return np.stack([_core.predict(learner, rows, first) for learner in self._learners], axis=1)
        return X @ self._coefficients()[:, self._first():].T + self._intercept()


class OnlineRegressor(RegressorMixin, _Online):
    __doc__ = f"""Linear regression by an online learner over a constraint set.

    Every row is one round: the learner chooses coefficients in the set, then receives the loss.
    {_PARAMETERS.format(loss="squared", losses="The loss function of a prediction and a target.")}
    Attributes
    ----------
    coef_ : array of shape (n_features_in_,)
        The coefficients: the learner's current decision. For "unit-free" they are a linear summary:
        predictions also depend on the ranges of the features and the targets seen.
    intercept_ : array of shape (1,)
        The intercept; 0 without ``fit_intercept``.
    {_ATTRIBUTES.format(summed="", certificate="dict or None").strip()}

    Examples
    --------
    >>> import numpy as np
    >>> from extremal import OnlineRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 3.0
    >>> model = OnlineRegressor(random_state=0).fit(X, y)
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([ 1. , -2. ,  0.5]), array([3.]))
    >>> for row, target in zip(X, y):
    ...     model = model.partial_fit([row], [target])
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    def __init__(self, set=None, loss="squared", learner=None, l2=0.0, *,
                 fit_intercept=True, passes=5, shuffle=True, regret=False, random_state=None,
                 categorical=None, numeric=None, dates=None, missing=None, storage="auto"):
        self.set = set
        self.loss = loss
        self.learner = learner
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.regret = regret
        self.random_state = random_state
        self.categorical = categorical
        self.numeric = numeric
        self.dates = dates
        self.missing = missing
        self.storage = storage

    _chosen = (None,)

    def _targets(self, X, y, weights, reset):
        X, y, weights = self._rows(X, y, weights, reset, y_numeric=True)
        return X, floats(y), weights

    def fit(self, X, y, sample_weight=None):
        """Fits the model from scratch, with ``passes`` passes over the rows. Returns the estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The columns of a data frame may be numbers, texts, dates, and may have missing values. They are
            read as `extremal learn` reads the same table from a CSV file.
        y : array of shape (n_samples,)
            With a data frame, rows whose label is missing are not learnt from.
        sample_weight : array of shape (n_samples,), optional
            A factor on the loss of each row.
        """
        with self._unchanged_on_error():
            X, y, weights = self._targets(X, y, sample_weight, reset=True)
            assert_all_finite(y, input_name="y")
            self._fit(X, y, weights)
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Learns from the rows in one pass, in the given order. One call per row would give exactly the same
        result. An exception leaves the estimator unchanged. Returns the estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The columns of a data frame may be numbers, texts, dates, and may have missing values. They are
            read as `extremal learn` reads the same table from a CSV file.
        y : array of shape (n_samples,)
            With a data frame, rows whose label is missing are not learnt from.
        sample_weight : array of shape (n_samples,), optional
            A factor on the loss of each row.
        """
        is_first = not hasattr(self, "_learners")
        with self._unchanged_on_error():
            rows = self._targets(X, y, sample_weight, reset=is_first)
            (self._first_rows if is_first else self._more_rows)(*rows)
        return self

    def predict(self, X):
        """Returns ⟨row, coef_⟩ + intercept_ for each row. The learner "unit-free" returns the
        prediction that it would play next for this row, clipped to the range of the targets seen. The
        spec "unit-free:no-clip=true" turns clipping off."""
        return self._scores(X)[:, 0]

    @property
    def coef_(self):
        """The coefficients: the learner's current decision."""
        return self._coefficients()[0, self._first():]

    @property
    def intercept_(self):
        """The intercepts; 0 without ``fit_intercept``."""
        return self._intercept()

    @property
    def certificate_(self):
        """Upper bounds on the regret, which the learners compute."""
        return self._certificates()[0]


def _gives_probabilities(estimator):
    if as_loss(estimator.loss).gives_probabilities:
        return True
    raise AttributeError(f"the loss {estimator.loss!r} gives no probabilities; use loss='logistic'")


class OnlineClassifier(ClassifierMixin, _Online):
    __doc__ = f"""Linear classification by an online learner over a constraint set.

    Every row is one round: the learner chooses coefficients in the set, then receives the loss. With
    more than two classes, there is one learner per class. Each learner separates its class from all
    other classes.
    {_PARAMETERS.format(loss="logistic", losses='''The loss function of a prediction and a label ±1: "logistic", "hinge", "squared-hinge", ….''')}
    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    coef_ : array of shape (1, n_features_in_) or (n_classes, n_features_in_)
        The coefficients: the learners' current decisions. For "unit-free" they are a linear summary:
        scores also depend on the ranges of the features seen.
    intercept_ : array of shape (1,) or (n_classes,)
        The intercepts; 0 without ``fit_intercept``.
    {_ATTRIBUTES.format(summed=", summed over the learners",
                        certificate="dict or None, or a list of them, one per class").strip()}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from extremal import OnlineClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OnlineClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> model = OnlineClassifier()
    >>> for row, label in zip(X, y):
    ...     model = model.partial_fit([row], [label], classes=[0, 1, 2])
    >>> model.coef_.shape
    (3, 4)
    """

    def __init__(self, set=None, loss="logistic", learner=None, l2=0.0, *,
                 fit_intercept=True, passes=5, shuffle=True, regret=False, random_state=None,
                 categorical=None, numeric=None, dates=None, missing=None, storage="auto"):
        self.set = set
        self.loss = loss
        self.learner = learner
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.regret = regret
        self.random_state = random_state
        self.categorical = categorical
        self.numeric = numeric
        self.dates = dates
        self.missing = missing
        self.storage = storage

    def _take_classes(self, classes):
        given = np.asarray(classes) if type(classes) in (list, tuple, range) else classes
        # scikit-learn's check takes longer than learning from a small batch
        plain = type(given) is np.ndarray and given.ndim == 1 and given.dtype.kind in "biufUSO"
        classes = np.unique(given if plain else column_or_1d(classes))
        assert_all_finite(classes, input_name="classes")
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)}"
                             " class")
        self.classes_ = classes
        # whether the classes are numbers that float64 can distinguish
        self._numeric = classes.dtype.kind in "biuf" and all(abs(c) < 2**53 for c in classes.tolist())
        self._codes = [float(c) for c in (classes.tolist() if self._numeric else range(len(classes)))]
        self._chosen = self._codes[1:] if len(classes) == 2 else self._codes

    def _labels(self, y):
        """The class of each row as a number."""
        labels = y
        if not self._numeric or y.dtype.kind not in "biuf":
            labels = np.full(len(y), np.nan)
            for code, label in zip(self._codes, self.classes_):
                labels[y == label] = code
        labels = floats(labels)
        if not _core.are_among(labels, self._codes):
            assert_all_finite(y, input_name="y")
            raise ValueError(f"y has labels that are not among the classes {self.classes_}: "
                             f"{np.setdiff1d(y, self.classes_)}")
        return labels

    def fit(self, X, y, sample_weight=None):
        """Fits the model from scratch, with ``passes`` passes over the rows. Returns the estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The columns of a data frame may be numbers, texts, dates, and may have missing values. They are
            read as `extremal learn` reads the same table from a CSV file.
        y : array of shape (n_samples,)
            With a data frame, rows whose label is missing are not learnt from.
        sample_weight : array of shape (n_samples,), optional
            A factor on the loss of each row.
        """
        with self._unchanged_on_error():
            X, y, weights = self._rows(X, y, sample_weight, reset=True)
            assert_all_finite(y, input_name="y")
            check_classification_targets(y)
            self._take_classes(y)
            self._fit(X, self._labels(y), weights)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns from the rows in one pass, in the given order. One call per row would give exactly the same
        result. An exception leaves the estimator unchanged. Returns the estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The columns of a data frame may be numbers, texts, dates, and may have missing values. They are
            read as `extremal learn` reads the same table from a CSV file.
        y : array of shape (n_samples,)
            With a data frame, rows whose label is missing are not learnt from.
        classes : array of shape (n_classes,), optional
            All classes. The first call needs this argument. Later calls must pass the same classes, or
            leave the argument out.
        sample_weight : array of shape (n_samples,), optional
            A factor on the loss of each row.
        """
        if not hasattr(self, "_learners"):
            with self._unchanged_on_error():
                X, y, weights = self._rows(X, y, sample_weight, reset=True)
                if classes is None:
                    raise ValueError("classes must be passed on the first call to partial_fit.")
                self._take_classes(classes)
                self._first_rows(X, self._labels(y), weights)
            return self
        with self._unchanged_on_error():
            X, y, weights = self._rows(X, y, sample_weight, reset=False)
            if classes is not None and not self._knows(classes):
                raise ValueError(f"`classes={classes!r}` is not the same as on last call to "
                                 f"partial_fit, was: {self.classes_!r}")
            self._more_rows(X, self._labels(y), weights)
        return self

    def _knows(self, classes):
        known = self.classes_.tolist()
        return list(classes) == known or np.unique(classes).tolist() == known

    def decision_function(self, X):
        """Returns ⟨row, coef_⟩ + intercept_ for each row: one number for two classes, otherwise one
        number per class. The learner "unit-free" returns the score that it would play next
        for this row."""
        scores = self._scores(X)
        return scores if scores.shape[1] > 1 else scores[:, 0]

    def predict(self, X):
        """Returns the class with the largest score for each row."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]

    @available_if(_gives_probabilities)
    def predict_proba(self, X):
        """Returns the probabilities of the classes, one column per class. A probability is
        1/(1 + exp(−score)). With more than two classes, each probability is divided by the sum over the
        classes. This method exists only for the logistic loss."""
        probabilities = expit(self._scores(X))
        if probabilities.shape[1] == 1:
            return np.hstack([1 - probabilities, probabilities])
        total = probabilities.sum(axis=1, keepdims=True)
        # all probabilities have underflowed: use equal probabilities
        probabilities[total[:, 0] == 0] = 1.0
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X):
        """Returns the logarithms of the probabilities; −∞ for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def coef_(self):
        """The coefficients: the learners' current decisions, one row each."""
        return self._coefficients()[:, self._first():]

    @property
    def intercept_(self):
        """The intercepts; 0 without ``fit_intercept``."""
        return self._intercept()

    @property
    def certificate_(self):
        """Upper bounds on the regret, which the learners compute."""
        certificates = self._certificates()
        return certificates if len(certificates) > 1 else certificates[0]
