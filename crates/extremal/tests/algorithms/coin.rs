//! Coin-FTRL: it is its pseudocode, does not depend on the scale of the data, and is as good as
//! the better of what it is made of. And the ball and learner that are played untuned.

use crate::common::{self, normal, rng, uniform, written};
use extremal::kernel::norm;
use extremal::learner::{Learner, LearnerSpec, Storage, default_for, default_radius};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::StreamSpec;
use extremal::{Gradient, Row, theory};
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
    first: f64,
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
        if self.first == 0.0 {
            self.first = q.abs();
        }
        self.largest = self.largest.max(q.abs());
        let outwards = (bet < 0.0 && q > 0.0) || (bet > high && q < 0.0);
        if !outwards {
            let q = q.signum() * q.abs().min(before);
            self.theta -= q;
            self.total += q.abs();
            self.won -= q * bet;
        }
    }

    /// Numbers in [0, 1] that were bet lose at most this more than 1.
    fn bound(&self, stake: f64) -> f64 {
        theory::coin_betting(stake, self.first, self.largest, self.total)
    }
}

/// ln(1 + c·tanh x) and the growth of θ²/(2(A + 1)) − ½ ln(A + 1), at L = 1: the proof of the bets.
fn growths(theta: f64, total: f64, c: f64) -> (f64, f64) {
    let won = (c * (theta / (total + 2.0)).tanh()).ln_1p();
    let phi =
        |theta: f64, total: f64| theta * theta / (2.0 * (total + 1.0)) - 0.5 * (total + 1.0).ln();
    (won, phi(theta + c, total + c.abs()) - phi(theta, total))
}

#[test]
fn what_a_bet_owns_grows_as_fast_as_the_potential() {
    let mut closest = f64::INFINITY;
    for exponent in -8..=12 {
        let total = 2f64.powi(exponent);
        for part in -20..=20 {
            for c in -20..=20 {
                let theta = total * f64::from(part) / 20.0;
                let (won, needed) = growths(theta, total, f64::from(c) / 20.0);
                assert!(won >= needed - 1e-9, "θ {theta} A {total} c {c}");
                if c != 0 {
                    closest = closest.min((won - needed) * (total + 1.0));
                }
            }
        }
    }
    // it is no bound with room to spare
    assert!(closest < 1e-2, "{closest}");
}

/// Regret of a bet kept between 0 and 1 against 0 and against 1.
fn bet_against(stake: f64, losses: impl Fn(usize, f64) -> f64) -> ([f64; 2], Bet) {
    let mut bet = Bet::default();
    let (mut lost, mut sum) = (0.0, 0.0);
    for t in 0..3000 {
        let m = bet.bet(stake).clamp(0.0, 1.0);
        let q = losses(t, m);
        lost += q * m;
        sum += q;
        bet.settle(q, 1.0, stake);
    }
    ([lost, lost - sum], bet)
}

#[test]
fn the_losses_of_a_bet_are_near_those_of_both_ends_whatever_comes() {
    let noise = |t: usize| ((t * 7919 % 1000) as f64 / 500.0 - 1.0) * 0.999;
    type Losses = Box<dyn Fn(usize, f64) -> f64>;
    for size in [1e-100, 1.0, 1e100] {
        let streams: [Losses; 6] = [
            Box::new(move |t, _| size * noise(t)),
            Box::new(move |t, _| size * (noise(t) - 0.1)),
            Box::new(move |t, _| size * (noise(t) + 0.1)),
            Box::new(move |_, m| if m > 0.5 { size } else { -size }),
            Box::new(move |t, _| if t % 2 == 0 { size } else { -size }),
            Box::new(move |t, _| size * noise(t) * (t as f64 + 1.0).powi(2) / 9e6),
        ];
        for (k, losses) in streams.iter().enumerate() {
            for stake in [1.0 / 1024.0, 0.5] {
                let ([idle, full], bet) = bet_against(stake, losses);
                let scale = bet.largest;
                assert!(idle <= (1.0 + stake) * scale, "{k} {size:e}: {idle:e}");
                let bound = bet.bound(stake);
                assert!(full <= bound, "{k} {size:e}: {full:e}, bound {bound:e}");
                assert!(bound < 300.0 * 3000f64.sqrt() * scale, "{k}: {bound:e}");
            }
        }
    }
}

#[test]
fn a_bet_follows_who_is_right() {
    let ([idle, _], bet) = bet_against(1.0 / 1024.0, |_, _| -1.0);
    assert!(bet.bet(1.0 / 1024.0) >= 1.0);
    assert!(idle < -2900.0, "{idle}");
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
                let bound = 2.0 * naive.beta + naive.share.bound(Naive::STAKE);
                let ours = learner.guarantee().unwrap().bound(t as f64);
                assert!((ours / bound - 1.0).abs() <= 1e-8, "{ours}, {bound}");
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

/// Rows of up to 12 entries at rising indices.
fn rows(dim: usize) -> impl Iterator<Item = (Vec<u32>, Vec<f64>)> {
    (0..400_usize).map(move |t| {
        let indices: Vec<u32> = (0..t % 13).map(|j| (j * 3 + t % 4) as u32).collect();
        assert!(indices.iter().all(|i| (*i as usize) < dim));
        let value = |i: &u32| (f64::from(*i) + t as f64 * 0.7).sin();
        let values = indices.iter().map(value);
        let values = values.map(|v| if v.abs() < 0.1 { 0.0 } else { v });
        let values = values.collect();
        (indices, values)
    })
}

#[test]
fn a_row_of_any_shape_and_size_is_met_as_it_is_and_taken_alike() {
    const DIM: usize = 40;
    let set = ball(5.0, DIM);
    for sizes in [[1.0, -0.3], [1e-98, 1e-90], [1e95, 1e98], [0.0, 1e-98]] {
        let mut all = [0, 1, 2].map(|_| lazy("coin-ftrl", &set));
        for (t, (indices, values)) in rows(DIM).enumerate() {
            let scale = sizes[t % 2];
            let mut dense = [0.0; DIM];
            for (i, v) in indices.iter().zip(&values) {
                dense[*i as usize] = *v;
            }
            let shapes = [
                Row::Sparse {
                    indices: &indices,
                    values: &values,
                },
                Row::Dense(&dense),
                Row::Entries {
                    width: DIM,
                    rows: &vec![0; indices.len()],
                    columns: &indices,
                    values: &values,
                },
            ];
            let before = all.each_ref().map(|learner| written(learner.decision()));
            for ((learner, row), x) in all.iter_mut().zip(shapes).zip(&before) {
                let gradient = Gradient {
                    row,
                    scale,
                    ridge: 0.0,
                };
                let record = learner.observe(&gradient).unwrap();
                let size = 5.0 * scale.abs() * norm(&values);
                let off = (record.gradient_dot - scale * row.dot(x)).abs();
                assert!(off <= 1e-12 * size, "{sizes:?}, {t}: {off:e}");
                let off = (record.norm_squared - norm(x).powi(2)).abs();
                assert!(off <= 1e-9, "{sizes:?}, {t}: {off:e}");
                let apart = common::distance(x, &before[0]);
                assert!(apart <= 1e-9, "{sizes:?}, {t}: {apart:e}");
            }
        }
    }
}

#[test]
fn entries_too_small_to_square_count_as_nothing() {
    let set = ball(5.0, 3);
    let [mut with, mut without] = [0, 1].map(|_| lazy("coin-ftrl", &set));
    for (a, b) in [(1.0, 0.0), (-0.5, 0.0), (1.0, 1.0)] {
        with.observe(&Gradient::dense(&[a, b, 1e-200])).unwrap();
        without.observe(&Gradient::dense(&[a, b, 0.0])).unwrap();
        let [x, y] = [&with, &without].map(|l| common::bits(&written(l.decision())));
        assert_eq!(x, y);
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
