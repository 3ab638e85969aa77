//! The demo: its results, its table and its file.

use extremal_lab::demo::experiment;
use extremal_lab::experiment::Experiment;
use extremal_lab::remarks::Facts;
use extremal_lab::results::{Level, Results};
use extremal_lab::table::{self, Paint};

fn played(threads: usize) -> Results {
    let experiment = experiment(3, Some(2_000)).unwrap();
    experiment.play(threads).unwrap()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let one = played(1);
    assert!(one.summary.len() > 80);
    let three = played(3);
    assert_eq!(one.trace, three.trace);
    assert_eq!(one.summary, three.summary);
    assert_eq!(one.checks, three.checks);
    assert_eq!(one.pictures, three.pictures);
}

#[test]
fn every_interval_is_one_and_linear_losses_have_exact_regret() {
    let results = played(2);
    assert!(!Facts::of(std::slice::from_ref(&results)).is_suspicious());
    for row in &results.trace {
        assert!(row.regret_lower <= row.regret_upper, "{row:?}");
        if results.experiment.problems[&row.problem].loss.to_string() == "linear" {
            // exact but for the allowance for rounding
            let width = row.regret_upper - row.regret_lower;
            assert_eq!(row.level, Level::Exact);
            assert!(width <= 1e-9 * row.regret_upper.abs().max(1.0), "{row:?}");
        } else {
            assert!(row.level != Level::Exact, "{row:?}");
            assert!(row.regret_upper - row.regret_lower < 1e-5, "{row:?}");
        }
        // what a learner certifies by itself can't be below the regret
        if let Some(own) = row.certificate {
            let room = 1e-9 * row.regret_lower.abs().max(1.0);
            assert!(own >= row.regret_lower - room, "{row:?}");
        }
    }
}

#[test]
fn the_table_fits_a_terminal() {
    for line in table::render(&played(2), Paint::Plain).lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
}

#[test]
fn seeds_share_no_stream() {
    let seeds = |seed| experiment(seed, None).unwrap().problems[0].seeds.clone();
    assert!(seeds(0).iter().all(|s| !seeds(1).contains(s)));
    assert!(experiment(0, Some(999)).is_err());
}

#[test]
fn what_is_written_out_reads_as_the_same_experiment() {
    let first = experiment(7, Some(4_000)).unwrap();
    let text = first.to_toml();
    let again = Experiment::parse(&text, "again.toml".as_ref()).unwrap();
    assert_eq!(again.to_toml(), text);
    assert_eq!(again.problems, first.problems);
    assert_eq!(again.learners, first.learners);
}
