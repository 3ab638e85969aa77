"""Estimators with the manners of scikit-learn: online learners of linear models."""

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
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _core
from ._arrays import floats, is_ready
from ._core import Error, Learner, Set
from ._play import fit, search
from .losses import from_spec as as_loss

__all__ = ["OnlineClassifier", "OnlineRegressor"]

_SET = "l2:radius=1024"

_PARAMETERS = """
    Parameters
    ----------
    set : str, Set, or callable, default "l2:radius=1024"
        Where the coefficients lie: a spec, a set, or a function of the dimension that makes one.
        With ``fit_intercept`` there is one coordinate more, the last one, for the intercept. The
        default is a ball so large that it hardly ever binds, unless targets are hundreds of times
        the norms of rows: the default learner finds its own scale within. Other learners do worse
        the larger the set is. Features of very different sizes are best scaled beforehand, with
        scikit-learn's StandardScaler for example.
    loss : str or Loss, default "{loss}"
        {losses}
    learner : str, optional
        The spec of a learner. One that needs no ``horizon`` and no ``gradient-bound`` is chosen for
        the set and the loss if left out: "coin-ftrl" on ℓ2 balls, unless ``storage`` is "dense". It
        takes O(non-zeros) per row, with ``l2`` O(features).
    l2 : float, default 0
        λ of (λ/2)‖x‖², added to the loss of every row; the intercept is part of x.
    fit_intercept : bool, default True
        Whether there is an intercept. float64 matrices stored by rows and the data of CSR matrices
        are used as they are either way.
    passes : int, default 5
        How often `fit` goes through the rows. `partial_fit` goes once.
    shuffle : bool, default True
        Whether `fit` takes the rows in random order, another one in each pass. `partial_fit` takes
        them as they come.
    regret : bool, default False
        Whether `fit` computes ``regret_``. That solves the problem offline, which can take hundreds
        of times as long as the fit.
    random_state : int, RandomState instance, optional
        Chooses the order of rows in `fit`.
    storage : "auto", "dense", "lazy" or "sparse", default "auto"
        How the learner stores its decisions. "auto" is "lazy" on ℓ2 balls and "sparse" on ℓ1 balls and
        simplices if the first rows are sparse; for dense rows it is "lazy" only where no learner is
        named; where none of that is possible, "dense".
"""

_ATTRIBUTES = """
    regret_ : (float, float) or None
        Between these lies the regret of `fit`: its total loss over all passes, less that of the best
        fixed decision{summed}.
        None without ``regret=True``, and after `partial_fit`, which keeps no rows.
    certificate_ : {certificate}
        What the learner itself knows of its regret, from the gradients alone: ``level``, ``regret``
        (an upper bound), ``vacuous`` (whether it is so large that it says nothing), ``strong_convexity``. None
        where it knows nothing.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had any.
"""


def _takes_by_name(function, name):
    """Whether it takes this by its name alone, as the functions of `extremal.sets` do."""
    try:
        takes = inspect.signature(function).parameters.get(name)
    except ValueError:  # some that are not written in Python
        return False
    return takes is not None and takes.kind is takes.KEYWORD_ONLY


class _Online(BaseEstimator):
    """What both estimators share: one learner for each vector of coefficients."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def _unchanged_on_error(self):
        """Takes back what happened to the estimator if something is raised."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _validated(self, X, *y, reset=False, **how):
        """What scikit-learn's checks make of these. Rows to learn from are not gone through for NaN
        before they are played: that would take as long as to play them."""
        if not self._is_valid(X, *y, reset=reset) or not (y or np.isfinite(X).all()):
            return validate_data(self, X, *y, reset=reset, accept_sparse="csr", dtype=np.float64,
                                 order="C", ensure_all_finite=not y, **how)
        if reset:
            self.n_features_in_ = X.shape[1]
            vars(self).pop("feature_names_in_", None)
        return (X, *y) if y else X

    def _is_valid(self, X, *y, reset):
        """Whether scikit-learn's checks, which take longer than a small batch does, would find
        nothing to convert, nor to refuse; but for NaN."""
        return (is_ready(X) and X.ndim == 2 and len(X) > 0
                and (X.shape[1] > 0 if reset else
                     X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"))
                and all(type(labels) is np.ndarray and labels.ndim == 1 and len(labels) == len(X)
                        and labels.dtype.kind in "biuf" for labels in y))

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
        self._made_with = {name: getattr(self, name) for name in ("set", "learner", "storage", "fit_intercept")}
        dim = self.n_features_in_ + bool(self.fit_intercept)
        space = self.set
        if callable(space):
            space = space(dim=dim) if _takes_by_name(space, "dim") else space(dim)
        if isinstance(space, str):
            space = Set(space, dim)
        if not isinstance(space, Set):
            raise TypeError("set must be a spec, a Set, or a function of the dimension that gives one, not "
                            f"{self.set!r}")
        if not isinstance(self.learner, (str, NoneType)):
            raise TypeError(f"learner must be a spec, such as 'ofw-ls', not {self.learner!r}")
        if space.dim != dim:
            intercept = " and an intercept" if self.fit_intercept else ""
            raise ValueError(f"a set of dimension {space.dim} for {self.n_features_in_} features"
                             f"{intercept}: it must be {dim}")
        if self.storage not in ("auto", "dense", "lazy", "sparse"):
            raise ValueError(f"storage must be 'auto', 'dense', 'lazy' or 'sparse', not {self.storage!r}")
        if self.storage != "auto":
            storages = [self.storage]
        elif rows_are_sparse:
            storages = ["lazy", "sparse", "dense"]
        else:
            storages = ["dense"] if self.learner else ["lazy", "dense"]
        for storage in storages:
            # On balls as large as the default one, sc-ofw, which is the default with a ridge term,
            # was measured to do far worse than the default without.
            l2 = 0.0 if storage == "lazy" else self.l2
            spec = self.learner or Learner.default_spec(space, as_loss(self.loss), l2, storage)
            try:
                return [Learner(spec, space, storage) for _ in self._chosen]
            except Error:
                if storage == storages[-1]:
                    raise

    def _play(self, X, y, weights, order=None, undo=False):
        """Each learner plays all rows. Returns the total loss."""
        try:
            total = fit(self._learners, X, y, self._chosen, loss=self.loss, l2=self.l2, weights=weights,
                        order=order, intercept=self._has_intercept(), undo=undo)
            self._total_loss += total
            return total
        except ValueError:
            for array, name in ((X.data if sparse.issparse(X) else X, "X"), (y, "y")):
                assert_all_finite(array, input_name=name)  # says what scikit-learn says
            raise

    def _has_intercept(self):
        return self._learners[0].dim > self.n_features_in_

    def _fit(self, X, y, weights):
        if not isinstance(self.passes, Integral) or self.passes < 1:
            raise ValueError(f"passes must be a whole number above 0, not {self.passes!r}")
        if weights is not None and not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number")
        self._learners, self._total_loss = self._make_learners(sparse.issparse(X)), 0.0
        random, total = check_random_state(self.random_state), 0.0
        for _ in range(self.passes):
            order = random.permutation(X.shape[0]).astype(np.int64, copy=False) if self.shuffle else None
            total += self._play(X, y, weights, order)
        self.regret_ = self._regret(X, y, weights, total) if self.regret else None
        reach = self._learners[0].set.norm_bound
        if self.set == _SET and np.linalg.norm(self._coefficients(), axis=1).max() > 0.9 * reach:
            warnings.warn(f"the coefficients have come to the boundary of the default set, {_SET}: scale "
                          "the targets and the features, or give a larger set", ConvergenceWarning,
                          stacklevel=3)

    def _regret(self, X, y, weights, total):
        least = most = 0.0
        labelled = as_loss(self.loss).needs_label
        for learner, chosen in zip(self._learners, self._chosen):
            target = y if chosen is None else np.where(y == chosen, 1.0, -1.0)
            best = search(learner.set, X, target if labelled else None, loss=self.loss, l2=self.l2,
                          sample_weight=weights, intercept=self._has_intercept())
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
                raise ValueError(f"{name} has changed, and what was learnt belongs to the old one: fit begins "
                                 "anew, and so does a clone")
        self._play(X, y, weights, undo=True)
        self.regret_ = None

    def _coefficients(self):
        check_is_fitted(self, "_learners")
        return np.stack([learner.decision for learner in self._learners])

    def _intercept(self):
        coefficients = self._coefficients()
        if coefficients.shape[1] > self.n_features_in_:
            return coefficients[:, -1]
        return np.zeros(len(coefficients))

    def _scores(self, X):
        check_is_fitted(self, "_learners")
        X = self._validated(X)
        return X @ self._coefficients()[:, :self.n_features_in_].T + self._intercept()


class OnlineRegressor(RegressorMixin, _Online):
    __doc__ = f"""Linear regression by an online learner over a constraint set.

    Every row is one round: the learner decides on coefficients in the set, then sees the loss.
    {_PARAMETERS.format(loss="squared", losses="The loss of a prediction and a target.")}
    Attributes
    ----------
    coef_ : array of shape (n_features_in_,)
        The coefficients, the learner's present decision.
    intercept_ : array of shape (1,)
        The intercept; 0 where there is none.
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

    def __init__(self, set=_SET, loss="squared", learner=None, l2=0.0, *,
                 fit_intercept=True, passes=5, shuffle=True, regret=False, random_state=None,
                 storage="auto"):
        self.set = set
        self.loss = loss
        self.learner = learner
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.regret = regret
        self.random_state = random_state
        self.storage = storage

    _chosen = (None,)

    def _rows(self, X, y, reset):
        X, y = self._validated(X, y, reset=reset, y_numeric=True)
        return X, floats(y)

    def fit(self, X, y, sample_weight=None):
        """Forgets what was learnt, and plays the rows, ``passes`` times. Returns itself.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            What each row's loss is multiplied by.
        """
        with self._unchanged_on_error():
            X, y = self._rows(X, y, reset=True)
            assert_all_finite(y, input_name="y")
            self._fit(X, y, self._weights(sample_weight, X.shape[0]))
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Plays the rows once, in their order: exactly as if each were given by itself. Nothing has
        changed if something is raised. Returns itself.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            What each row's loss is multiplied by.
        """
        if not hasattr(self, "_learners"):
            with self._unchanged_on_error():
                X, y = self._rows(X, y, reset=True)
                self._first_rows(X, y, self._weights(sample_weight, X.shape[0]))
            return self
        X, y = self._rows(X, y, reset=False)
        self._more_rows(X, y, self._weights(sample_weight, X.shape[0]))
        return self

    def predict(self, X):
        """⟨row, coef_⟩ + intercept_ for each row."""
        return self._scores(X)[:, 0]

    @property
    def coef_(self):
        """The coefficients, the learner's present decision."""
        return self._coefficients()[0, :self.n_features_in_]

    @property
    def intercept_(self):
        """The intercepts; 0 where there are none."""
        return self._intercept()

    @property
    def certificate_(self):
        """What the learners know of their regret."""
        return self._certificates()[0]


def _gives_probabilities(estimator):
    if as_loss(estimator.loss).gives_probabilities:
        return True
    raise AttributeError("probabilities are defined for losses of probabilities alone, loss='logistic' for example")


class OnlineClassifier(ClassifierMixin, _Online):
    __doc__ = f"""Linear classification by an online learner over a constraint set.

    Every row is one round: the learner decides on coefficients in the set, then sees the loss. With
    more than two classes there is one learner for each class, which it tells from all others.
    {_PARAMETERS.format(loss="logistic", losses='''The loss of a prediction and a label ±1: "logistic", "hinge", "squared-hinge", ….''')}
    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    coef_ : array of shape (1, n_features_in_) or (n_classes, n_features_in_)
        The coefficients, the learners' present decisions.
    intercept_ : array of shape (1,) or (n_classes,)
        The intercepts; 0 where there are none.
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

    def __init__(self, set=_SET, loss="logistic", learner=None, l2=0.0, *,
                 fit_intercept=True, passes=5, shuffle=True, regret=False, random_state=None,
                 storage="auto"):
        self.set = set
        self.loss = loss
        self.learner = learner
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.regret = regret
        self.random_state = random_state
        self.storage = storage

    def _take_classes(self, classes):
        given = np.asarray(classes) if type(classes) in (list, tuple, range) else classes
        # scikit-learn's look takes longer than a small batch
        plain = type(given) is np.ndarray and given.ndim == 1 and given.dtype.kind in "biufUSO"
        classes = np.unique(given if plain else column_or_1d(classes))
        assert_all_finite(classes, input_name="classes")
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)}"
                             " class")
        self.classes_ = classes
        # whether numbers say which class it is, and no two of them are one as float64
        self._numeric = classes.dtype.kind in "biuf" and all(abs(c) < 2**53 for c in classes.tolist())
        self._codes = [float(c) for c in (classes.tolist() if self._numeric else range(len(classes)))]
        self._chosen = self._codes[1:] if len(classes) == 2 else self._codes

    def _labels(self, y):
        """Numbers that say which class each is of."""
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
        """Forgets what was learnt, and plays the rows, ``passes`` times. Returns itself.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            What each row's loss is multiplied by.
        """
        with self._unchanged_on_error():
            X, y = self._validated(X, y, reset=True)
            assert_all_finite(y, input_name="y")
            check_classification_targets(y)
            self._take_classes(y)
            self._fit(X, self._labels(y), self._weights(sample_weight, X.shape[0]))
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Plays the rows once, in their order: exactly as if each were given by itself. Nothing has
        changed if something is raised. Returns itself.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), optional
            All classes; needed in the first call, and the same in later ones if given.
        sample_weight : array of shape (n_samples,), optional
            What each row's loss is multiplied by.
        """
        if not hasattr(self, "_learners"):
            with self._unchanged_on_error():
                X, y = self._validated(X, y, reset=True)
                if classes is None:
                    raise ValueError("classes must be passed on the first call to partial_fit.")
                self._take_classes(classes)
                self._first_rows(X, self._labels(y), self._weights(sample_weight, X.shape[0]))
            return self
        X, y = self._validated(X, y)
        if classes is not None and not self._knows(classes):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to "
                             f"partial_fit, was: {self.classes_!r}")
        self._more_rows(X, self._labels(y), self._weights(sample_weight, X.shape[0]))
        return self

    def _knows(self, classes):
        known = self.classes_.tolist()
        return list(classes) == known or np.unique(classes).tolist() == known

    def decision_function(self, X):
        """⟨row, coef_⟩ + intercept_ for each row: one number for two classes, one per class for
        more."""
        scores = self._scores(X)
        return scores if scores.shape[1] > 1 else scores[:, 0]

    def predict(self, X):
        """The class with the largest score for each row."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]

    @available_if(_gives_probabilities)
    def predict_proba(self, X):
        """The probability of each class, one column per class: 1/(1 + exp(−score)), brought to sum
        1 where there are more than two. For the logistic loss alone."""
        chances = expit(self._scores(X))
        if chances.shape[1] == 1:
            return np.hstack([1 - chances, chances])
        total = chances.sum(axis=1, keepdims=True)
        # no class has any chance left: then all are alike
        chances[total[:, 0] == 0] = 1.0
        return chances / chances.sum(axis=1, keepdims=True)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X):
        """The logarithms of what `predict_proba` gives; −∞ for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def coef_(self):
        """The coefficients, the learners' present decisions, one row each."""
        return self._coefficients()[:, :self.n_features_in_]

    @property
    def intercept_(self):
        """The intercepts; 0 where there are none."""
        return self._intercept()

    @property
    def certificate_(self):
        """What the learners know of their regret."""
        certificates = self._certificates()
        return certificates if len(certificates) > 1 else certificates[0]
