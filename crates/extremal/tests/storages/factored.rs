//! A pair that is not the library's: matrices in the trace-norm ball, the decision kept as
//! U diag(a) Vᵀ and the gradient sum as (observed entries) + U diag(b) Vᵀ over one dictionary of
//! rank-one atoms, nothing ever truncated. The very learners that play densely play on it, and
//! decide the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::*;
use extremal::learner::frank_wolfe::{ofw_line_search::OfwLs, sc_ofw::ScOfw};
use extremal::learner::{Known, Learner, on_surrogate};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{CustomSet, Geometry, SharedSet};
use extremal::{Error, Result};
use extremal::{
    Gradient, Point, Row,
    surrogate::{Move, Probe, Surrogate, Update},
};
use serde::{Deserialize, Serialize};

/// u·vᵀ with its factor in x and in c.
#[derive(Clone, Serialize, Deserialize)]
struct Term {
    u: Vec<f64>,
    v: Vec<f64>,
    a: f64,
    b: f64,
}

/// (x, c) in the trace-norm ball of m×n matrices, from x₁ = 0.
#[derive(Clone, Serialize, Deserialize)]
struct FactoredSurrogate {
    m: usize,
    n: usize,
    radius: f64,
    terms: Vec<Term>,
    observed: BTreeMap<(usize, usize), f64>,
    /// The top singular vectors that the last probe found.
    found: Option<(Vec<f64>, Vec<f64>)>,
    planned: Option<Planned>,
}

/// What a probe leaves for the commit: k·a, the factor of x, and whether F restarts.
#[derive(Clone, Serialize, Deserialize)]
struct Planned {
    row: Vec<(usize, f64)>,
    m: f64,
    fresh: bool,
}

/// c' + βx as an operator: entries and a combination of the dictionary.
struct Operator<'a> {
    entries: Vec<(usize, usize, f64)>,
    terms: Vec<(&'a Term, f64)>,
    m: usize,
    n: usize,
}

impl Operator<'_> {
    fn apply(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.m];
        for &(i, j, value) in &self.entries {
            out[i] += value * v[j];
        }
        for (term, k) in &self.terms {
            out = plus(&out, k * dot(&term.v, v), &term.u);
        }
        out
    }

    fn apply_transposed(&self, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n];
        for &(i, j, value) in &self.entries {
            out[j] += value * u[i];
        }
        for (term, k) in &self.terms {
            out = plus(&out, k * dot(&term.u, u), &term.v);
        }
        out
    }

    /// The top singular value and vectors: Golub-Kahan bidiagonalisation, every vector made
    /// orthogonal to all before, until the space is used up.
    fn top(&self) -> Option<(f64, Vec<f64>, Vec<f64>)> {
        let mut v = unit(&mut kit::rng(1), self.n);
        let (mut us, mut vs): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let mut bidiagonal: Vec<Vec<f64>> = Vec::new();
        let mut size = 0.0_f64;
        loop {
            vs.push(v.clone());
            let mut u = self.apply(&v);
            let coefficients: Vec<f64> = us.iter().map(|w| dot(w, &u)).collect();
            orthogonalise(&mut u, &us);
            let alpha = norm(&u);
            size = size.max(alpha);
            let mut column = coefficients;
            if alpha <= 1e-13 * size {
                bidiagonal.push(column);
                break;
            }
            column.push(alpha);
            bidiagonal.push(column);
            us.push(scaled(&u, 1.0 / alpha));
            let mut w = self.apply_transposed(&us[us.len() - 1]);
            orthogonalise(&mut w, &vs);
            let beta = norm(&w);
            size = size.max(beta);
            if beta <= 1e-13 * size || vs.len() == self.n {
                break;
            }
            v = scaled(&w, 1.0 / beta);
        }
        if us.is_empty() {
            return None;
        }
        let small: Vec<Vec<f64>> = bidiagonal
            .iter()
            .map(|column| {
                (0..us.len())
                    .map(|i| column.get(i).copied().unwrap_or(0.0))
                    .collect()
            })
            .collect();
        let (sigma, left, right) = top_of_columns(&small);
        let combine = |basis: &[Vec<f64>], k: &[f64]| {
            let zero = vec![0.0; basis[0].len()];
            basis.iter().zip(k).fold(zero, |s, (b, k)| plus(&s, *k, b))
        };
        Some((sigma, combine(&us, &left), combine(&vs, &right)))
    }
}

fn orthogonalise(w: &mut Vec<f64>, basis: &[Vec<f64>]) {
    for _ in 0..2 {
        for b in basis {
            *w = plus(w, -dot(w, b), b);
        }
    }
}

/// The top singular value and vectors of a matrix given by its columns: one-sided Jacobi.
fn top_of_columns(columns: &[Vec<f64>]) -> (f64, Vec<f64>, Vec<f64>) {
    let n = columns.len();
    let mut a = columns.to_vec();
    let mut right: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (pp, qq, pq) = (dot(&a[p], &a[p]), dot(&a[q], &a[q]), dot(&a[p], &a[q]));
                if pq == 0.0 || pq.abs() <= 1e-16 * (pp * qq).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (qq - pp) / (2.0 * pq);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                for columns in [&mut a, &mut right] {
                    let new_p = plus(&columns[p], -tangent, &columns[q]);
                    let new_q = plus(&columns[q], tangent, &columns[p]);
                    columns[p] = scaled(&new_p, cosine);
                    columns[q] = scaled(&new_q, cosine);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let best = (0..n)
        .max_by(|i, j| norm(&a[*i]).total_cmp(&norm(&a[*j])))
        .unwrap();
    let sigma = norm(&a[best]);
    (sigma, scaled(&a[best], 1.0 / sigma), right[best].clone())
}

impl FactoredSurrogate {
    fn new(m: usize, n: usize, radius: f64) -> Self {
        Self {
            m,
            n,
            radius,
            terms: Vec::new(),
            observed: BTreeMap::new(),
            found: None,
            planned: None,
        }
    }

    /// ⟨u vᵀ, x⟩
    fn dot_rank_one(&self, u: &[f64], v: &[f64]) -> f64 {
        let terms = self.terms.iter();
        terms.map(|t| t.a * dot(u, &t.u) * dot(v, &t.v)).sum()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.terms.iter().map(|t| t.a * t.u[i] * t.v[j]).sum()
    }

    fn place_of(&self, index: usize) -> (usize, usize) {
        (index / self.n, index % self.n)
    }
}

impl Point for FactoredSurrogate {
    fn dim(&self) -> usize {
        self.m * self.n
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.dim())?;
        let entries = row.entries().map(|(k, value)| {
            let (i, j) = self.place_of(k);
            value * self.entry(i, j)
        });
        Ok(entries.sum())
    }

    fn norm_squared(&self) -> f64 {
        let terms = self.terms.iter();
        terms.map(|t| t.a * self.dot_rank_one(&t.u, &t.v)).sum()
    }

    fn write(&self, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let (i, j) = self.place_of(k);
            *out = self.entry(i, j);
        }
    }
}

impl Surrogate for FactoredSurrogate {
    fn probe(&mut self, update: &Update<'_>, _sure: bool) -> Result<Probe> {
        let gradient = update.gradient;
        gradient.check(self.dim())?;
        gradient.row.check_finite()?;
        let kept = if update.restart { 0.0 } else { 1.0 };
        let mut entries = if update.restart {
            BTreeMap::new()
        } else {
            self.observed.clone()
        };
        for (k, value) in gradient.row.entries() {
            *entries.entry(self.place_of(k)).or_default() += update.row_factor() * value;
        }
        // c' + βx = entries + Σ (b + (m + β)a) u vᵀ, without what a fresh start leaves behind
        let operator = Operator {
            entries: entries.into_iter().map(|((i, j), v)| (i, j, v)).collect(),
            terms: self
                .terms
                .iter()
                .map(|t| {
                    (
                        t,
                        kept * t.b + (update.decision_factor() + update.beta) * t.a,
                    )
                })
                .collect(),
            m: self.m,
            n: self.n,
        };
        let slope = self
            .terms
            .iter()
            .map(|t| t.a * dot(&t.u, &operator.apply(&t.v)))
            .sum();
        let top = operator.top();
        let (norm_squared, row_dot) = (self.norm_squared(), self.dot(&gradient.row)?);
        let row_square: f64 = gradient.row.entries().map(|(_, v)| v * v).sum();
        let (scale, ridge) = (gradient.scale, gradient.ridge);
        let mut probe = Probe {
            slope,
            norm_squared,
            beta: update.beta,
            gradient_norm: (scale * scale * row_square
                + 2.0 * scale * ridge * row_dot
                + ridge * ridge * norm_squared)
                .sqrt(),
            gradient_dot: scale * row_dot + ridge * norm_squared,
            ..Probe::default()
        };
        if let Some((sigma, u, v)) = &top {
            // the atom is −τ u vᵀ
            let across = -self.radius * self.dot_rank_one(u, v);
            probe.gap = slope + self.radius * sigma;
            probe.distance_squared = self.radius * self.radius - 2.0 * across + norm_squared;
            probe.support = self.radius * sigma;
        }
        self.found = top.map(|(_, u, v)| (u, v));
        let row = gradient.row.entries();
        self.planned = Some(Planned {
            row: row.map(|(k, v)| (k, update.row_factor() * v)).collect(),
            m: update.decision_factor(),
            fresh: update.restart,
        });
        Ok(probe)
    }

    fn discard(&mut self) {
        self.planned = None;
    }

    fn commit(&mut self, motion: Move) {
        let Some(Planned { row, m, fresh }) = self.planned.take() else {
            return;
        };
        if fresh {
            self.observed.clear();
            self.terms.iter_mut().for_each(|term| term.b = 0.0);
        }
        for (k, value) in row {
            let place = self.place_of(k);
            *self.observed.entry(place).or_default() += value;
        }
        for term in &mut self.terms {
            term.b += m * term.a;
        }
        let (keep, share) = match motion {
            Move::Towards(sigma) => (1.0 - sigma, sigma),
            Move::ToAtom(s) => (0.0, s),
        };
        let Some((u, v)) = self.found.take() else {
            return;
        };
        if share == 0.0 && keep == 1.0 {
            return;
        }
        for term in &mut self.terms {
            term.a *= keep;
        }
        self.terms.push(Term {
            u,
            v,
            a: -share * self.radius,
            b: 0.0,
        });
    }

    fn start(&mut self, _weight: f64) {
        // x₁ = 0, so that c = 0 whatever the weight
        self.terms.clear();
        self.observed.clear();
    }

    fn gradient_norm(&self, gradient: &Gradient<'_>, _q: f64) -> f64 {
        let row = gradient.row.entries().map(|(_, v)| v.abs()).sum::<f64>();
        gradient.scale.abs() * row + gradient.ridge.abs() * self.radius
    }

    fn save(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(|e| Error::State(e.to_string()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        *self = postcard::from_bytes(saved).map_err(|e| Error::State(e.to_string()))?;
        Ok(())
    }
}

const ROWS: usize = 12;
const COLUMNS: usize = 9;
const RADIUS: f64 = 5.0;

fn geometry() -> Geometry {
    Geometry {
        diameter: 2.0 * RADIUS,
        norm_bound: RADIUS,
        inner_radius: Some(RADIUS / (COLUMNS as f64).sqrt()),
        strong_convexity: None,
    }
}

/// The same ball for the dense pair: its oracle decomposes the whole matrix.
fn dense_ball() -> SharedSet {
    let set = CustomSet::new("trace", ROWS * COLUMNS, geometry(), |c, out| {
        let columns: Vec<Vec<f64>> = (0..COLUMNS)
            .map(|j| (0..ROWS).map(|i| c[i * COLUMNS + j]).collect())
            .collect();
        let (_, u, v) = top_of_columns(&columns);
        for (k, out) in out.iter_mut().enumerate() {
            *out = -RADIUS * u[k / COLUMNS] * v[k % COLUMNS];
        }
        Ok(())
    });
    Arc::new(set.unwrap())
}

/// A round's noisy entries of a planted matrix of rank 2.
struct Entries {
    rng: rand_chacha::ChaCha8Rng,
    planted: Vec<f64>,
    rows: [u32; 1],
    columns: [u32; 1],
}

impl Entries {
    fn new(seed: u64) -> Self {
        let mut rng = kit::rng(seed);
        let mut planted = vec![0.0; ROWS * COLUMNS];
        for _ in 0..2 {
            let (u, v) = (unit(&mut rng, ROWS), unit(&mut rng, COLUMNS));
            for (k, p) in planted.iter_mut().enumerate() {
                *p += 3.0 * u[k / COLUMNS] * v[k % COLUMNS];
            }
        }
        Self {
            rng,
            planted,
            rows: [0],
            columns: [0],
        }
    }

    fn next(&mut self) -> (Row<'_>, f64) {
        let i = (uniform(&mut self.rng) * ROWS as f64) as usize;
        let j = (uniform(&mut self.rng) * COLUMNS as f64) as usize;
        let label = self.planted[i * COLUMNS + j] + 0.3 * normals(&mut self.rng, 1)[0];
        (self.rows, self.columns) = ([i as u32], [j as u32]);
        let row = Row::Entries {
            width: COLUMNS,
            rows: &self.rows,
            columns: &self.columns,
            values: &[1.0],
        };
        (row, label)
    }
}

/// Plays both on squared losses of single entries, each at its own decision.
fn decide_alike(
    factored: &mut (dyn Learner + 'static),
    dense: &mut (dyn Learner + 'static),
    ridge: f64,
    rounds: u64,
) -> f64 {
    let loss = "squared".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, ridge).unwrap();
    let mut entries = Entries::new(3);
    let mut worst = 0.0_f64;
    for t in 1..=rounds {
        let (row, label) = entries.next();
        let mut records = Vec::new();
        let mut decisions = Vec::new();
        for learner in [&mut *factored, &mut *dense] {
            let x = learner.decide().unwrap();
            decisions.push(written(x));
            let evaluation = objective.evaluate(row, label, 1.0, x).unwrap();
            records.push(learner.observe(&evaluation.gradient).unwrap());
        }
        let off = distance(&decisions[0], &decisions[1]);
        assert!(off <= 1e-8 * RADIUS, "round {t}: {off:e} off");
        worst = worst.max(off);
        let (mut a, b) = (records[0], records[1]);
        // where no atom is better than x, whichever was asked for is as good
        if a.gap.max(b.gap) <= 1e-12 {
            a.sigma = b.sigma;
        }
        for (found, expected) in [
            (a.gap, b.gap),
            (a.sigma, b.sigma),
            (a.gradient_norm, b.gradient_norm),
            (a.gradient_dot, b.gradient_dot),
            (a.norm_squared, b.norm_squared),
        ] {
            let close = (found - expected).abs() <= 1e-7 * (1.0 + expected.abs());
            assert!(close, "round {t}: {a:?}, {b:?}");
        }
    }
    let x = written(factored.decision());
    assert!(norm(&x) > 0.1, "it hardly moved");
    worst
}

#[test]
fn ofw_ls_decides_alike_on_factored_and_dense_matrices() {
    let known = Known {
        horizon: Some(300),
        gradient_bound: Some(3.0),
        eta_scale: 30.0,
        ..Known::default()
    };
    let rule = OfwLs(known).rule(&geometry()).unwrap();
    let mut factored = on_surrogate(
        "ofw-ls",
        rule,
        FactoredSurrogate::new(ROWS, COLUMNS, RADIUS),
        geometry(),
    );
    let mut dense = learner(
        "ofw-ls:horizon=300,gradient-bound=3,eta-scale=30",
        &dense_ball(),
    );
    let off = decide_alike(&mut factored, &mut *dense, 0.0, 300);
    println!(
        "ofw-ls: {off:.1e} off, {} atoms",
        factored.body().surrogate().terms.len()
    );
}

#[test]
fn restarts_and_a_growing_regulariser_decide_alike_on_factored_and_dense_matrices() {
    // η is large in short stretches and first rounds: a larger one would end at an atom, where σ
    // says nothing
    for (doubling, text) in [
        (true, "ofw-ls:eta-scale=0.5,doubling=true"),
        (false, "ofw-ls:eta-scale=0.5"),
    ] {
        let known = Known {
            eta_scale: 0.5,
            doubling,
            ..Known::default()
        };
        let rule = OfwLs(known).rule(&geometry()).unwrap();
        let mut factored = on_surrogate(
            "ofw-ls",
            rule,
            FactoredSurrogate::new(ROWS, COLUMNS, RADIUS),
            geometry(),
        );
        decide_alike(&mut factored, &mut *learner(text, &dense_ball()), 0.0, 200);
    }
}

#[test]
fn sc_ofw_decides_alike_on_factored_and_dense_matrices() {
    // a ridge that is λ, and one that is more: then c has a part along the dictionary
    for (lambda, ridge) in [(0.02, 0.02), (0.02, 0.05)] {
        let spec = ScOfw {
            lambda: Some(lambda),
            ..ScOfw::default()
        };
        let rule = spec.rule().unwrap();
        let mut factored = on_surrogate(
            "sc-ofw",
            rule,
            FactoredSurrogate::new(ROWS, COLUMNS, RADIUS),
            geometry(),
        );
        let mut dense = learner(&format!("sc-ofw:lambda={lambda}"), &dense_ball());
        let off = decide_alike(&mut factored, &mut *dense, ridge, 250);
        let bent = factored
            .body()
            .surrogate()
            .terms
            .iter()
            .any(|t| t.b.abs() > 1e-9);
        assert_eq!(bent, ridge != lambda);
        println!("sc-ofw, ridge {ridge}: {off:.1e} off");
    }
}

#[test]
fn a_factored_run_resumes_with_the_same_bits() {
    let fresh = || {
        let spec = ScOfw {
            lambda: Some(0.05),
            ..ScOfw::default()
        };
        let rule = spec.rule().unwrap();
        on_surrogate(
            "sc-ofw",
            rule,
            FactoredSurrogate::new(ROWS, COLUMNS, RADIUS),
            geometry(),
        )
    };
    let mut entries = Entries::new(5);
    let mut play = |learners: &mut [&mut dyn Learner]| {
        let (row, label) = entries.next();
        for learner in learners {
            let scale = learner.decide().unwrap().dot(&row).unwrap() - label;
            let ridge = 0.05;
            learner.observe(&Gradient { row, scale, ridge }).unwrap();
        }
    };
    let mut straight = fresh();
    (0..20).for_each(|_| play(&mut [&mut straight]));
    let mut resumed = fresh();
    resumed.load(&straight.save().unwrap()).unwrap();
    (0..20).for_each(|_| play(&mut [&mut straight, &mut resumed]));
    assert_eq!(straight.save().unwrap(), resumed.save().unwrap());
}
