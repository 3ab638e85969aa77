//! The report's page and its figures, from a small experiment with made-up numbers.

use std::collections::HashSet;
use std::path::Path;

use extremal_lab::report::{page, plots, png};
use extremal_lab::results::Results;

fn fixture() -> Results {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/results");
    Results::read(&directory).unwrap()
}

#[test]
fn the_page_stands_alone() {
    let page = page(&[fixture()]);
    for outside in [
        "src=",
        "url(",
        "@import",
        "href=\"h",
        "fetch(",
        "XMLHttpReq",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    let namespace = page.matches("http://www.w3.org/2000/svg").count();
    assert_eq!(page.matches("http").count(), namespace);
    assert!(!page.contains("NaN"));
}

#[test]
fn text_from_files_is_escaped_everywhere() {
    let mut results = fixture();
    let bad = "</script><script>alert(1)//";
    results.experiment.about = bad.into();
    results.experiment.problems[0].title = bad.into();
    results.pictures[0].set = bad.into();
    results.run.version = bad.into();
    results.run.inputs[0].name = bad.into();
    results.checks[0].detail = bad.into();
    let config = results.experiment.learners["ofw"].clone();
    results.experiment.learners.insert(bad.into(), config);
    results.experiment.problems[0].learners[0] = bad.into();
    for row in results.summary.iter_mut().filter(|r| r.learner == "ofw") {
        row.learner = bad.into();
        row.exponent_note = bad.into();
        row.theorem = bad.into();
    }
    let page = page(&[results]);
    assert!(!page.contains("<script>alert"));
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, page.matches("</script>").count());
}

#[test]
fn broken_assumptions_footnotes_and_seeds_are_shown() {
    let mut results = fixture();
    results.experiment.problems[1].seeds = vec![7, 9];
    let html = page(&[results]);
    assert_eq!(html.matches("<td class=\"bad\">no</td>").count(), 1);
    assert_eq!(html.matches("<td>yes</td>").count(), 6);
    let note = "<li>no contradiction, as with a drift it reflects the step size</li>";
    assert_eq!(html.matches(note).count(), 1);
    assert!(html.contains("drift: 0 to 1; simplex: 7, 9"));
    assert!(html.contains("best of 5 in hindsight: ×&nbsp;2.0</small>"));
}

#[test]
fn several_experiments_share_a_page_and_no_file_name() {
    let all = [fixture(), fixture()];
    let page = page(&all);
    assert_eq!(page.matches("<table class=\"headline\">").count(), 2);
    let (one, two) = (plots(&all[..1]), plots(&all));
    assert_eq!(two.len(), 2 * one.len());
    let names: HashSet<_> = two.iter().map(|p| &p.name).collect();
    assert_eq!(names.len(), two.len());
    let mut named = fixture();
    let config = named.experiment.problems["drift"].clone();
    named.experiment.problems.insert("../ℓ2 b/c".into(), config);
    for row in named.summary.iter_mut().filter(|r| r.problem == "drift") {
        row.problem = "../ℓ2 b/c".into();
    }
    let names = plots(&[named]).into_iter().map(|plot| plot.name);
    assert!(names.into_iter().any(|name| name == "-ℓ2-b-c-horizons"));
}

#[test]
fn an_experiment_without_rows_has_a_page() {
    let mut results = fixture();
    results.summary.clear();
    results.trace.clear();
    results.timing.clear();
    results.checks.clear();
    results.comparators.clear();
    results.pictures.clear();
    let page = page(&[results]);
    assert!(page.contains("no runs yet") && page.contains("nothing to draw"));
    assert!(!page.contains("id=\"pictures\"") && page.contains("No defects, no remarks"));
}

#[test]
fn every_plot_has_a_png_of_the_width_asked_for() {
    assert!(png("nothing", 100).is_err());
    let plots = plots(&[fixture()]);
    for plot in [&plots[0], plots.last().unwrap()] {
        let png = match png(&plot.content, 640) {
            Err(error) if error.to_string().contains("no font is installed") => return,
            png => png.unwrap(),
        };
        assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 640);
        let image = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
        let colours = image
            .pixels()
            .iter()
            .map(|p| (p.red(), p.green(), p.blue()));
        let colours: HashSet<_> = colours.collect();
        assert!(colours.len() > 50, "lines and text: {}", colours.len());
    }
}
