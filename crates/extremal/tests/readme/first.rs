use extremal::hindsight::Meter;
use extremal::{Gradient, LearnerSpec, SetSpec};

fn main() -> extremal::Result<()> {
    let set = "l2:radius=1,dim=2".parse::<SetSpec>()?.build(None)?;
    let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
    let mut meter = Meter::new(&set, 0.0, false); // convex losses, not linear
    let mut x = [0.0; 2];
    for t in 0..1000 {
        let a = [f64::from(t).sin(), f64::from(t).cos()]; // this round's example …
        let y = 0.3 * a[0] - 0.5 * a[1]; // … and its label
        let decision = learner.decide()?;
        decision.write(&mut x);
        let error = a[0] * x[0] + a[1] * x[1] - y;
        let g = [error * a[0], error * a[1]]; // of ½(⟨a, x⟩ − y)²
        meter.see(decision, &Gradient::dense(&g))?;
        learner.observe(&Gradient::dense(&g))?;
    }
    let regret = meter.certificate(1)?.regret;
    println!("x = {x:.3?}, regret at most {regret:.3}");
    Ok(())
}
