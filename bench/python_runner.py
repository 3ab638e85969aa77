"""The Python package and its competitors on the same stream.

    python_runner.py rounds LEARNER SET D T DATAFILE
    python_runner.py play LEARNER STORAGE SET LOSS D T DATAFILE
    python_runner.py history LEARNER STORAGE SET LOSS D T DATAFILE
    python_runner.py fit LEARNER STORAGE SET LOSS D T DATAFILE BATCH
    python_runner.py default LOSS D T DATAFILE BATCH
    python_runner.py sklearn LOSS D T DATAFILE BATCH
    python_runner.py river LOSS D T DATAFILE
    python_runner.py river_dicts LOSS D T DATAFILE
    python_runner.py oracle D T DATAFILE
    python_runner.py callback D T

README.md describes the ready/go protocol. LOSS is `logistic` or `squared`. `history` is `play` that
records every round. `fit` and `default` call the estimators' `partial_fit` with BATCH rows at a time.
`default` uses the default of every parameter, including an intercept, which scikit-learn also has by
default. `oracle` plays rounds on a set whose oracle is a Python function. `callback` calls that
function in a loop, which is the least that such rounds cost.
"""

import sys
import time

import numpy as np


def data(d, rounds, path):
    """Rows and labels. Their memory starts at a cache line, as in the other program."""
    numbers = np.fromfile(path)
    room = np.empty(numbers.size + 8)
    first = -room.ctypes.data % 64 // 8
    room[first : first + numbers.size] = numbers
    numbers = room[first : first + numbers.size]
    return numbers[: rounds * d].reshape(rounds, d), numbers[rounds * d :]


def rounds(learner, set, d, t, path):
    import extremal as ex

    ball = ex.sets.from_spec(set, int(d))
    gradients = list(data(int(d), int(t), path)[0])

    def go():
        playing = ex.learners.from_spec(learner, ball)
        start = time.perf_counter()
        for gradient in gradients:
            playing.decide()
            playing.observe(gradient)
        return time.perf_counter() - start, np.nan, np.linalg.norm(playing.decision)

    return go


def play(learner, storage, set, loss, d, t, path, record=False):
    import extremal as ex

    ball = ex.sets.from_spec(set, int(d))
    rows, labels = data(int(d), int(t), path)

    def go():
        playing = ex.learners.from_spec(learner, ball, storage)
        start = time.perf_counter()
        ex.play(playing, rows, labels, loss=loss, record=record)
        return time.perf_counter() - start, np.nan, np.linalg.norm(playing.decision)

    return go


def history(*arguments):
    return play(*arguments, record=True)


def batches(make, loss, d, t, path, batch):
    """Calls `partial_fit` with batches, on any estimator."""
    rows, labels = data(int(d), int(t), path)
    step = int(batch)
    classes = {"classes": [-1.0, 1.0]} if loss == "logistic" else {}

    def go():
        model = make()
        start = time.perf_counter()
        for at in range(0, len(rows), step):
            model.partial_fit(rows[at : at + step], labels[at : at + step], **classes)
        return time.perf_counter() - start, np.nan, np.linalg.norm(model.coef_)

    return go


def ours(loss):
    import extremal as ex

    return ex.OnlineClassifier if loss == "logistic" else ex.OnlineRegressor


def fit(learner, storage, set, loss, *rest):
    def make():
        return ours(loss)(set, loss, learner, fit_intercept=False, storage=storage)

    return batches(make, loss, *rest)


def default(loss, *rest):
    return batches(ours(loss), loss, *rest)


def sklearn(loss, *rest):
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    make = (lambda: SGDClassifier(loss="log_loss")) if loss == "logistic" else SGDRegressor
    return batches(make, loss, *rest)


def river(loss, d, t, path):
    """Calls River's learn_one on the rows of the matrix, which River's `iter_array` reads."""
    from river import stream

    rows, labels = data(int(d), int(t), path)
    labels = labels > 0 if loss == "logistic" else labels
    return learn_one(loss, lambda: stream.iter_array(rows, labels))


def river_dicts(loss, d, t, path):
    """River with dicts that are made before the clock starts."""
    rows, labels = data(int(d), int(t), path)
    labels = (labels > 0 if loss == "logistic" else labels).tolist()
    examples = list(zip((dict(enumerate(row)) for row in rows.tolist()), labels))
    return learn_one(loss, lambda: examples)


def learn_one(loss, examples):
    from river import linear_model

    def go():
        model = linear_model.LogisticRegression() if loss == "logistic" else linear_model.LinearRegression()
        start = time.perf_counter()
        for x, y in examples():
            model.learn_one(x, y)
        return time.perf_counter() - start, np.nan, np.linalg.norm(list(model.weights.values()))

    return go


def corner(d):
    """A set of one point and its oracle, which takes almost no time: the benchmark measures the code around
    it."""
    answer = np.zeros(d)
    answer[0] = 1.0
    return answer, lambda direction: answer


def oracle(d, t, path):
    import extremal as ex

    point, function = corner(int(d))
    set = ex.sets.custom(function, dim=int(d), diameter=2**0.5, norm_bound=1.0, centre=point)
    rows, _ = data(int(d), int(t), path)

    def go():
        learner = ex.learners.ofw(set, horizon=len(rows), gradient_bound=10)
        start = time.perf_counter()
        ex.play(learner, rows, record=False)
        return time.perf_counter() - start, np.nan, np.linalg.norm(learner.decision)

    return go


def callback(d, t):
    (_, function), direction = corner(int(d)), np.ones(int(d))

    def go():
        start = time.perf_counter()
        for _ in range(int(t)):
            function(direction)
        return time.perf_counter() - start, np.nan, np.nan

    return go


MODES = {f.__name__: f for f in (rounds, play, history, fit, default, sklearn, river, river_dicts, oracle, callback)}


def main():
    go = MODES[sys.argv[1]](*sys.argv[2:])
    print("ready", flush=True)
    for _ in sys.stdin:
        print(*(repr(float(figure)) for figure in go()), flush=True)


main()
