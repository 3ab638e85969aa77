//! Coin-FTRL: it is its pseudocode, does not depend on the scale of the data, and is as good as
//! the better of what it is made of. And the ball and learner that are played untuned.

use crate::common::{self, normal, rng, uniform, written};
use extremal::kernel::norm;
use extremal::learner::{Learner, LearnerSpec, Storage, default_for, default_radius};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::StreamSpec;
use extremal::{Gradient, Row};
use rand_chacha::ChaCha8Rng;

fn ball(radius: f64, dim: usize) -> SharedSet {
    let spec: SetSpec = format!("l2:radius={radius}").parse().unwrap();
    spec.build(Some(dim)).unwrap()
}

fn lazy(text: &str, set: &SharedSet) -> Box<dyn Learner> {
    let spec: LearnerSpec = text.parse().unwrap();
    spec.build_stored(set, Storage::Lazy).unwrap()
}

/// A few entries, common features more often.
fn sparse(r: &mut ChaCha8Rng, dim: usize, k: usize) -> (Vec<u32>, Vec<f64>) {
    let mut indices: Vec<u32> = (0..k)
        .map(|_| (dim as f64 * uniform(r).powi(3)) as u32)
        .collect();
    indices.sort_unstable();
    indices.dedup();
    let values = indices.iter().map(|_| normal(r)).collect();
    (indices, values)
}

/// The bets of the module's text.
#[derive(Default)]
struct Bet {
    largest: f64,
    theta: f64,
    total: f64,
    won: f64,
}

impl Bet {
    fn bet(&self, stake: f64) -> f64 {
        if self.largest == 0.0 {
            return 0.0;
        }
        let x = self.theta / (self.total + 2.0 * self.largest);
        x.tanh() * (stake * self.largest + self.won) / self.largest
    }

    fn settle(&mut self, q: f64, high: f64, stake: f64) {
        let bet = self.bet(stake);
        let before = if self.largest == 0.0 {
            q.abs()
        } else {
            self.largest
        };
        self.largest = self.largest.max(q.abs());
        let outwards = (bet < 0.0 && q > 0.0) || (bet > high && q < 0.0);
        if !outwards {
            let q = q.signum() * q.abs().min(before);
            self.theta -= q;
            self.total += q.abs();
            self.won -= q * bet;
        }
    }
}

/// The pseudocode over whole vectors.
struct Naive {
    radius: f64,
    gradients: Vec<Vec<f64>>,
    longest: f64,
    beta: f64,
    length: Bet,
    share: Bet,
}

impl Naive {
    const STAKE: f64 = 1.0 / 1024.0;

    fn new(radius: f64) -> Self {
        Self {
            radius,
            gradients: Vec::new(),
            longest: 0.0,
            beta: 0.0,
            length: Bet::default(),
            share: Bet::default(),
        }
    }

    /// c, y, √(h² + β²).
    fn sums(&self, dim: usize) -> (Vec<f64>, Vec<f64>, f64) {
        let (mut c, mut y) = (vec![0.0; dim], vec![0.0; dim]);
        for i in 0..dim {
            let column = || self.gradients.iter().map(|g| g[i]);
            c[i] = column().sum();
            let squares: f64 = column().map(|g| g * g).sum();
            let top = column().fold(0.0, |m: f64, g| m.max(g.abs()));
            if top > 0.0 {
                y[i] = -c[i] / (squares + top * top).sqrt();
            }
        }
        let potential = (self.radius * norm(&c)).hypot(self.beta);
        (c, y, potential)
    }

    fn most(&self) -> f64 {
        if self.longest > 0.0 {
            self.radius / self.longest
        } else {
            f64::INFINITY
        }
    }

    /// The scaled and the round decision, and what is played.
    fn decisions(&self, dim: usize) -> [Vec<f64>; 3] {
        let (c, y, potential) = self.sums(dim);
        let m = self
            .length
            .bet(Self::STAKE * self.radius)
            .clamp(0.0, self.most());
        let w = self.share.bet(Self::STAKE).clamp(0.0, 1.0);
        let scaled: Vec<f64> = y.iter().map(|y| m * y).collect();
        let k = if potential > 0.0 {
            -self.radius * self.radius / potential
        } else {
            0.0
        };
        let round: Vec<f64> = c.iter().map(|c| k * c).collect();
        let both = scaled.iter().zip(&round);
        let played = both.map(|(a, b)| (1.0 - w) * a + w * b).collect();
        [scaled, round, played]
    }

    fn observe(&mut self, g: &[f64]) {
        let (_, y, potential) = self.sums(g.len());
        let [scaled, round, _] = self.decisions(g.len());
        let dot = |x: &[f64]| -> f64 { g.iter().zip(x).map(|(g, x)| g * x).sum() };
        let most = self.most();
        self.length.settle(dot(&y), most, Self::STAKE * self.radius);
        self.share
            .settle(dot(&round) - dot(&scaled), 1.0, Self::STAKE);
        let n = norm(g);
        if n > 0.0 {
            let own = self.radius * self.radius * n * n / (2.0 * potential);
            self.beta += own.min(2.0 * self.radius * n);
        }
        self.gradients.push(g.to_vec());
        let (_, y, _) = self.sums(g.len());
        self.longest = self.longest.max(norm(&y));
    }
}

#[test]
fn it_plays_its_pseudocode() {
    const DIM: usize = 30;
    for (radius, ridge, drift) in [
        (1.0, 0.0, 0.3),
        (100.0, 0.0, 0.3),
        (3.0, 0.2, 0.1),
        (5.0, 0.0, 0.0),
    ] {
        let set = ball(radius, DIM);
        for storage in [Storage::Dense, Storage::Lazy] {
            let spec: LearnerSpec = "coin-ftrl".parse().unwrap();
            let mut learner = spec.build_stored(&set, storage).unwrap();
            let mut naive = Naive::new(radius);
            let mut farthest = 0.0_f64;
            let mut r = rng(3);
            for t in 0..300 {
                let (indices, mut values) = sparse(&mut r, DIM, 5);
                values.iter_mut().for_each(|v| *v += drift);
                let x = written(learner.decide().unwrap());
                let [_, _, expected] = naive.decisions(DIM);
                let apart = common::distance(&x, &expected);
                assert!(apart <= 1e-10 * radius, "{apart:e} apart in round {t}");
                farthest = farthest.max(norm(&x));
                let mut g: Vec<f64> = x.iter().map(|x| ridge * x).collect();
                for (i, v) in indices.iter().zip(&values) {
                    g[*i as usize] += 0.5 * v;
                }
                let gradient = Gradient {
                    scale: 0.5,
                    ridge,
                    ..Gradient::sparse(&indices, &values)
                };
                learner.observe(&gradient).unwrap();
                naive.observe(&g);
            }
            assert!(drift == 0.0 || farthest > 1e-3 * radius, "{farthest}");
        }
    }
}

#[test]
fn gradients_in_other_units_change_no_bit_of_the_decisions() {
    let set = ball(20.0, 200);
    let decisions = |unit: f64| {
        let mut learner = lazy("coin-ftrl", &set);
        let mut r = rng(5);
        for _ in 0..500 {
            let (indices, values) = sparse(&mut r, 200, 6);
            learner.decide().unwrap();
            let gradient = Gradient {
                scale: unit * 0.3,
                ..Gradient::sparse(&indices, &values)
            };
            learner.observe(&gradient).unwrap();
        }
        common::bits(&written(learner.decision()))
    };
    let plain = decisions(1.0);
    for exponent in [-300, -40, 40, 300] {
        assert!(decisions(2f64.powi(exponent)) == plain, "2^{exponent}");
    }
}

#[test]
fn decisions_stay_in_the_ball_when_gradients_cancel_or_jump() {
    const DIM: usize = 3000;
    for radius in [1e-3, 1.0, 1000.0] {
        let set = ball(radius, DIM);
        let mut learner = lazy("coin-ftrl", &set);
        let mut r = rng(8);
        let mut back: Vec<(Vec<u32>, Vec<f64>, f64)> = Vec::new();
        let mut farthest = 0.0_f64;
        for t in 0..4000 {
            // forth by one scale after the other, then all the way back
            let (indices, values, scale) = if t % 100 < 50 {
                let scale = [1.0, 1e6, 1e-6, 1e90][t / 100 % 4];
                let (indices, values) = sparse(&mut r, DIM, 10);
                back.push((indices.clone(), values.clone(), -scale));
                (indices, values, scale)
            } else {
                back.pop().unwrap()
            };
            let x = written(learner.decide().unwrap());
            let violation = set.violation(&x).unwrap();
            assert!(violation <= 1e-9, "{violation:e} in round {t}");
            let gradient = Gradient {
                scale,
                ..Gradient::sparse(&indices, &values)
            };
            let record = learner.observe(&gradient).unwrap();
            let (norm, size) = (norm(&x), 1e-9 * radius * radius);
            farthest = farthest.max(norm);
            assert!((record.norm_squared - norm * norm).abs() <= size, "{t}");
        }
        assert!(farthest > 0.0);
    }
}

#[test]
fn a_gradient_that_is_refused_changes_nothing_however_near_it_is_to_one_that_is_not() {
    let set = ball(3.0, 20);
    for factor in [1e3, 1e20, 1e100] {
        let mut learner = lazy("coin-ftrl", &set);
        let mut r = rng(9);
        let (mut scale, mut refused) = (1e-200, 0);
        for t in 0..300 {
            let (indices, values) = sparse(&mut r, 20, 6);
            let gradient = Gradient {
                scale,
                ..Gradient::sparse(&indices, &values)
            };
            // a turn that an error left open goes on
            let _ = learner.decide();
            let before = learner.save().unwrap();
            if learner.observe(&gradient).is_ok() {
                scale = f64::min(scale * factor, 1e305);
            } else {
                assert!(learner.save().unwrap() == before, "round {t}, {scale:e}");
                scale /= 7.0;
                refused += 1;
            }
            assert!(set.violation(&written(learner.decision())).unwrap() <= 1e-9);
        }
        assert!(refused > 10, "{factor:e}: {refused}");
    }
}

/// The average logistic loss over a stream in lazy storage.
fn average(text: &str, set: &SharedSet, stream: &str, scale: f64, rounds: usize) -> f64 {
    let loss: LossSpec = "logistic".parse().unwrap();
    let objective = Objective::new(loss.build().unwrap(), 0.0).unwrap();
    let stream: StreamSpec = stream.parse().unwrap();
    let mut stream = stream.build(set.dim(), 4).unwrap();
    let mut learner = lazy(text, set);
    let mut total = 0.0;
    for _ in 0..rounds {
        let decision = learner.decide().unwrap();
        let round = stream.next(decision).unwrap().unwrap();
        let Row::Sparse { indices, values } = round.row else {
            panic!("a dense row");
        };
        let values = common::scaled(values, scale);
        let row = Row::Sparse {
            indices,
            values: &values,
        };
        let evaluation = objective.evaluate(row, round.label, 1.0, decision).unwrap();
        total += evaluation.value;
        learner.observe(&evaluation.gradient).unwrap();
    }
    total / rounds as f64
}

#[test]
fn untuned_it_beats_gauge_ftrl_on_the_best_radius_and_takes_its_part_where_the_ball_binds() {
    const DIM: usize = 5000;
    const ROUNDS: usize = 20_000;
    let play = |text: &str, radius: f64| {
        average(text, &ball(radius, DIM), "zipf:nonzeros=30", 1.0, ROUNDS)
    };
    let radii = (0..11).map(|k| 2f64.powi(k));
    let best = radii
        .map(|radius| play("gauge-ftrl", radius))
        .fold(f64::INFINITY, f64::min);
    let untuned = play("coin-ftrl", default_radius(&[1.0], &[1.0]));
    assert!(untuned < best, "{untuned}, gauge-ftrl {best}");
    // within a sixteenfold ball no more than a hundredth is lost
    let roomy = play("coin-ftrl", 16.0 * 1024.0);
    assert!((roomy - untuned).abs() < 0.01, "{roomy}, {untuned}");
    for radius in [1.0, 8.0] {
        let [ours, gauge] = ["coin-ftrl", "gauge-ftrl"].map(|text| play(text, radius));
        assert!(ours < gauge + 0.002, "{radius}: {ours}, {gauge}");
    }
}

#[test]
fn data_in_other_units_get_a_ball_in_those_units_and_the_same_losses() {
    let losses = [1.0, 0.125, 1024.0].map(|scale: f64| {
        let radius = default_radius(&[scale; 3], &[1.0, -1.0, 1.0]);
        assert_eq!(radius, 1024.0 / scale);
        let set = ball(radius, 400);
        average("coin-ftrl", &set, "zipf:nonzeros=10", scale, 3000).to_bits()
    });
    assert!(losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
}

#[test]
fn the_radius_goes_by_typical_rows_and_the_largest_label() {
    assert_eq!(default_radius(&[1.0, 1.0, 1e9], &[1.0, 1.0, 1.0]), 1024.0);
    assert_eq!(default_radius(&[2.0], &[-32.0, 5.0]), 16.0 * 1024.0);
    for odd in [f64::NAN, f64::INFINITY, 0.0] {
        assert_eq!(default_radius(&[odd, 1.0, odd, 1.0, 1.0], &[odd]), 1024.0);
    }
    let least = default_radius(&[f64::MAX], &[f64::MIN_POSITIVE]);
    assert!(least > 0.0 && least.is_normal());
}

#[test]
fn lazy_storage_gets_the_learner_that_its_loss_calls_for() {
    let set = ball(1.0, 3);
    for (loss, ridge, expected) in [
        ("logistic", 0.0, "coin-ftrl"),
        ("squared", 0.0, "coin-ftrl"),
        ("hinge", 0.0, "coin-ftrl"),
        ("linear", 0.0, "gauge-ftrl"),
        ("logistic", 0.1, "sc-ofw"),
    ] {
        let loss = loss.parse::<LossSpec>().unwrap().build().unwrap();
        let objective = Objective::new(loss, ridge).unwrap();
        let spec = default_for(&*set, &objective, Storage::Lazy);
        assert_eq!(spec.entry().name, expected);
    }
}
