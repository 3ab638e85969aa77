"""The streams of `untuned.py`: raw tables as they are, and drawn ones.

`streams(folder)` maps a name to a function that returns the kind, the rows X (CSR) and the labels
y. Kinds are "log" (labels -1 and 1), "reg" (numbers) and "multi" (classes 0 to K-1).
"""

import bz2
import gzip
import io
import json
import math

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file


def one_hot(frame):
    parts = []
    for name in frame:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            parts.append(sp.csr_matrix(column.fillna(0).to_numpy(float).reshape(-1, 1)))
        else:
            parts.append(sp.csr_matrix(pd.get_dummies(column, dtype=float).to_numpy()))
    return sp.hstack(parts).tocsr()


def table(frame, label, kind="reg", drop=()):
    y = frame.pop(label)
    y = pd.factorize(y, sort=True)[0] if kind == "multi" else y.to_numpy(float)
    return kind, one_hot(frame.drop(columns=list(drop))), signs(y) if kind == "log" else y


def signs(y):
    y = np.asarray(y, float)
    return np.where(y > y.min(), 1.0, -1.0)


def svm(path, kind="log", positive=None):
    data = path.read_bytes()
    X, y = load_svmlight_file(io.BytesIO(bz2.decompress(data) if path.suffix == ".bz2" else data))
    if kind == "log":
        y = signs(y) if positive is None else np.where(positive(y), 1.0, -1.0)
    if kind == "multi":
        y = pd.factorize(y, sort=True)[0]
    return kind, X, y


def mnist(folder, kind):
    def read(name, offset):
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=offset)

    X = read("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    y = read("t10k-labels-idx1-ubyte.gz", 8).astype(int)
    return kind, sp.csr_matrix(X.astype(float)), y if kind == "multi" else np.where(y % 2 == 1, 1.0, -1.0)


def vw_text(path):
    rows, columns, values, labels = [], [], [], []
    for t, line in enumerate(path.open()):
        label, features = line.split("|f")
        labels.append(float(label.split()[0]))
        for word in features.split():
            index, _, value = word.partition(":")
            rows.append(t), columns.append(int(index)), values.append(float(value or 1))
    return "log", sp.csr_matrix((values, (rows, columns))), signs(labels)


def flights(path, what):
    frame = pd.DataFrame(json.load(path.open())).sort_values("date", kind="stable")
    frame["hour"] = frame.date.str[11:13].astype(int)
    frame["late"] = (frame.delay > 15).astype(int)
    return table(frame[[what, "hour", "distance", "origin", "destination"]].copy(), what, "log" if what == "late" else "reg")


def ratings(path):
    frame = pd.read_csv(path, sep="\t", header=None, names=["user", "item", "rating", "time"]).sort_values("time", kind="stable")
    user, item = pd.factorize(frame.user)[0], pd.factorize(frame.item)[0]
    t = np.arange(len(frame))
    X = sp.csr_matrix((np.ones(2 * len(t)), (np.r_[t, t], np.r_[user, item + user.max() + 1])))
    return "reg", X, frame.rating.to_numpy(float)


def tiny(folder, name):
    if name == "diabetes":
        frame = pd.read_csv(folder / "diabetes_data_raw.csv.gz", sep=r"\s+", header=None)
        frame["y"] = pd.read_csv(folder / "diabetes_target.csv.gz", header=None)[0]
        return table(frame, "y")
    if name == "digits":
        frame = pd.read_csv(folder / "digits.csv.gz", header=None)
        return table(frame, 64, "multi")
    file = {"breast": "breast_cancer.csv", "wine": "wine_data.csv", "iris": "iris.csv"}[name]
    frame = pd.read_csv(folder / file, skiprows=1, header=None)
    if name == "breast":
        return table(frame, frame.columns[-1], "log")
    return table(frame.sample(frac=1, random_state=0), frame.columns[-1], "multi")


def letter(path, kind):
    _, X, y = table(pd.read_csv(path, header=None), 16, "multi")
    return kind, X, y if kind == "multi" else np.where(y < 13, 1.0, -1.0)


def trump():
    from river import datasets

    x, y = zip(*datasets.TrumpApproval())
    return "reg", one_hot(pd.DataFrame(x)), np.array(y, float)


def words(seed=0, rounds=50_000, dim=47_236):
    """A stream like rcv1: words follow Zipf's law, with 75 words per row, tf-idf weights, and rows of
    norm 1."""
    rng = np.random.default_rng(seed)
    law = 1 / (np.arange(1, dim + 1) + 20.0) ** 1.05
    law /= law.sum()
    steps, names = np.cumsum(law), rng.permutation(dim)
    rarity = np.log(1 / np.minimum(1, law * 80)) + 1
    hidden = rng.standard_normal(dim) * (rng.random(dim) < 0.3)
    indices, data, ends, scores = [], [], [0], np.empty(rounds)
    for t in range(rounds):
        length = int(np.clip(rng.lognormal(np.log(69.5), 0.5), 8, 600))
        places, counts = np.unique(np.minimum(np.searchsorted(steps, rng.random(length)), dim - 1), return_counts=True)
        values = (1 + np.log(counts)) * rarity[places]
        values /= np.linalg.norm(values)
        scores[t] = values @ hidden[places]
        indices.append(names[places]), data.append(values), ends.append(ends[-1] + len(places))
    scores = (scores - np.median(scores)) * (3.5 / scores.std())
    X = sp.csr_matrix((np.concatenate(data), np.concatenate(indices), ends), shape=(rounds, dim))
    X.sort_indices()
    return "log", X, np.where(rng.random(rounds) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)


def housing(rounds=20_000):
    rng = np.random.default_rng(2)
    scales = 10.0 ** np.linspace(-2, 2, 10)
    rows = rng.standard_normal((rounds, 10)) * scales
    labels = rows @ (rng.standard_normal(10) / scales) + 5 + rng.standard_normal(rounds)
    return "reg", sp.csr_matrix(np.column_stack([rows, np.ones(rounds)])), labels


def drawn(what, kind, rounds=10_000, dim=20, seed=7):
    """Normal features and a hidden vector, with one difficulty of real data."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim))
    hidden = rng.standard_normal(dim) / np.sqrt(dim)
    if what == "sparse":  # rare features, of scales 1e-3 to 1e3, frequencies 0.5 to 0.001
        dim = 300
        often = 0.5 * 500.0 ** -np.linspace(0, 1, dim)
        X = (rng.random((rounds, dim)) < often) * (1 + 0.3 * rng.standard_normal((rounds, dim)))
        hidden = rng.standard_normal(dim) / np.sqrt(often.sum())
    score = X @ hidden
    if what == "drift":
        turn = rng.standard_normal(dim) / np.sqrt(dim)
        angle = np.linspace(0, math.pi, rounds)
        score = X @ hidden * np.cos(angle) + X @ turn * np.sin(angle)
    if what == "heavy":  # some rows are ten to hundreds of times as large
        X *= (1 / np.sqrt(rng.chisquare(2, (rounds, 1)) / 2)) * np.exp(rng.standard_normal((rounds, dim)))
        score = np.clip(X @ hidden, -30, 30)
    if what == "noise":
        score = 0 * score
    y = 2 * score + (rng.standard_normal(rounds) if kind == "reg" else 0)
    if kind == "reg":
        y = y + 3
    if what in ("scales", "sparse"):
        X = X * 10.0 ** rng.permutation(np.linspace(-3, 3, dim))
    if what == "huge":
        X[:, 0] *= 1e6
        y = y - 2 * hidden[0] * X[:, 0] / 1e6
    if what == "offset":
        X += 1000 * rng.choice([-1, 0, 1], dim)
    if what == "offset-labels":
        y = y + 1000
    if what == "labels-up":
        y[rounds // 2 :] *= 1e6
    if what == "labels-tiny":
        y[:100] *= 1e-6
    if what == "late":  # in the first half, all columns except one are 0
        X[: rounds // 2, 1:] = 0
    if kind == "log":
        y = np.where(rng.random(rounds) < 1 / (1 + np.exp(-2 * score)), 1.0, -1.0)
    return kind, sp.csr_matrix(X), y


def streams(data):
    lib, small = data / "libsvm", data / "tiny_sklearn"
    make = {
        "words": words,
        "a9a": lambda: svm(lib / "a9a"),
        "mushrooms": lambda: svm(lib / "mushrooms"),
        "phishing": lambda: svm(lib / "phishing"),
        "splice": lambda: svm(lib / "splice_all"),
        "news20-halves": lambda: svm(lib / "news20.bz2", positive=lambda y: y <= 10),
        "rcv1": lambda: vw_text(data / "sparse_rcv1_sample/rcv1_small.dat"),
        "elec": lambda: table(pd.read_csv(data / "streams/elec2/elec.csv"), "class", "log"),
        "breast": lambda: tiny(small, "breast"),
        "late": lambda: flights(data / "flights/flights-20k.json", "late"),
        "mnist-odd": lambda: mnist(data / "mnist", "log"),
        "letter-half": lambda: letter(data / "keel/letter.dat", "log"),
        "housing": housing,
        "abalone": lambda: table(pd.read_csv(data / "regression/abalone/abalone.data"), "Rings"),
        "california": lambda: table(pd.read_csv(data / "regression/california/cal_housing_full.data"), "medianHouseValue"),
        "cpusmall": lambda: svm(data / "regression/cpusmall/cpusmall.txt", "reg"),
        "diabetes": lambda: tiny(small, "diabetes"),
        "bike": lambda: table(pd.read_csv(data / "streams/bike/hour.csv"), "cnt", drop=["instant", "dteday", "casual", "registered"]),
        "trump": trump,
        "delay": lambda: flights(data / "flights/flights-20k.json", "delay"),
        "ml-100k": lambda: ratings(data / "ml-100k/u.data"),
        "iris": lambda: tiny(small, "iris"),
        "wine": lambda: tiny(small, "wine"),
        "digits": lambda: tiny(small, "digits"),
        "poker": lambda: table(pd.read_csv(data / "multiclass/poker/poker-hand-training-true.data"), "ORD", "multi"),
        "letter": lambda: letter(data / "keel/letter.dat", "multi"),
        "mnist": lambda: mnist(data / "mnist", "multi"),
        "news20": lambda: svm(lib / "news20.bz2", "multi"),
    }
    both = ["plain", "scales", "huge", "offset", "sparse", "heavy", "drift", "late", "noise"]
    for what in both:
        make[f"syn-{what}-log"] = lambda what=what: drawn(what, "log")
    for what in [*both, "offset-labels", "labels-up", "labels-tiny"]:
        make[f"syn-{what}-reg"] = lambda what=what: drawn(what, "reg")
    return make
