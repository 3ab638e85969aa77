#!/usr/bin/env python3
"""Prints the lines of every crate, divided into rooms (its main folders), with their budgets, and
counts that must stay small.

    python3 tools/size.py            # prints the tables (`make size`)
    python3 tools/size.py --check    # also exits with code 1 if a limit is exceeded
    python3 tools/size.py --files    # also prints the places that are counted
"""

import argparse
import re
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent / "crates"
SOURCE = CRATES / "extremal" / "src"

# Budgets count physical lines, including documentation and unit tests. A room is one or more folders or
# files of a crate. A room without folders is the rest of the crate. The crate extremal-check is not
# counted.
CORE = {
    "kernel": (["kernel"], 1600),
    "set": (["set"], 6900),
    "surrogate": (["surrogate"], 3850),
    "loss": (["loss"], 1200),
    "theory": (["theory"], 1200),
    "learner": (["learner"], 8400),
    "hindsight, solver": (["hindsight", "solver"], 2350),
    "stream": (["stream"], 1300),
    "unit-free": (["unit-free"], 1500),
    "root": ([], 930),
}
# The learner unit-free is newer than the budgets, and has a separate allowance.
UNIT_FREE = ("learner/untuned/unit_free/", "set/unit_free.rs", "kernel/lanes.rs")
ALLOWANCE = 1500
REPORT = ["report", "table", "summary.rs", "view.rs", "facts.rs", "remarks.rs"]
OTHERS = {
    "extremal-data": {"data": ([], 4350)},
    "extremal-learn": {"learn": ([], 2800)},
    "extremal-lab": {
        "lab: experiment": (["experiment"], 1750),
        "lab: report": (REPORT, 2750),
        "lab: picture, rows, surrogate": (
            ["picture", "plane", "rows", "surrogate", "surrogate_gap.rs"],
            1570,
        ),
        "lab: root": ([], 2200),
    },
    "extremal-cli": {"cli": ([], 800)},
    "extremal-python": {"python": ([], 2165)},
}
LARGEST_CORE = 29_500 + ALLOWANCE
LARGEST = 48_500 + ALLOWANCE
LEAST_DOCS = 0.10
LONGEST_FILE = 600

# Certificates that allow for rounding are newer than the budgets, so they are counted separately:
# these files, and the functions in hindsight/ and solver/ that compute with wide numbers or bounds
# on rounding errors.
CERTIFICATE_FILES = ["rounding.rs", "hindsight/radius.rs"]
CERTIFICATE_CODE = r"rounding::|\bWide|\bUNIT\b|\bMinorant\b|\w_error\b"
FUNCTION = r"\s*(pub(\(\w+\))? )?fn \w+"


class File:
    def __init__(self, path, source):
        self.path = path.relative_to(source)
        of_unit_free = self.path.as_posix().startswith(UNIT_FREE)
        self.room = "unit-free" if of_unit_free else self.path.parts[0]
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.docs = sum(line.lstrip().startswith("//") for line in self.lines)
        self.code = self._code()

    def _code(self):
        """The lines of code as (line number, text), without comments and unit tests. Unit tests are at
        the end of a file."""
        code = []
        if self.path.name == "tests.rs":
            return code
        for number, line in enumerate(self.lines, 1):
            if line.startswith("#[cfg(test)]"):
                following = self.lines[number : number + 1]
                if not (following and following[0].endswith(";")):
                    break
            line = re.sub(r"//.*", "", line)
            if line.strip():
                code.append((number, line))
        return code

    def find(self, pattern):
        return [f"{self.path}:{n}" for n, text in self.code if re.search(pattern, text)]


def find(files, pattern):
    return [place for file in files for place in file.find(pattern)]


def blocks(code, opening):
    """Returns every block whose first line matches. A block is a list of (line number, text)."""
    depth, open_blocks, closed = 0, [], []
    for number, text in code:
        if re.match(opening, text):
            open_blocks.append((depth, []))
        for _, lines in open_blocks:
            lines.append((number, text))
        depth += text.count("{") - text.count("}")
        while open_blocks and depth <= open_blocks[-1][0] and re.search(r"[};]", text):
            closed.append(open_blocks.pop()[1])
    return closed


# Files with loops over oracle calls that are not searches like those of the solver. Each file has a
# reason.
NO_SEARCH = {
    "learner/rivals/few_calls/pairwise.rs": "a round's few steps are the paper's algorithm",
    "hindsight/meter.rs": "each step proves a certificate, in wide numbers; the best one counts",
}


def searches(file):
    """Loops that search over a set: they call an oracle or a projection, directly or in a function of
    the same file."""
    call = r"\.(minimise|project)\("
    for function in blocks(file.code, FUNCTION):
        if any(re.search(call, text) for _, text in function):
            name = re.search(r"fn (\w+)", function[0][1]).group(1)
            call += rf"|\b{name}\("
    for loop in blocks(file.code, r"\s*('\w+:\s*)?(for|while|loop)\b"):
        text = "\n".join(text for _, text in loop)
        if re.search(call, text) and re.search(r"\b(break|return)\b", text):
            yield f"{file.path}:{loop[0][0]}"


STATE_ERROR = r"(?:Error|Self)::State\((?!_)"


def state_helpers(files):
    """Calls of helpers that only build an error about a saved state."""
    makers, places = STATE_ERROR, set()
    # two passes, because a helper may call another helper
    for file in 2 * files:
        text = "\n".join(line for _, line in file.code)
        function = rf"^(.*)\bfn (\w+)\([^{{]*-> (?:Error|Self) \{{\s*(?:{makers})"
        for visibility, name in re.findall(function, text, re.MULTILINE):
            where = files if "pub" in visibility else [file]
            places |= set(find(where, rf"(?<!fn )\b{name}(\(|\))"))
            makers += rf"|\b{name}\("
        for name in re.findall(rf"let (\w+) = \|[^|]*\| \{{?\s*(?:{makers})", text):
            places |= set(find([file], rf"(?<!let )\b{name}(\(|\))"))
    return sorted(places)


def large_constants(files):
    """Files with a constant of 1e100 or more, or of 1e-100 or less. Such constants limit numbers."""
    pattern = r"\bconst \w+: [^=]*f64[^=]*=.*\d[eE]-?[1-9]\d\d"
    return sorted({place.rsplit(":", 1)[0] for place in find(files, pattern)})


def scaffolding(learners):
    """Files that are not part of an algorithm. A file is part of an algorithm if it has its spec, rule
    or method, or is in the algorithm's own folder. Files that only declare modules do not count."""
    algorithm = r"\bABOUT: About\b|impl\b.*\b(Rule|Method) for\b"
    folders = [f.path.parent for f in learners if f.path.name == "mod.rs" and f.find(algorithm)]
    for file in learners:
        part = any(folder in file.path.parents for folder in folders)
        declares = all(re.match(r"(pub(\(\w+\))? )?(use|mod) |#\[", t) for _, t in file.code)
        if not (part or declares or file.find(algorithm)):
            yield str(file.path)


def counts(files):
    """Yields (description, limit, places) for each count."""
    learners = [file for file in files if file.room == "learner"]
    outside = [file for file in files if file.path.parts[0] != "kernel"]
    yield "impl Learner for", 1, find(files, r"\bimpl\b.*\bLearner for\b")
    # The limit is one more than the budget, because of unit-free.
    yield "impl Point for", 7, find(files, r"\bimpl\b.*\bPoint for\b")
    yield "Error::State(", 8, find(files, STATE_ERROR)
    yield "    calls of helpers that make it", None, state_helpers(files)
    memory = r"(oracle|projection)\w*(\(\))?\.(save|load|forget)\("
    yield "saved memory of oracles and projections", 0, find(files, memory)
    yield "files with constants that limit magnitudes", 1, large_constants(files)
    yield "next_ twin fields in learners", 0, find(learners, r"\.next_\w+\b(?!\()")
    solver = "solver" if any(file.room == "solver" for file in files) else "hindsight"
    others = [file for file in files if file.room not in (solver, "set", "kernel")]
    others = [file for file in others if str(file.path) not in NO_SEARCH]
    elsewhere = sorted({place.rsplit(":", 1)[0] for file in others for place in searches(file)})
    yield f"files outside {solver}/ that minimise over a set", 0, elsewhere
    yield "files in learner/ that are no algorithm", 10, list(scaffolding(learners))
    inlined = find(outside, r"#\[inline\((always|never)\)\]")
    yield "#[inline(always|never)] outside kernel/", 10, inlined
    long = [str(file.path) for file in files if len(file.lines) > LONGEST_FILE]
    yield f"files over {LONGEST_FILE} lines", 0, long


def sources(crate):
    source = CRATES / crate / "src"
    return [File(path, source) for path in sorted(source.rglob("*.rs"))]


def certificates(file):
    """The number of a file's lines that are counted separately."""
    if str(file.path) in CERTIFICATE_FILES:
        return len(file.lines)
    if file.room not in ("hindsight", "solver"):
        return 0
    counted = [
        block[-1][0] - block[0][0] + 1
        for block in blocks(file.code, FUNCTION)
        if any(re.search(CERTIFICATE_CODE, text) for _, text in block)
    ]
    return sum(counted)


def row(name, lines, budget, docs=None):
    docs = "" if docs is None else f"{docs:.1%}"
    budget, over = (f"{budget:,}", f"{lines - budget:+,}") if budget else ("", "")
    print(f"{name:<32}{lines:>8,}{budget:>8}{over:>8}{docs:>7}")


def print_rooms(files, rooms, apart):
    """Prints one row per room, without the lines of certificates, which are appended to `apart`."""
    named = {place for places, _ in rooms.values() for place in places}
    for name, (places, budget) in rooms.items():
        inside = [f for f in files if f.room in places or (not places and f.room not in named)]
        counted = sum(certificates(file) for file in inside) if rooms is CORE else 0
        apart.append(counted)
        lines = sum(len(file.lines) for file in inside)
        row(name, lines - counted, budget, sum(file.docs for file in inside) / max(lines, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit with code 1 if a limit is exceeded")
    parser.add_argument("--files", action="store_true", help="print the places that each count found")
    options = parser.parse_args()
    files = sources("extremal")
    exceeded, apart = [], []

    print(f"{'room':<32}{'lines':>8}{'budget':>8}{'over':>8}{'docs':>7}")
    print_rooms(files, CORE, apart)
    row("certificates, counted apart", sum(apart), None)
    core = sum(len(file.lines) for file in files)
    docs = sum(file.docs for file in files) / core
    row("core", core, LARGEST_CORE, docs)
    exceeded += ["lines of the core"] * (core > LARGEST_CORE)
    exceeded += ["share of documentation"] * (docs < LEAST_DOCS)
    total = core
    for crate, rooms in OTHERS.items():
        inside = sources(crate)
        print_rooms(inside, rooms, apart)
        total += sum(len(file.lines) for file in inside)
    row("all", total, LARGEST)
    exceeded += ["lines of all crates"] * (total > LARGEST)

    print(f"\n{'count':<56}{'now':>5}{'limit':>7}")
    for name, limit, places in counts(files):
        mark = "  over" if limit is not None and len(places) > limit else ""
        print(f"{name:<56}{len(places):>5}{'' if limit is None else limit:>7}{mark}")
        exceeded += [name] * bool(mark)
        if options.files:
            for place in places:
                print(f"    {place}")
    if options.check and exceeded:
        raise SystemExit("over the limit: " + ", ".join(exceeded))


if __name__ == "__main__":
    main()
