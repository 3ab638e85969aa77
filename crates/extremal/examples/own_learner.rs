//! Your own learner next to built-in learners. It is online Frank-Wolfe with the paper's line search, but
//! its step sizes are at most 1/√t. Like any other learner, this learner works with every storage and
//! set, can be saved and loaded, and can be a base learner of a hedge.

use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::learner::of_learners::hedge;
use extremal::learner::{Facts, Rule, on_surrogate};
use extremal::surrogate::{DenseSurrogate, Move, Probe, Update};
use extremal::{Learner, LearnerSpec, LossSpec, Objective, Result, SetSpec, SharedSet, StreamSpec};

/// F_t(x) = η Σ⟨g_τ, x⟩ + ‖x − x₁‖², with σ_t ≤ 1/√t.
struct ShortSteps {
    eta: f64,
}

impl Rule for ShortSteps {
    /// The round t.
    type State = u64;

    /// F_0(x) = (2/2)‖x − x₁‖².
    fn start(&self) -> (u64, f64) {
        (0, 2.0)
    }

    /// Adds ηg to the linear part of F. The curvature of F is 2.
    fn absorb<'g>(&self, t: u64, facts: &Facts<'_, 'g>) -> Result<(u64, Update<'g>)> {
        Ok((t + 1, Update::new(self.eta, facts.gradient, 2.0)))
    }

    fn step(&self, t: u64, _facts: &Facts<'_, '_>, probe: &Probe) -> (u64, Move) {
        let longest = 1.0 / (t as f64).sqrt();
        (t, Move::Towards(probe.line_search().min(longest)))
    }
}

/// The learner combines the rule with a dense surrogate. The text identifies the learner's saved states.
fn short_steps(set: &SharedSet) -> Result<Box<dyn Learner>> {
    let (rule, pair) = (
        ShortSteps { eta: 0.1 },
        DenseSurrogate::new(set.clone(), None)?,
    );
    Ok(Box::new(on_surrogate(
        "short-steps:eta=0.1",
        rule,
        pair,
        set.geometry(),
    )))
}

fn main() -> Result<()> {
    let set = "lp:p=1.5,radius=2,dim=20".parse::<SetSpec>()?.build(None)?;
    let objective = Objective::new("logistic".parse::<LossSpec>()?.build()?, 0.0)?;
    let regret = |name: &str, learner: &mut dyn Learner| {
        let mut stream = "classification".parse::<StreamSpec>()?.build(20, 0)?;
        let mut meter = Meter::of(&set, &objective);
        let game = Game::default().with_meter(&mut meter).with_watch(&*set);
        let summary = game.play(learner, &mut *stream, &objective, 5000)?;
        assert!(summary.largest_violation.is_some_and(|v| v <= 1e-9));
        let (loss, regret) = (summary.total_loss, meter.certificate(1)?.regret);
        println!("{name:<12} loss {loss:7.1}, regret at most {regret:6.1}");
        Result::Ok(regret)
    };

    let built_in = |text: &str| text.parse::<LearnerSpec>()?.build(&set);
    let own = regret("short-steps", &mut *short_steps(&set)?)?;
    let gauge = regret("gauge-ftrl", &mut *built_in("gauge-ftrl")?)?;
    let bases = || Ok(vec![short_steps(&set)?, built_in("gauge-ftrl")?]);
    let mut hedge_of_both = hedge::over("both", &set, bases()?)?;
    let hedged = regret("hedge", &mut *hedge_of_both)?;
    assert!(hedged <= own.min(gauge) + 10.0); // close to the better learner

    let mut resumed = hedge::over("both", &set, bases()?)?;
    resumed.load(&hedge_of_both.save()?)?;
    assert_eq!(resumed.save()?, hedge_of_both.save()?);
    Ok(())
}
