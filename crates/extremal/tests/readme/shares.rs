use extremal::hindsight::Meter;
use extremal::{Gradient, LearnerSpec, SetSpec};

fn main() -> extremal::Result<()> {
    let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
    let mut learner = "ofw-free".parse::<LearnerSpec>()?.build(&set)?;
    let mut meter = Meter::new(&set, 0.0, true); // no strong convexity; linear losses
    for t in 0..1000 {
        let costs = [0.5, 0.4, if t % 2 == 0 { 0.9 } else { 0.0 }];
        let costs = Gradient::dense(&costs);
        meter.see(learner.decide()?, &costs)?; // play, then see the costs
        learner.observe(&costs)?;
    }
    println!("regret {:.2}", meter.certificate(1)?.regret);
    Ok(())
}
