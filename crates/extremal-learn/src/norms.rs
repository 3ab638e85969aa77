//! The certificate by the comparators' norm, held against the total loss: what `learn` and
//! `compare` say of it.

use extremal::hindsight::ByNorm;

/// The largest norm up to which no comparator has half the total loss: the regret against it is at
/// most half of what was lost. `lost` is the total loss above the least that the losses allow,
/// rounded down; infinite, and the answer `None`, where there is no such least.
pub(crate) fn halving(by_norm: &ByNorm, lost: f64) -> Option<f64> {
    if !(lost > 0.0 && lost.is_finite()) {
        return None;
    }
    by_norm.largest_radius(0.5 * lost)
}

/// Radius, regret and the regret's share of what was lost: at 0, and at rising radii up to twice
/// the one at which the certificate has become as large as the loss, or `reach` if there is none.
/// A share below 1/2 is one at a radius below [`halving`].
pub(crate) fn curve(by_norm: &ByNorm, lost: f64, reach: f64) -> Vec<[f64; 3]> {
    let end = match by_norm.largest_radius(lost) {
        Some(end) if end > 0.0 && end < f64::MAX => end,
        _ => reach,
    };
    let steps = (-40..=4).map(|k| end * 2f64.powf(f64::from(k) / 4.0));
    std::iter::once(0.0)
        .chain(steps)
        .map(|radius| {
            let regret = by_norm.at(radius);
            [radius, regret, regret / lost]
        })
        .filter(|[radius, regret, _]| radius.is_finite() && regret.is_finite())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::experiment::{Cell, Experiment, Prepared};

    #[test]
    fn the_curve_of_a_run_passes_through_its_certificate_and_halves_at_its_radius() {
        for set in [
            "l2:radius=3,dim=4",
            "l1:radius=3,dim=4",
            "lp:p=1.5,radius=3,dim=4",
        ] {
            let text = format!(
                "rounds = 400\nseeds = 1\n[problem.a]\nset = \"{set}\"\nloss = \"logistic\"\n\
                 stream = {{ name = \"classification\" }}\n[learner.a]\nname = \"ofw\"\n\
                 [learner.b]\nname = \"ofw-free\"\n"
            );
            let experiment = Experiment::parse(&text, Path::new("a.toml")).unwrap();
            let prepared = Prepared::new(experiment).unwrap();
            for (name, learner) in &prepared.experiment.learners {
                let cell = Cell {
                    problem: &prepared.problems[0],
                    name,
                    learner,
                    scale: 1.0,
                    horizon: 400,
                    seed: 1,
                };
                // without the best decision, the upper end is the certificate on the set itself
                let played = cell.play(&[64, 400], None, &|| false).unwrap().unwrap();
                let (end, rows) = (played.last(), &played.comparators);
                assert_eq!((rows.len(), rows[0][0]), (46, 0.0));
                let above = rows.partition_point(|row| row[0] < 3.0);
                let [low, high] = [rows[above - 1], rows[above]];
                let part = (3.0 - low[0]) / (high[0] - low[0]);
                let there = low[1] + part * (high[1] - low[1]);
                assert!((there - end.upper).abs() < 1e-11 * end.loss, "{set} {name}");
                assert!(played.looks.iter().all(|look| look.halving.is_some()));
                let radius = end.halving.unwrap();
                for [at, regret, share] in rows {
                    assert_eq!(*share <= 0.5, *at <= radius, "{set} {name}: {at}, {radius}");
                    // the loss that it is a share of is rounded down
                    let exact = regret / end.loss;
                    assert!((share - exact).abs() < 1e-11 && share.abs() >= exact.abs());
                }
                assert!(rows[0][2] < 0.5 && rows[45][2] > 1.0);
            }
        }
    }
}
