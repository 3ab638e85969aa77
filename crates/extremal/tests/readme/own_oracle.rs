use std::sync::Arc;

use extremal::hindsight::Meter;
use extremal::set::{CustomSet, Geometry};
use extremal::{Gradient, LearnerSpec, SharedSet};

fn main() -> extremal::Result<()> {
    // Choose 2 of 5 items every round. Mixtures of choices: 0 ≤ x ≤ 1 with total 2.
    let geometry = Geometry {
        diameter: 2.0,              // the largest distance in the set, ℓ2
        norm_bound: 2.0_f64.sqrt(), // the largest norm
        inner_radius: None,         // no ball fits in
        strong_convexity: None,     // a polytope
    };
    let set = CustomSet::new("choices", 5, geometry, |direction, v| {
        let mut order: Vec<usize> = (0..5).collect();
        order.sort_by(|&i, &j| direction[i].total_cmp(&direction[j]));
        v.fill(0.0);
        order[..2].iter().for_each(|&i| v[i] = 1.0); // the two cheapest
        Ok(())
    })?;
    let set: SharedSet = Arc::new(set.with_centre(&[0.4; 5])?);

    let spec: LearnerSpec = "ofw-weibel:horizon=1000,gradient-bound=1".parse()?;
    let mut learner = spec.build(&set)?;
    let mut meter = Meter::new(&set, 0.0, true); // linear losses: the certificate is the regret
    for t in 0..1000 {
        let costs = [0.1, 0.5, if t % 2 == 0 { 0.6 } else { 0.0 }, 0.2, 0.4];
        let costs = Gradient::dense(&costs);
        meter.see(learner.decide()?, &costs)?;
        learner.observe(&costs)?;
    }
    let mut x = [0.0; 5];
    learner.decision().write(&mut x);
    println!("x = {x:.2?}, regret {:.1}", meter.certificate(1)?.regret);
    Ok(())
}
