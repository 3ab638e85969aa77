"""What holds for all sets, learners, losses and streams of numbers, not just for chosen ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import extremal as ex

DIM = 4
SETS = {
    "l2": "l2:radius=2,dim=4", "lp": "lp:p=1.5,dim=4", "lp flat": "lp:p=1.05,radius=3,dim=4",
    "lp long": "lp:p=5,dim=4", "l1": "l1:radius=2,dim=4", "box": "box:lower=-1,upper=2,dim=4",
    "simplex": "simplex:dim=4", "corner": "simplex:at-most=true,total=2,dim=4",
    "capped": "capped-simplex:total=2,dim=4", "k-sparse": "k-sparse:k=2,dim=4",
    "k-support": "k-support:k=2,dim=4", "permutahedron": "permutahedron:dim=4",
    "ellipsoid": "ellipsoid:axes=[1,2,0.5,3],centre=0.5", "group": "group:size=2,dim=4",
    "elastic net": "elastic-net:dim=4", "hull": "hull:points=[[1,0,0,0],[0,1,0,2],[0,0,-1,0],[1,1,1,1]]",
    "product": "product:sets=[(l2:dim=2),(simplex:dim=2)]", "moved": "translate:by=0.5,set=(l2:dim=4)",
    "sum": "sum:sets=[(box:dim=4),(l2:radius=0.5,dim=4)]",
}
LEARNERS = ["ofw", "ofw:horizon=50,gradient-bound=1", "ofw-weibel:gradient-bound=1", "ofw-ls",
            "ofw-ls:horizon=50,gradient-bound=1,eta-scale=30", "sc-ofw:lambda=0.1", "ofw-free",
            "dual-averaging", "ogd", "loo-bogd", "delayed:delay=3"]

numbers = st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=True)
wild = st.floats(-1e98, 1e98, allow_nan=False, allow_subnormal=True)
directions = arrays(np.float64, DIM, elements=wild)
streams = st.integers(1, 40).flatmap(lambda n: arrays(np.float64, (n, DIM), elements=numbers))
names = st.sampled_from(sorted(SETS))


def made(name):
    return ex.sets.from_spec(SETS[name])


def inside(name, seed, count):
    """Points of the set, by mixing what its oracle answers to random questions."""
    set, rng = made(name), np.random.default_rng(seed)
    corners = np.array([set.minimise(d) for d in rng.normal(size=(8, DIM))])
    return np.vstack([corners, rng.dirichlet(np.ones(8), size=count) @ corners])


@given(names, directions)
def test_answers_are_inside(name, direction):
    set = made(name)
    v = set.minimise(direction)
    assert np.isfinite(v).all() and set.violation(v) <= 1e-9
    assert np.linalg.norm(v) <= set.norm_bound * (1 + 1e-9)
    np.testing.assert_array_equal(set.minimise(direction), v)  # ties break the same way every time


@given(names, directions, st.integers(0, 2**32))
def test_answers_are_best(name, direction, seed):
    set = made(name)
    # a direction whose entries are all below 1e-140 counts as 0, and any answer is best
    scale = np.abs(direction).max()
    unit = direction / scale if scale >= 1e-140 else np.zeros(DIM)
    points = inside(name, seed, 20)
    assert unit @ set.minimise(direction) <= (points @ unit).min() + 1e-9 * (1 + set.norm_bound)


@given(names, st.integers(0, 2**32))
def test_the_geometry_is_true(name, seed):
    set, points = made(name), inside(name, seed, 20)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2).max()
    assert apart <= set.diameter * (1 + 1e-9)
    assert np.linalg.norm(points, axis=1).max() <= set.norm_bound * (1 + 1e-9)
    assert set.violation(set.centre) <= 1e-9
    if set.inner_radius is not None:  # a ball of that radius around the centre lies inside
        rng = np.random.default_rng(seed)
        for d in rng.normal(size=(5, DIM)):
            assert set.violation(set.centre + set.inner_radius * d / np.linalg.norm(d)) <= 1e-9


@given(st.sampled_from(["l2", "lp", "lp flat", "ellipsoid", "moved"]), st.integers(0, 2**32))
def test_strong_convexity_is_true(name, seed):
    """γx + (1−γ)y + γ(1−γ)(α/2)‖x−y‖²z is inside for every unit z."""
    set, rng = made(name), np.random.default_rng(seed)
    assert set.strong_convexity > 0
    for _ in range(20):
        x, y = (set.minimise(d) for d in rng.normal(size=(2, DIM)))
        mix, z = rng.random(), rng.normal(size=DIM)
        reach = mix * (1 - mix) * set.strong_convexity / 2 * np.sum((x - y) ** 2)
        point = mix * x + (1 - mix) * y + reach * z / np.linalg.norm(z)
        assert set.violation(point) <= 1e-9


@given(names, arrays(np.float64, DIM, elements=st.floats(-100, 100)), st.integers(0, 2**32))
def test_projections_are_nearest(name, point, seed):
    set = made(name)
    try:
        nearest = set.project(point)
    except ValueError as error:
        assert "no projection" in str(error)
        return
    assert set.violation(nearest) <= 1e-9
    # the angle at the nearest point is obtuse for every other one
    others = inside(name, seed, 20)
    assert ((others - nearest) @ (point - nearest)).max() <= 1e-6 * (1 + np.abs(point).max())


@given(names, st.sampled_from(LEARNERS), streams)
def test_decisions_are_inside(name, spec, rows):
    set = made(name)
    try:
        learner = ex.learners.from_spec(spec, set)
    except ex.Error:  # it says that it is not for this set
        return
    for g in rows:
        assert set.violation(learner.decide()) <= 1e-9
        learner.observe(g)
    assert set.violation(learner.decide()) <= 1e-9 and learner.rounds == len(rows)


losses = st.sampled_from(["linear", "squared", "huber", "hinge"])


def several(spec, set, count):
    try:
        return [ex.learners.from_spec(spec, set) for _ in range(count)]
    except ex.Error:  # it says that it is not for this set
        return None


@given(names, st.sampled_from(LEARNERS), streams, losses, st.booleans())
def test_play_is_row_by_row(name, spec, rows, loss, sparse):
    """Bit for bit, ties and all."""
    labels = None if loss == "linear" else np.where(rows.sum(axis=1) > 0, 1.0, -1.0)
    learners = several(spec, made(name), 2)
    if learners is None:
        return
    whole, steps = learners
    given = sp.csr_matrix(rows) if sparse else rows
    history = ex.play(whole, given, labels, loss=loss)
    parts = [ex.play(steps, given[i:i + 1], labels if labels is None else labels[i:i + 1], loss=loss)
             for i in range(len(rows))]
    assert whole.save() == steps.save()
    for key in history:
        np.testing.assert_array_equal(np.concatenate([p[key] for p in parts]), history[key])


@given(names, st.sampled_from(LEARNERS), streams)
def test_play_is_observe(name, spec, rows):
    """Bit for bit where the gradients are the rows."""
    learners = several(spec, made(name), 2)
    if learners is None:
        return
    whole, loop = learners
    history = ex.play(whole, rows)
    for t, row in enumerate(rows):
        x = loop.decide()
        assert row @ x == pytest.approx(history["prediction"][t], rel=1e-9,
                                        abs=1e-9 * np.abs(row).max() + 1e-300)
        loop.observe(row)
    assert whole.save() == loop.save()


@given(names, st.sampled_from(LEARNERS), st.integers(0, 2**32), losses, st.booleans())
def test_play_is_a_loop(name, spec, seed, loss, sparse):
    """To rounding, which ties would blow up: rows in general position."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, DIM))
    labels = np.where(rows @ rng.normal(size=DIM) > 0, 1.0, -1.0)
    loss, learners = ex.losses.from_spec(loss), several(spec, made(name), 2)
    if learners is None:
        return
    whole, loop = learners
    history = ex.play(whole, sp.csr_matrix(rows) if sparse else rows, labels if loss.needs_label else None, loss=loss)
    for t, (a, y) in enumerate(zip(rows, labels)):
        p = a @ loop.decide()
        assert p == pytest.approx(history["prediction"][t], abs=1e-8)
        assert loss.value(p, y) == pytest.approx(history["loss"][t], abs=1e-7)
        loop.observe(loss.slope(p, y) * a)
    assert loop.rounds == whole.rounds == len(rows)


@given(names, streams, st.integers(0, 2**32))
def test_nothing_beats_the_best(name, rows, seed):
    set = made(name)
    best = ex.best_in_hindsight(set, rows)
    scale = np.abs(rows).sum() * (1 + set.norm_bound)
    assert set.violation(best.point) <= 1e-9
    assert best.gap >= -1e-12 * scale
    assert best.value == pytest.approx((rows @ best.point).sum(), abs=1e-9 * scale + 1e-300)
    totals = (inside(name, seed, 20) @ rows.T).sum(axis=1)
    assert totals.min() >= best.value - best.gap - 1e-9 * scale - 1e-300


@given(streams, st.sampled_from(["ofw-ls", "sc-ofw:lambda=0.1", "gauge-ftrl", "fpl", "hedge:base=(ofw-free)"]),
       st.data())
def test_saving_changes_nothing(rows, spec, data):
    cut = data.draw(st.integers(0, len(rows)))
    set = made("l2")
    whole, learner = (ex.learners.from_spec(spec, set) for _ in range(2))
    ex.play(whole, rows)
    ex.play(learner, rows[:cut])
    state = learner.save()
    other = ex.Learner(spec, set, state=state)
    assert other.save() == state
    ex.play(other, rows[cut:])
    assert other.save() == whole.save()


LOSSES = ["linear", "squared", "logistic", "absolute", "huber:delta=0.3", "quantile:level=0.9", "hinge",
          "squared-hinge"]
points = st.floats(-100, 100)


@given(st.sampled_from(LOSSES), points, points, st.floats(0, 1), st.sampled_from([-1.0, 1.0]))
def test_losses_are_convex(spec, p, q, mix, label):
    loss = ex.losses.from_spec(spec)
    at, other, between = (loss.value(r, label) for r in (p, q, mix * p + (1 - mix) * q))
    slack = 1e-9 * (1 + abs(at) + abs(other))
    assert between <= mix * at + (1 - mix) * other + slack
    assert other >= at + loss.slope(p, label) * (q - p) - slack  # the slope is a subgradient


@given(st.floats(1e-3, 100), st.floats(1e-3, 100), st.floats(0, 1))
def test_log_wealth_is_convex(p, q, mix):
    loss = ex.losses.log_wealth()
    between = loss.value(mix * p + (1 - mix) * q, 0.0)
    assert between <= mix * loss.value(p, 0.0) + (1 - mix) * loss.value(q, 0.0) + 1e-9
    assert loss.value(p, 0.0) == pytest.approx(-np.log(p), abs=1e-12)


@given(st.sampled_from(LOSSES), points, st.sampled_from([-1.0, 1.0]))
def test_slopes_are_derivatives(spec, p, label):
    loss, h = ex.losses.from_spec(spec), 1e-6
    left, right = loss.slope(p - h, label), loss.slope(p + h, label)
    numeric = (loss.value(p + h, label) - loss.value(p - h, label)) / (2 * h)
    assert left - 1e-6 <= loss.slope(p, label) <= right + 1e-6  # convex: slopes grow
    assert min(left, right) - 1e-4 <= numeric <= max(left, right) + 1e-4
