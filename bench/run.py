"""Compares the speed of our learners with other software. The programs take turns; see README.md.

Start it with `bash bench/run`, which builds the programs that this file calls.
"""

import argparse
import itertools
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"
REPORT = BENCH / "results" / "latest.md"
OURS = Path(os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target")) / "release/extremal-bench"

SEED = 20
LAMBDA = 0.01
NOISE = 0.5  # of the regression labels
GAMES = [("ofw-ls", "logistic"), ("ofw-ls", "ridge"), ("sc-ofw", "ridge")]
BALLS = {"l2": 2.0, "l1.5": 1.5, "l1.3": 1.3}
COMPARATOR_BALLS = BALLS | {"l1": 1.0}
COMPARATOR_GAP = 1e-6  # Frank-Wolfe gap relative to the loss
COMPARATOR_PEERS = [
    *((ball, "fista") for ball in ("l1", "l2", "l1.5")),
    ("l2", "lbfgs"),
    *((ball, "liblinear") for ball in ("l1", "l2")),
    *((ball, "copt") for ball in ("l2", "l1.5")),  # on l1 the search ends far from the gap
]

# These streams are long enough to be timed, and take at most 160 MB of memory.
ROUNDS = {10: 1_000_000, 100: 200_000, 1_000: 20_000, 10_000: 2_000, 100_000: 200}
# numpy takes microseconds per round in every dimension. A hedge of five learners is slow too.
NUMPY_ROUNDS = ROUNDS | {10: 100_000, 100: 50_000}

PEERS = {
    "C": ([BENCH / "peer"], ROUNDS),
    "numpy": ([sys.executable, BENCH / "numpy_runner.py"], NUMPY_ROUNDS),
    "sklearn": ([sys.executable, BENCH / "sklearn_runner.py"], ROUNDS),
}

SPARSE_DIMENSIONS = [10_000, 100_000, 1_000_000, 10_000_000]
SPARSE_ROUNDS = 200_000
DENSE_ROUNDS = {10_000: 5_000, 100_000: 500, 1_000_000: 50}
NONZEROS = 75
SPARSE_AGES = [100_000, 1_000_000, 10_000_000]  # rounds, compared with 10,000
SPARSE_BALL = "l2:10"

# On the l1 ball, every round may add one feature to the decision. The number of rounds is such that the
# decision never has more than d/50 features, except for the smallest d, where this would be too few
# rounds to be timed.
ATOM_BALL = "l1:100"
ATOM_ROUNDS = {10_000: 2_000, 100_000: 2_000, 1_000_000: 20_000, 10_000_000: 20_000}
ATOM_DENSE_ROUNDS = DENSE_ROUNDS | {10_000_000: 5}

# The default learner. `DEFAULT_ONCE` is the spec of the default on the l2 ball. Older builds need this
# spec, because their runner does not accept `default`.
DEFAULT_DIMENSIONS = [10, 100, 1_000]
DEFAULT_ONCE = "hedge:base=(ofw-free:growth=steady),grid=[0.25,1,4,16],bases=[(gauge-ftrl)]"

# Two correct programs round differently, and on lp balls with p < 2 in high dimension the learners
# amplify a last-bit difference until it shows. A short game is compared closely on every ball. A whole
# stream is compared closely only on the l2 ball, where differences die out.
CHECK_ROUNDS = 10
CLOSE = 1e-9
SAME_GAME = 0.05

MIN_SECONDS = 1.0  # the least measured time of a row; short passes are repeated to reach this time
MAX_REPEATS = 5  # short passes are repeated up to this many times the requested repetitions
BUSY_CORES = 0.2
CORE = max(os.sched_getaffinity(0))  # the core of all runners, because two cores need not be equally fast
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# Programs use one thread, and keep streams in huge pages (numpy requests huge pages by itself). Without
# huge pages, the program that starts first is 10% slower than its own copy at d = 100,000.
RUNNER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


class Runner:
    """A running program that plays one pass for every `go`."""

    def __init__(self, command):
        self.command = [str(word) for word in command]
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
                preexec_fn=lambda: os.sched_setaffinity(0, {CORE}),
            )
        except OSError as error:
            sys.exit(f"bench: cannot start {self.command[0]}: {error.strerror}")
        if self.read() != "ready":
            self.fail("did not say `ready`")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.fail("stopped")
        return line.strip()

    def go(self):
        """One pass: its seconds, its average loss, the norm of its last decision (sparse rows: its non-zeros)."""
        try:
            self.process.stdin.write("go\n")
        except BrokenPipeError:
            self.fail("stopped")
        answer = self.read()
        try:
            seconds, loss, norm = map(float, answer.split())
        except ValueError:
            self.fail(f"answered `{answer}`, not SECONDS AVERAGE_LOSS FINAL_NORM2")
        return seconds, loss, norm

    def fail(self, what):
        self.process.kill()
        sys.exit(f"bench: this runner {what}: {' '.join(self.command)}")


@dataclass
class Duel:
    """The measurements of two programs that took turns."""

    first_speed: float  # rounds per second, median
    second_speed: float
    ratio: float  # of speeds within one pair of passes, median: above 1 when the first is faster
    low: float  # smallest such ratio
    high: float
    foreign: float  # cores used by other processes meanwhile
    first_loss: float
    second_loss: float

    def spread(self):
        ratio, low, high = (
            f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
            for value in (self.ratio, self.low, self.high)
        )
        return f"{ratio} [{low}..{high}]"

    def notes(self):
        return [f"busy: others used {self.foreign:.1f} cores"] if self.foreign > BUSY_CORES else []


def duel(first, second, reps, starts=None):
    """Alternates passes of two (command, rounds) sides, and the order of the two.

    The programs are started afresh `starts` times, by default for every
    repetition: where the system happens to place their memory makes some
    starts a third slower (seen at d = 1000).
    """
    starts = starts or reps
    times, losses, foreign, elapsed = [], None, 0.0, 0.0
    for start in range(starts):
        earlier, later = (first, second) if start % 2 == 0 else (second, first)
        with Runner(earlier[0]) as a, Runner(later[0]) as b:
            if start % 2 == 1:
                a, b = b, a
            a.go(), b.go()  # warm up
            measured = 0.0
            enough = math.ceil(reps * (start + 1) / starts)
            most = len(times) + math.ceil(reps * MAX_REPEATS / starts)
            while len(times) < enough or (measured < MIN_SECONDS / starts and len(times) < most):
                clock, ticks = time.monotonic(), foreign_ticks(a, b)
                if len(times) % 2 == 0:
                    (ta, la, _), (tb, lb, _) = a.go(), b.go()
                else:
                    (tb, lb, _), (ta, la, _) = b.go(), a.go()
                foreign += foreign_ticks(a, b) - ticks
                elapsed += time.monotonic() - clock
                measured += ta + tb
                times.append((ta, tb))
                losses = la, lb
    speeds = [(first[1] / ta, second[1] / tb) for ta, tb in times]
    ratios = [a / b for a, b in speeds]
    return Duel(
        *map(statistics.median, zip(*speeds)),
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        foreign / TICKS_PER_SECOND / elapsed,
        *losses,
    )


def foreign_ticks(*runners):
    """Processor time so far, in ticks, of all processes except the runners and this program."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    total = user + nice + system + irq + softirq + steal
    for pid in [os.getpid(), *(runner.process.pid for runner in runners)]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total -= int(fields[11]) + int(fields[12])
    return total


def truth(d):
    """The decision w that determines the labels, with |w|_2 = 2 sqrt(d), and the generator that drew
    w."""
    rng = np.random.default_rng([SEED, d])
    w = rng.standard_normal(d)
    w *= 2 * math.sqrt(d) / np.linalg.norm(w)
    return w, rng


def ball_around(name, d):
    """The SET argument of the ball that has the decision w on its boundary."""
    w, _ = truth(d)
    p = COMPARATOR_BALLS[name]
    radius = float((np.abs(w) ** p).sum() ** (1 / p))
    return f"{name}:{radius!r}" if p in (1, 2) else f"lp:{p}:{radius!r}"


def stream(loss, d, rounds):
    """The path of the stream's file. The stream is drawn if the file does not exist."""
    path = DATA / f"{loss}-{d}-{rounds}.f64"
    if path.exists():
        return path
    w, rng = truth(d)
    rows = rng.standard_normal((rounds, d))
    rows /= math.sqrt(d)
    score = rows @ w
    if loss == "logistic":
        labels = np.where(rng.random(rounds) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    else:
        labels = score + NOISE * rng.standard_normal(rounds)
    DATA.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    with open(unfinished, "wb") as file:
        rows.astype("<f8", copy=False).tofile(file)
        labels.astype("<f8", copy=False).tofile(file)
    unfinished.rename(path)
    return path


def game(algo, ball, loss, d, rounds):
    """Arguments of a runner."""
    return [algo, ball_around(ball, d), loss, d, rounds, LAMBDA, stream(loss, d, rounds)]


def default_game(learner, d, rounds):
    """Arguments of our runner: the learner, by its spec or `default`, on the dense logistic stream."""
    ball, radius = ball_around("l2", d).split(":")
    return ["play", learner, "dense", f"{ball}:radius={radius}", "logistic", d, rounds, stream("logistic", d, rounds)]


def human(speed):
    if speed >= 1e6:
        return f"{speed / 1e6:.2f}M"
    return f"{speed / 1e3:.1f}k" if speed >= 1e4 else f"{speed:.0f}"


class Bench:
    """The options, and the lines of the report so far."""

    def __init__(self, options):
        self.ours, self.reps = options.ours, options.reps
        self.only = re.compile(options.only)
        self.mismatches = 0
        self.lines = []

    def wanted(self, name):
        return self.only.search(name) is not None

    def section(self, title, columns, widths):
        self.widths, self.heading = widths, (title, columns)

    def row(self, *cells):
        if self.heading:
            (title, columns), self.heading = self.heading, None
            print(f"\n{title}\n")
            self.lines += ["", f"## {title}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
            self.print_row(columns)
        self.print_row(cells)
        self.lines.append(f"| {' | '.join(cells)} |")

    def print_row(self, cells):
        padded = (cell.ljust(width) for cell, width in zip(cells, self.widths))
        print("  ".join(padded).rstrip(), flush=True)

    def compare(self, what, a, b, tolerance):
        """A note for the table if two figures differ that should agree."""
        if abs(a - b) <= tolerance * max(abs(a), abs(b)):
            return []
        self.mismatches += 1
        return [f"MISMATCH in {what}: {a!r} and {b!r}"]

    def dense(self, games, balls, dimensions):
        self.section(
            "Dense streams, rounds per second",
            ["workload", "ours", "peer", "its speed", "ours / peer [spread]", "notes"],
            [30, 8, 8, 10, 24, 0],
        )
        for (algo, loss), ball, d, peer in itertools.product(games, balls, dimensions, PEERS):
            name = f"{algo} {loss} {ball} d={d}"
            if self.wanted(f"{name} vs {peer}"):
                self.dense_row(name, algo, loss, ball, d, peer)

    def dense_row(self, name, algo, loss, ball, d, peer):
        program, rounds = PEERS[peer]

        def sides(rounds):
            arguments = game(algo, ball, loss, d, rounds)
            return ([self.ours, *arguments], rounds), ([*program, *arguments], rounds)

        # Python is slow to start, and the ratios of Python rows are large.
        result = duel(*sides(rounds[d]), self.reps, starts=None if peer == "C" else 1)
        notes = result.notes()
        if peer == "sklearn":
            notes.append("SGD without a set: speed only")
        else:
            losses = result.first_loss, result.second_loss
            notes += self.compare("loss", *losses, CLOSE if ball == "l2" else SAME_GAME)
            (ours, _), (theirs, _) = sides(CHECK_ROUNDS)
            with Runner(ours) as a, Runner(theirs) as b:
                (_, loss_a, norm_a), (_, loss_b, norm_b) = a.go(), b.go()
            notes += self.compare(f"loss over {CHECK_ROUNDS} rounds", loss_a, loss_b, CLOSE)
            notes += self.compare(f"norm after {CHECK_ROUNDS} rounds", norm_a, norm_b, CLOSE)
        speeds = human(result.first_speed), peer, human(result.second_speed)
        self.row(name, *speeds, result.spread(), "; ".join(notes))

    def comparators(self, d=1_000, rounds=10_000):
        self.section(
            f"The best decision in hindsight to a gap of {COMPARATOR_GAP:.0e}, logistic, "
            f"{rounds} x {d}: milliseconds",
            ["set", "ours", "peer", "its time", "time peer / ours [spread]", "notes"],
            [30, 8, 8, 10, 24, 0],
        )
        for ball, peer in COMPARATOR_PEERS:
            if not self.wanted(f"best {ball} vs {peer}"):
                continue
            arguments = [ball_around(ball, d), d, rounds, COMPARATOR_GAP, stream("logistic", d, rounds)]
            ours = [self.ours, "best", "auto", arguments[0], "logistic", *arguments[1:]]
            theirs = [sys.executable, BENCH / "comparator_runner.py", peer, *arguments]
            result = duel((ours, 1), (theirs, 1), self.reps, starts=1)
            notes = result.notes()
            notes += self.compare("loss", result.first_loss, result.second_loss, 2 * COMPARATOR_GAP)
            if peer in ("lbfgs", "liblinear"):
                notes.append("penalised: one fit at the penalty that gives this norm, its search not timed")
            first, second = (f"{1e3 / speed:.0f}" for speed in (result.first_speed, result.second_speed))
            self.row(ball, first, peer, second, result.spread(), "; ".join(notes))

    def shape(self, dimensions):
        self.section(
            "The price of the l1.5 ball: ours, ofw-ls logistic",
            ["dimension", "l2", "l1.5", "time l1.5 / time l2 [spread]", "notes"],
            [30, 8, 8, 30, 0],
        )
        for d in dimensions:
            if self.wanted(f"price of l1.5 d={d}"):
                l2, l1_5 = (
                    ([self.ours, *game("ofw-ls", ball, "logistic", d, ROUNDS[d])], ROUNDS[d])
                    for ball in ("l2", "l1.5")
                )
                result = duel(l2, l1_5, self.reps)
                speeds = human(result.first_speed), human(result.second_speed)
                self.row(f"d={d}", *speeds, result.spread(), "; ".join(result.notes()))

    def default(self, dimensions):
        self.section(
            "The price of the default, a hedge of five: ours, logistic, l2",
            ["dimension", "ofw-ls", "default", "time default / time ofw-ls [spread]", "notes"],
            [30, 8, 8, 36, 0],
        )
        for d in dimensions:
            if self.wanted(f"price of default d={d}"):
                rounds = NUMPY_ROUNDS[d]
                alone = [self.ours, *game("ofw-ls", "l2", "logistic", d, rounds)]
                default = [self.ours, *default_game("default", d, rounds)]
                result = duel((alone, rounds), (default, rounds), self.reps)
                speeds = human(result.first_speed), human(result.second_speed)
                self.row(f"d={d}", *speeds, result.spread(), "; ".join(result.notes()))

    def sparse(self, dimensions):
        def side(storage, d, rounds):
            command = [self.ours, "sparse", storage, "ofw-ls", SPARSE_BALL, d, rounds, NONZEROS, SEED]
            return command, rounds

        self.section(
            f"Sparse rows of {NONZEROS} non-zeros on the l2 ball: ours, ofw-ls logistic, rounds per second",
            ["first", "its speed", "second", "its speed", "first / second [spread]", "notes"],
            [16, 10, 16, 10, 24, 0],
        )
        for d in dimensions:
            if d in DENSE_ROUNDS and self.wanted(f"lazy d={d} vs dense"):
                dense = side("dense", d, DENSE_ROUNDS[d])
                result = duel(side("lazy", d, SPARSE_ROUNDS), dense, self.reps)
                with Runner(side("lazy", d, DENSE_ROUNDS[d])[0]) as lazy:
                    _, loss, _ = lazy.go()
                notes = result.notes() + self.compare("loss", loss, result.second_loss, CLOSE)
                self.sparse_row(f"lazy d={d}", f"dense d={d}", result, notes)
        smallest = SPARSE_DIMENSIONS[0]
        for d in dimensions:
            if d != smallest and self.wanted(f"lazy d={d} vs lazy d={smallest}"):
                sides = side("lazy", d, SPARSE_ROUNDS), side("lazy", smallest, SPARSE_ROUNDS)
                result = duel(*sides, self.reps)
                self.sparse_row(f"lazy d={d}", f"lazy d={smallest}", result, result.notes())

    def ages(self, rounds):
        """Whether the cost of a round grows with the number of rounds played."""

        def side(count):
            return [self.ours, "sparse", "lazy", "ofw-ls", SPARSE_BALL, 100_000, count, NONZEROS, SEED], count

        self.section(
            f"Long runs on sparse rows of {NONZEROS} non-zeros, d = 100,000: ours, ofw-ls logistic, rounds per second",
            ["first", "its speed", "second", "its speed", "first / second [spread]", "notes"],
            [16, 10, 16, 10, 24, 0],
        )
        shortest = SPARSE_ROUNDS // 20
        for count in rounds:
            if self.wanted(f"lazy T={count} vs lazy T={shortest}"):
                result = duel(side(count), side(shortest), min(self.reps, 3))
                self.sparse_row(f"lazy T={count}", f"lazy T={shortest}", result, result.notes())

    def atoms(self, dimensions):
        def side(storage, d, rounds):
            command = [self.ours, "sparse", storage, "ofw-ls", ATOM_BALL, d, rounds, NONZEROS, SEED]
            return command, rounds

        self.section(
            f"Sparse rows of {NONZEROS} non-zeros on the l1 ball: ours, ofw-ls logistic, rounds per second",
            ["dimension", "sparse", "support", "dense", "sparse / dense [spread]", "notes"],
            [16, 10, 16, 10, 24, 0],
        )
        for d in dimensions:
            if not self.wanted(f"sparse d={d} vs dense"):
                continue
            dense = side("dense", d, ATOM_DENSE_ROUNDS[d])
            sparse = side("sparse", d, ATOM_ROUNDS[d])
            result = duel(sparse, dense, self.reps)
            with Runner(sparse[0]) as runner:
                _, _, support = runner.go()
            with Runner(side("sparse", d, ATOM_DENSE_ROUNDS[d])[0]) as runner:
                _, loss, _ = runner.go()
            notes = result.notes() + self.compare("loss", loss, result.second_loss, CLOSE)
            cells = human(result.first_speed), f"{support:.0f}", human(result.second_speed)
            self.row(f"d={d}", *cells, result.spread(), "; ".join(notes))

    def sparse_row(self, first, second, result, notes):
        speeds = human(result.first_speed), second, human(result.second_speed)
        self.row(first, *speeds, result.spread(), "; ".join(notes))

    def write(self):
        REPORT.parent.mkdir(exist_ok=True)
        head = ["# Last comparison", "", f"{time.strftime('%Y-%m-%d')}, {self.reps} repetitions or more. {machine()}"]
        REPORT.write_text("\n".join(head + self.lines) + "\n")


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.partition("\n")[0]
    except FileNotFoundError:
        return f"no {command[0]}"


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    parts = [
        f"{os.cpu_count()} x {cpu.group(1) if cpu else platform.machine()}",
        first_line(os.environ.get("CC", "gcc"), "--version"),
        first_line("rustc", "--version"),
        f"Python {platform.python_version()}",
        *(f"{package} {version(package)}" for package in ("numpy", "scikit-learn")),
    ]
    return ", ".join(parts) + "."


def parse():
    parser = argparse.ArgumentParser(prog="bench/run", description="Times Extremal against other software.")
    parser.add_argument("--quick", action="store_true", help="a few workloads, 5 repetitions")
    parser.add_argument("--reps", type=int, metavar="N", help="repetitions of every pair (7, with --quick 5)")
    parser.add_argument("--only", default="", metavar="REGEX", help="only rows such as `ofw-ls ridge l1.5 d=100 vs C`")
    parser.add_argument("--ours", default=OURS, metavar="PROGRAM", help="time this program instead of ours")
    options = parser.parse_args()
    if options.reps is None:
        options.reps = 5 if options.quick else 7
    if options.reps < 1:
        parser.error("--reps must be at least 1")
    return options


def main():
    options = parse()
    os.environ |= RUNNER_ENVIRONMENT
    bench = Bench(options)
    print(machine())
    try:
        if options.quick:
            bench.dense(GAMES[:1], ["l2", "l1.5"], [10, 1_000, 100_000])
            bench.shape([1_000, 100_000])
            bench.default([100])
            bench.sparse([10_000, 1_000_000])
            bench.atoms([1_000_000])
            bench.comparators()
        else:
            bench.dense(GAMES, BALLS, ROUNDS)
            bench.shape([d for d in ROUNDS if d >= 1_000])
            bench.default(DEFAULT_DIMENSIONS)
            bench.sparse(SPARSE_DIMENSIONS)
            bench.ages(SPARSE_AGES)
            bench.atoms(ATOM_ROUNDS)
            bench.comparators()
    finally:
        if bench.lines:  # an interrupted run keeps its finished rows
            bench.write()
    if not bench.lines:
        sys.exit(f"bench: no row matches --only {options.only}")
    print(f"\nWritten to {REPORT.relative_to(BENCH.parent)}")
    if bench.mismatches:
        sys.exit(f"bench: {bench.mismatches} pairs of figures differ that should agree: see MISMATCH")


if __name__ == "__main__":
    main()
