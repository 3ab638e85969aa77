"""Untuned learners on raw data: progressive loss in one pass, without scaling and without options.

    bash bench/run untuned [--streams a9a,iris] [--skip river,sgd,vw-best] [--data DIR] [--out FILE.json]
    bash bench/run untuned --invariance     # a column or the labels in another unit
    bash bench/run untuned --corrupt        # one bad row in mid-stream

DIR is the folder of shared data. A stream whose file is missing is skipped with a message. The
drawn streams (`words`, `housing` and the names that begin with `syn-`) and `trump`, which comes with
River, need no file. All learners get the same numbers in file order: text columns are one-hot,
nothing is scaled or shuffled (but iris and wine, which are sorted by class).

A figure is the natural log loss for labels -1 and 1, the root mean squared error (RMSE) for
regression, or the percentage of wrong classes. Every prediction is made before its label is used.

    base rate   running mean, running frequency, or the most frequent class so far
    VW          Vowpal Wabbit's defaults; -b 24 where features times classes exceed 2^18
    VW best     the best of nine learning rates, chosen on the same stream
    SGD         scikit-learn's SGDClassifier or SGDRegressor behind a running StandardScaler
    River       StandardScaler | LinearRegression or LogisticRegression; up to 3 million non-zeros
    coin-ftrl   `extremal learn --learner coin-ftrl`, without an intercept: the former default
    ours        `extremal learn FILE --loss LOSS` or `extremal learn FILE --classes K`

After the table, every gate is printed with its measured number. The exit status is 1 if one fails. The
peers take five minutes or more and don't depend on our build. Their figures are therefore kept in
bench/results/untuned-peers.json. `--again` plays them again. `--ours PATH` is another `extremal`, and
`--learner SPEC` gives ours a learner other than the default.
"""

import argparse
import importlib.metadata
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy as np
import scipy.sparse as sp

from raw_streams import drawn, streams

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE / "results" / "untuned-peers.json"
RATES = ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]
PEERS = {"vw": "VW", "vw-best": "VW best", "sgd": "SGD", "river": "River"}
ALL = 49
# The largest accepted ratio of our figure to the former default's figure, for each of these streams.
FORMER = {"words": 1.005, "a9a": 1.005, "mushrooms": 1.005, "phishing": 1.005, "news20-halves": 1.005, "news20": 1.015}


def score(kind, p, y):
    with np.errstate(all="ignore"):
        if kind == "log":
            loss = np.mean(np.logaddexp(0, -y * p))
        elif kind == "reg":
            loss = np.sqrt(np.mean((p - y) ** 2))
        else:
            loss = 100 * np.mean(p != y)
    return float("inf") if np.isnan(loss) else float(loss)


def base_rate(kind, y):
    t = np.arange(len(y))
    if kind == "reg":
        return np.r_[0, np.cumsum(y)[:-1] / t[1:]]
    if kind == "log":
        k = np.r_[0, np.cumsum(y > 0)[:-1]]
        return np.log((k + 1) / (t - k + 1))
    counts, out = np.zeros(int(y.max()) + 1), np.zeros(len(y), int)
    for i, v in enumerate(y):
        out[i] = counts.argmax()
        counts[v] += 1
    return out


# --- learners: each returns the predictions made before the label was used ---


def lines(kind, X, y, bar=""):
    y = y + 1 if kind == "multi" else y
    for t in range(X.shape[0]):
        a, b = X.indptr[t], X.indptr[t + 1]
        row = " ".join(f"{i + 1}:{v:.17g}" for i, v in zip(X.indices[a:b].tolist(), X.data[a:b].tolist()) if v != 0)
        yield f"{y[t]:.17g}{bar} {row}\n"


def predictions(command, out, kind):
    """The predictions of a program that writes one prediction per line; None if the program fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.strip()[-300:], file=sys.stderr)
        return None
    p = np.array([float(line.split()[0]) for line in out.open()])
    return p.astype(int) - 1 if kind == "multi" else p


class Ours:
    def __init__(self, program, flags=()):
        self.program, self.flags = program, flags

    def play(self, path, kind, classes=0):
        """The predictions for a file of examples."""
        out = path.with_suffix(".out")
        task = ["--classes", classes] if kind == "multi" else ["--loss", {"log": "logistic", "reg": "squared"}[kind], "--link", "identity"]
        return predictions([self.program, "learn", path, *task, *self.flags, "-q", "-p", out], out, kind)

    def figure(self, text, kind, y, part=slice(None)):
        """The figure over a part of the examples in `text`, whose labels are y; infinite if the program fails."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "data.svm")
            with path.open("w") as file:
                file.writelines(text)
            p = self.play(path, kind, int(y.max()) + 1)
        return math.inf if p is None else score(kind, p[part], y[part])


def former(program):
    """The former default: coin-ftrl without an intercept and without clipping."""
    text = subprocess.run([program, "learn", "--help"], capture_output=True, text=True).stdout
    return Ours(program, ["--learner", "coin-ftrl", *(flag for flag in ("--no-intercept", "--no-clip") if flag in text)])


def vw(path, kind, columns, classes, *flags):
    out = path.with_suffix(".out")
    task = {"log": ["--loss_function", "logistic"], "reg": [], "multi": ["--oaa", classes]}[kind]
    bits = 18 if (columns + 1) * (classes if kind == "multi" else 1) <= 2**18 else 24
    return predictions([sys.executable, "-m", "vowpalwabbit", "-d", path, "-p", out, "--quiet", "-b", bits, *flags, *task], out, kind)


def sgd(kind, X, y):
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    few = X.shape[1] <= 1000
    X = X.toarray() if few else X
    scaler = StandardScaler(with_mean=few)
    model = SGDRegressor(random_state=0) if kind == "reg" else SGDClassifier(loss="log_loss", random_state=0)
    more = {} if kind == "reg" else {"classes": np.unique(y)}
    out, t = np.zeros(len(y)), 0
    with np.errstate(all="ignore"):
        while t < len(y):
            end = min(len(y), t + (1 if t < 100 else 20))
            rows = scaler.partial_fit(X[t:end]).transform(X[t:end])
            if t:
                out[t:end] = model.decision_function(rows) if kind == "log" else model.predict(rows)
            try:
                model.partial_fit(rows, y[t:end], **more)
            except ValueError:
                out[t:] = np.nan
                return out
            t = end
    return out


def river(kind, X, y):
    from river import linear_model, multiclass, preprocessing

    if X.nnz > 3e6:
        return None
    model = linear_model.LinearRegression() if kind == "reg" else linear_model.LogisticRegression()
    model = preprocessing.StandardScaler() | (multiclass.OneVsRestClassifier(model) if kind == "multi" else model)
    dense, out = X.shape[1] <= 100, np.zeros(len(y))
    if dense:
        X = X.toarray()
    for t in range(len(y)):
        if dense:
            x = dict(enumerate(X[t].tolist()))
        else:
            a, b = X.indptr[t], X.indptr[t + 1]
            x = dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist()))
        if kind == "reg":
            out[t] = model.predict_one(x)
            model.learn_one(x, y[t])
        elif kind == "log":
            p = min(max(model.predict_proba_one(x).get(True, 0.5), 1e-15), 1 - 1e-15)
            out[t] = math.log(p / (1 - p))
            model.learn_one(x, bool(y[t] > 0))
        else:
            out[t] = model.predict_one(x) or 0
            model.learn_one(x, int(y[t]))
    return out


def play_peer(who, kind, X, y):
    """A peer's figure; None if the stream is too long for the peer or the program fails."""
    if who in ("sgd", "river"):
        p = {"sgd": sgd, "river": river}[who](kind, X, y)
        return None if p is None else score(kind, p, y)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data.vw")
        with path.open("w") as file:
            file.writelines(lines(kind, X, y, " |"))
        options = [[]] if who == "vw" else [["-l", rate] for rate in RATES]
        played = [vw(path, kind, X.shape[1], int(y.max()) + 1, *more) for more in options]
    return min((score(kind, p, y) for p in played if p is not None), default=None)


class Cache:
    """The peers' figures, which are kept while the stream and the peers' versions stay the same."""

    def __init__(self, again):
        self.versions = {name: importlib.metadata.version(name) for name in ("vowpalwabbit", "scikit-learn", "river")}
        kept = json.loads(CACHE.read_text()) if CACHE.exists() and not again else {}
        self.streams = kept["streams"] if kept.get("versions") == self.versions else {}

    def figure(self, who, name, kind, X, y):
        key = zlib.crc32(np.ascontiguousarray(y, float), zlib.crc32(X.data, zlib.crc32(X.indices.astype(np.int64))))
        if self.streams.get(name, {}).get("key") != key:
            self.streams[name] = {"key": key}
        if who not in self.streams[name]:
            self.streams[name][who] = play_peer(who, kind, X, y)
            CACHE.parent.mkdir(exist_ok=True)
            CACHE.write_text(json.dumps({"versions": self.versions, "streams": self.streams}, indent=1))
        return self.streams[name][who]


# --- gates ---


class Gates:
    failed = 0

    def judge(self, what, holds, measured):
        """Prints one gate. If `holds` is None, the gate is only reported."""
        self.failed += holds is False
        print(f"- {'**FAIL**' if holds is False else 'pass' if holds else 'reported'}: {what}: {measured}", flush=True)


def known(figure):
    return figure is not None and math.isfinite(figure)


def ratio(a, b):
    return a / b if b else (1.0 if a == 0 else math.inf)


def summary(results, gates):
    def largest(other):
        return max((ratio(f["ours"], f[other]), name) for name, f in results.items() if known(f.get(other)))

    worst, name = largest("base")
    gates.judge("never above 1.005 times the base rate", worst <= 1.005, f"at most {worst:.4f} ({name})")
    if any(known(f.get("vw")) for f in results.values()):
        worst, name = largest("vw")
        gates.judge("never above 1.02 times Vowpal Wabbit's default", worst <= 1.02, f"at most {worst:.4f} ({name})")
    beaten = {}
    for name, f in results.items():
        least, who = min((f[who], who) for who in ("base", "vw", "sgd", "river") if known(f.get(who)))
        if f["ours"] > least:
            beaten[name] = f"{name} ({who}, {ratio(f['ours'], least):.4f})"
    won, played = len(results) - len(beaten), len(results)
    full = played == ALL and all(who in f for f in results.values() for who in ("vw", "sgd", "river"))
    by = "; beaten on " + ", ".join(beaten.values()) if beaten else ""
    gates.judge(f"unbeaten on at least 38 of {ALL}", won >= 38 if full else None, f"{won} of {played}{by}")
    logs = [math.log(ratio(f["ours"], f["vw"])) for f in results.values() if f.get("vw") and f["ours"]]
    if logs:
        mean = math.exp(sum(logs) / len(logs))
        gates.judge("geometric mean of the ratio to Vowpal Wabbit's default at most 0.64", mean <= 0.64 if full else None, f"{mean:.4f}")
    for name, limit in FORMER.items():
        if name in results:
            value = ratio(results[name]["ours"], results[name]["coin-ftrl"])
            gates.judge(f"at most {limit} times coin-ftrl on {name}", value <= limit, f"{value:.4f}")


def compare(options, gates):
    cache, results = Cache(options.again), {}
    peers = [who for who in PEERS if who not in options.skip]
    columns = ["stream", "kind", "rows", "base rate", *(PEERS[who] for who in peers), "coin-ftrl", "ours"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)
    mine = {"coin-ftrl": former(options.ours), "ours": options.learner}
    for name, kind, X, y in load(options, options.streams):
        figures = {"base": score(kind, base_rate(kind, y), y)}
        figures |= {who: cache.figure(who, name, kind, X, y) for who in peers}
        text = list(lines(kind, X, y))
        figures |= {who: ours.figure(text, kind, y) for who, ours in mine.items()}
        results[name] = figures
        least = min(v for who, v in figures.items() if known(v) and who not in ("vw-best", "coin-ftrl"))
        cells = ["–" if v is None else f"**{v:.4g}**" if v == least else f"{v:.4g}" for v in figures.values()]
        what = {"log": "log loss", "reg": "RMSE", "multi": "% wrong"}[kind]
        print(f"| {name} | {what} | {X.shape[0]:,} | " + " | ".join(cells) + " |", flush=True)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    if results:
        print("\nBold: the least of the untuned peers and ours.\n")
        summary(results, gates)


def load(options, names):
    """The named streams whose data exist."""
    make = streams(options.data)
    for name in names or make:
        try:
            yield name, *make[name]()
        except FileNotFoundError as error:
            print(f"{name}: skipped, no file {error.filename}", file=sys.stderr)


def invariance(options, gates):
    """The figures with columns or labels in other units, as ratios to the figures with the original
    units."""
    rng = np.random.default_rng(0)
    for name, kind, X, y in load(options, options.streams or ["a9a", "breast", "cpusmall", "abalone", "syn-plain-reg"]):
        rows, dim = X.shape

        def figure(X, y, part=slice(None), kind=kind):
            return options.learner.figure(lines(kind, X, y), kind, y, part)

        def scaled(factors, X=X):
            return (X @ sp.diags(factors)).tocsr()

        plain, units = figure(X, y), {}
        print(f"\n{name}: {plain:.5g} as it is\n")
        for power in (6, -6):
            units[f"all columns × 1e{power}"] = scaled(np.full(dim, 10.0**power))
            for i in rng.permutation(dim)[:30]:
                units[f"column {i + 1} × 1e{power}"] = scaled(np.where(np.arange(dim) == i, 10.0**power, 1))
        for k in range(4):
            units[f"columns × 10^-6, 1 or 10^6, draw {k + 1}"] = scaled(10.0 ** rng.choice([-6, 0, 6], dim))
        ratios = {what: figure(other, y) / plain for what, other in units.items()}
        what = max(ratios, key=lambda what: abs(math.log(ratios[what])))
        within = f"{min(ratios.values()):.4f} to {max(ratios.values()):.4f} in {len(ratios)} runs, worst {what}"
        gates.judge("columns × 10^±6: within 2 %", abs(ratios[what] - 1) <= 0.02, within)
        deviation = np.sqrt(np.maximum(0, X.power(2).mean(axis=0) - np.square(X.mean(axis=0)))).A1
        value = figure(sp.csr_matrix(X.toarray() + 1000 * deviation), y) / plain
        gates.judge("all columns + 1000 standard deviations: at most 1.10", value <= 1.1, f"{value:.4f}")
        if kind != "reg":
            continue
        for power in (6, -6):
            value = figure(X, y * 10.0**power) / 10.0**power / plain
            gates.judge(f"labels × 1e{power}: within 2 %", abs(value - 1) <= 0.02, f"{value:.4f}")
        half = rows // 2
        before = figure(X, y, slice(half, None))
        fresh = figure(X[half:], y[half:]) / before
        for power in (6, -6):
            changed = np.where(np.arange(rows) < half, 1, 10.0**power) * y
            value = figure(X, changed, slice(half, None)) / 10.0**power / before
            measured = f"{value:.4g} (a run on the second half alone: {fresh:.4f})"
            what = f"labels × 1e{power} in mid-stream, RMSE of the second half: at most 1.10"
            gates.judge(what, value <= 1.1 if power > 0 else None, measured)


def corrupt(options, gates, rounds=15_000, bad=5_000, seeds=6):
    """Corrupts row 5,000 of a Gaussian stream. Compares the loss over rows 10,000 to 15,000 with the
    run without corruption."""
    part = slice(2 * bad, rounds)
    # The factors that multiply the strongest feature, the other features, and the label.
    cases = {
        "log": {
            "one feature": lambda f: (f, 1, 1),
            "one feature, mislabelled": lambda f: (f, 1, -1),
            "whole row": lambda f: (f, f, 1),
            "whole row, mislabelled": lambda f: (f, f, -1),
        },
        "reg": {
            "one feature": lambda f: (f, 1, 1),
            "whole row": lambda f: (f, f, 1),
            "label": lambda f: (1, 1, f),
            "row and label": lambda f: (f, f, f),
        },
    }
    for kind, what in (("log", "logistic"), ("reg", "squared")):
        print(f"\n{what} loss, geometric mean and worst of {seeds} seeds\n")
        ratios = {}
        for seed in range(seeds):
            _, X, y = drawn("plain", kind, rounds, seed=seed)
            text, rows = list(lines(kind, X, y)), X.toarray()
            plain = options.learner.figure(text, kind, y, part)
            strongest = np.argmax(np.abs(rows.T @ (y - y.mean())))
            spoils = {f"{case} × {f:.0e}": spoil(f) for case, spoil in cases[kind].items() for f in (1e4, 1e6)}
            if kind == "log":
                spoils["mislabelled alone"] = (1, 1, -1)
            for case, (one, others, label) in spoils.items():
                row, wrong = rows[bad] * others, y.copy()
                row[strongest], wrong[bad] = rows[bad, strongest] * one, y[bad] * label
                line = lines(kind, sp.csr_matrix(row), wrong[bad : bad + 1])
                value = options.learner.figure([*text[:bad], *line, *text[bad + 1 :]], kind, wrong, part)
                ratios.setdefault(case, []).append(value / plain)
        for case, values in ratios.items():
            gates.judge(f"{case}: at most 1.10", max(values) <= 1.1, f"{math.exp(np.mean(np.log(values))):.4f}, {max(values):.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    shared = HERE.parent.parent / "shared" / "data"
    names = list(streams(shared))

    def some(allowed):
        def split(text):
            for name in text.split(","):
                if name not in allowed:
                    raise argparse.ArgumentTypeError(f"unknown name {name}; known are {', '.join(allowed)}")
            return text.split(",")

        return split

    parser.add_argument("--ours", default=target / "release" / "extremal", help="another build of extremal")
    parser.add_argument("--learner", metavar="SPEC", help="the learner that our program plays instead of the default")
    parser.add_argument("--data", type=pathlib.Path, default=shared, help="folder of the data [default: ../shared/data]")
    parser.add_argument("--streams", type=some(names), help="the streams to play, separated by commas")
    parser.add_argument("--skip", type=some(list(PEERS)), default=[], help=f"leave out peers: {', '.join(PEERS)}")
    parser.add_argument("--again", action="store_true", help="play the peers again")
    parser.add_argument("--out", type=pathlib.Path, help="write the figures into this JSON file")
    parser.add_argument("--invariance", action="store_true", help="measure the effect of other units, instead of printing the table")
    parser.add_argument("--corrupt", action="store_true", help="measure the effect of one corrupt row, instead of printing the table")
    options = parser.parse_args()
    options.learner = Ours(options.ours, ["--learner", options.learner] if options.learner else [])
    warnings.filterwarnings("ignore")
    gates = Gates()
    if options.invariance:
        invariance(options, gates)
    if options.corrupt:
        corrupt(options, gates)
    if not options.invariance and not options.corrupt:
        compare(options, gates)
    return gates.failed > 0


if __name__ == "__main__":
    sys.exit(main())
