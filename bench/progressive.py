"""The untuned default beside Vowpal Wabbit on sparse streams, as progressive loss.

    bash bench/run progressive --data DIR [--rounds 200000] [--streams a9a ...] [--ours PATH]

One pass; the average of each round's loss before its label was used. Vowpal Wabbit (from PyPI, in
process, 18 bits, its constant feature left on) plays with its defaults, and with the best of nine
learning rates chosen in hindsight. Ours is told the loss and the file, no other number. DIR holds
files of LIBSVM's format: a9a, mushrooms, phishing, splice_all, news20.bz2 (its classes 1 to 10
against the rest); what is not there is left out. Each is played in file order and shuffled. The
streams `words-0` and `words-1` are drawn here, in the shape of rcv1: 47,236 features by Zipf's
law, 75 per row, tf-idf, rows of norm 1. `housing` is squared loss: labels drawn from ten features
of scales 0.01 to 100.
"""

import argparse
import bz2
import pathlib
import subprocess
import tempfile

import numpy as np

RATES = ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]
SIGNS = {
    "a9a": lambda y: y,
    "mushrooms": lambda y: 2 * y - 3,
    "phishing": lambda y: 2 * y - 1,
    "splice_all": lambda y: y,
    "news20": lambda y: 1 if y <= 10 else -1,
}


def real(folder, name):
    """Lines `label features` of a LIBSVM file, with labels -1 and 1."""
    for path in (folder / name, folder / f"{name}.bz2"):
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


def vowpal_wabbit(path, loss, *more):
    import vowpalwabbit

    words = ["--loss_function", loss, "--no_stdin", "-b", "18", "-d", str(path), "--quiet", *more]
    vw = vowpalwabbit.Workspace(arg_list=words)
    average = vw.get_sum_loss() / vw.get_weighted_examples()
    vw.finish()
    return average / 2 if loss == "squared" else average  # theirs is (z - y)^2, ours half of it


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--ours", default=here.parent / "target/release/extremal-bench")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--rounds", type=int, default=200_000)
    parser.add_argument("--streams", nargs="+", default=["words-0", "words-1", *SIGNS, "housing"])
    parser.add_argument("--set", action="append", default=[], help="one more set for our learner")
    options = parser.parse_args()

    sets = ["default", *options.set]
    print("| stream | rows | VW default | VW best rate | " + " | ".join(f"ours, {s}" for s in sets) + " |")
    print("|---" * (4 + len(sets)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        svm, vw = pathlib.Path(folder, "data.svm"), pathlib.Path(folder, "data.vw")
        for name in options.streams:
            loss = "squared" if name == "housing" else "logistic"
            if name.startswith("words-"):
                lines = words(int(name[6:]), options.rounds)
            else:
                lines = housing() if name == "housing" else real(options.data, name)
            if lines is None:
                continue
            orders = {name: range(len(lines))}
            if name in SIGNS:
                orders[f"{name}, shuffled"] = np.random.default_rng(0).permutation(len(lines))
            for title, order in orders.items():
                with svm.open("w") as ours, vw.open("w") as theirs:
                    for k in order:
                        ours.write(lines[k] + "\n")
                        theirs.write(lines[k].replace(" ", " | ", 1) + "\n")
                figures = [vowpal_wabbit(vw, loss)]
                figures.append(min(vowpal_wabbit(vw, loss, "-l", rate) for rate in RATES))
                for text in sets:
                    command = [str(options.ours), "progressive", loss, text, str(svm), "default"]
                    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    figures.append(float(out.split()[0]))
                print(f"| {title} | {len(lines):,} | " + " | ".join(f"{f:.4f}" for f in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
