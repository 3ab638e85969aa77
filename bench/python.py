"""Compares the speed of the Python package with the library, with River and with scikit-learn.

    bash bench/run python [--reps N] [--only REGEX] [--against PYTHON]

Both programs of a row stay loaded and take turns, as in run.py. Compared with the library, the figure
is the time that Python adds. Both must end at the same decision, otherwise the row says MISMATCH.
Compared with River and scikit-learn, the figure is only about speed, because they run other
algorithms, without a set. With `--against`, only the package is timed, beside an older build of it
that is installed for the interpreter PYTHON.
"""

import argparse
import os
import re
import sys

from run import BENCH, OURS, RUNNER_ENVIRONMENT, Runner, duel, human, machine, stream

PYTHON = [sys.executable, BENCH / "python_runner.py"]
BALL = "l2:radius=20"
ROUNDS = 200_000
ROWS = 100_000
CLOSE = 1e-9

# The largest time that Python may add to a round, in nanoseconds or in percent.
EXTRA = {
    **{f"decide + observe {learner} d={d}": ("rounds", [learner, BALL], d, ROUNDS)
       for learner in ("ofw-free", "gauge-ftrl") for d in (10, 100)},
    **{f"{how} {learner} {loss} d={d}": ("play" if how == "play" else "history", [learner, storage, BALL, loss], d, count)
       for how in ("play", "play with a history") for learner, storage in (("gauge-ftrl", "dense"), ("coin-ftrl", "lazy"))
       for loss in ("logistic", "squared") for d, count in ((10, ROUNDS), (100, ROWS), (1_000, 20_000))},
}
# The same workloads through partial_fit, with all rows in one batch or a hundred rows at a time.
FITS = {
    f"partial_fit {learner} {loss} d=100, batches of {batch}": ([learner, storage, BALL, loss], batch)
    for learner, storage in (("gauge-ftrl", "dense"), ("coin-ftrl", "lazy"))
    for loss in ("logistic", "squared") for batch in (ROWS, 1_000, 100)
}
PEERS = {
    f"partial_fit default {loss} d=100, batches of 100 vs {peer}": (loss, peer)
    for loss in ("logistic", "squared") for peer in ("river", "river_dicts", "sklearn")
}


def data(loss, d, rounds):
    return stream("logistic" if loss == "logistic" else "ridge", d, rounds)


def norms(*commands):
    found = []
    for command in commands:
        with Runner(command) as runner:
            found.append(runner.go()[2])
    return found


def agree(rust, python):
    a, b = norms(rust, python)
    return [] if abs(a - b) <= CLOSE * abs(a) else [f"MISMATCH: decisions of norm {a!r} and {b!r}"]


def extra(name, rust, python, rounds, reps):
    """A row that compares the package with our own library."""
    result = duel((rust, rounds), (python, rounds), reps)
    added = 1e9 / result.second_speed - 1e9 / result.first_speed
    percent = f"{100 * (result.ratio - 1):+.1f} % [{100 * (result.low - 1):+.1f}..{100 * (result.high - 1):+.1f}]"
    notes = "; ".join(result.notes() + agree(rust, python))
    print(f"{name:<58}{1e9 / result.first_speed:>8.0f}{1e9 / result.second_speed:>8.0f}{added:>8.0f}  {percent:<28}{notes}",
          flush=True)
    return "MISMATCH" in notes


def own_rows():
    """The rows that need no other software: name, arguments of python_runner.py, rounds, arguments of the library's
    own program."""
    for name, (mode, words, d, count) in EXTRA.items():
        arguments = [*words, d, count, data(words[-1], d, count)]
        yield name, [mode, *arguments], count, ["rounds" if mode == "rounds" else "play", *arguments]
    for name, (words, batch) in FITS.items():
        arguments = [*words, 100, ROWS, data(words[-1], 100, ROWS)]
        yield name, ["fit", *arguments, batch], ROWS, ["play", *arguments]


def race(old, wanted, reps):
    """Compares each row of this build with the same row of the older build."""
    print(f"{'rows per second':<58}{'new':>8}{'old':>8}  new / old [spread]")
    for name, arguments, count, _ in own_rows():
        if wanted(name):
            sides = [([*program, *arguments], count) for program in (PYTHON, [old, *PYTHON[1:]])]
            result = duel(*sides, reps, starts=(reps + 1) // 2)
            print(f"{name:<58}{human(result.first_speed):>8}{human(result.second_speed):>8}  {result.spread():<22}"
                  f"{'; '.join(result.notes())}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="bash bench/run python", description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=7)
    parser.add_argument("--only", default="", help="a regular expression for the rows' names")
    parser.add_argument("--against", metavar="PYTHON", help="an interpreter for which an older build is installed")
    options = parser.parse_args()
    os.environ |= RUNNER_ENVIRONMENT
    wanted = re.compile(options.only).search
    print(machine(), "\n")
    if options.against:
        return race(options.against, wanted, options.reps)

    wrong = 0
    print(f"{'nanoseconds per round':<58}{'Rust':>8}{'Python':>8}{'more':>8}  more time [spread]")
    for name, python, count, rust in own_rows():
        if wanted(name):
            wrong += extra(name, [OURS, *rust], [*PYTHON, *python], count, options.reps)

    for d, count in ((10, ROUNDS), (100, ROWS), (1_000, 20_000)):
        if wanted(name := f"oracle in Python d={d}"):
            arguments = ["oracle", d, count, data("squared", d, count)]
            alone = duel(([*PYTHON, "callback", d, count], count), ([*PYTHON, "callback", d, count], count), 3, starts=1)
            name += f" (the function alone: {1e9 / alone.first_speed:.0f})"
            wrong += extra(name, [OURS, *arguments], [*PYTHON, *arguments], count, options.reps)

    print(f"\n{'rows per second':<66}{'ours':>8}{'its':>8}  ours / its [spread]")
    for name, (loss, peer) in PEERS.items():
        if wanted(name):
            arguments = [loss, 100, ROWS, data(loss, 100, ROWS)]
            theirs = [*arguments, 100] if peer == "sklearn" else arguments
            result = duel(([*PYTHON, "default", *arguments, 100], ROWS), ([*PYTHON, peer, *theirs], ROWS),
                          options.reps, starts=1)
            print(f"{name:<66}{human(result.first_speed):>8}{human(result.second_speed):>8}  {result.spread():<24}"
                  f"{'; '.join(result.notes())}", flush=True)
    if wrong:
        sys.exit(f"bench: {wrong} decisions that should agree do not: see MISMATCH")


if __name__ == "__main__":
    main()
