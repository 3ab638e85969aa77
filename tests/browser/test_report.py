"""The report in a browser, at desktop and phone width."""

import csv
import io
import re
import xml.etree.ElementTree as ET


def first_figure(page):
    return page.locator(".problem").first.locator(".panel:visible svg.figure")


def test_the_table_has_a_row_for_every_learner(page):
    table = page.locator("table.headline").first
    assert table.is_visible()
    rows = table.locator("tbody tr:not(.group)")
    learners = page.locator(".problem").first.locator(".chip").count()
    assert rows.count() >= learners >= 1
    head = table.locator("thead").inner_text().lower()
    for column in ("algorithm", "exponent", "regret", "certificate", "bound", "oracle"):
        assert column in head
    # a regret is a number
    cell = rows.first.locator("td").nth(3).inner_text()
    assert re.search(r"\d", cell), cell


def test_every_figure_is_drawn(page):
    problems = page.locator(".problem")
    assert problems.count() >= 1
    for i in range(problems.count()):
        problem = problems.nth(i)
        tabs = problem.locator(".tabs > label")
        assert tabs.count() >= 1
        for k in range(tabs.count()):
            tabs.nth(k).click()
            figure = problem.locator(".panel:visible svg.figure")
            assert figure.count() == 1
            box = figure.bounding_box()
            assert box["width"] > 300 and box["height"] > 150
            lines = figure.locator("polyline")
            assert any(lines.nth(j).bounding_box()["width"] > 5 for j in range(lines.count()))
            assert figure.locator("text").count() > 4
            assert "NaN" not in figure.inner_html()


def test_a_series_is_hidden_and_shown_again(page):
    problem = page.locator(".problem").first
    chip = problem.locator(".chip").first
    parts = first_figure(page).locator(f'[data-s="{chip.get_attribute("data-s")}"]')
    assert parts.count() >= 2  # the line and its name
    visible = lambda: [parts.nth(i).is_visible() for i in range(parts.count())]
    assert any(visible())
    chip.click()
    assert chip.get_attribute("aria-pressed") == "false"
    assert not any(visible())
    chip.click()
    assert any(visible())


def test_pointing_at_a_line_shows_its_values(page):
    figure = first_figure(page)
    figure.scroll_into_view_if_needed()
    tip = page.locator("#tip")
    assert not tip.is_visible()
    mark = figure.locator(".mark > *").last.bounding_box()
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    assert tip.is_visible()
    text = tip.inner_text()
    assert "regret" in text and re.search(r"\d", text), text
    names = page.locator(".problem").first.locator(".chip").all_inner_texts()
    assert any(text.startswith(name.strip()) for name in names)
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
    page.mouse.move(0, 0)
    assert not tip.is_visible()


def test_the_keyboard_walks_along_a_line(page):
    figure = first_figure(page)
    figure.focus()
    tip = page.locator("#tip")
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    page.keyboard.press("ArrowLeft")
    assert tip.inner_text() != first
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def decisions(page):
    dots = page.locator(".stage .pane:visible .p-x")
    return [(dots.nth(i).get_attribute("cx"), dots.nth(i).get_attribute("cy")) for i in range(dots.count())]


def shown_round(page):
    texts = page.locator(".stage .pane:visible .said").all_inner_texts()
    rounds = {int(re.match(r"Round (\d+) of", t).group(1)) for t in texts}
    assert len(rounds) == 1
    return rounds.pop()


def test_the_picture_is_stepped_through(page):
    stage = page.locator(".stage")
    stage.scroll_into_view_if_needed()
    last = shown_round(page)
    assert last > 3
    stage.locator(".first").click()
    assert shown_round(page) == 1
    assert stage.locator("output").inner_text().startswith("round 1 of")
    start = decisions(page)
    stage.locator(".forward").click()
    stage.locator(".forward").click()
    assert shown_round(page) == 3
    assert decisions(page) != start
    # the decisions before are still there
    assert stage.locator(".pane:visible .p-past").first.get_attribute("d").count("M") == 2
    stage.locator(".back").click()
    assert shown_round(page) == 2
    stage.locator(".last").click()
    assert shown_round(page) == last
    slider = stage.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert shown_round(page) == last - 1
    stage.locator(".panes").focus()
    page.keyboard.press("Home")
    assert shown_round(page) == 1
    page.keyboard.press("ArrowRight")
    assert shown_round(page) == 2


def test_the_picture_plays_and_pauses(page):
    stage = page.locator(".stage")
    play = stage.locator(".play")
    play.click()
    assert play.inner_text() == "Pause"
    page.wait_for_function("/Round [3-9] of/.test(document.querySelector('.said').textContent)")
    play.click()
    assert play.inner_text() == "Play"


def test_problem_and_learner_are_chosen(page):
    stage = page.locator(".stage")
    learners = stage.locator(".pick-learner").first
    options = learners.locator("option").all_inner_texts()
    outline = stage.locator(".p-set").first.get_attribute("points")
    if len(options) > 1:
        stage.locator(".first").click()
        stage.locator(".forward").click()
        learners.select_option(index=len(options) - 1)
        assert options[-1] in stage.locator("svg.picture").first.get_attribute("aria-label")
        assert shown_round(page) == 2
    problems = stage.locator(".pick-problem")
    names = problems.locator("option").all_inner_texts()
    if len(names) > 1:
        problems.select_option(index=1)
        assert stage.locator(".p-set").first.get_attribute("points") != outline


def test_the_data_behind_a_figure_are_saved(page):
    panel = page.locator(".problem").first.locator(".panel:visible")
    with page.expect_download() as download:
        panel.locator(".get-csv").click()
    assert download.value.suggested_filename.endswith(".csv")
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    assert rows[0][:2] == ["series", "kind"] and len(rows) > 2
    names = [n.strip() for n in page.locator(".problem").first.locator(".chip").all_inner_texts()]
    for row in rows[1:]:
        assert row[0] in names
        float(row[2]), float(row[3])


def test_a_figure_is_saved_without_what_is_hidden(page):
    problem = page.locator(".problem").first
    chip = problem.locator(".chip").first
    chip.click()
    with page.expect_download() as download:
        problem.locator(".panel:visible .get-svg").click()
    root = ET.fromstring(download.value.path().read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    hidden = chip.get_attribute("data-s")
    series = {e.get("data-s") for e in root.iter() if e.get("data-s")}
    assert hidden not in series
    assert len(series) == problem.locator(".chip[aria-pressed=true]").count()


def test_nothing_is_wider_than_the_screen(page):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= page.viewport_size["width"]


def test_dark_is_dark_and_print_is_light(page):
    paper = "getComputedStyle(document.body).backgroundColor"
    line = "getComputedStyle(document.querySelector('.figure [data-s]')).color"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(paper), page.evaluate(line)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(paper), page.evaluate(line)
    assert light[0] != dark[0] and light[1] != dark[1]
    page.emulate_media(media="print", color_scheme="dark")
    assert (page.evaluate(paper), page.evaluate(line)) == light


def test_the_page_reads_without_scripts(chromium, report):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("table.headline").first.is_visible()
    assert page.locator(".problem").first.locator(".panel:visible svg.figure").count() == 1
    assert page.locator("svg.picture").first.is_visible()
    assert not page.locator(".transport").is_visible()
    # tabs are not scripts
    tabs = page.locator(".problem").first.locator(".tabs > label")
    tabs.last.click()
    assert page.locator(".problem").first.locator(".panel:visible").count() == 1
    context.close()
