//! `hedge` and `ofw-free` against transcriptions of their formulas, and what they refuse.

use crate::common::{distance, normals, rng, spike, uniform, written};
use extremal::kernel::{axpy, dot, norm};
use extremal::learner::of_learners::hedge::over;
use extremal::learner::{Acting, Body, Learner, LearnerSpec, Record};
use extremal::set::SharedSet;
use extremal::theory::{self, Assumption, Guarantee, LossFacts, RunStatistics};
use extremal::{Error, Gradient, Point, Result};
use extremal_check::kit::{learner, set};

fn refusal(text: &str, set: &SharedSet) -> Error {
    let built = text.parse::<LearnerSpec>().and_then(|s| s.build(set));
    built.err().unwrap_or_else(|| panic!("{text} was accepted"))
}

/// Gradients that drift slowly, with noise, some with a ridge part.
fn gradients(seed: u64, dim: usize, rounds: usize) -> Vec<(Vec<f64>, f64)> {
    let mut r = rng(seed);
    let drift = normals(&mut r, dim);
    let one = |t: usize| {
        let mut g = normals(&mut r, dim);
        axpy(0.5 * (t as f64 / 40.0).cos(), &drift, &mut g);
        let ridge = if uniform(&mut r) < 0.3 { 0.2 } else { 0.0 };
        (g, ridge)
    };
    (0..rounds).map(one).collect()
}

fn play(learner: &mut dyn Learner, (row, ridge): &(Vec<f64>, f64)) -> (Vec<f64>, u32) {
    let x = written(learner.decide().unwrap());
    let gradient = Gradient {
        ridge: *ridge,
        ..Gradient::dense(row)
    };
    (x, learner.observe(&gradient).unwrap().oracle_calls)
}

/// AdaHedge as its paper has it: losses in full, the rate as a number.
#[derive(Default)]
struct PlainHedge {
    lost: Vec<f64>,
    delta: f64,
}

impl PlainHedge {
    fn weights(&self) -> Vec<f64> {
        let best = self.lost.iter().copied().fold(f64::INFINITY, f64::min);
        let eta = (self.lost.len() as f64).ln() / self.delta;
        let weight = |l: &f64| {
            if *l == best {
                1.0
            } else {
                (-eta * (l - best)).exp()
            }
        };
        let all: Vec<f64> = self.lost.iter().map(weight).collect();
        let sum: f64 = all.iter().sum();
        all.iter().map(|w| w / sum).collect()
    }

    fn step(&mut self, losses: &[f64]) {
        let w = self.weights();
        let eta = (w.len() as f64).ln() / self.delta;
        let played = dot(&w, losses);
        let mix = if eta.is_infinite() {
            let best = |l: &[f64]| l.iter().copied().fold(f64::INFINITY, f64::min);
            let after: Vec<f64> = self.lost.iter().zip(losses).map(|(a, b)| a + b).collect();
            best(&after) - best(&self.lost)
        } else {
            let terms = w.iter().zip(losses).map(|(w, l)| w * (-eta * l).exp());
            -terms.sum::<f64>().ln() / eta
        };
        self.delta += (played - mix).max(0.0);
        self.lost.iter_mut().zip(losses).for_each(|(a, b)| *a += b);
    }
}

/// A base that plays the same point in every round, and whose own bound is 0.
struct Still(SharedSet, Vec<f64>);

impl Body for Still {
    type Plan = ();

    fn point(&self) -> &dyn Point {
        &self.1
    }

    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, _: bool) -> Result<(Record, ())> {
        let squares: f64 = gradient.row.entries().map(|(_, v)| v * v).sum();
        let (ax, xx) = (self.1.dot(&gradient.row)?, dot(&self.1, &self.1));
        Ok((Record::new(round, squares.sqrt(), ax, xx), ()))
    }

    fn commit(&mut self, (): ()) {}

    fn discard(&mut self) {}

    fn guarantee(&self, _: &RunStatistics) -> Option<Guarantee> {
        Some(Guarantee::of_run("none is needed", 0.5, 0.0))
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.0)
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn load(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// A hedge over the corners of the simplex: its decision is its weights, its bound 2Δ.
fn over_corners(n: usize) -> Box<dyn Learner> {
    let set = set("simplex", n);
    let corner = |i: usize| -> Box<dyn Learner> {
        let still = Still(set.clone(), spike(n, i, 1.0));
        Box::new(Acting::new("still", still))
    };
    over("corners", &set, (0..n).map(corner).collect()).unwrap()
}

/// What the mixture lost more than the best corner, 2Δ and √((4 + ln N)Σ range²).
fn lose(hedge: &mut dyn Learner, rounds: usize, scale: impl Fn(usize) -> f64) -> [f64; 3] {
    let n = hedge.dim();
    let mut r = rng(7);
    let (mut lost, mut each, mut ranges) = (0.0, vec![0.0; n], 0.0_f64);
    for t in 0..rounds {
        let loss = |i: usize| scale(t) * (uniform(&mut r) - 0.5 + 0.02 * i as f64);
        let losses: Vec<f64> = (0..n).map(loss).collect();
        let weights = written(hedge.decide().unwrap());
        let sum: f64 = weights.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12 && weights.iter().all(|w| *w >= 0.0));
        lost += dot(&losses, &weights);
        axpy(1.0, &losses, &mut each);
        let ends = (f64::MAX, f64::MIN);
        let (low, high) = (losses.iter()).fold(ends, |(a, b), l| (a.min(*l), b.max(*l)));
        ranges = ranges.hypot(high - low);
        hedge.observe(&Gradient::dense(&losses)).unwrap();
    }
    let best = each.into_iter().fold(f64::INFINITY, f64::min);
    let bound = hedge.guarantee().unwrap().bound(rounds as f64);
    [lost - best, bound, theory::adahedge(n as f64, ranges)]
}

#[test]
fn the_mixture_loses_little_more_than_the_best_at_every_scale() {
    for n in [1, 2, 5, 40] {
        for size in [1e-98, 1e-60, 1e-8, 1.0, 1e8, 1e60, 1e98] {
            let [regret, bound, theory] = lose(&mut *over_corners(n), 2000, |_| size);
            let rounding = 1e-12 * 2000.0 * size;
            let name = format!("{n} at {size:e}: {regret:e} {bound:e} {theory:e}");
            assert!(regret <= bound + rounding, "{name}");
            assert!(bound <= theory * (1.0 + 1e-9) + rounding, "{name}");
            assert!(n == 1 || regret > 0.02 * bound, "{name}");
        }
    }
}

#[test]
fn scales_that_jump_leave_numbers_numbers() {
    let scale = |t: usize| [1e-98, 1.0, 1e98][t % 3];
    let [regret, bound, _] = lose(&mut *over_corners(3), 300, scale);
    assert!(regret <= bound * (1.0 + 1e-9), "{regret:e}");
}

#[test]
fn a_leader_that_is_always_right_gets_all_the_weight() {
    let mut hedge = over_corners(4);
    for _ in 0..200 {
        let losses = Gradient::dense(&[1.0, 1.0, 0.0, 1.0]);
        hedge.observe(&losses).unwrap();
    }
    let weights = written(hedge.decision());
    assert!(weights[2] > 1.0 - 1e-12, "{weights:?}");
    let bound = hedge.guarantee().unwrap().bound(200.0);
    assert!(bound < 4.0, "{bound}");
}

#[test]
fn the_mixture_is_that_of_its_bases_played_by_hand() {
    const DIM: usize = 5;
    let text = "hedge:base=(ofw-free:growth=steady),grid=[0.5,2,8],bases=[(gauge-ftrl),(sc-ofw:lambda=0.1)]";
    let members = [
        "ofw-free:growth=steady,eta-scale=0.5",
        "ofw-free:growth=steady,eta-scale=2",
        "ofw-free:growth=steady,eta-scale=8",
        "gauge-ftrl",
        "sc-ofw:lambda=0.1",
    ];
    for shape in ["l2:radius=2", "lp:p=1.5"] {
        let set = set(shape, DIM);
        let mut hedge = learner(text, &set);
        let mut bases: Vec<_> = members.iter().map(|m| learner(m, &set)).collect();
        let mut plain = PlainHedge {
            lost: vec![0.0; members.len()],
            delta: 0.0,
        };
        let mut shared = 0;
        for (t, given) in gradients(3, DIM, 400).iter().enumerate() {
            let (row, ridge) = given;
            let mut expected = vec![0.0; DIM];
            let mut losses = Vec::new();
            for (base, weight) in bases.iter_mut().zip(plain.weights()) {
                let (x, _) = play(&mut **base, given);
                axpy(weight, &x, &mut expected);
                losses.push(dot(row, &x) + 0.5 * ridge * dot(&x, &x));
            }
            shared += u32::from(plain.weights().iter().all(|w| *w < 0.9));
            plain.step(&losses);
            let (x, calls) = play(&mut *hedge, given);
            let apart = distance(&x, &expected);
            assert!(apart <= 1e-8, "{shape}: {apart:e} apart in round {t}");
            assert_eq!(calls, 5);
        }
        assert!(
            shared > 100,
            "{shape}: one base had nearly all the weight but in {shared} rounds"
        );
    }
}

/// argmin over the ℓ2 ball of ⟨c, x⟩ + (β/2)‖x‖².
fn minimum_on_ball(c: &[f64], beta: f64, radius: f64) -> f64 {
    let size = norm(c);
    let r = radius.min(size / beta);
    -size * r + 0.5 * beta * r * r
}

#[test]
fn ofw_free_is_its_formula_and_its_bound_is_the_telescoped_sum() {
    const DIM: usize = 3;
    let (radius, diameter) = (1.5, 3.0);
    for (text, own, scale, lambda) in [
        ("ofw-free", true, 1.0, 0.0),
        ("ofw-free:eta-scale=8", true, 8.0, 0.0),
        ("ofw-free:lambda=0.2", true, 1.0, 0.2),
        ("ofw-free:growth=steady,eta-scale=4", false, 4.0, 0.0),
    ] {
        let mut ours = learner(text, &set("l2:radius=1.5", DIM));
        let mut x = vec![0.0; DIM];
        // F(x) = ⟨c, x⟩ + (β/2)‖x‖² + constant
        let (mut c, mut beta, mut constant, mut mu) = (vec![0.0; DIM], 0.0, 0.0, 0.0);
        let (mut played, mut guessed) = (0.0, 0.0);
        for (t, (row, _)) in gradients(5, DIM, 300).iter().enumerate() {
            // λ is that of a ridge term
            let (played_x, _) = play(&mut *ours, &(row.clone(), lambda));
            let mut row = row.clone();
            axpy(lambda, &x, &mut row);
            let apart = distance(&played_x, &x);
            assert!(apart < 1e-9, "{text}: {apart:e} apart in round {t}");
            let curvature = lambda + mu;
            axpy(1.0, &row, &mut c);
            axpy(-curvature, &x, &mut c);
            beta += curvature;
            constant += 0.5 * curvature * dot(&x, &x);
            played += dot(&row, &x);
            guessed += 0.5 * mu * diameter * diameter;
            let value = |x: &[f64]| dot(&c, x) + 0.5 * beta * dot(x, x) + constant;
            let mut direction = c.clone();
            axpy(beta, &x, &mut direction);
            let mut step: Vec<f64> = direction
                .iter()
                .map(|d| -radius * d / norm(&direction))
                .collect();
            axpy(-1.0, &x, &mut step);
            let sigma = (-dot(&direction, &step) / (beta * dot(&step, &step))).clamp(0.0, 1.0);
            let before = value(&x);
            axpy(sigma, &step, &mut x);
            let gain = before - value(&x);
            mu = if own {
                2.0 * gain / (scale * diameter * diameter)
            } else {
                norm(&row) / (scale * diameter)
            };
            // Σ⟨g, x⟩ − min F_T is what the proof telescopes; ours may know min F_T only from below
            let exact = played - (minimum_on_ball(&c, beta, radius) + constant) + guessed;
            if let Some(guarantee) = ours.guarantee() {
                let bound = guarantee.bound(0.0);
                assert!(
                    bound >= exact - 1e-9,
                    "{text}: {bound} {exact} in round {t}"
                );
                assert!(
                    bound <= 1.5 * exact + 3.0,
                    "{text}: {bound} {exact} in round {t}"
                );
            }
        }
        assert_eq!(ours.guarantee().is_some(), own);
    }
}

#[test]
fn what_makes_no_hedge_is_refused_in_words() {
    let ball = set("l2", 3);
    for (text, words) in [
        ("hedge", "needs base"),
        ("hedge:grid=[1,2]", "base and grid"),
        ("hedge:base=(gauge-ftrl),key=eta-scale", "base and grid"),
        (
            "hedge:base=(gauge-ftrl),grid=[1,2]",
            "unknown field `eta-scale`",
        ),
        ("hedge:base=(ofw-free),grid=[1,0]", "eta-scale"),
        ("hedge:base=(ofw-free),grid=[]", "needs base"),
        ("hedge:base=(ofw-free:speed=2)", "unknown field `speed`"),
        (
            "hedge:base=(ofw-free),radii=[0.5,1]",
            "unknown field `radii`",
        ),
    ] {
        let error = refusal(text, &ball).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let simplex = set("simplex", 3);
    let error = refusal("hedge:base=(gauge-ftrl)", &simplex).to_string();
    assert!(error.contains("curved"), "{error}");
}

#[test]
fn a_state_is_for_the_same_bases_only() {
    let ball = set("l2", 3);
    let saved = learner("hedge:base=(ofw-free),grid=[1,2]", &ball)
        .save()
        .unwrap();
    for other in [
        "hedge:base=(ofw-free),grid=[1,3]",
        "hedge:base=(ofw-free),grid=[1,2,4]",
    ] {
        let mut other = learner(other, &ball);
        let before = other.save().unwrap();
        assert!(matches!(other.load(&saved), Err(Error::State(_))));
        assert_eq!(other.save().unwrap(), before);
    }
}

#[test]
fn a_hedge_over_one_learner_is_that_learner_restarts_and_growth_included() {
    for base in [
        "ofw-ls",
        "ofw-ls:doubling=true",
        "ofw:gradient-bound=10",
        "ofw-weibel:horizon=50,doubling=true",
        "sc-ofw:lambda=0.2",
        "gauge-ftrl",
    ] {
        for (text, dim) in [
            ("l2:radius=2", 4),
            ("simplex", 4),
            ("box:lower=1,upper=3", 4),
        ] {
            let set = set(text, dim);
            if base == "gauge-ftrl" && set.curvature().is_none() {
                continue;
            }
            let mut alone = learner(base, &set);
            let mut hedge = learner(&format!("hedge:base=({base})"), &set);
            for (t, round) in gradients(9, dim, 200).iter().enumerate() {
                let ((a, _), (b, _)) = (play(&mut *alone, round), play(&mut *hedge, round));
                assert!(
                    distance(&a, &b) <= 1e-13,
                    "{base} on {text}, round {t}: {a:?} {b:?}"
                );
            }
        }
    }
}

#[test]
fn curvature_that_is_no_ridge_term_promises_nothing() {
    let set = set("l2", 2);
    let text = "hedge:bases=[(ofw-free:lambda=1),(ofw:horizon=100,gradient-bound=5)]";
    for ridge in [1.0, 0.0] {
        let mut hedge = learner(text, &set);
        for (row, _) in gradients(10, 2, 100) {
            play(&mut *hedge, &(row, ridge));
        }
        let guarantee = hedge.guarantee().unwrap();
        let assumptions = guarantee.assumptions();
        let counts_on_curvature = assumptions
            .iter()
            .any(|a| matches!(a, Assumption::StronglyConvexLosses(_)));
        assert!(!counts_on_curvature || ridge == 1.0, "{assumptions:?}");
    }
    // alone, without another base that holds, there is no theorem left
    let mut alone = learner("hedge:bases=[(ofw-free:lambda=1)]", &set);
    play(&mut *alone, &(vec![1.0, 0.0], 1.0));
    assert!(alone.guarantee().is_some());
    play(&mut *alone, &(vec![1.0, 0.0], 0.0));
    assert!(alone.guarantee().is_none());
}

#[test]
fn a_theorem_that_holds_is_shown_before_one_that_was_broken() {
    let set = set("l2", 2);
    let broken = "(gauge-ftrl:balance=fixed,horizon=200,gradient-bound=0.01)";
    let mut hedge = learner(&format!("hedge:bases=[{broken},(sc-ofw:lambda=1)]"), &set);
    for (row, _) in gradients(11, 2, 50) {
        play(&mut *hedge, &(row, 1.0));
    }
    let checks = hedge
        .guarantee()
        .unwrap()
        .check(hedge.seen(), &LossFacts::strongly_convex(1.0));
    assert!(checks.iter().all(|c| c.holds), "{checks:?}");
}

#[test]
fn a_grid_may_be_over_whole_numbers() {
    let text = "hedge:base=(ofw-ls:gradient-bound=3),key=horizon,grid=[100,1000]";
    learner(text, &set("l2", 3));
}

#[test]
fn any_learner_may_be_a_base_a_hedge_included() {
    for text in [
        "hedge:base=(ogd),bases=[(dual-averaging),(coin-ftrl)]",
        "hedge:base=(hedge:base=(ofw-free),grid=[1,8]),bases=[(ons:exp-concavity=0.1,gradient-bound=1)]",
        "hedge:base=(delayed:delay=3),bases=[(eg),(fpl)]",
    ] {
        let simplex = text.contains("eg");
        let set = set(if simplex { "simplex" } else { "l2" }, 4);
        let mut mixture = learner(text, &set);
        let mut again = learner(text, &set);
        for (k, (row, _)) in gradients(7, 4, 60).iter().enumerate() {
            mixture.observe(&Gradient::dense(row)).unwrap();
            if k == 30 {
                again.load(&mixture.save().unwrap()).unwrap();
            } else if k > 30 {
                again.observe(&Gradient::dense(row)).unwrap();
            }
            let mut x = vec![0.0; 4];
            mixture.decision().write(&mut x);
            assert!(set.violation(&x).unwrap() <= 1e-9, "{text}: {x:?}");
        }
        assert_eq!(again.save().unwrap(), mixture.save().unwrap(), "{text}");
    }
}
