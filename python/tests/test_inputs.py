"""What may be given, and what is said where it may not."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import extremal as ex
from extremal import _core

ROWS = np.random.default_rng(3).normal(size=(30, 3))


def test_points_and_directions_may_be_any_numbers():
    ball = ex.sets.l2(dim=3, radius=2)
    v = ball.minimise(np.array([1.0, 2.0, 2.0]))
    for same in ([1, 2, 2], (1.0, 2.0, 2.0), np.array([1, 2, 2]), np.array([1, 2, 2], dtype=np.float32),
                 np.array([1.0, 0, 2, 0, 2, 0])[::2]):
        np.testing.assert_array_equal(ball.minimise(same), v)
    np.testing.assert_allclose(ball.project([3, 0, 0]), [2, 0, 0])
    assert ball.violation([2, 0, 0]) == 0 and ball.violation(np.array([4, 0, 0])) > 0
    for wrong in ([1, 2], [[1, 2, 3]], np.ones(3) * 1j, ["1", "2", "3"], None, [np.nan, 0, 0]):
        for method in (ball.minimise, ball.project):
            with pytest.raises((ValueError, TypeError)):
                method(wrong)


def test_out_must_be_a_float64_vector():
    learner = ex.learners.ofw_free(ex.sets.l2(dim=3))
    for wrong in (np.zeros(3, dtype=np.float32), [0.0, 0.0, 0.0], np.zeros((1, 3)), "out"):
        with pytest.raises(TypeError, match="out must be a float64 array"):
            learner.decide(wrong)
    with pytest.raises(ValueError, match="length"):
        learner.decide(np.zeros(4))


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "huber"])
def test_labels_are_asked_for(loss):
    ball = ex.sets.l2(dim=3)
    learner = ex.learners.ofw_free(ball)
    before = learner.save()
    with pytest.raises(ValueError, match="needs labels"):
        ex.play(learner, ROWS, loss=loss)
    with pytest.raises(ValueError, match="needs labels"):
        ex.best_in_hindsight(ball, ROWS, loss=loss)
    assert learner.save() == before
    assert ex.losses.from_spec(loss).needs_label and not ex.losses.linear().needs_label


def test_no_hindsight_for_streams():
    with pytest.raises(TypeError, match="keeps no rows"):
        ex.best_in_hindsight(ex.sets.l2(dim=3), ex.streams.drift(3))


def test_a_gap_that_is_not_reached_is_told():
    days = ex.datasets.djia().rows
    with pytest.warns(RuntimeWarning, match="was asked for"):
        best = ex.best_in_hindsight(ex.sets.simplex(dim=30), days, loss="log-wealth", gap=1e-12)
    assert 0 < best.gap < 1e-3


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "one"])
def test_seeds(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        ex.streams.drift(3, seed=seed)


def test_streams_are_copied_before_they_begin():
    stream = ex.streams.drift(3, seed=5)
    totals = []
    for s in (pickle.loads(pickle.dumps(stream)), copy.deepcopy(stream), stream):
        assert repr(s) == repr(stream)
        totals.append(ex.play(ex.learners.ofw_free(ex.sets.l2(dim=3)), s, rounds=50).total_loss)
    assert totals[0] == totals[1] == totals[2]
    with pytest.raises(ValueError, match="has begun"):
        pickle.dumps(stream)


def test_the_core_does_not_trust_python():
    """What the layer above never hands down."""
    ball, loss = ex.sets.l2(dim=4), ex.losses.squared()
    learner = ex.learners.ofw_free(ball)
    before = learner.save()
    y = np.zeros(30)

    def fit(rows=ROWS, targets=(y,), weights=None, order=None):
        return _core.fit([learner], loss, 0.0, rows, list(targets), weights, order, True, True, False)

    with pytest.raises(ValueError, match="order names a row"):
        fit(order=np.array([0, 30]))
    with pytest.raises(ValueError, match="order names a row"):
        fit(order=np.array([-1]))
    with pytest.raises(ValueError, match="29 labels for 30 rows"):
        fit(targets=[y[1:]])
    with pytest.raises(ValueError, match="labels of its own"):
        fit(targets=[y, y])
    with pytest.raises(ValueError, match="2 weights for 30 rows"):
        fit(weights=np.ones(2))
    csr = sp.csr_array(ROWS)
    ends, indices = csr.indptr.astype(np.int64), csr.indices.astype(np.uint32)
    with pytest.raises(ValueError, match="index beyond"):
        fit(rows=(ends, indices + 1, csr.data, 3))
    with pytest.raises(ValueError, match="no CSR matrix"):
        fit(rows=(ends[:-1], indices, csr.data, 3), targets=[y[1:]])
    with pytest.raises(ValueError, match="finite"):
        fit(rows=np.full((30, 3), np.inf))
    assert learner.save() == before


def test_interrupts_are_heard_in_hindsight():
    """While the rows are searched, not only before and after."""
    script = """
import os, signal, threading, time
import numpy as np
import extremal as ex

rng = np.random.default_rng(0)
rows = rng.normal(size=(3000, 300)) * np.logspace(0, 4, 300)
y = np.sign(rng.normal(size=3000))
ball = ex.sets.lp(p=1.5, dim=300, radius=1e4)
sent = []
def send():
    time.sleep(1.0)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    ex.best_in_hindsight(ball, rows, y, loss="hinge", gap=0.0)
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
"""
    delays = []
    for _ in range(3):  # a busy machine may be late; the library must not be
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stdout, done.stdout + done.stderr
        delays.append(float(done.stdout))
        if delays[-1] < 0.1:
            break
    assert min(delays) < 0.1, delays


def test_an_interrupt_takes_a_batch_back():
    """Of several learners, all or none have played."""
    sklearn = pytest.importorskip("sklearn")
    assert sklearn
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400_000, 20)), rng.integers(0, 4, size=400_000)
    model = ex.OnlineClassifier().partial_fit(X[:100], y[:100], classes=range(4))
    before = [learner.save() for learner in model._learners]
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            model.partial_fit(X, y)
            before = [learner.save() for learner in model._learners]
    assert [learner.save() for learner in model._learners] == before
    assert X.flags.writeable
