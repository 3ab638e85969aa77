"""Compares the speed of this build with an older build of the same programs; see README.md.

    bash bench/run --against OLD [--reps N] [--only REGEX]

OLD is a git revision, which this script builds, or the path of a built `extremal-bench`. Start the
comparison with `bash bench/run`, which builds the new side.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import run

ROOT = run.BENCH.parent
KEPT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "against"

LARGE = 100  # the last line counts only rows with at least this dimension
SLOWER = 0.95  # the last line names each row whose whole spread is below this ratio


def program_of(old, package, name):
    """The old side's program `name`: the file `old`, or the one that the revision `old` builds.

    A revision is built once. All revisions share a target folder, for their dependencies.
    """
    if Path(old).is_file():
        return Path(old).absolute()
    found = git("rev-parse", "--verify", "--quiet", f"{old}^{{commit}}")
    if found.returncode != 0:
        sys.exit(f"bench: --against {old}: neither a program nor a git revision")
    revision = found.stdout.strip()
    program = KEPT / revision / name
    if not program.exists():
        print(f"building {name} of {old} ({revision[:10]})", flush=True)
        build(revision, package)
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(KEPT / "build" / "release" / name, program)
    return program


def build(revision, package):
    source = KEPT / "source"
    git("worktree", "remove", "--force", str(source))  # left by an interrupted run
    added = git("worktree", "add", "--detach", str(source), revision)
    if added.returncode != 0:
        sys.exit(f"bench: {added.stderr}")
    try:
        command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", package]
        done = subprocess.run([*command, "--target-dir", KEPT / "build"], cwd=source)
    finally:
        git("worktree", "remove", "--force", str(source))
    if done.returncode != 0:
        sys.exit(f"bench: {revision[:10]} does not build")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)


def plays(command):
    """Whether the program accepts these arguments. If so, the program prints `ready`, and stops at the
    end of its input."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.split() == ["ready"]


def workloads():
    """Yields every row as its name, its dimension, its number of rounds, and the arguments to try in
    turn."""
    for d in run.DEFAULT_DIMENSIONS:
        rounds = run.NUMPY_ROUNDS[d]
        # An older build does not accept `default`, but it can play the learner that was the default then.
        arguments = [run.default_game(learner, d, rounds) for learner in ("default", run.DEFAULT_ONCE)]
        yield f"default logistic l2 d={d}", d, rounds, arguments
    for algo, loss in run.GAMES:
        for ball in run.BALLS:
            for d, rounds in run.ROUNDS.items():
                yield f"{algo} {loss} {ball} d={d}", d, rounds, [run.game(algo, ball, loss, d, rounds)]
    storages = [
        ("lazy", run.SPARSE_BALL, dict.fromkeys(run.SPARSE_DIMENSIONS, run.SPARSE_ROUNDS)),
        ("dense", run.SPARSE_BALL, run.DENSE_ROUNDS),
        ("sparse", run.ATOM_BALL, run.ATOM_ROUNDS),
    ]
    for storage, ball, dimensions in storages:
        for d, rounds in dimensions.items():
            arguments = ["sparse", storage, "ofw-ls", ball, d, rounds, run.NONZEROS, run.SEED]
            yield f"{storage} storage {ball.partition(':')[0]} d={d}", d, rounds, [arguments]


class Table:
    """The rows, printed one by one."""

    WIDTHS = [32, 8, 8, 22, 0]

    def __init__(self, columns):
        self.columns = columns
        self.results = []

    def row(self, name, d, result, notes):
        if not self.results:
            self.print(self.columns)
        speeds = run.human(result.first_speed), run.human(result.second_speed)
        self.print([name, *speeds, result.spread(), "; ".join(notes)])
        self.results.append((name, d, result))

    def print(self, cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, self.WIDTHS)).rstrip(), flush=True)

    def summary(self):
        for title, smallest in (("all rows", 0), (f"rows with d >= {LARGE}", LARGE)):
            ratios = [result.ratio for _, d, result in self.results if d >= smallest]
            if ratios:
                print(f"median of new / old over {title} ({len(ratios)}): {statistics.median(ratios):.3f}")
        slower = [name for name, _, result in self.results if result.high < SLOWER]
        print(f"rows whose whole spread lies below {SLOWER}: {', '.join(slower) or 'none'}")


def race(ours, old, reps, only):
    table = Table(["workload", "new", "old", "new / old [spread]", "notes"])
    for name, d, rounds, arguments in workloads():
        if not re.search(only, name):
            continue
        sides = []
        for program in (ours, old):
            commands = ([program, *words] for words in arguments)
            sides.append(next((command for command in commands if plays(command)), None))
        if None in sides:
            print(f"{name}: skipped, {'the new' if sides[0] is None else 'the old'} build can't play it", flush=True)
            continue
        # Half as many starts as repetitions: loading the streams would take longer than playing them.
        result = run.duel(*((side, rounds) for side in sides), reps, starts=(reps + 1) // 2)
        losses = result.first_loss, result.second_loss
        notes = result.notes()
        if abs(losses[0] - losses[1]) > run.CLOSE * max(map(abs, losses)):
            notes.append(f"losses differ: {losses[0]:.6g} and {losses[1]:.6g}")
        table.row(name, d, result, notes)
    if not table.results:
        sys.exit(f"bench: no row played that matches --only {only}")
    print()
    table.summary()


def main():
    parser = argparse.ArgumentParser(prog="bench/run", description="Races this build of Extremal against an older one.")
    parser.add_argument("--against", required=True, metavar="OLD", help="a git revision, or a built extremal-bench")
    parser.add_argument("--reps", type=int, default=5, metavar="N", help="repetitions of every pair (5)")
    parser.add_argument("--only", default="", metavar="REGEX", help="only rows such as `ofw-ls ridge l1.5 d=100`")
    parser.add_argument("--ours", default=run.OURS, metavar="PROGRAM", help="compare this program instead of ours")
    options = parser.parse_args()
    if options.reps < 1:
        parser.error("--reps must be at least 1")
    os.environ |= run.RUNNER_ENVIRONMENT
    old = program_of(options.against, "extremal-bench", "extremal-bench")
    print(run.machine(), flush=True)
    race(options.ours, old, options.reps, options.only)


if __name__ == "__main__":
    main()
