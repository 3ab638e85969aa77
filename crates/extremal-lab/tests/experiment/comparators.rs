//! The certificate by the norm of the comparator.

use std::path::Path;

use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::learner::LearnerSpec;
use extremal::loss::{LossSpec, Objective};
use extremal::set::SetSpec;
use extremal::stream::StreamSpec;
use extremal_lab::experiment::Experiment;

#[test]
fn the_curve_of_a_run_passes_through_its_certificate_and_halves_at_its_radius() {
    let loss = "logistic".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, 0.0).unwrap();
    for name in [
        "l2:radius=3,dim=4",
        "l1:radius=3,dim=4",
        "lp:p=1.5,radius=3,dim=4",
    ] {
        let learners = ["ofw:horizon=400,gradient-bound=2", "ofw-free"];
        let [first, second] = learners;
        let text = format!(
            "rounds = 400\nseeds = [1]\npictures = false\n[problem.a]\nset = \"{name}\"\n\
             loss = \"logistic\"\nstream = \"classification\"\n\
             [learner.a]\nspec = \"{first}\"\n[learner.b]\nspec = \"{second}\"\n"
        );
        let experiment = Experiment::parse(&text, Path::new("a.toml")).unwrap();
        let results = experiment.play(1).unwrap();
        for (learner, spec) in ["a", "b"].into_iter().zip(learners) {
            let mine = results.comparators.iter().filter(|r| r.learner == learner);
            let rows: Vec<_> = mine.collect();
            assert_eq!((rows.len(), rows[0].radius), (46, 0.0));
            let mut trace = results.trace.iter().filter(|r| r.learner == learner);
            assert!(trace.clone().all(|row| row.halving_radius.is_some()));
            let end = trace.next_back().unwrap();
            // the certificate on the set itself, from the same run played here
            let set = name.parse::<SetSpec>().unwrap().build(None).unwrap();
            let mut player = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
            let stream = "classification".parse::<StreamSpec>().unwrap();
            let mut stream = stream.build(4, 1).unwrap();
            let mut meter = Meter::of(&set, &objective);
            let game = Game::default().with_meter(&mut meter);
            let played = game.play(&mut *player, &mut *stream, &objective, 400);
            assert!((played.unwrap().total_loss - end.loss).abs() < 1e-9);
            let certified = meter.certificate(200).unwrap().regret;
            let above = rows.partition_point(|row| row.radius < 3.0);
            let [low, high] = [rows[above - 1], rows[above]];
            let part = (3.0 - low.radius) / (high.radius - low.radius);
            let there = low.regret_upper + part * (high.regret_upper - low.regret_upper);
            assert!(
                (there - certified).abs() < 1e-11 * end.loss,
                "{spec} {name}"
            );
            let radius = end.halving_radius.unwrap();
            for row in &rows {
                let (at, share) = (row.radius, row.share_of_loss);
                assert_eq!(share <= 0.5, at <= radius, "{name} {spec}: {at}, {radius}");
                // the loss that it is a share of is rounded down
                let exact = row.regret_upper / end.loss;
                assert!((share - exact).abs() < 1e-11 && share.abs() >= exact.abs());
            }
            assert!(rows[0].share_of_loss < 0.5 && rows[45].share_of_loss > 1.0);
        }
    }
}
