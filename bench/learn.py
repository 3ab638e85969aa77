"""Times `extremal learn` and other software that learns from a text file.

    bash bench/run learn [--rows N] [--reps N] [--only REGEX] [--against OLD]

Every program reads the same examples from text in one pass, and is timed from the first byte to the
last update. The start of Python and its imports are not counted; `extremal` is timed as a whole
process. The programs take turns. `2 cores` gives each program both cores, and `1 core` pins it to
one. With `--against`, the only other program is the `extremal` of an older build.
"""

import argparse
import bz2
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import against

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target"))
EXTREMAL = TARGET / "release" / "extremal"
REAL = BENCH.parent.parent / "shared" / "data" / "libsvm"

DIMENSION = 47_236
SEED = 20
LEARNERS = {
    "default": [],
    "coin-ftrl": ["--learner", "coin-ftrl"],
    "ofw-ls": ["--set", "l2:radius=10", "--learner", "ofw-ls"],
}
# One class against the others. The loss is the share of rows with a wrong predicted class.
CLASSES = 20
CLASS_LEARNERS = {
    "20 classes": ["--classes", str(CLASSES)],
    "20 classes, 1 thread": ["--classes", str(CLASSES), "--threads", "1"],
}
PEERS = ["vw", "vw-cache", "sklearn", "river"]
# River is about a hundred times slower, so it gets fewer rows.
RIVER_ROWS = 5_000


def documents(rows):
    """Paths of a stream shaped like news stories, as libsvm and as VW text; drawn once.

    Word counts are Zipf's, rows have some 75 words and norm 1, and labels follow a sparse
    linear rule with noise.
    """
    paths = DATA / f"documents-{rows}.svm", DATA / f"documents-{rows}.vw"
    if all(path.exists() for path in paths):
        return paths
    DATA.mkdir(exist_ok=True)
    rng = np.random.default_rng(SEED)
    chance = 1.0 / (np.arange(DIMENSION) + 21.0) ** 1.05
    edges = np.cumsum(chance / chance.sum())
    rarity = 1.0 - np.log(np.minimum(1.0, 80.0 * chance / chance.sum()))
    names = rng.permutation(DIMENSION) + 1
    rule = np.where(rng.random(DIMENSION) < 0.3, rng.standard_normal(DIMENSION), 0.0)
    lengths = np.clip(rng.lognormal(np.log(70.0), 0.5, rows), 8, 600).astype(int)
    stories = []
    for length in lengths:
        drawn = np.minimum(np.searchsorted(edges, rng.random(length)), DIMENSION - 1)
        words, counts = np.unique(drawn, return_counts=True)
        values = (1.0 + np.log(counts)) * rarity[words]
        stories.append((words, values / np.linalg.norm(values)))
    scores = np.array([values @ rule[words] for words, values in stories])
    scores = 3.5 * (scores - np.median(scores)) / scores.std()
    labels = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-scores)), 1, -1)
    with paths[0].open("w") as svm, paths[1].open("w") as vw:
        for (words, values), label in zip(stories, labels):
            order = np.argsort(names[words])
            pairs = zip(names[words][order].tolist(), values[order].tolist())
            text = " ".join(f"{word}:{value:.6g}" for word, value in pairs)
            svm.write(f"{label} {text}\n")
            vw.write(f"{label} | {text}\n")
    return paths


def ours(path, flags, program=EXTREMAL):
    command = [program, "learn", path, "--loss", "logistic", "--progress", "json", "-P", "1000000000", *flags]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))}: {done.stderr}")
    last = json.loads(done.stderr.splitlines()[-1])
    return seconds, last["round"], last["average_loss"]


def theirs(peer, path, classes):
    command = [sys.executable, BENCH / "learn_peers.py", peer, path, str(RIVER_ROWS), str(classes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: {peer}: {done.stderr}")
    seconds, rows, loss = map(float, done.stdout.split())
    return seconds, rows, loss


def pinned(cores):
    """Runs child processes on this number of cores."""
    available = sorted(os.sched_getaffinity(0))

    class Pin:
        def __enter__(self):
            os.sched_setaffinity(0, available[-cores:])

        def __exit__(self, *_):
            os.sched_setaffinity(0, available)

    return Pin()


def main():
    parser = argparse.ArgumentParser(prog="bash bench/run learn", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--only", default="", help="a regular expression for `WORKLOAD vs PEER`")
    parser.add_argument("--against", metavar="OLD", help="a git revision, or a built extremal: the only peer")
    options = parser.parse_args()
    old = options.against and against.program_of(options.against, "extremal-cli", "extremal")

    files = {"documents": documents(options.rows)}
    for name in ("a9a", "mushrooms"):
        if (REAL / name).exists():
            files[name] = as_signs(REAL / name, DATA / f"{name}.svm"), vw_of(REAL / name, DATA / f"{name}.vw")
        else:
            print(f"{name}: skipped, no such file in the shared data")
    if (REAL / "news20.bz2").exists():
        files["news20"] = plain_of(REAL / "news20.bz2", DATA / "news20")
    else:
        print("news20: skipped, no such file in the shared data")

    print(f"{'workload':<34}{'ours':>10}  {'peer':<11}{'its speed':>10}  ours / peer [spread]   loss: ours, its")
    for name, (svm, vw) in files.items():
        learners = CLASS_LEARNERS if name == "news20" else LEARNERS
        for cores in (2, 1):
            for learner, flags in learners.items():
                for peer in ["old"] if old else PEERS[:2] if name == "news20" else PEERS:
                    workload = f"{name} {learner} {cores} core{'s' if cores > 1 else ''}"
                    if not re.search(options.only, f"{workload} vs {peer}"):
                        continue
                    compare(workload, svm, vw, flags, peer, cores, options.reps, old)


def compare(workload, svm, vw, flags, peer, cores, reps, old):
    path = vw if peer.startswith("vw") else svm
    mine, other, losses = [], [], None
    classes = CLASSES if "--classes" in flags else 0

    def first():
        return ours(svm, flags)

    def second():
        return ours(svm, flags, old) if old else theirs(peer, path, classes)

    with pinned(cores):
        for rep in range(reps + 1):
            if rep % 2:
                sides = [first(), second()]
            else:
                sides = [second(), first()][::-1]
            if rep > 0:  # the first warms up
                mine.append(sides[0][1] / sides[0][0])
                other.append(sides[1][1] / sides[1][0])
            losses = sides[0][2], sides[1][2]
    ratios = [a / b for a, b in zip(mine, other)]
    ratio = f"{statistics.median(ratios):.2f} [{min(ratios):.2f}..{max(ratios):.2f}]"
    loss = "—" if losses[1] != losses[1] else f"{losses[1]:.4f}"
    print(
        f"{workload:<34}{human(statistics.median(mine)):>10}  {peer:<11}{human(statistics.median(other)):>10}"
        f"  {ratio:<22} {losses[0]:.4f}, {loss}",
        flush=True,
    )


def human(speed):
    return f"{speed / 1e6:.2f}M" if speed >= 1e6 else f"{speed / 1e3:.0f}k" if speed >= 1e3 else f"{speed:.0f}"


def as_signs(source, path):
    """The file with labels ±1, which all programs accept."""
    if not path.exists():
        lines = source.read_text().splitlines()
        labels = sorted({line.split(maxsplit=1)[0] for line in lines if line.strip()}, key=float)
        with path.open("w") as out:
            for line in lines:
                label, _, rest = line.partition(" ")
                out.write(f"{1 if label == labels[-1] else -1} {rest}\n")
    return path


def vw_of(source, path):
    if not path.exists():
        with path.open("w") as out:
            for line in as_signs(source, path.with_suffix(".svm")).read_text().splitlines():
                label, _, rest = line.partition(" ")
                out.write(f"{label} | {rest}\n")
    return path


def plain_of(source, stem):
    """A compressed file with classes as plain text, for both programs."""
    svm, vw = stem.with_suffix(".svm"), stem.with_suffix(".vw")
    if not (svm.exists() and vw.exists()):
        text = bz2.decompress(source.read_bytes()).decode()
        svm.write_text(text)
        vw.write_text(re.sub(r"^(\S+) ", r"\1 | ", text, flags=re.MULTILINE))
    return svm, vw


if __name__ == "__main__":
    main()
