//! unit-free: it is its pseudocode, its certificate and bound hold, units do not matter, corrupt rows
//! do little harm, and a run resumes with the same bits.

use crate::common::{normal, rng, uniform};
use extremal::learner::{Learner, LearnerSpec, Storage, default_for};
use extremal::loss::{LossSpec, Objective};
use extremal::set::SetSpec;
use extremal::{Error, Example, Gradient, Row};
use rand_chacha::ChaCha8Rng;

fn learner(text: &str, dim: usize) -> Box<dyn Learner> {
    let set = "unit-free".parse::<SetSpec>().unwrap();
    let spec: LearnerSpec = text.parse().unwrap();
    spec.build_stored(&set.build(Some(dim)).unwrap(), Storage::Lazy)
        .unwrap()
}

fn objective(loss: &str) -> Objective {
    Objective::new(loss.parse::<LossSpec>().unwrap().build().unwrap(), 0.0).unwrap()
}

/// Rows with an intercept, common and rare features of several sizes, and labels of a rule.
struct Stream {
    rows: Vec<(Vec<u32>, Vec<f64>)>,
    labels: Vec<f64>,
}

fn stream(r: &mut ChaCha8Rng, rounds: usize, dim: usize, signs: bool) -> Stream {
    let rule: Vec<f64> = (0..dim).map(|_| normal(r)).collect();
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (mut indices, mut values, mut score) = (vec![0], vec![1.0], 0.3);
        for (i, w) in rule.iter().enumerate().skip(1) {
            if uniform(r) < 1.0 / (1.0 + 0.3 * i as f64) {
                let value = normal(r) + if i % 3 == 0 { 2.0 } else { 0.0 };
                score += w * value;
                indices.push(i as u32);
                values.push(value * 10f64.powi(i as i32 % 5 - 2));
            }
        }
        rows.push((indices, values));
        let noise = normal(r);
        labels.push(match signs {
            true => (score + noise).signum(),
            false => 3.0 * score + noise + 7.0,
        });
    }
    Stream { rows, labels }
}

impl Stream {
    fn row(&self, t: usize) -> Row<'_> {
        Row::sparse(&self.rows[t].0, &self.rows[t].1)
    }

    /// Adds these numbers to the first columns after the intercept, which are then in every row.
    fn add(&mut self, offsets: &[f64]) {
        for (indices, values) in &mut self.rows {
            for (column, offset) in (1..).zip(offsets) {
                match indices.binary_search(&column) {
                    Ok(at) => values[at] += offset,
                    Err(at) => (indices.insert(at, column), values.insert(at, *offset)).1,
                }
            }
        }
    }

    /// Plays rounds and returns the predictions.
    fn play(
        &self,
        learner: &mut dyn Learner,
        objective: &Objective,
        rounds: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let play = |t| {
            let example = Example::new(self.row(t), self.labels[t], 1.0, objective).unwrap();
            learner.learn(&example).unwrap().prediction
        };
        rounds.map(play).collect()
    }

    fn loss(&self, predictions: &[f64], objective: &Objective, from: usize) -> f64 {
        let rounds = from..self.labels.len();
        rounds
            .map(|t| objective.loss().at(predictions[t], self.labels[t]).0)
            .sum()
    }
}

/// A bettor of the recipe: its money, and the largest coin so far.
#[derive(Clone, Copy, Default)]
struct Bet {
    largest: f64,
    theta: f64,
    total: f64,
    won: f64,
}

impl Bet {
    fn scale(&self, bound: f64) -> f64 {
        if bound > 4.0 * self.largest {
            bound
        } else {
            self.largest
        }
    }

    fn bet(&self, stake: f64, scale: f64) -> f64 {
        if self.largest == 0.0 {
            return 0.0;
        }
        (self.theta / (self.total + 2.0 * scale)).tanh() * (stake + self.won / scale).max(0.0)
    }

    fn settle(&mut self, q: f64, bet: f64, high: f64, scale: f64) {
        if self.largest == 0.0 {
            self.largest = q.abs();
        }
        let limit = self.largest;
        self.largest = self.largest.max(q.abs());
        if (bet < 0.0 && q > 0.0) || (bet > high && q < 0.0) {
            return;
        }
        self.theta -= q.clamp(-limit, limit);
        self.total += q.abs().min(limit);
        let paid = scale.max(limit);
        self.won -= q.clamp(-paid, paid) * bet;
    }
}

/// The sums of a member, dense.
#[derive(Clone, Default)]
struct Member {
    c: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
    top: Vec<f64>,
    z: Vec<f64>,
    bets: [Bet; 2],
    d: f64,
    d2: f64,
    steepest: f64,
}

impl Member {
    fn y(&self, i: usize) -> f64 {
        let root = (self.v[i] + self.top[i] * self.top[i]).sqrt();
        if root > 0.0 { -self.c[i] / root } else { 0.0 }
    }
}

/// The recipe of the guide's page, written out in dense vectors, without the guard.
struct Recipe {
    signs: bool,
    count: Vec<f64>,
    sizes: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
    steps: Vec<[f64; 3]>,
    largest: Vec<f64>,
    members: [Member; 2],
    share: Bet,
    beta: f64,
    radius: f64,
    norms: [f64; 3],
    losses: [f64; 3],
    gap: f64,
    t: f64,
    labels: f64,
    label_sum: f64,
    positive: f64,
    unit: f64,
    range: Option<(f64, f64)>,
}

impl Recipe {
    fn new(dim: usize, signs: bool) -> Self {
        let zeros = vec![0.0; dim];
        let member = Member {
            c: zeros.clone(),
            v: zeros.clone(),
            p: zeros.clone(),
            top: zeros.clone(),
            z: zeros.clone(),
            ..Member::default()
        };
        Self {
            signs,
            count: zeros.clone(),
            sizes: zeros.clone(),
            sum: zeros.clone(),
            squares: zeros.clone(),
            steps: vec![[0.0; 3]; dim],
            largest: zeros,
            members: [member.clone(), member],
            share: Bet::default(),
            beta: 0.0,
            radius: if signs { 1024.0 } else { 0.0 },
            norms: [0.0; 3],
            losses: [0.0; 3],
            gap: 0.0,
            t: 0.0,
            labels: 0.0,
            label_sum: 0.0,
            positive: 0.0,
            unit: if signs { 1.0 } else { 0.0 },
            range: None,
        }
    }

    fn centre(&self, i: usize) -> (f64, f64) {
        let (n, mean) = (self.count[i], self.sum[i] / self.t);
        let [_, steps, number] = self.steps[i];
        let mut spread = match number > 0.0 {
            true => steps / number,
            false => self.deviation(i),
        };
        if n < self.t {
            spread = spread.max(mean.abs());
        }
        (
            mean,
            if spread > 1e-7 * self.largest[i] {
                spread
            } else {
                0.0
            },
        )
    }

    fn deviation(&self, i: usize) -> f64 {
        let (n, mean) = (self.count[i], self.sum[i] / self.t);
        let square = (self.squares[i] - 2.0 * mean * self.sum[i] + n * mean * mean) / n;
        square.max(0.0).sqrt()
    }

    /// Chooses the features far from 0 again.
    fn choose(&mut self, row: &[(usize, f64)]) {
        for &(i, a) in row {
            let (mean, deviation) = (self.sum[i] / self.t, self.deviation(i));
            let varies = deviation > 1e-7 * self.largest[i];
            let far = self.count[i] == self.t && mean.abs() > 16.0 * deviation && varies;
            self.steps[i] = match self.steps[i][0] == 0.0 {
                _ if !far => [0.0; 3],
                true => [a, 4.0 * deviation, 4.0],
                false => self.steps[i],
            };
        }
    }

    fn refresh(&mut self, i: usize) {
        let (mean, spread) = self.centre(i);
        let largest = self.largest[i];
        let member = &mut self.members[1];
        let top = member.top[i] / largest * spread;
        let square = member.v[i] - 2.0 * mean * member.p[i] + mean * mean * member.d2;
        let root = (square.max(0.0) + top * top).sqrt();
        member.z[i] = match spread > 0.0 && root > 0.0 && i > 0 {
            true => -(member.c[i] - mean * member.d) / (root * spread),
            false => 0.0,
        };
    }

    fn play(&mut self, indices: &[u32], values: &[f64], label: f64, objective: &Objective) -> f64 {
        self.t += 1.0;
        let row: Vec<(usize, f64)> = indices
            .iter()
            .zip(values)
            .map(|(i, a)| (*i as usize, *a))
            .collect();
        for &(i, a) in &row {
            self.count[i] += 1.0;
            self.sizes[i] += a.abs();
            self.sum[i] += a;
            self.squares[i] += a * a;
            let [last, steps, number] = self.steps[i];
            if last != 0.0 {
                let step = (a - last).abs();
                self.steps[i] = [a, steps + step, number + f64::from(u8::from(step > 0.0))];
            }
            if a.abs() > self.largest[i] {
                self.largest[i] = a.abs();
                self.refresh(i);
            }
        }
        let (mut units, mut reach) = ([0.0, 0.0, 1.0], 0.0);
        let mut q = [[0.0; 2]; 2];
        let mut pull = 0.0;
        q[1][1] = self.members[1].y(0);
        for &(i, a) in &row {
            let u = a * self.count[i] / self.sizes[i];
            let (mean, spread) = self.centre(i);
            units[0] += u * u;
            units[1] += a * a;
            if spread > 0.0 {
                units[2] += ((a - mean) / spread).powi(2);
            }
            let m = self.largest[i];
            reach += (a / m).powi(2);
            q[0][0] += self.members[0].y(i) * u;
            q[0][1] += self.members[0].y(i) * a;
            q[1][0] += self.members[1].y(i) * u;
            q[1][1] += self.members[1].z[i] * a;
            pull += self.members[0].c[i] * a / (m * m);
        }
        let centre: f64 = self.members[1]
            .z
            .iter()
            .zip(&self.sum)
            .map(|(z, s)| z * s)
            .sum();
        q[1][1] -= centre / self.t;
        for (sum, unit) in self.norms.iter_mut().zip(units) {
            *sum += f64::sqrt(unit);
        }
        let stake = |k: usize| self.unit * self.t / self.norms[k];
        let raw_stake = stake(1).min(4.0 * self.unit / units[1].sqrt());
        let centred = stake(2) * if self.signs { 4.0 } else { 1.0 };
        let stakes = [[stake(0), raw_stake], [stake(0), centred]];
        let (mut bets, mut scales) = ([[0.0; 2]; 2], [[0.0; 2]; 2]);
        for m in 0..2 {
            let steepest = if self.signs {
                1.0
            } else {
                self.members[m].steepest
            };
            for k in 0..2 {
                let bet = self.members[m].bets[k];
                scales[m][k] = bet.scale(steepest * q[m][k].abs());
                bets[m][k] = bet.bet(stakes[m][k], scales[m][k]) * if m == 1 { 0.5 } else { 1.0 };
            }
        }
        let played = |m: usize| -> f64 {
            bets[m]
                .iter()
                .zip(q[m])
                .map(|(bet, q)| bet.max(0.0) * q)
                .sum()
        };
        let sums = self.members[0].c.iter().zip(&self.largest);
        let squares: f64 = sums
            .filter(|(_, m)| **m > 0.0)
            .map(|(c, m)| (c / m).powi(2))
            .sum();
        let potential = (self.radius.powi(2) * squares + self.beta.powi(2)).sqrt();
        let round = if potential > 0.0 {
            -self.radius.powi(2) * pull / potential
        } else {
            0.0
        };
        let share = self.share.bet(1.0 / 1024.0, self.share.largest);
        let w = share.clamp(0.0, 1.0);
        let coin = played(0);
        let null = match self.signs {
            true => ((self.positive + 1.0) / (self.labels - self.positive + 1.0)).ln(),
            false if self.labels > 0.0 => self.label_sum / self.labels,
            false => 0.0,
        };
        let raw = [(1.0 - w) * coin + w * round, null + played(1)];
        let clip = |p: f64| self.range.map_or(p, |(low, high)| p.max(low).min(high));
        let p = if self.signs { raw } else { raw.map(clip) };
        let least = self.losses.iter().copied().fold(f64::INFINITY, f64::min);
        let weights = self.losses.map(|loss| match self.gap > 0.0 {
            true => (-3f64.ln() / self.gap * (loss - least)).exp(),
            false => f64::from(u8::from(loss == least)),
        });
        let total: f64 = weights.iter().sum();
        let weights = weights.map(|weight| weight / total);
        let experts = [p[0], p[1], 0.5 * (p[0] + p[1])];
        let prediction: f64 = weights.iter().zip(experts).map(|(w, p)| w * p).sum();
        if self.signs || self.range.is_some() {
            let losses = experts.map(|p| objective.loss().at(p, label).0);
            let mean: f64 = weights.iter().zip(losses).map(|(w, l)| w * l).sum();
            let mixed = match self.gap > 0.0 {
                true => {
                    let eta = 3f64.ln() / self.gap;
                    let parts = weights
                        .iter()
                        .zip(losses)
                        .map(|(w, l)| w * (-eta * l).exp());
                    -parts.sum::<f64>().ln() / eta
                }
                false => {
                    let played = weights.iter().zip(losses).filter(|(w, _)| **w > 0.0);
                    played.map(|(_, l)| l).fold(f64::INFINITY, f64::min)
                }
            };
            self.gap += (mean - mixed).max(0.0);
            for (sum, loss) in self.losses.iter_mut().zip(losses) {
                *sum += loss;
            }
            for m in 0..2 {
                let slope = objective.loss().at(p[m], label).1;
                let d = if p[m] != raw[m] && slope * (raw[m] - p[m]) < 0.0 {
                    0.0
                } else {
                    slope
                };
                for k in 0..2 {
                    let (q, bet) = (d * q[m][k], bets[m][k]);
                    self.members[m].bets[k].settle(q, bet, f64::INFINITY, scales[m][k]);
                }
                if m == 0 {
                    self.share.settle(d * (round - coin), share, 1.0, 0.0);
                    let pull = self.radius * d.abs() * reach.sqrt();
                    if pull > 0.0 && potential > 0.0 {
                        self.beta += (0.5 * pull * pull / potential).min(2.0 * pull);
                    } else {
                        self.beta += 2.0 * pull;
                    }
                }
                let member = &mut self.members[m];
                member.d += d;
                member.d2 += d * d;
                member.steepest = member.steepest.max(d.abs());
                if d != 0.0 {
                    for &(i, a) in &row {
                        let g = d * a;
                        let member = &mut self.members[m];
                        member.c[i] += g;
                        member.v[i] += g * g;
                        member.p[i] += d * g;
                        member.top[i] = member.top[i].max(g.abs());
                        if m == 1 {
                            self.refresh(i);
                        }
                    }
                }
            }
        }
        if !self.signs {
            let off = (label - null).abs();
            if self.range.is_some() {
                self.unit = self.unit.max(off);
            }
            let needed = 1024.0 * label.abs().max(off);
            if needed > self.radius {
                self.radius = needed.log2().ceil().exp2();
            }
            let (low, high) = self.range.unwrap_or((label, label));
            self.range = Some((low.min(label), high.max(label)));
        }
        if (self.t as u64).is_power_of_two() {
            self.choose(&row);
        }
        self.labels += 1.0;
        self.label_sum += label;
        self.positive += f64::from(u8::from(label > 0.0));
        prediction
    }
}

#[test]
fn it_is_its_pseudocode() {
    for (seed, signs, far) in [
        (1, true, false),
        (2, false, false),
        (3, true, true),
        (4, false, true),
    ] {
        let (dim, rounds) = (23, 600);
        let mut stream = stream(&mut rng(seed), rounds, dim, signs);
        if far {
            stream.add(&[100.0, -2e3, 500.0]);
        }
        let objective = objective(if signs { "logistic" } else { "squared" });
        let mut learner = learner("unit-free:intercept=true", dim);
        let mut recipe = Recipe::new(dim, signs);
        let predictions = stream.play(&mut *learner, &objective, 0..rounds);
        for (t, played) in predictions.iter().enumerate() {
            let (indices, values) = &stream.rows[t];
            let expected = recipe.play(indices, values, stream.labels[t], &objective);
            let off = (played - expected).abs() / (1.0 + expected.abs());
            assert!(
                off < 1e-8,
                "seed {seed}, round {t}: {played}, not {expected}"
            );
        }
    }
}

/// The certified regret and the bound of the run hold against points of the last ellipsoid, also
/// where the guard changes rows and labels, and where the radius grows.
#[test]
fn its_certificate_and_its_bound_hold() {
    for seed in 0..12 {
        let (dim, rounds, signs) = (7, 300, seed % 2 == 0);
        let r = &mut rng(seed);
        let mut stream = stream(r, rounds, dim, signs);
        if seed % 3 == 0 {
            stream.rows[100].1[1..].iter_mut().for_each(|v| *v *= 1e4);
            if !signs {
                stream.labels[150] *= 1e4;
                stream.labels[200..].iter_mut().for_each(|y| *y *= 30.0);
            }
        }
        let objective = objective(if signs { "logistic" } else { "squared" });
        let mut learner = learner("unit-free:intercept=true", dim);
        let predictions = stream.play(&mut *learner, &objective, 0..rounds);
        let own = learner.by_example().unwrap();
        assert!(own.violation() <= 1e-12);
        let total = stream.loss(&predictions, &objective, 0);
        let bound = learner.guarantee().unwrap().bound(rounds as f64);
        let certificate = learner.certificate().unwrap().regret;
        assert!(certificate <= own.by_norm().at(own.radius()) * (1.0 + 1e-12));
        for k in 0..400 {
            // directions of all sizes, among them the learner's own weights
            let mut u = vec![0.0; dim];
            match k {
                0 => learner.decision().write(&mut u),
                _ => u.iter_mut().for_each(|u| *u = normal(r)),
            }
            let size = |u: &[f64]| {
                let parts = u
                    .iter()
                    .enumerate()
                    .map(|(i, u)| (own.scale(i) * u).powi(2));
                parts.sum::<f64>().sqrt()
            };
            let wanted = own.radius() * 10f64.powf(-6.0 * uniform(r));
            let factor = if k == 0 { 1.0 } else { wanted / size(&u) };
            u.iter_mut().for_each(|u| *u *= factor);
            let products = (0..rounds).map(|t| stream.row(t).dot(&u));
            let fixed: Vec<f64> = products.collect();
            let regret = total - stream.loss(&fixed, &objective, 0);
            let proven = own.by_norm().at(size(&u));
            assert!(regret <= proven, "seed {seed}: {regret} above {proven}");
            assert!(
                regret <= certificate && regret <= bound,
                "seed {seed}: {regret} above {bound}"
            );
        }
    }
}

/// Two labels of very different size: the bound of the run must count the growth of the radius.
#[test]
fn its_bound_holds_when_the_radius_grows() {
    let objective = objective("squared");
    let mut learner = learner("unit-free:intercept=true", 2);
    let mut total = 0.0;
    for label in [1e-6, 1.0] {
        let row = Row::sparse(&[0, 1], &[1.0, 1.0]);
        let example = Example::new(row, label, 1.0, &objective).unwrap();
        total += learner.learn(&example).unwrap().loss;
    }
    let mean = 0.5 * (1.0 + 1e-6);
    let best: f64 = [1e-6, 1.0]
        .iter()
        .map(|y| 0.5 * (mean - y) * (mean - y))
        .sum();
    assert!(learner.guarantee().unwrap().bound(2.0) >= total - best);
}

#[test]
fn units_do_not_matter() {
    for (seed, signs) in [(5, true), (6, false)] {
        let (dim, rounds) = (12, 2000);
        let plain = stream(&mut rng(seed), rounds, dim, signs);
        let objective = objective(if signs { "logistic" } else { "squared" });
        let loss_of = |stream: &Stream, unit: f64| {
            let mut learner = learner("unit-free:intercept=true", dim);
            let predictions = stream.play(&mut *learner, &objective, 0..rounds);
            stream.loss(&predictions, &objective, 0) / (unit * unit)
        };
        let before = loss_of(&plain, 1.0);
        let close = |loss: f64| assert!((loss / before - 1.0).abs() < 0.02, "{loss}, not {before}");
        for column in 1..dim as u32 {
            for factor in [1e6, 1e-6] {
                let mut scaled = Stream {
                    rows: plain.rows.clone(),
                    labels: plain.labels.clone(),
                };
                for (indices, values) in &mut scaled.rows {
                    let place = indices.iter().position(|i| *i == column);
                    place.into_iter().for_each(|k| values[k] *= factor);
                }
                close(loss_of(&scaled, 1.0));
            }
        }
        if !signs {
            for unit in [1e6, 1e-6] {
                let labels = plain.labels.iter().map(|y| unit * y).collect();
                close(loss_of(
                    &Stream {
                        rows: plain.rows.clone(),
                        labels,
                    },
                    unit,
                ));
            }
        }
    }
}

/// Offsets of a thousand standard deviations change the loss little, also in columns with a heavy tail.
#[test]
fn offsets_do_not_matter_much() {
    for (seed, signs) in [(15, true), (16, false)] {
        let (dim, rounds) = (4, 3000);
        let r = &mut rng(seed);
        let tails: Vec<[f64; 3]> = (0..rounds)
            .map(|_| [(); 3].map(|()| normal(r).powi(3) * (1.2 * normal(r)).exp()))
            .collect();
        let rows = tails
            .iter()
            .map(|tail| (vec![0, 1, 2, 3], vec![1.0, tail[0], tail[1], tail[2]]));
        let labels = tails.iter().map(|tail| {
            let score = tail[0].abs().ln_1p().copysign(tail[0]) - 0.1 * tail[1] + normal(r);
            if signs { score.signum() } else { score }
        });
        let mut stream = Stream {
            labels: labels.collect(),
            rows: rows.collect(),
        };
        let objective = objective(if signs { "logistic" } else { "squared" });
        let loss_of = |stream: &Stream| {
            let mut learner = learner("unit-free:intercept=true", dim);
            let predictions = stream.play(&mut *learner, &objective, 0..rounds);
            stream.loss(&predictions, &objective, 0)
        };
        let before = loss_of(&stream);
        stream.add(&[1e4; 3]);
        let after = loss_of(&stream);
        assert!(after < 1.1 * before, "{after}, not {before}");
    }
}

#[test]
fn a_corrupt_row_or_label_does_little_harm() {
    for (seed, signs) in [(7, true), (8, false)] {
        let (dim, rounds, bad) = (12, 3000, 1000);
        let plain = stream(&mut rng(seed), rounds, dim, signs);
        let objective = objective(if signs { "logistic" } else { "squared" });
        let loss_of = |stream: &Stream| {
            let mut learner = learner("unit-free:intercept=true", dim);
            let predictions = stream.play(&mut *learner, &objective, 0..rounds);
            stream.loss(&predictions, &objective, bad + 1000)
        };
        let before = loss_of(&plain);
        for factor in [1e4, 1e6] {
            let mut corrupt = Stream {
                rows: plain.rows.clone(),
                labels: plain.labels.clone(),
            };
            corrupt.rows[bad].1[1..]
                .iter_mut()
                .for_each(|v| *v *= factor);
            corrupt.labels[bad] *= if signs { -1.0 } else { factor };
            let after = loss_of(&corrupt);
            assert!(after < 1.05 * before, "{after}, not {before}");
        }
    }
}

#[test]
fn it_resumes_and_grows_with_the_same_bits() {
    let (dim, rounds) = (40, 200);
    let stream = stream(&mut rng(9), rounds, dim, true);
    let objective = objective("logistic");
    let mut whole = learner("unit-free:intercept=true", dim);
    let expected = stream.play(&mut *whole, &objective, 0..rounds);
    let mut first = learner("unit-free:intercept=true", 1);
    let mut predictions = Vec::new();
    for t in 0..rounds / 2 {
        let needed = *stream.rows[t].0.last().unwrap() as usize + 1;
        first.grow(first.dim().max(needed)).unwrap();
        predictions.extend(stream.play(&mut *first, &objective, t..t + 1));
    }
    first.grow(dim).unwrap();
    let mut second = learner("unit-free:intercept=true", dim);
    second.load(&first.save().unwrap()).unwrap();
    predictions.extend(stream.play(&mut *second, &objective, rounds / 2..rounds));
    assert_eq!(predictions, expected);
    assert_eq!(second.save().unwrap(), whole.save().unwrap());
    assert_eq!(second.certificate(), whole.certificate());
    let other = learner("unit-free", dim).load(&first.save().unwrap());
    assert!(
        other.is_err(),
        "a state without an intercept is another one"
    );
}

#[test]
fn an_error_changes_nothing() {
    let objective = objective("squared");
    let stream = stream(&mut rng(10), 50, 9, false);
    let mut learner = learner("unit-free:intercept=true", 20);
    stream.play(&mut *learner, &objective, 0..50);
    let before = learner.save().unwrap();
    let rows: [(&[u32], &[f64], f64); 4] = [
        (&[0, 12], &[1.0, f64::NAN], 1.0),
        (&[0, 12], &[1.0, 1e120], 1.0),
        (&[12], &[1.0], 1.0),
        (&[0, 13], &[1.0, 2.0], 1e160),
    ];
    for (indices, values, label) in rows {
        let example = Example::new(Row::sparse(indices, values), label, 1.0, &objective).unwrap();
        assert!(
            learner.learn(&example).is_err(),
            "{indices:?} {values:?} {label}"
        );
        assert_eq!(learner.save().unwrap(), before);
    }
    assert!(Example::new(Row::sparse(&[0], &[1.0]), f64::NAN, 1.0, &objective).is_err());
    assert!(matches!(
        learner.observe(&Gradient::sparse(&[0], &[1.0])),
        Err(Error::Unsupported(_))
    ));
    assert_eq!(learner.save().unwrap(), before);
}

/// The mixability gap must not lose a round whose losses are far apart: a leader of a long time that
/// fails by a factor of 10⁴ costs at most what 2Δ counts.
#[test]
fn a_leader_that_fails_by_far_is_paid_for() {
    let objective = objective("squared");
    let mut learner = learner("unit-free:intercept=true,no-clip=true", 2);
    let mut total = 0.0;
    let rows: Vec<(f64, f64)> = (0..4000)
        .map(|t| {
            let a = if t % 2 == 0 { 1.0 } else { -1.0 };
            let grown = if t < 3000 { 1.0 } else { 1e4 };
            (a, grown * if t < 3000 { a } else { 3.0 - a })
        })
        .collect();
    for (a, label) in &rows {
        let values = [1.0, *a];
        let row = Row::sparse(&[0, 1], &values);
        let example = Example::new(row, *label, 1.0, &objective).unwrap();
        total += learner.learn(&example).unwrap().loss;
    }
    let own = learner.by_example().unwrap();
    let bound = learner.guarantee().unwrap().bound(4000.0);
    for (b, w) in [(0.0, 0.0), (0.0, 1.0), (3e4, -1e4), (1e4, 0.0)] {
        let size = f64::hypot(b, w);
        let fixed: f64 = rows
            .iter()
            .map(|(a, y)| 0.5 * (b + w * a - y) * (b + w * a - y))
            .sum();
        assert!(
            size <= own.radius() && total - fixed <= bound,
            "{} {bound}",
            total - fixed
        );
        assert!(total - fixed <= own.by_norm().at(size));
    }
}

#[test]
fn an_example_without_weight_changes_nothing_but_the_number_of_rounds() {
    let objective = objective("squared");
    let stream = stream(&mut rng(12), 60, 9, false);
    let [mut plain, mut other] = [0, 1].map(|_| learner("unit-free:intercept=true", 20));
    let weightless = Example::new(Row::sparse(&[0, 15], &[1.0, 9.0]), 1e6, 0.0, &objective);
    let weightless = weightless.unwrap();
    other.learn(&weightless).unwrap();
    let mean = |l: &mut dyn Learner| stream.play(l, &objective, 0..1)[0];
    assert_eq!(mean(&mut *plain), mean(&mut *other));
    assert_eq!(other.rounds(), 2);
    assert_eq!(other.by_example().unwrap().scale(15), 0.0);
    assert_eq!(
        other.by_example().unwrap().range(),
        plain.by_example().unwrap().range()
    );
}

/// The prediction for a row is what the learner plays next for this row, to the bit: in the first
/// rounds, for features never seen, and for rows that the guard alters. Predicting changes nothing.
#[test]
fn predictions_are_what_is_played_next() {
    let (dim, rounds) = (15, 300);
    for (seed, loss, spec) in [
        (11, "squared", "unit-free:intercept=true"),
        (12, "logistic", "unit-free:intercept=true"),
        (13, "squared", "unit-free:no-clip=true"),
        (14, "hinge", "unit-free"),
    ] {
        let objective = objective(loss);
        let mut stream = stream(&mut rng(seed), rounds, dim, loss != "squared");
        stream.rows[200].1[1..].iter_mut().for_each(|v| *v *= 1e6);
        let mut learner = learner(spec, 1);
        for t in 0..rounds {
            let needed = *stream.rows[t].0.last().unwrap() as usize + 1;
            let before = learner.save().unwrap();
            let by_example = learner.by_example().unwrap();
            let predicted = by_example.predict(&stream.row(t)).unwrap();
            let mut dense = vec![0.0; dim];
            let entries = stream.rows[t].0.iter().zip(&stream.rows[t].1);
            entries.for_each(|(i, v)| dense[*i as usize] = *v);
            assert_eq!(by_example.predict(&Row::Dense(&dense)).unwrap(), predicted);
            assert_eq!(learner.save().unwrap(), before);
            learner.grow(learner.dim().max(needed)).unwrap();
            let played = stream.play(&mut *learner, &objective, t..t + 1)[0];
            assert_eq!(predicted.to_bits(), played.to_bits(), "{spec}, round {t}");
        }
    }
}

#[test]
fn it_takes_what_its_documentation_says_and_nothing_else() {
    let set = "unit-free:dim=3"
        .parse::<SetSpec>()
        .unwrap()
        .build(None)
        .unwrap();
    let ball = "l2:dim=3".parse::<SetSpec>().unwrap().build(None).unwrap();
    let unit_free: LearnerSpec = "unit-free".parse().unwrap();
    assert!(matches!(
        unit_free.build(&ball),
        Err(Error::CannotPlay { .. })
    ));
    for composite in [
        "hedge:bases=[(unit-free)]",
        "delayed:base=(unit-free),delay=2",
    ] {
        let error = composite
            .parse::<LearnerSpec>()
            .unwrap()
            .build(&set)
            .unwrap_err();
        assert!(error.to_string().contains("observes examples"), "{error}");
    }
    let row = Row::sparse(&[0], &[1.0]);
    assert!(Example::new(row, 1.0, 1.0, &objective("linear")).is_err());
    let ridge = Objective::new("squared".parse::<LossSpec>().unwrap().build().unwrap(), 0.1);
    assert!(Example::new(row, 1.0, 1.0, &ridge.unwrap()).is_err());
    let mut learner = unit_free.build(&set).unwrap();
    let (squared, logistic) = (objective("squared"), objective("logistic"));
    learner
        .learn(&Example::new(row, 1.0, 1.0, &squared).unwrap())
        .unwrap();
    let other = Example::new(row, 1.0, 1.0, &logistic).unwrap();
    assert!(learner.learn(&other).is_err(), "labels of another kind");
    for loss in [
        "hinge",
        "squared-hinge",
        "absolute",
        "huber",
        "quantile:level=0.9",
    ] {
        let objective = objective(loss);
        let chosen = default_for(&*set, &objective, Storage::Lazy);
        assert_eq!(chosen.to_string(), "unit-free");
        let mut learner = chosen.build(&set).unwrap();
        for label in [1.0, -1.0, 1.0, 1.0] {
            let example = Example::new(row, label, 2.0, &objective).unwrap();
            learner.learn(&example).unwrap();
        }
        assert_eq!(learner.rounds(), 4);
    }
}
