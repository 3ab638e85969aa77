"""What happened in a run."""

import numpy as np

from . import _optional

COLUMNS = ("loss", "prediction", "sigma", "gap", "gradient_norm", "oracle_calls")


class History(dict):
    """What happened in a run: a dict of arrays, each with one entry per round.

    With a loss of your own, all but ``round`` and ``loss`` are NaN.

    Items
    -----
    round : int
        The round, from 1.
    loss : float
        The loss, the ridge term included.
    prediction : float
        ⟨row, x⟩.
    sigma : float
        The learner's step σ.
    gap : float
        The gap of the learner's surrogate; NaN where there is none.
    gradient_norm : float
        The gradient's ℓ2 norm.
    oracle_calls : float
        Oracle calls in this round.
    """

    @classmethod
    def from_records(cls, records, first_round=1):
        """A history from a matrix with one row per round and the columns ``loss``, ``prediction``,
        ``sigma``, ``gap``, ``gradient_norm``, ``oracle_calls``."""
        history = cls({name: records[:, k] for k, name in enumerate(COLUMNS)})
        history["round"] = np.arange(first_round, first_round + len(records))
        return history

    @property
    def total_loss(self):
        """The sum of the losses of all rounds, ridge terms included."""
        return float(self["loss"].sum())

    def to_pandas(self):
        """A data frame with one row per round. Needs pandas."""
        return _optional.pandas().DataFrame(dict(self)).set_index("round")

    def plot(self, best=None, ax=None, **style):
        """Draws the average loss over the rounds, or the regret. Needs matplotlib.

        Parameters
        ----------
        best : array, optional
            The losses of a fixed decision, one per round: the regret against it is drawn then. Rounds
            are on a logarithmic axis, and so is the regret where it is above 0.
        ax : matplotlib axes, optional
            Where to draw; the present ones if left out.
        **style
            For ``ax.plot``.

        Returns
        -------
        matplotlib axes
        """
        given = () if hasattr(best, "point") else np.shape(best)  # of best_in_hindsight, no losses
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
