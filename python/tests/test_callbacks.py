"""Oracles and losses of a user's own: what they raise or return, and what is left unchanged."""

import numpy as np
import pytest
import scipy.sparse as sp

import extremal as ex
from extremal import _core

from support import DIM, INF, NAN, Odd, a_turn, ball_with, fresh

# Oracles of a user's own --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [KeyError, Odd, ZeroDivisionError, StopIteration, KeyboardInterrupt,
                                  SystemExit, MemoryError, AssertionError])
def test_what_an_oracle_raises_comes_out(kind):
    raising = []

    def trouble(direction):
        if raising:
            raise kind("mine")
        return trouble

    def use(learner):
        return [lambda: learner.observe(np.ones(DIM)), lambda: ex.play(learner, np.ones((1, DIM))),
                lambda: ex.play(learner, sp.csr_matrix(np.ones((1, DIM))))]

    for which in range(3):
        raising.clear()
        learner = a_turn(fresh(ball_with(trouble)))
        before = learner.save()
        raising.append(True)
        with pytest.raises(kind) as raised:
            use(learner)[which]()
        assert raised.value.args == ("mine",)
        assert learner.save() == before
        raising.clear()
        use(learner)[which]()
        expected = a_turn(fresh(ball_with(trouble)))
        expected.observe(np.ones(DIM))
        np.testing.assert_allclose(learner.decide(), expected.decide(), rtol=0, atol=1e-15)


def test_the_traceback_leads_to_the_oracle():
    import traceback

    def trouble(direction):
        return {}["missing"]

    with pytest.raises(KeyError) as raised:
        fresh(ball_with(trouble)).observe(np.ones(DIM))
    assert "trouble" in "".join(traceback.format_exception(raised.value))


def test_an_old_exception_is_forgotten():
    """What was raised in one call is not told again by another."""
    raising = [True]

    def trouble(direction):
        if raising:
            raise KeyError("old")
        return trouble

    learner = fresh(ball_with(trouble))
    with pytest.raises(KeyError):
        learner.observe(np.ones(DIM))
    raising.clear()
    with pytest.raises(ex.Error, match="NaN"):
        learner.observe(np.full(DIM, NAN))
    with pytest.raises(ex.Error, match="state"):
        learner.load(b"nonsense")


@pytest.mark.parametrize("answer", [
    None, np.ones(DIM + 1), np.ones(0), [1.0], np.ones((DIM, 1)), 3.0, "abc", {}, object(), [None] * DIM,
    [NAN] * DIM, np.full(DIM, INF), [1j] * DIM,
    np.ones(DIM) * 1j,
], ids=lambda a: repr(a)[:24])
def test_nonsense_from_an_oracle(answer):
    sane = [True]

    def trouble(direction):
        return trouble if sane else answer

    learner = a_turn(fresh(ball_with(trouble)))
    before = learner.save()
    sane.clear()
    with pytest.raises((ValueError, TypeError)) as raised:
        learner.observe(np.ones(DIM))
    assert str(raised.value)
    assert learner.save() == before
    sane.append(True)
    learner.observe(np.ones(DIM))
    assert learner.rounds == 2


@pytest.mark.parametrize("kind", [list, tuple, np.float32, np.longdouble, "strided"])
def test_an_oracle_may_return_any_array(kind):
    def answer(direction):
        v = np.sign(-direction)  # exact in all of these
        if kind == "strided":
            return np.repeat(v, 2)[::2]
        return kind(v.tolist()) if kind in (list, tuple) else v.astype(kind)

    box = ex.sets.custom(answer, dim=DIM, diameter=2 * np.sqrt(DIM), norm_bound=np.sqrt(DIM))
    one, other = fresh(box), fresh(ex.sets.box(dim=DIM))
    for g in np.random.default_rng(0).normal(size=(50, DIM)):
        one.observe(g)
        other.observe(g)
    np.testing.assert_allclose(one.decide(), other.decide(), rtol=0, atol=1e-12)


def unit(direction):
    return direction / np.linalg.norm(direction)


# Nothing is known of a Python set but its oracle; these need a projection, a gauge, a smooth constraint, vertices, or a
# registered ball. unit-free has a set of its own.
NOT_ON_CUSTOM_SETS = {"coin-ftrl", "dual-averaging", "eg", "fast-ogd", "gauge-wrapper", "lloo", "ogd", "pairwise", "so-ogd",
                      "unit-free"}


@pytest.mark.parametrize("wrong,why", [(lambda d: unit(d), "must minimise .* not maximise"),
                                       (lambda d: -173 * unit(d), "norm 17[23].* beyond the set's norm_bound 1")])
@pytest.mark.parametrize("place", ["alone", "scale", "product"])
def test_every_learner_refuses_a_wrong_oracle(wrong, why, place, rng):
    keys = dict(dim=DIM, diameter=2.0, norm_bound=1.0, inner_radius=1.0, strong_convexity=1.0, name="mine")
    right, ball = (ex.sets.custom(f, **keys) for f in (lambda d: -unit(d), wrong))
    if place == "scale":
        right, ball = (ex.sets.scale(by=3, set=s) for s in (right, ball))
    if place == "product":
        right, ball = (ex.sets.product(sets=["simplex:dim=3", s]) for s in (right, ball))
    rows = rng.normal(size=(150, ball.dim)) + 1
    refused = set()
    for entry in _core.entries("learners"):
        for spec in entry["examples"]:
            try:
                learner = ex.learners.from_spec(spec, ball)
            except ex.Error as error:
                assert "oracle of" not in str(error)
                continue
            with pytest.raises(ex.Error, match=f"oracle of mine: .*{why}"):
                ex.play(learner, rows)
            ex.play(ex.learners.from_spec(spec, right), rows)
            refused.add(entry["name"])
    missing = {entry["name"] for entry in _core.entries("learners")} - refused
    # a product is not strongly convex
    assert missing == NOT_ON_CUSTOM_SETS | ({"gauge-ftrl"} if place == "product" else set())
    with pytest.raises(ex.Error, match=f"oracle of mine: .*{why}"):
        ex.best_in_hindsight(ball, rows)
    with pytest.raises(ex.Error, match=f"oracle of mine: .*{why}"):
        ball.minimise(rows[0])


def test_an_oracle_can_keep_and_change_its_direction():
    """What it is given is its own."""
    kept = []

    def oracle(direction):
        v = -direction / np.linalg.norm(direction)
        kept.append(direction)
        direction[:] = 77.0
        return v

    ball = ex.sets.custom(oracle, dim=DIM, diameter=2.0)
    one, other = fresh(ball), fresh()
    for g in np.random.default_rng(0).normal(size=(50, DIM)):
        one.observe(g)
        other.observe(g)
    np.testing.assert_allclose(one.decide(), other.decide(), rtol=0, atol=1e-12)
    assert len(kept) == 50 and all((d == 77.0).all() for d in kept)


def test_a_learner_in_its_own_oracle():
    learner = None
    calls = []

    def trouble(direction):
        if learner is not None and not calls:
            calls.append(True)
            learner.decide()
        return trouble

    learner = fresh(ball_with(trouble))
    learner.decide()
    before = learner.save()
    with pytest.raises(RuntimeError, match="own oracle"):
        learner.observe(np.ones(DIM))
    assert learner.save() == before
    learner.observe(np.ones(DIM))  # it behaves from now on
    assert learner.rounds == 1


def test_another_learner_in_an_oracle():
    """That is allowed: the oracle may itself be an online learner."""
    inner = fresh()

    def trouble(direction):
        inner.observe(direction)
        return trouble

    learner = fresh(ball_with(trouble))
    ex.play(learner, np.random.default_rng(0).normal(size=(20, DIM)))
    assert inner.rounds == learner.rounds == 20


COMPOSED = {
    "product": (lambda s: ex.sets.product(sets=[s, ex.sets.simplex(dim=2), "(box:dim=2)"])),
    "sum": (lambda s: ex.sets.sum(sets=[s, "box:dim=4"])),
    "translate": (lambda s: ex.sets.translate(by=0.5, set=s)),
    "translate by a vector": (lambda s: ex.sets.translate(by=[1, 2, 3, 4], set=s)),
    "scale": (lambda s: ex.sets.scale(by=3, set=s)),
    "image": (lambda s: ex.sets.image(matrix=np.diag([1.0, 2, 3, 4]), set=s)),
    "twice": (lambda s: ex.sets.scale(by=2, set=ex.sets.product(sets=[s, s]))),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_custom_sets_are_composed(name, rng):
    """As the registered set is that they are."""
    made = COMPOSED[name](ex.sets.custom(lambda d: -d / np.linalg.norm(d), dim=4, diameter=2.0, norm_bound=1.0,
                                         inner_radius=1.0, strong_convexity=1.0))
    same = COMPOSED[name](ex.sets.l2(dim=4))
    assert "Python callback" in repr(made) and made.dim == same.dim
    assert (made.diameter, made.norm_bound, made.inner_radius) == (same.diameter, same.norm_bound, same.inner_radius)
    for direction in rng.normal(size=(5, made.dim)):
        np.testing.assert_allclose(made.minimise(direction), same.minimise(direction), atol=1e-12)
    rows = rng.normal(size=(200, made.dim))
    one, other = (ex.learners.ofw_ls(set, horizon=200, gradient_bound=10) for set in (made, same))
    ex.play(one, rows)
    ex.play(other, rows)
    np.testing.assert_allclose(one.decision, other.decision, atol=1e-9)


def test_what_parts_of_composed_sets_raise():
    def broken(direction):
        raise KeyError("mine")

    set = ex.sets.product(sets=["l2:dim=2", ex.sets.custom(broken, dim=2, diameter=2.0)])
    learner = ex.learners.ofw(ex.sets.scale(by=2, set=set))
    before = learner.save()
    with pytest.raises(KeyError, match="mine"):
        learner.observe(np.ones(4))
    assert learner.save() == before and learner.has_callback
    with pytest.raises(ex.Error):
        ex.sets.translate(by=[1, 2], set=set)


def test_custom_sets_refuse_what_is_not_there():
    ball = ball_with(lambda d: None)
    with pytest.raises(ValueError, match="projection"):
        ball.project(np.ones(DIM))
    with pytest.raises(ex.Error, match="can't be a parameter of another"):
        ex.learners.hedge(ball, base=ball)
    for keys in (dict(diameter=-1.0), dict(diameter=NAN), dict(dim=0), dict(centre=[0.0])):
        with pytest.raises(ValueError):
            ex.sets.custom(lambda d: d, **{"dim": DIM, "diameter": 2.0, **keys})
    with pytest.raises(TypeError):
        ex.sets.custom(lambda d: d, dim=DIM)
    with pytest.raises(TypeError):
        ex.sets.custom(7, dim=DIM, diameter=2.0).minimise(np.ones(DIM))


def test_a_violation_of_ones_own():
    asked = []

    def violation(x):
        asked.append(x)
        return max(0.0, np.linalg.norm(x) - 1)

    ball = ex.sets.custom(lambda d: -d / np.linalg.norm(d), dim=DIM, diameter=2.0, violation=violation)
    assert ball.violation(np.array([2.0, 0, 0, 0])) == 1.0 and len(asked) == 1

    def broken(x):
        raise KeyError("mine")

    ball = ex.sets.custom(lambda d: -d / np.linalg.norm(d), dim=DIM, diameter=2.0, violation=broken)
    with pytest.raises(KeyError, match="mine"):
        ball.violation(np.zeros(DIM))


def test_repr_tells_of_the_callback():
    ball = ex.sets.custom(lambda d: -d, dim=DIM, diameter=2.0, name="mine")
    assert "Python callback" in repr(ball) and "mine" in repr(ball)
    assert "Python callback" in repr(fresh(ball)) and "ofw-ls" in repr(fresh(ball))
    assert "callback" not in repr(fresh())
    assert ball.spec is None


# Losses of a user's own ---------------------------------------------------------------------------


def test_what_a_loss_raises_comes_out():
    class Loss:
        calls = 0

        def value(self, x):
            return 0.0

        def gradient(self, x):
            self.calls += 1
            if self.calls > 5:
                raise KeyError("mine")
            return np.ones(DIM)

    learner, expected = fresh(), fresh()
    with pytest.raises(KeyError, match="mine"):
        ex.play(learner, Loss(), rounds=10)
    for _ in range(5):
        expected.observe(np.ones(DIM))
    expected.decide()
    assert learner.rounds == 5 and learner.save() == expected.save()
