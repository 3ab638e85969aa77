"""The record of a run."""

import numpy as np

from . import _optional

COLUMNS = ("loss", "prediction", "sigma", "gap", "gradient_norm", "oracle_calls")


class History(dict):
    """The record of a run: a dict of arrays, each with one entry per round.

    If the losses are your own objects, all columns except ``round`` and ``loss`` are NaN.

    Items
    -----
    round : int
        The number of the round, counted from 1.
    loss : float
        The loss, including the ridge term.
    prediction : float
        The prediction ⟨row, x⟩.
    sigma : float
        The step size σ with which the learner moved towards the oracle's answer.
    gap : float
        The Frank-Wolfe gap of the learner's surrogate, the function that the learner approximately
        minimises. NaN for learners without a surrogate.
    gradient_norm : float
        The ℓ2 norm of the gradient.
    oracle_calls : float
        The number of oracle calls in this round.
    """

    @classmethod
    def from_records(cls, records, first_round=1):
        """Makes a history from a matrix with one row per round and the columns ``loss``, ``prediction``,
        ``sigma``, ``gap``, ``gradient_norm``, ``oracle_calls``."""
        history = cls({name: records[:, k] for k, name in enumerate(COLUMNS)})
        history["round"] = np.arange(first_round, first_round + len(records))
        return history

    @property
    def total_loss(self):
        """The sum of all losses, including the ridge terms."""
        return float(self["loss"].sum())

    def to_pandas(self):
        """Returns a data frame with one row per round. Needs the package pandas."""
        return _optional.pandas().DataFrame(dict(self)).set_index("round")

    def plot(self, best=None, ax=None, **style):
        """Plots the average loss or the regret against the round. Needs the package matplotlib.

        Parameters
        ----------
        best : array, optional
            The losses of a fixed decision, one per round. If given, the plot shows the regret against
            this decision. In this plot, the axis of rounds is logarithmic. The axis of regret is
            logarithmic too if the regret is always positive.
        ax : matplotlib axes, optional
            The axes to draw on; matplotlib's current axes by default.
        **style
            Arguments for ``ax.plot``.

        Returns
        -------
        matplotlib axes
        """
        given = () if hasattr(best, "point") else np.shape(best)  # the result of best_in_hindsight holds no losses
        if best is not None and given != self["loss"].shape:
            raise ValueError(f"best must be the losses of a fixed decision, one for each of the "
                             f"{len(self['loss'])} rounds: loss.value(rows @ best.point, y)")
        ax = ax or _optional.pyplot().gca()
        if best is None:
            curve, label = self["loss"].cumsum() / np.arange(1, len(self["loss"]) + 1), "average loss"
        else:
            curve, label = (self["loss"] - np.asarray(best)).cumsum(), "regret"
            ax.set_xscale("log")
            ax.set_yscale("log" if curve.min() > 0 else "linear")
        ax.plot(self["round"], curve, **style)
        ax.set_xlabel("round")
        ax.set_ylabel(label)
        return ax

    def __repr__(self):
        rounds = len(self["loss"])
        return f"<History of {rounds} rounds, total loss {self.total_loss:.6g}>"
