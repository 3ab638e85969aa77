"""Compares the progressive loss of the untuned default and of Vowpal Wabbit on sparse streams.

    bash bench/run progressive --data DIR [--rounds 200000] [--streams a9a ...] [--ours PATH]

Every learner makes one pass. A figure is the mean of the losses of all rounds, each computed before
the learner uses the label. Vowpal Wabbit comes from PyPI and runs in this process, with its constant
feature. It has 2^18 weights, its default, or 2^24 if features times classes exceed 2^18. It plays with
its defaults, with `--coin` (its own learner without a rate), and with eleven learning rates. The table
shows the best of these rates, which is chosen on the same stream. No other option is tuned. Our
default is given the loss and the file, and no number.

DIR holds files in LIBSVM format: a9a, mushrooms, phishing, splice_all, news20.bz2 (classes 1 to 10
against the others). Missing files are left out. Each file is played in its own order and shuffled. The
streams `words-0` and `words-1` are drawn here, in the shape of rcv1: 47,236 features
by Zipf's law, 75 per row, tf-idf, rows of norm 1. `housing` is squared loss: labels drawn from ten
features of scales 0.01 to 100. `news20-classes` keeps the 20 classes of news20, one against the
others; its figures are the shares of rows put into a wrong class, and Vowpal Wabbit plays them
with the squared loss (its default) and with the logistic loss (ours).
"""

import argparse
import bz2
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

RATES = ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"]
CLASSES = 20
SIGNS = {
    "a9a": lambda y: y,
    "mushrooms": lambda y: 2 * y - 3,
    "phishing": lambda y: 2 * y - 1,
    "splice_all": lambda y: y,
    "news20": lambda y: 1 if y <= 10 else -1,
    "news20-classes": lambda y: y,
}


def real(folder, name):
    """The lines `label features` of a LIBSVM file. The labels are -1 and 1, or classes."""
    file = name.removesuffix("-classes")
    for path in (folder / file, folder / f"{file}.bz2"):
        if path.exists():
            text = bz2.open(path, "rt") if path.suffix == ".bz2" else path.open()
            with text:
                pairs = (line.split(maxsplit=1) for line in text if line.strip())
                return [f"{SIGNS[name](float(y)):g} {row.strip()}" for y, row in pairs]
    return None


def lines_of(rows, labels):
    return [f"{y:.7g} " + " ".join(f"{i}:{v:.6g}" for i, v in row) for row, y in zip(rows, labels)]


def words(seed, rounds, dim=47_236):
    rng = np.random.default_rng(seed)
    law = 1 / (np.arange(1, dim + 1) + 20.0) ** 1.05
    law /= law.sum()
    steps, names = np.cumsum(law), rng.permutation(dim) + 1
    rarity = np.log(1 / np.minimum(1, law * 80)) + 1
    hidden = rng.standard_normal(dim) * (rng.random(dim) < 0.3)
    rows, scores = [], np.empty(rounds)
    for t in range(rounds):
        length = int(np.clip(rng.lognormal(np.log(69.5), 0.5), 8, 600))
        drawn = np.minimum(np.searchsorted(steps, rng.random(length)), dim - 1)
        places, counts = np.unique(drawn, return_counts=True)
        values = (1 + np.log(counts)) * rarity[places]
        values /= np.linalg.norm(values)
        scores[t] = values @ hidden[places]
        rows.append(sorted(zip(names[places].tolist(), values.tolist())))
    scores = (scores - np.median(scores)) * (3.5 / scores.std())
    return lines_of(rows, np.where(rng.random(rounds) < 1 / (1 + np.exp(-scores)), 1, -1))


def housing(rounds=20_000):
    rng = np.random.default_rng(2)
    scales = 10.0 ** np.linspace(-2, 2, 10)
    rows = rng.standard_normal((rounds, 10)) * scales
    labels = rows @ (rng.standard_normal(10) / scales) + 5 + rng.standard_normal(rounds)
    rows = np.column_stack([rows, np.ones(rounds)])
    return lines_of([enumerate(row, 1) for row in rows.tolist()], labels)


def features(lines):
    """The number of features: the largest index, plus one for the constant."""
    return 1 + max(int(line.rsplit(" ", 1)[-1].split(":")[0]) for line in lines if ":" in line)


def vowpal_wabbit(path, loss, bits, *more):
    import vowpalwabbit

    words = ["--loss_function", loss, "--no_stdin", "-b", bits, "-d", str(path), "--quiet", *more]
    vw = vowpalwabbit.Workspace(arg_list=words)
    average = vw.get_sum_loss() / vw.get_weighted_examples()
    vw.finish()
    return average


def rivals(path, loss, bits, *more):
    """The losses of Vowpal Wabbit with its defaults, with its learner without a rate, and with its best
    rate, and this best rate."""
    figures = [vowpal_wabbit(path, loss, bits, *more), vowpal_wabbit(path, loss, bits, *more, "--coin")]
    best, rate = min((vowpal_wabbit(path, loss, bits, *more, "-l", rate), rate) for rate in RATES)
    return [*figures, best], rate


def write(lines, order, svm, vw):
    with svm.open("w") as ours, vw.open("w") as theirs:
        for k in order:
            ours.write(lines[k] + "\n")
            theirs.write(lines[k].replace(" ", " | ", 1) + "\n")


def bits_for(lines, classes=1):
    return "18" if features(lines) * classes <= 2**18 else "24"


def classes(options, lines, svm, vw):
    """Prints a separate table for 20 classes. A figure is the share of rows with a wrong predicted
    class."""
    print("\n| stream | rows | VW loss | VW default | VW `--coin` | VW best rate | rate | ours |")
    print("|---" * 8 + "|")
    for title, order in orders("news20-classes", lines).items():
        write(lines, order, svm, vw)
        command = [options.program, "learn", svm, "--loss", "logistic", "--classes", CLASSES]
        command += ["--progress", "json", "-P", 1_000_000_000]
        done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
        ours = json.loads(done.stderr.splitlines()[-1])["average_loss"]
        for loss in ("squared", "logistic"):
            figures, rate = rivals(vw, loss, bits_for(lines, CLASSES), "--oaa", str(CLASSES))
            cells = [f"{100 * f:.2f} %" for f in figures] + [rate, f"{100 * ours:.2f} %"]
            print(f"| {title} | {len(lines):,} | {loss} | " + " | ".join(cells) + " |", flush=True)


def orders(name, lines):
    if name == "housing" or name.startswith("words-"):
        return {name: range(len(lines))}
    return {name: range(len(lines)), f"{name}, shuffled": np.random.default_rng(0).permutation(len(lines))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", here.parent / "target"), "release")
    names = ["words-0", "words-1", *list(SIGNS)[:-1], "housing", "news20-classes"]
    parser.add_argument("--ours", default=built / "extremal-bench")
    parser.add_argument("--program", default=built / "extremal", help="the program `extremal`, for the stream news20-classes")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--rounds", type=int, default=200_000)
    parser.add_argument("--streams", nargs="+", default=names, choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--set", action="append", default=[], help="an additional set for our learner")
    options = parser.parse_args()

    sets = ["default", *options.set]
    print("| stream | rows | VW default | VW `--coin` | VW best rate | rate | " + " | ".join(f"ours, {s}" for s in sets) + " |")
    print("|---" * (6 + len(sets)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        svm, vw = pathlib.Path(folder, "data.svm"), pathlib.Path(folder, "data.vw")
        for name in options.streams:
            loss = "squared" if name == "housing" else "logistic"
            if name.startswith("words-"):
                lines = words(int(name[6:]), options.rounds)
            elif name == "housing":
                lines = housing()
            else:
                lines = real(options.data, name)
            if lines is None:
                continue
            if name == "news20-classes":
                classes(options, lines, svm, vw)
                continue
            for title, order in orders(name, lines).items():
                write(lines, order, svm, vw)
                figures, rate = rivals(vw, loss, bits_for(lines))
                if loss == "squared":  # their squared loss is (z - y)^2, and ours is half of this
                    figures = [f / 2 for f in figures]
                cells = [f"{f:.4f}" for f in figures] + [rate]
                for text in sets:
                    command = [str(options.ours), "progressive", loss, text, str(svm), "default"]
                    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    cells.append(f"{float(out.split()[0]):.4f}")
                print(f"| {title} | {len(lines):,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
