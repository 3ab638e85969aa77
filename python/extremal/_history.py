"""What happened in a run."""

import numpy as np

COLUMNS = ("loss", "prediction", "sigma", "gap", "gradient_norm", "oracle_calls")


class History(dict):
    """A run's rounds: a dict of arrays, one entry per round each.

    ``round`` (from 1), ``loss`` (the ridge term included), ``prediction``, ``sigma`` (the step),
    ``gap`` (of the surrogate; NaN where there is none), ``gradient_norm``, ``oracle_calls``.
    """

    @classmethod
    def from_records(cls, records, first_round=1):
        history = cls({name: records[:, k] for k, name in enumerate(COLUMNS)})
        history["round"] = np.arange(first_round, first_round + len(records))
        return history

    @property
    def total_loss(self):
        """Σ f_t(x_t)."""
        return float(self["loss"].sum())

    def to_pandas(self):
        """A data frame with one row per round."""
        import pandas

        return pandas.DataFrame(dict(self)).set_index("round")

    def plot(self, best=None, ax=None, **style):
        """The average loss, or the regret against a fixed decision's losses per round (`best`, an
        array), over the rounds. Needs matplotlib."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        if best is None:
            curve, label = self["loss"].cumsum() / np.arange(1, len(self["loss"]) + 1), "average loss"
        else:
            curve, label = (self["loss"] - np.asarray(best)).cumsum(), "regret"
            ax.set_xscale("log")
            ax.set_yscale("log")
        ax.plot(self["round"], curve, **style)
        ax.set_xlabel("round")
        ax.set_ylabel(label)
        return ax

    def __repr__(self):
        rounds = len(self["loss"])
        return f"<History of {rounds} rounds, total loss {self.total_loss:.6g}>"
