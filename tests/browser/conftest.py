"""The report that is tested, and the browser that opens it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """EXTREMAL_REPORT, or else the report of a small experiment that is run now."""
    given = os.environ.get("EXTREMAL_REPORT")
    if given:
        return Path(given).resolve()
    program = os.environ.get("EXTREMAL", str(ROOT / "target" / "debug" / "extremal"))
    experiment = os.environ.get("EXTREMAL_EXPERIMENT", str(Path(__file__).parent / "small.toml"))
    out = tmp_path_factory.mktemp("report")
    subprocess.run([program, "compare", experiment, "--out", str(out)], check=True)
    return out / "report.html"


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium; `run` has looked for one, or said why there is none."""
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not found:
        pytest.skip("no Chromium is installed; set CHROMIUM to its path")
    with sync_playwright() as playwright:
        # Without its sandbox: containers seldom allow it, and the only page is our own.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=WIDTHS, ids=list(WIDTHS))
def page(request, chromium, report):
    """The report, open. Whatever it complains of or asks for by then fails the test."""
    width, height = WIDTHS[request.param]
    context = chromium.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
    page = context.new_page()
    trouble = []
    page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: trouble.append(str(e)))
    own = report.as_uri()

    def asked(request):
        # a download's blob never leaves the page
        if request.url != own and not request.url.startswith("blob:"):
            trouble.append(f"asks for {request.url}")

    page.on("request", asked)
    page.goto(own)
    yield page
    context.close()
    assert trouble == []
