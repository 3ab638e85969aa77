"""Runs the experiments of the guide and the README again, and rewrites their tables and pictures.

    make figures                        does everything; about two minutes on two cores
    python tools/figures.py --no-run    uses the results of the last run, in target/figures
    … --keep-times                      keeps the times in the tables, for a busy machine

A table in a document has the command that printed it in a comment above it:

    <!-- output of: extremal compare experiments/table1.toml -->

The block after the comment shows some of the experiment's problems. This program rewrites their rows.
A test (`pasted.rs` in the guide's tests) repeats the runs, and fails if a number in a block has changed.
"""

import io
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "target" / "figures"
IMAGES = ROOT / "docs" / "src" / "images"
PROGRAM = ROOT / "target" / "release" / "extremal"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "src").rglob("*.md"))]
PASTED = re.compile(r"<!-- output of: (extremal (?:compare|demo).*?) -->\n+```text\n(.*?)^```$", re.M | re.S)
TOML = re.compile(r"^```toml\n(.*?)^```$", re.M | re.S)


def run(command, page):
    """The output of a command. Without --no-run, the command runs again without reusing results. If its
    experiment is not a file in the repository, the experiment is the last TOML block of `page`."""
    words = shlex.split(command)[1:]
    if words[0] == "compare":
        file = ROOT / words[1]
        name = file.stem
        if not file.exists():
            file = OUT / words[1]
            file.write_text(TOML.findall(page)[-1], encoding="utf-8")
        words[1] = str(file)
    else:
        name = "-".join(words).replace("--", "")
        if "--out" in words:
            del words[words.index("--out"):][:2]
    out, printed = OUT / name, OUT / f"{name}.txt"
    if "--no-run" not in sys.argv or not printed.exists():
        # The command would otherwise reuse finished runs in its directory, even runs of an older build.
        shutil.rmtree(out, ignore_errors=True)
        print(f"{command}: running", flush=True)
        done = subprocess.run([PROGRAM, *words, "--out", out], capture_output=True, text=True, check=True)
        printed.write_text(done.stdout, encoding="utf-8")
    return printed.read_text(encoding="utf-8")


def title(paragraph):
    """The title of a problem, or the first two words of a note after the table."""
    line = paragraph.split("\n")[0]
    return line.split("  ")[0] if "  " in line else " ".join(line.split()[:2])


def pasted(block, output):
    """The block with each paragraph replaced by the same paragraph of the new output."""
    fresh = {title(p): p for p in output.rstrip("\n").split("\n\n")}
    head, *paragraphs = block.rstrip("\n").split("\n\n")
    head = output.split("\n\n")[0]
    for paragraph in paragraphs:
        if title(paragraph) not in fresh:
            sys.exit(f"the output has no “{title(paragraph)}”")
    kept = [fresh[title(p)] for p in paragraphs]
    # for a note, only the quoted lines are kept
    kept = [new if "  " in old.split("\n")[0] else "\n".join(new.split("\n")[:old.count("\n") + 1])
            for old, new in zip(paragraphs, kept)]
    return "\n\n".join([head, *kept]) + "\n"


def with_times_of(old, new):
    """The new block with the times of the old block. Times are matched by problem and learner."""
    def rows(block):
        problem = ""
        for line in block.split("\n"):
            cells = re.split(r"  +", line)
            problem = problem if len(cells) == 9 else cells[0]
            yield (problem, cells[0]), cells[-1] if len(cells) == 9 else None, line

    times = {key: time for key, time, _ in rows(old) if time}
    lines = []
    for key, time, line in rows(new):
        if time and key in times:
            line = line[:-len(time)].rstrip() + times[key].rjust(len(line) - len(line[:-len(time)].rstrip()))
        lines.append(line)
    return "\n".join(lines)


def tables():
    ran = {}
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")

        def replaced(match):
            command, block = match.groups()
            if command not in ran:
                ran[command] = run(command, text[:match.start()])
            start, end = match.start(2) - match.start(), match.end(2) - match.start()
            new = pasted(block, ran[command])
            if "--keep-times" in sys.argv:
                new = with_times_of(block, new)
            return match[0][:start] + new + match[0][end:]

        new = PASTED.sub(replaced, text)
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: written")


def boxes(page, locators, margin=16):
    """The smallest rectangle that contains these elements, with a margin."""
    page.evaluate("scrollTo(0, 0)")  # a click scrolls, and boxes are relative to the window
    found = [locator.bounding_box() for locator in locators]
    left, top = min(b["x"] for b in found) - margin, min(b["y"] for b in found) - margin
    right = max(b["x"] + b["width"] for b in found) + margin
    bottom = max(b["y"] + b["height"] for b in found) + margin
    left, top = max(left, 0), max(top, 0)
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def save(page, name, clip):
    from PIL import Image

    shot = page.screenshot(clip=clip, full_page=True)
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    image.save(IMAGES / f"{name}.png", optimize=True)
    print(f"docs/src/images/{name}.png: written")


def figures(page, name, titles, tab=None):
    """Saves a picture of several problems. This tab of every problem is open."""
    problems = [page.locator(".problem").filter(has=page.get_by_text(t, exact=True)) for t in titles]
    if tab:
        for problem in problems:
            problem.locator(".tabs > label").filter(has_text=tab).click()
    save(page, name, boxes(page, problems))


def rounds(page, name):
    """Saves a picture of two learners in the plane, at round 24."""
    stage = page.locator(".stage")
    stage.locator(".pick-problem").select_option(label="Strongly convex set, convex losses, random: ℓ1.5 ball")
    for k, learner in enumerate(["ofw-ls", "gauge-ftrl"]):
        stage.locator(".pick-learner").nth(k).select_option(label=learner)
    stage.locator(".first").click()
    for _ in range(23):
        stage.locator(".forward").click()
    save(page, name, boxes(page, [stage]))


def table(page):
    """Saves a picture of the heading and the first two problems of the table."""
    groups = page.locator("table.headline").first.locator("tr.group")
    start = page.locator("#results h2").first.bounding_box()
    whole = page.locator("#results").bounding_box()
    third = groups.nth(2).bounding_box()
    save(page, "report-table", {"x": whole["x"] - 16, "y": start["y"] - 16, "width": whole["width"] + 32,
                                "height": third["y"] - start["y"] + 16})


def pictures():
    from playwright.sync_api import sync_playwright

    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    found = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])

        def opened(name, scheme="light"):
            context = browser.new_context(viewport={"width": 1280, "height": 900}, device_scale_factor=1.5,
                                          color_scheme=scheme)
            page = context.new_page()
            page.goto((OUT / name / "report.html").as_uri())
            return page

        curved = ["Strongly convex set, convex losses, random: ℓ1.5 ball",
                  "Strongly convex set, convex losses, adversary: ℓ1.5 ball"]
        for scheme in ("light", "dark"):
            page = opened("table1", scheme)
            figures(page, f"report-{scheme}", curved)
            rounds(page, f"rounds-{scheme}")
        page = opened("table1")
        table(page)
        verdict = page.locator("section.verdict").bounding_box()
        save(page, "report-top", {"x": verdict["x"] - 16, "y": 0, "width": verdict["width"] + 32,
                                  "height": verdict["y"]})
        figures(opened("line-search"), "line-search", ["ℓ1.5 ball, a drift", "ℓ1.5 ball, an adversary"])
        figures(opened("oracle-calls"), "oracle-calls",
                ["ℓ1.5 ball, linear losses with a drift", "ℓ1.5 ball, sparse logistic regression"], "seconds")
        figures(opened("tuned"), "tuned",
                ["Phishing: logistic regression, ℓ1.5 ball", "Approval polls: least squares, ℓ2 ball"], "step size")
        browser.close()


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    tables()
    pictures()
