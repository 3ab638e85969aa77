"""What several tests need: a learner with a past, and sets that cause trouble."""

import numpy as np

import extremal as ex

DIM = 4
NAN, INF = float("nan"), float("inf")


def fresh(set=None, **keys):
    return ex.learners.ofw_ls(set or ex.sets.l2(dim=DIM), horizon=1000, gradient_bound=3, **keys)


def a_turn(learner):
    """A learner with a past, whose decision has been looked at."""
    learner.observe(np.arange(1.0, DIM + 1))
    learner.decide()
    return learner


def ball_with(trouble, dim=DIM):
    """The unit ball, whose oracle asks `trouble` first."""

    def oracle(direction):
        answer = trouble(direction)
        return -direction / np.linalg.norm(direction) if answer is trouble else answer

    return ex.sets.custom(oracle, dim=dim, diameter=2.0, inner_radius=1.0, strong_convexity=1.0)


class Odd(Exception):
    pass
