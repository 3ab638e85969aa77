"""The layer of sets, losses, learners, runs and comparators."""

import inspect
import math

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import extremal as ex


def fresh(dim=5, **keys):
    return ex.learners.ofw_ls(ex.sets.lp(p=1.5, dim=dim), horizon=1000, gradient_bound=3, **keys)


# Rounds ---------------------------------------------------------------------------------------


def test_decide_gives_a_fresh_array():
    learner = fresh()
    x = learner.decide()
    assert x.dtype == np.float64 and x.shape == (5,) and x.flags.owndata
    kept = x.copy()
    again = learner.decide()
    assert again is not x and (again == x).all()
    x[:] = 77.0  # theirs: the learner's own is another
    assert (learner.decision == kept).all()
    learner.observe(np.ones(5))
    assert (again == kept).all()
    assert (learner.decide() != kept).any()


def test_decide_fills_out():
    learner = fresh()
    learner.observe(np.ones(5))
    out = np.full(5, np.nan)
    assert learner.decide(out) is out
    assert (out == learner.decision).all()
    assert learner.decide(out=out) is out


def gradients(g):
    """The same gradient in every form that is taken."""
    wide = np.zeros(2 * len(g))
    wide[::2] = g
    indices = np.flatnonzero(g)
    table = np.zeros((len(g), 3))
    table[:, 1] = g
    return {
        "dense": g,
        "list": g.tolist(),
        "tuple of more than two": tuple(g.tolist()),
        "float32": g.astype(np.float32),
        "integers": g.astype(np.int64),
        "big endian": g.astype(">f8"),
        "strided": wide[::2],
        "column": table[:, 1],
        "reversed twice": g[::-1].copy()[::-1],
        "read-only": np.frombuffer(g.tobytes()),
        "csr matrix": sp.csr_matrix(g),
        "csr array": sp.csr_array(g[None, :]),
        "csc": sp.csc_matrix(g),
        "coo": sp.coo_matrix(g),
        "csr of float32": sp.csr_matrix(g.astype(np.float32)),
        "a row of a matrix": sp.csr_matrix(np.stack([g, g + 1]))[0],
        "pair": (indices, g[indices]),
        "pair of lists": (indices.tolist(), g[indices].tolist()),
        "pair of uint32": (indices.astype(np.uint32), g[indices]),
        "pair out of order": (indices[::-1], g[indices][::-1]),
    }


@pytest.mark.parametrize("form", gradients(np.ones(2)))
def test_observe_takes(form):
    """Whole numbers, which every form can hold."""
    expected, learner = fresh(), fresh()
    for round in range(4):
        g = np.array([3.0, 0.0, -2.0, 0.0, 1.0 + round])
        expected.observe(g)
        learner.observe(gradients(g)[form])
    assert learner.rounds == 4
    np.testing.assert_allclose(learner.decide(), expected.decide(), rtol=0, atol=1e-15)
    assert np.abs(learner.decide()).max() > 1e-3


def test_duplicates_of_a_sparse_row_are_added_up():
    row = sp.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 5))
    expected, learner = fresh(), fresh()
    expected.observe([5.0, 3.0, 0.0, 0.0, 0.0])
    learner.observe(row)
    assert (learner.decide() == expected.decide()).all()
    assert row.nnz == 3  # and the user's row is as it was


def test_a_gradient_is_not_changed():
    learner, g = fresh(), np.arange(5.0)
    learner.observe(g)
    assert (g == np.arange(5.0)).all() and g.flags.writeable


# Runs -----------------------------------------------------------------------------------------


def examples(rng, rounds=600, dim=5, density=1.0):
    rows = rng.normal(size=(rounds, dim)) * (rng.random((rounds, dim)) < density)
    labels = rows @ rng.normal(size=dim) + 0.1 * rng.normal(size=rounds)
    weights = rng.integers(0, 3, size=rounds).astype(float)
    return rows, labels, weights


@pytest.mark.parametrize("loss", ["squared", "huber:delta=0.5", "absolute", "logistic", "hinge"])
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_play_is_a_loop(rng, loss, l2):
    rows, labels, weights = examples(rng, density=0.4)
    loss = ex.losses.from_spec(loss)
    if loss.spec in ("logistic", "hinge"):
        labels = np.where(labels > 0, 1.0, -1.0)
    loop, noted = fresh(), []
    for a, y, w in zip(rows, labels, weights):
        x = loop.decide()
        noted.append(w * loss.value(a @ x, y) + l2 / 2 * (x @ x))
        loop.observe(w * loss.slope(a @ x, y) * a + l2 * x)
    for given in (rows, sp.csr_matrix(rows), sp.csc_array(rows), np.asfortranarray(rows),
                  rows.tolist()):
        learner = fresh()
        history = ex.play(learner, given, labels, loss=loss, l2=l2, sample_weight=weights)
        assert learner.rounds == len(rows)
        np.testing.assert_allclose(learner.decide(), loop.decide(), rtol=0, atol=1e-9)
        np.testing.assert_allclose(history["loss"], noted, rtol=0, atol=1e-9)


def test_what_a_weight_does_to_the_ridge_term(rng):
    """A row that counts twice adds twice its loss; what about λ: the sum of the noted losses, and
    the best decision's, speak of the same thing."""
    rows, labels, weights = examples(rng, rounds=50)
    ball = ex.sets.l2(dim=5)
    best = ex.best_in_hindsight(ball, rows, labels, loss="squared", l2=0.3, sample_weight=weights,
                                gap=1e-10)
    learner = ex.learners.ofw(ball, horizon=50, gradient_bound=1, start=best.point)
    first = ex.play(learner, rows[:1], labels[:1], loss="squared", l2=0.3, sample_weight=weights[:1])
    total = first["loss"][0]
    for i in range(1, 50):
        one = ex.learners.ofw(ball, horizon=50, gradient_bound=1, start=best.point)
        total += ex.play(one, rows[i:i + 1], labels[i:i + 1], loss="squared", l2=0.3,
                         sample_weight=weights[i:i + 1])["loss"][0]
    assert total == pytest.approx(best.value, rel=1e-9)


def test_play_dense_is_play_sparse(rng):
    rows, labels, _ = examples(rng, density=0.3)
    one, other = fresh(), fresh()
    a = ex.play(one, rows, labels, loss="squared")
    b = ex.play(other, sp.csr_matrix(rows), labels, loss="squared")
    np.testing.assert_allclose(a["loss"], b["loss"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.decide(), other.decide(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("set,storage", [("l2", "lazy"), ("l1", "sparse"), ("simplex", "sparse")])
def test_storages_play_the_same(rng, set, storage):
    dim = 40
    rows, labels, _ = examples(rng, rounds=400, dim=dim, density=0.1)
    matrix = sp.csr_matrix(rows)
    runs = []
    for how in ("dense", storage):
        learner = ex.learners.ofw_ls(ex.sets.from_spec(set, dim), storage=how)
        assert learner.storage == how
        ex.play(learner, matrix, labels, loss="squared")
        runs.append(learner.decide())
    np.testing.assert_allclose(runs[1], runs[0], rtol=0, atol=1e-10)


def test_play_in_parts_is_play_at_once(rng):
    rows, labels, _ = examples(rng)
    whole, parts = fresh(), fresh()
    history = ex.play(whole, rows, labels, loss="squared")
    pieces = [ex.play(parts, rows[i:i + 130], labels[i:i + 130], loss="squared")
              for i in range(0, len(rows), 130)]
    assert whole.save() == parts.save()
    for key in history:
        joined = np.concatenate([p[key] for p in pieces])
        np.testing.assert_array_equal(joined, history[key])


def test_play_without_record(rng):
    rows, labels, _ = examples(rng)
    one, other = fresh(), fresh()
    assert ex.play(one, rows, labels, loss="squared", record=False) is None
    ex.play(other, rows, labels, loss="squared")
    assert one.save() == other.save()


def test_play_tells_its_progress(rng, capsys):
    seen = []
    ex.play(fresh(), rng.normal(size=(500, 5)), progress=seen.append)
    assert seen and seen[-1] == 500 and seen == sorted(seen)
    ex.play(fresh(), rng.normal(size=(500, 5)), progress=True)
    assert "500/500" in capsys.readouterr().err


def test_play_a_stream():
    ball = ex.sets.l2(dim=5)
    runs = []
    for _ in range(2):
        learner = ex.learners.gauge_ftrl(ball)
        history = ex.play(learner, ex.streams.regression(5, seed=3), loss="squared", rounds=3000)
        assert learner.rounds == 3000 and len(history["loss"]) == 3000
        runs.append(history["loss"])
    np.testing.assert_array_equal(*runs)
    other = ex.play(ex.learners.gauge_ftrl(ball), ex.streams.regression(5, seed=4), loss="squared",
                    rounds=3000)["loss"]
    assert (other != runs[0]).any()
    assert runs[0][-500:].mean() < runs[0][:500].mean()
    with pytest.raises(ValueError, match="rounds"):
        ex.play(ex.learners.gauge_ftrl(ball), ex.streams.regression(5), loss="squared")


def test_a_stream_goes_on(rng):
    """Two runs on one stream are one run."""
    learner, stream = fresh(), ex.streams.drift(5, seed=1)
    parts = [ex.play(learner, stream, rounds=n) for n in (100, 200)]
    whole = ex.play(fresh(), ex.streams.drift(5, seed=1), rounds=300)
    np.testing.assert_array_equal(np.concatenate([p["loss"] for p in parts]), whole["loss"])
    assert parts[1]["round"][0] == 101


class Distance:
    """½‖x − target‖², a loss of a user's own."""

    def __init__(self, target):
        self.target = target

    def value(self, x):
        return 0.5 * np.sum((x - self.target) ** 2)

    def gradient(self, x):
        return x - self.target


def test_losses_of_ones_own():
    target = np.array([0.3, -0.2, 0.1, 0.0, 0.2])
    learner = ex.learners.sc_ofw(ex.sets.lp(p=1.5, dim=5), lambda_=1.0)
    history = ex.play(learner, Distance(target), rounds=400)
    assert learner.rounds == 400 and len(history["loss"]) == 400
    np.testing.assert_allclose(learner.decide(), target, atol=0.02)
    assert history["loss"][-1] < 1e-3 < history["loss"][0]
    # one per round, from a list or a generator
    for many in ([Distance(target)] * 400, (Distance(target) for _ in range(400))):
        again = ex.learners.sc_ofw(ex.sets.lp(p=1.5, dim=5), lambda_=1.0)
        np.testing.assert_array_equal(ex.play(again, many)["loss"], history["loss"])
    with pytest.raises(ValueError, match="rounds"):
        ex.play(learner, Distance(target))


def test_a_table_with_a_column_called_gradient(rng):
    import pandas

    rows = rng.normal(size=(50, 2))
    table = pandas.DataFrame(rows, columns=["gradient", "value"])
    one, other = fresh(2), fresh(2)
    ex.play(one, table)
    ex.play(other, rows)
    assert one.save() == other.save()


# History --------------------------------------------------------------------------------------


def test_history(rng):
    rows, labels, _ = examples(rng, rounds=200)
    learner = fresh()
    ex.play(learner, rows[:50], labels[:50], loss="squared")
    history = ex.play(learner, rows[50:], labels[50:], loss="squared")
    assert isinstance(history, dict)
    assert set(history) == {"round", "loss", "prediction", "sigma", "gap", "gradient_norm",
                            "oracle_calls"}
    assert all(len(column) == 150 for column in history.values())
    np.testing.assert_array_equal(history["round"], np.arange(51, 201))
    np.testing.assert_allclose(history["loss"], 0.5 * (history["prediction"] - labels[50:]) ** 2,
                               rtol=1e-12)
    slopes = history["prediction"] - labels[50:]
    np.testing.assert_allclose(history["gradient_norm"],
                               np.abs(slopes) * np.linalg.norm(rows[50:], axis=1), rtol=1e-12)
    assert ((history["sigma"] >= 0) & (history["sigma"] <= 1)).all()
    assert history.total_loss == pytest.approx(history["loss"].sum())
    assert "150 rounds" in repr(history)


def test_history_to_pandas(rng):
    history = ex.play(fresh(), rng.normal(size=(30, 5)))
    table = history.to_pandas()
    assert table.index.name == "round" and list(table.index) == list(range(1, 31))
    np.testing.assert_array_equal(table["loss"], history["loss"])
    assert set(table.columns) == set(history) - {"round"}


def test_history_plot(rng):
    import matplotlib.pyplot as plt

    rows = rng.normal(size=(100, 5)) + 0.5
    history = ex.play(fresh(), rows)
    _, ax = plt.subplots()
    assert history.plot(ax=ax, label="average") is ax
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(x, np.arange(1, 101))
    np.testing.assert_allclose(y, history["loss"].cumsum() / np.arange(1, 101))
    assert ax.lines[0].get_label() == "average" and ax.get_ylabel() == "average loss"
    best = ex.best_in_hindsight(ex.sets.lp(p=1.5, dim=5), rows)
    _, ax = plt.subplots()
    history.plot(best=rows @ best.point, ax=ax)
    assert ax.get_ylabel() == "regret" and ax.get_yscale() == "log"
    assert history.plot(best=tuple(history["loss"] + 1), ax=ax).get_yscale() == "linear"  # it never did worse
    with pytest.raises(ValueError, match="losses of a fixed decision"):
        history.plot(best=best)
    regret = ax.lines[0].get_ydata()[-1]
    assert regret == pytest.approx(history.total_loss - best.value, abs=1e-5 * abs(best.value))
    plt.close("all")


# Comparators ----------------------------------------------------------------------------------


def test_best_linear_on_a_ball(rng):
    rows = rng.normal(size=(300, 6))
    total = rows.sum(axis=0)
    best = ex.best_in_hindsight(ex.sets.l2(radius=2, dim=6), rows, gap=1e-12)
    assert best.value == ex.best_in_hindsight("l2:radius=2", rows, gap=1e-12).value
    with pytest.raises(TypeError, match="a set or its spec, not 2"):
        ex.best_in_hindsight(2, rows)
    np.testing.assert_allclose(best.point, -2 * total / np.linalg.norm(total), atol=1e-9)
    assert best.value == pytest.approx(-2 * np.linalg.norm(total), rel=1e-12)
    assert -1e-12 <= best.gap <= 1e-9 * abs(best.value)


def test_best_least_squares_on_a_ball(rng):
    """Inside: the normal equations. On the boundary: a multiplier found by bisection."""
    rows, labels, _ = examples(rng, rounds=200)
    free = np.linalg.lstsq(rows, labels, rcond=None)[0]
    inside = ex.best_in_hindsight(ex.sets.l2(radius=10, dim=5), rows, labels, loss="squared", gap=1e-8)
    np.testing.assert_allclose(inside.point, free, atol=1e-4)
    radius = 0.5 * np.linalg.norm(free)

    def point(multiplier):
        return np.linalg.solve(rows.T @ rows + multiplier * np.eye(5), rows.T @ labels)

    m = scipy.optimize.brentq(lambda m: np.linalg.norm(point(m)) - radius, 0, 1e6, xtol=1e-12)
    value = 0.5 * np.sum((rows @ point(m) - labels) ** 2)
    best = ex.best_in_hindsight(ex.sets.l2(radius=radius, dim=5), rows, labels, loss="squared",
                                gap=1e-8)
    np.testing.assert_allclose(best.point, point(m), atol=1e-4)
    assert best.value - best.gap <= value * (1 + 1e-10)
    assert value * (1 - 1e-10) <= best.value <= value * (1 + 1e-7)


@pytest.mark.parametrize("loss", ["squared", "log-wealth", "logistic"])
def test_best_on_the_simplex(rng, loss):
    """Against scipy's SLSQP."""
    dim, rounds = 4, 120
    if loss == "log-wealth":
        rows = 1 + 0.05 * rng.normal(size=(rounds, dim))
        labels, weights = None, np.ones(rounds)
    else:
        rows, labels, weights = examples(rng, rounds=rounds, dim=dim)
    if loss == "logistic":
        labels = np.where(labels > 0, 1.0, -1.0)

    def total(x):
        p = rows @ x
        each = {"squared": lambda: 0.5 * (p - labels) ** 2, "log-wealth": lambda: -np.log(p),
                "logistic": lambda: np.logaddexp(0, -labels * p)}[loss]()
        return weights @ each

    found = scipy.optimize.minimize(
        total, np.full(dim, 1 / dim), bounds=[(0, 1)] * dim, method="SLSQP", tol=1e-14,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1}, options={"maxiter": 1000})
    other = np.maximum(found.x, 0)  # SLSQP keeps to constraints only roughly
    least = total(other / other.sum())
    simplex = ex.sets.simplex(dim=dim)
    given = rows if loss != "squared" else sp.csr_matrix(rows)
    best = ex.best_in_hindsight(simplex, given, labels, loss=loss, sample_weight=weights, gap=1e-7)
    assert best.value == pytest.approx(total(best.point), rel=1e-12)
    assert best.value == pytest.approx(least, rel=1e-6, abs=1e-6)
    assert best.value - best.gap <= least + 1e-9
    assert best.gap <= 1e-6 * max(1.0, abs(best.value))
    assert simplex.violation(best.point) <= 1e-9


def test_regret(rng):
    rows = rng.normal(size=(500, 5)) + 0.3
    ball = ex.sets.l2(dim=5)
    learner = ex.learners.gauge_ftrl(ball)
    history = ex.play(learner, rows)
    best = ex.best_in_hindsight(ball, rows)
    low, high = ex.regret(history, best)
    exact = history.total_loss + np.linalg.norm(rows.sum(axis=0))
    assert low - 1e-9 <= exact <= high + 1e-9
    assert (low, high) == ex.regret(history.total_loss, best)
    assert 0 < exact < 100
    certificate = learner.certificate()
    assert certificate is not None and certificate["regret"] >= exact - 1e-9
    assert certificate["vacuous"] is False
    assert learner.certificate(total_loss=certificate["regret"])["vacuous"] is True


def test_guarantee_holds(rng):
    rows = rng.normal(size=(1000, 5))
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1))[:, None]
    ball = ex.sets.l2(dim=5)
    learner = ex.learners.ofw_ls(ball, horizon=1000, gradient_bound=1)
    history = ex.play(learner, rows)
    guarantee = learner.guarantee()
    assert all(holds for holds, _ in guarantee["assumptions"])
    # at T = 1000 Theorem 1 is still above G·D·T
    assert guarantee["vacuous"] is True
    assert learner.guarantee(rounds=1e7)["vacuous"] is False
    assert learner.guarantee(rounds=1e7, total_loss=1.0)["vacuous"] is True
    assert guarantee["bound"] == pytest.approx(ex.theory.ofw_ls(1, 2, 1, 1000))
    assert ex.regret(history, ex.best_in_hindsight(ball, rows))[1] <= guarantee["bound"]


def test_assumptions_about_losses_are_checked(rng):
    rows = rng.normal(size=(50, 5))
    learner = ex.learners.fpl(ex.sets.l2(dim=5))
    ex.play(learner, rows)
    broken = lambda **known: [text for holds, text in learner.guarantee(**known)["assumptions"] if not holds]
    assert len(broken(smoothness=0.0, oblivious=True)) == 1  # no single run keeps to a mean
    assert any("not linear" in text for text in broken(smoothness=1.0, oblivious=True))
    assert any("depend on the decisions" in text for text in broken(smoothness=0.0))


# Theory ---------------------------------------------------------------------------------------


def test_theory():
    g, d, alpha, strength, t = 3.0, 2.0, 0.5, 0.25, 1000.0
    theory = ex.theory
    assert theory.ofw(g, d, t) == pytest.approx(8 * g * d * t**0.75)
    assert theory.ofw_weibel(g, d, t) == pytest.approx(4 / 3**0.75 * g * d * t**0.75)
    c = max(4 * d**2, 4096 / (3 * alpha**2))
    assert theory.ofw_ls(g, d, alpha, t) == pytest.approx(11 / 4 * g * math.sqrt(c) * (t + 2) ** (2 / 3))
    assert theory.ofw_ls_lemma(d, alpha, t) == pytest.approx(c * (t + 2) ** (-2 / 3))
    c = max(4 * (g + strength * d) ** 2 / strength, 288 * strength / alpha**2)
    assert theory.sc_ofw_curved(g, strength, d, alpha, t) == pytest.approx(
        c * math.sqrt(2 * t) + c * math.log(t) / 2 + g * d)
    c = 16 * (g + strength * d) ** 2 / strength
    assert theory.sc_ofw_general(g, strength, d, t) == pytest.approx(
        3 * math.sqrt(2) / 8 * c * t ** (2 / 3) + c * math.log(t) / 8 + g * d)
    assert theory.gauge_ftrl(g, 2.0, 50.0, t) == pytest.approx(50 + 2 * g**2 * t / (2 * 50))
    assert theory.ogd_convex(g, d, t) == pytest.approx(1.5 * g * d * math.sqrt(t))
    assert theory.ogd_strongly_convex(g, strength, t) == pytest.approx(
        g**2 * (1 + math.log(t)) / (2 * strength))
    # the others have their numbers in the library's own tests; here each can be called by name
    for name in theory.__all__:
        function = getattr(theory, name)
        arguments = inspect.signature(function).parameters
        assert isinstance(function(**{argument: 1.5 for argument in arguments}), float), name


def test_theory_by_name():
    assert ex.theory.ofw(rounds=16, gradient=1, diameter=2) == 8 * 2 * 8
    assert ex.theory.sc_ofw_general(gradient=1, lambda_=1, diameter=1, rounds=1) == pytest.approx(
        3 * math.sqrt(2) / 8 * 64 + 1)
    with pytest.raises(TypeError):
        ex.theory.ofw(1, 2)
    with pytest.raises(ValueError, match="wide"):
        ex.theory.ofw(1, "wide", 3)


def test_what_is_made_alike_is_the_same():
    ball = ex.sets.lp(p=1.5, dim=3)
    alike = ex.sets.from_spec("lp:p=1.5", 3)
    assert ball == alike and hash(ball) == hash(alike) and len({ball, alike}) == 1
    for other in (ex.sets.lp(p=1.5, dim=4), ex.sets.lp(p=1.6, dim=3), ex.sets.l2(dim=3), "lp:p=1.5,dim=3", None):
        assert ball != other
    own = [ex.sets.custom(lambda g: -np.sign(g), dim=3, diameter=4) for _ in range(2)]
    assert own[0] == own[0] and own[0] != own[1] and len(set(own)) == 2
    assert ex.losses.huber(delta=2) == ex.losses.from_spec("huber:delta=2") != ex.losses.huber(delta=3)
    assert len({ex.losses.squared(), ex.losses.from_spec("squared")}) == 1


def test_a_set_may_be_a_spec():
    learner = ex.learners.ofw_free("lp:p=1.5,dim=3")
    assert learner.set == ex.sets.lp(p=1.5, dim=3)
    assert ex.learners.default("l2:dim=3", "squared").set == ex.learners.from_spec("ogd", "l2:dim=3").set
    with pytest.raises(ex.Error, match="dim"):
        ex.learners.ofw_free("l2")
    with pytest.raises(TypeError, match="a set or its spec, not 3"):
        ex.learners.ofw_free(3)
