//! The online Newton step against dense linear algebra and an interior-point solver, and against
//! its bound on portfolios and least squares.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT, ZeroConeT,
};
use extremal::Error;
use extremal::Gradient;
use extremal::learner::{Learner, LearnerSpec};
use extremal::set::{Set, SetSpec, SharedSet};
use extremal::theory::{self, Assumption, LossFacts};

use crate::support::*;

/// A, every entry written out, with what γ is made of.
struct Dense {
    a: Vec<Vec<f64>>,
    gamma: f64,
}

impl Dense {
    fn new(set: &dyn Set, alpha: f64, gradient: f64) -> Self {
        let diameter = set.geometry().diameter;
        let gamma = 0.5 * f64::min(1.0 / (4.0 * gradient * diameter), alpha);
        let d = set.dim();
        let mut a = vec![vec![0.0; d]; d];
        for (i, row) in a.iter_mut().enumerate() {
            row[i] = 1.0 / (gamma * diameter).powi(2);
        }
        Self { a, gamma }
    }

    fn absorb(&mut self, g: &[f64]) {
        for (row, gi) in self.a.iter_mut().zip(g) {
            for (a, gj) in row.iter_mut().zip(g) {
                *a += gi * gj;
            }
        }
    }

    fn times(&self, z: &[f64]) -> Vec<f64> {
        self.a.iter().map(|row| dot(row, z)).collect()
    }

    fn square(&self, z: &[f64]) -> f64 {
        dot(z, &self.times(z))
    }

    /// A⁻¹g by elimination with pivots.
    fn solve(&self, g: &[f64]) -> Vec<f64> {
        let d = g.len();
        let with = |(row, g): (&Vec<f64>, &f64)| [&row[..], &[*g]].concat();
        let mut m: Vec<Vec<f64>> = self.a.iter().zip(g).map(with).collect();
        for k in 0..d {
            let pivot = (k..d).max_by(|i, j| m[*i][k].abs().total_cmp(&m[*j][k].abs()));
            m.swap(k, pivot.unwrap());
            for i in k + 1..d {
                let factor = m[i][k] / m[k][k];
                m[i] = plus(&m[i], -factor, &m[k]);
            }
        }
        let mut x = vec![0.0; d];
        for k in (0..d).rev() {
            x[k] = (m[k][d] - dot(&m[k][k + 1..d], &x[k + 1..])) / m[k][k];
        }
        x
    }

    /// y = x − A⁻¹g/γ.
    fn target(&self, x: &[f64], g: &[f64]) -> Vec<f64> {
        plus(x, -1.0 / self.gamma, &self.solve(g))
    }

    /// The nearest point to y in the norm of A, by Clarabel.
    fn nearest(&self, rows: &Rows, y: &[f64]) -> Vec<f64> {
        let d = y.len();
        let extra = rows.variables - d;
        let scale = self.a[0][0];
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for (r, row) in self.a.iter().enumerate() {
            for (c, a) in row.iter().enumerate().skip(r) {
                i.push(r);
                j.push(c);
                v.push(a / scale);
            }
        }
        let p = CscMatrix::new_from_triplets(rows.variables, rows.variables, i, j, v);
        let mut q = scaled(&self.times(y), -1.0 / scale);
        q.extend(vec![0.0; extra]);
        let (mut i, mut j, mut v, mut b) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (r, (entries, right)) in rows.rows.iter().enumerate() {
            for &(c, value) in entries {
                i.push(r);
                j.push(c);
                v.push(value);
            }
            b.push(*right);
        }
        let a = CscMatrix::new_from_triplets(b.len(), rows.variables, i, j, v);
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-12,
            tol_gap_rel: 1e-12,
            tol_feas: 1e-12,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&p, &q, &a, &b, &rows.cones, settings).unwrap();
        solver.solve();
        let status = solver.solution.status;
        assert!(
            matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved),
            "Clarabel: {status:?}"
        );
        solver.solution.x[..d].to_vec()
    }
}

/// A set as b − Ax in cones.
struct Rows {
    variables: usize,
    rows: Vec<(Vec<(usize, f64)>, f64)>,
    cones: Vec<SupportedConeT<f64>>,
}

fn rows(text: &str, d: usize) -> Rows {
    let all = || 0..d;
    let (variables, rows, cones) = match text {
        "l2" => {
            let mut rows = vec![(vec![], 1.0)];
            rows.extend(all().map(|i| (vec![(i, -1.0)], 0.0)));
            (d, rows, vec![SecondOrderConeT(d + 1)])
        }
        "box:lower=-0.2,upper=0.3" => {
            let low = all().map(|i| (vec![(i, -1.0)], 0.2));
            let high = all().map(|i| (vec![(i, 1.0)], 0.3));
            (d, low.chain(high).collect(), vec![NonnegativeConeT(2 * d)])
        }
        "simplex" => {
            let total = (all().map(|i| (i, 1.0)).collect(), 1.0);
            let signs = all().map(|i| (vec![(i, -1.0)], 0.0));
            let rows = std::iter::once(total).chain(signs).collect();
            (d, rows, vec![ZeroConeT(1), NonnegativeConeT(d)])
        }
        "l1" => {
            let total = (all().map(|i| (d + i, 1.0)).collect(), 1.0);
            let mut rows = vec![total];
            for k in [1.0, -1.0] {
                rows.extend(all().map(|i| (vec![(i, k), (d + i, -1.0)], 0.0)));
            }
            (2 * d, rows, vec![NonnegativeConeT(1 + 2 * d)])
        }
        _ => unreachable!(),
    };
    Rows {
        variables,
        rows,
        cones,
    }
}

fn exact(text: &str, alpha: f64, gradient: f64) -> String {
    format!("{text}:exp-concavity={alpha},gradient-bound={gradient},tolerance=1e-13,steps=100000")
}

/// One round on (⟨a, x⟩ − b)²/2; the decision, the gradient, the next decision.
fn fit(learner: &mut dyn Learner, a: &[f64], b: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>, u32) {
    let x = written(learner.decide().unwrap());
    let g = scaled(a, dot(a, &x) - b);
    let calls = learner.observe(&Gradient::dense(&g)).unwrap().oracle_calls;
    let next = written(learner.decision());
    (x, g, next, calls)
}

#[test]
fn a_round_is_the_newton_step_and_the_nearest_point_in_its_norm() {
    let d = 4;
    for text in ["l2", "box:lower=-0.2,upper=0.3", "simplex", "l1"] {
        let set = set(text, d);
        let rows = rows(text, d);
        for (alpha, g) in [(0.25, 2.0), (20.0, 0.2), (0.7, 0.1)] {
            let mut learner = learner(&exact("ons", alpha, g), &set);
            let mut dense = Dense::new(&*set, alpha, g);
            let mut rng = kit::rng(1);
            let (mut inside, mut outside) = (0, 0);
            for t in 0..rounds(60, 600) {
                // the best decision lies far outside
                let a = unit(&mut rng, d);
                let b = dot(&a, &[3.0, -4.0, 1.0, 2.0]);
                let (x, g, next, calls) = fit(&mut *learner, &a, b);
                dense.absorb(&g);
                let y = dense.target(&x, &g);
                let within = set.violation(&y) == Some(0.0);
                let expected = if within {
                    y.clone()
                } else {
                    dense.nearest(&rows, &y)
                };
                let apart = distance(&next, &expected);
                // the solver's objective, which grows with the rounds, is good to 1e-9, and its point to
                // the root of that; the objectives are compared below
                let precision = if within { 1e-11 } else { 1e-3 };
                assert!(
                    apart <= precision,
                    "{text}, α = {alpha}, round {t}: {apart:e}"
                );
                let (ours, theirs) = (
                    dense.square(&minus(&next, &y)),
                    dense.square(&minus(&expected, &y)),
                );
                assert!(ours <= theirs * (1.0 + 1e-9) + 1e-9, "{text}, round {t}");
                assert_eq!(calls == 0, within, "{text}, round {t}");
                inside += u32::from(within);
                outside += u32::from(!within);
            }
            println!("{text}, α = {alpha}: {inside} steps inside, {outside} outside");
            assert!(outside > 5 && (text == "simplex" || inside > 0), "{text}");
        }
    }
}

/// The gap ⟨A(x − y), x − v⟩ from outside is as small as asked for, what it adds to the regret is
/// in the bound, and no point of the set is further from x than from y by more.
#[test]
fn the_gaps_that_projections_leave_are_known_and_counted() {
    let (d, alpha, g) = (5, 1.0, 2.0);
    let cases = [
        ("l2", 100),
        ("simplex", 100),
        ("l1", 100),
        ("lp:p=3", 100),
        ("group:size=2,s=1.5,p=1.5", 100),
        (
            "hull:points=[[1,0,0,0,0],[0,1,0,0,0],[0,0,1,0,1],[-1,0,0,1,0],[0,-1,0,0,-1],[0,0,-1,-1,0]]",
            100,
        ),
        (
            "hull:points=[[1,0,0,0,0],[0,1,0,0,0],[0,0,1,0,1],[-1,0,0,1,0],[0,-1,0,0,-1],[0,0,-1,-1,0]]",
            1,
        ),
        ("simplex", 1),
    ];
    for (text, steps) in cases {
        let set = set(text, d);
        let diameter = set.geometry().diameter;
        let spec = format!("ons:exp-concavity={alpha},gradient-bound={g},steps={steps}");
        let mut learner = learner(&spec, &set);
        let mut dense = Dense::new(&*set, alpha, g);
        let mut oracle = set.oracle();
        let mut atom = extremal::set::Atom::new();
        let mut rng = kit::rng(2);
        let (mut left, mut within, mut calls) = (0.0, 0, 0);
        let last = rounds(1_500, 30_000);
        for t in 1..=last {
            let a = unit(&mut rng, d);
            let (x, slope, next, asked) =
                fit(&mut *learner, &a, dot(&a, &[1.0, -1.0, 0.8, 0.5, 0.3]));
            calls += u64::from(asked);
            dense.absorb(&slope);
            let y = dense.target(&x, &slope);
            let way = dense.times(&minus(&next, &y));
            oracle.minimise(&way, &mut atom).unwrap();
            let mut v = vec![0.0; d];
            atom.write(&mut v);
            let gap = dot(&way, &minus(&next, &v)).max(0.0);
            let unit = (dense.gamma * diameter).powi(-2) * diameter * diameter;
            let interior = asked == 0;
            if !interior {
                left += dense.gamma * gap;
                within += u64::from(gap <= 1.001e-2 / t as f64 * unit + 1e-9);
            } else {
                within += 1;
                assert!(distance(&next, &y) < 1e-9, "{text}");
            }
            for u in [&v, &x] {
                let (ours, theirs) = (dense.square(&minus(&next, u)), dense.square(&minus(&y, u)));
                let excess = ours - theirs - 2.0 * gap;
                assert!(excess <= 1e-9 * (1.0 + ours), "{text}, {t}: {excess:e}");
            }
            // steps as asked for, and the question whether there is one to make
            assert!(u64::from(asked) <= steps + 1);
        }
        let guarantee = learner.guarantee().unwrap();
        let bound = guarantee.bound(last as f64);
        let proper = theory::ons(1.0, dense.gamma, g, diameter, d as f64, 0.0).bound(last as f64);
        println!(
            "{text}, {steps} steps: {within} of {last} to the end, {:.1} oracle calls each, bound {proper:.1} + {left:.3}",
            calls as f64 / last as f64
        );
        assert!(
            (bound - proper - left).abs() <= 1e-6 * bound,
            "{text}: {bound} {proper} {left}"
        );
        if steps > 1 {
            // Σ 1e-2/t and what a tenth of the first gap is below
            assert!(
                left <= 1e-2 * (1.0 + (last as f64).ln()) / dense.gamma + 1.0,
                "{text}: {left}"
            );
            // without a projection, a hundred steps do not always reach what late rounds ask for
            let slow = text.starts_with("group") || text.starts_with("hull");
            let enough = if slow { 0.5 } else { 0.99 };
            assert!(within as f64 >= enough * last as f64, "{text}: {within}");
        } else {
            assert!(left > 0.0 && within < last, "{text}");
        }
    }
}

/// The corners of the simplex as a hull: the same set, without its projection.
#[test]
fn frank_wolfe_steps_find_what_projected_steps_find() {
    let d = 5;
    let corner = |i: usize| (0..d).map(|j| f64::from(u8::from(i == j))).collect();
    let corners: Vec<Vec<f64>> = (0..d).map(corner).collect();
    let hull = set(&format!("hull:points={corners:?}"), d);
    let simplex = set("simplex", d);
    assert!(hull.projection().is_none() && simplex.projection().is_some());
    let spec = exact("ons", 1.0, 2.0);
    let (mut one, mut other) = (learner(&spec, &hull), learner(&spec, &simplex));
    let mut rng = kit::rng(3);
    for t in 0..rounds(300, 3_000) {
        let a = unit(&mut rng, d);
        let (x, ..) = fit(&mut *one, &a, 0.5);
        let (y, ..) = fit(&mut *other, &a, 0.5);
        assert!(distance(&x, &y) < 1e-5, "round {t}: {x:?} {y:?}");
    }
}

/// Over many rounds the factor of A stays that of A.
#[test]
fn the_matrix_does_not_drift() {
    let (d, alpha, g) = (6, 0.05, 1.0);
    let set = set("l2:radius=100", d);
    let mut learner = learner(
        &format!("ons:exp-concavity={alpha},gradient-bound={g}"),
        &set,
    );
    let mut dense = Dense::new(&*set, alpha, g);
    let mut rng = kit::rng(4);
    let mut inside = 0;
    for t in 0..rounds(30_000, 1_000_000) {
        let x = written(learner.decide().unwrap());
        let slope = plus(&scaled(&x, 1e-3), 0.5, &unit(&mut rng, d));
        learner.observe(&Gradient::dense(&slope)).unwrap();
        dense.absorb(&slope);
        let y = dense.target(&x, &slope);
        if norm(&y) < 100.0 {
            inside += 1;
            let apart = distance(&written(learner.decision()), &y);
            assert!(apart <= 1e-10, "round {t}: {apart:e}");
        }
    }
    assert!(inside > 1_000, "{inside}");
}

/// −ln⟨a, x⟩ of the best fixed portfolio, by Cover's iteration, and how far that can be from it.
fn best_portfolio(relatives: &[Vec<f64>], d: usize) -> f64 {
    let mut x = vec![1.0 / d as f64; d];
    loop {
        let mut gain = vec![0.0; d];
        for a in relatives {
            gain = plus(&gain, 1.0 / (relatives.len() as f64 * dot(a, &x)), a);
        }
        let most = gain.iter().copied().fold(0.0, f64::max);
        if most < 1.0 + 1e-9 {
            return relatives.iter().map(|a| -dot(a, &x).ln()).sum::<f64>() - 1e-6;
        }
        x.iter_mut().zip(&gain).for_each(|(x, g)| *x *= g);
    }
}

#[test]
fn portfolios_stay_below_the_bound() {
    let d = 4;
    let set = set("simplex", d);
    // relatives between 0.6 and 1.4: ‖a‖/⟨a, x⟩ is at most 2.8/0.6
    let bound = 1.4 * (d as f64).sqrt() / 0.6;
    let spec = format!("ons:exp-concavity=1,gradient-bound={bound}");
    let mut learner = learner(&spec, &set);
    let mut rng = kit::rng(5);
    let mut relatives: Vec<Vec<f64>> = Vec::new();
    let mut total = 0.0;
    let last = rounds(4_000, 40_000);
    for t in 1..=last {
        let x = written(learner.decide().unwrap());
        let mut a: Vec<f64> = (0..d).map(|_| 0.8 + 0.4 * uniform(&mut rng)).collect();
        // the market turns against what is held most
        let most = (0..d).max_by(|i, j| x[*i].total_cmp(&x[*j])).unwrap();
        a[most] -= 0.1;
        a[t as usize % 2] += 0.1;
        let wealth = dot(&a, &x);
        total -= wealth.ln();
        let g = scaled(&a, -1.0 / wealth);
        learner.observe(&Gradient::dense(&g)).unwrap();
        relatives.push(a);
        if [50, 500, last].contains(&t) {
            let regret = total - best_portfolio(&relatives, d);
            let guarantee = learner.guarantee().unwrap();
            let promised = guarantee.bound(t as f64);
            let diameter = set.geometry().diameter;
            let book = 5.0 * (1.0 + bound * diameter) * d as f64 * (t as f64).ln();
            println!(
                "portfolios, T = {t}: regret {regret:.3}, bound {promised:.1}, book {book:.1}"
            );
            assert!(
                regret <= promised && promised <= book,
                "{regret} {promised} {book}"
            );
            let checks = guarantee.check(learner.seen(), &LossFacts::default());
            let failed: Vec<_> = checks.iter().filter(|c| !c.holds).collect();
            // nothing but a strongly convex loss is known to be exp-concave from outside
            assert_eq!(failed.len(), 1, "{checks:?}");
            assert_eq!(failed[0].assumption, Assumption::ExpConcaveLosses(1.0));
        }
    }
}

/// (⟨a, x⟩ − b)²/2 over the unit ball: residuals up to 2, so that α = 1/4 and G = 2.
#[test]
fn least_squares_stay_below_the_bound() {
    let (d, alpha, g) = (3, 0.25, 2.0);
    let set = set("l2", d);
    let mut newton = learner(
        &format!("ons:exp-concavity={alpha},gradient-bound={g}"),
        &set,
    );
    let mut rng = kit::rng(6);
    let truth = [0.5, -0.3, 0.2];
    let mut lost = 0.0;
    let mut least = Vec::new();
    let t = rounds(5_000, 100_000);
    for k in 0..t {
        // the third direction shows rarely
        let mut a = unit(&mut rng, d);
        a[2] *= 0.05;
        let noise = if k % 2 == 0 { 0.4 } else { -0.4 };
        let b = dot(&a, &truth) + noise;
        let x = fit(&mut *newton, &a, b).0;
        lost += 0.5 * (dot(&a, &x) - b).powi(2);
        least.push((a, b));
    }
    // the best fixed decision lies inside: normal equations
    let mut normal = Dense {
        a: vec![vec![0.0; d]; d],
        gamma: 1.0,
    };
    let mut right = vec![0.0; d];
    for (a, b) in &least {
        normal.absorb(a);
        right = plus(&right, *b, a);
    }
    let u = normal.solve(&right);
    assert!(norm(&u) < 1.0);
    let best: f64 = least
        .iter()
        .map(|(a, b)| 0.5 * (dot(a, &u) - b).powi(2))
        .sum();
    let regret = lost - best;
    let guarantee = newton.guarantee().unwrap();
    let bound = guarantee.bound(t as f64);
    println!("least squares: regret {regret:.3}, bound {bound:.1}");
    assert!(newton.seen().largest_gradient <= g);
    assert!(regret > 0.0 && regret <= bound, "{regret} {bound}");
    // 1/(2γ) = max{4GD, 1/α} = 16
    let by_hand = 16.0 * (1.0 + 3.0 * (1.0 + t as f64 / 192.0).ln());
    assert!((bound - by_hand).abs() < 0.5, "{bound} {by_hand}");
}

/// The worst for a Newton step on a line: ±G by turns, curved as little as promised.
#[test]
fn strongly_convex_losses_are_exp_concave_and_keep_the_bound() {
    let set = set("l2", 2);
    let lambda = 0.5;
    let g = 1.0;
    let mut learner = learner(
        &format!("ons:exp-concavity={lambda},gradient-bound={g}"),
        &set,
    );
    let (mut total, mut sum, mut squares) = (0.0, vec![0.0; 2], 0.0);
    let t = rounds(4_000, 400_000);
    for k in 0..t {
        let x = written(learner.decide().unwrap());
        // (λ/2)‖x − c‖² with ‖x − c‖ ≤ 2
        let turn = [(k as f64 * 0.01).cos(), (k as f64 * 0.01).sin()];
        let c = plus(&x, if k % 2 == 0 { 2.0 } else { -2.0 }, &turn);
        total += 0.5 * lambda * distance(&x, &c).powi(2);
        sum = plus(&sum, 1.0, &c);
        squares += dot(&c, &c);
        let slope = scaled(&minus(&x, &c), lambda);
        learner.observe(&Gradient::dense(&slope)).unwrap();
    }
    let mean = scaled(&sum, 1.0 / t as f64);
    let u = scaled(&mean, 1.0 / norm(&mean).max(1.0));
    let best = 0.5 * lambda * (squares - 2.0 * dot(&sum, &u) + t as f64 * dot(&u, &u));
    let guarantee = learner.guarantee().unwrap();
    let checks = guarantee.check(learner.seen(), &LossFacts::strongly_convex(lambda));
    assert!(checks.iter().all(|c| c.holds), "{checks:?}");
    assert!(
        !guarantee
            .check(learner.seen(), &LossFacts::strongly_convex(0.9 * lambda))
            .iter()
            .all(|c| c.holds)
    );
    let bound = guarantee.bound(t as f64);
    println!("quadratics: regret {}, bound {bound}", total - best);
    assert!(total - best <= bound);
}

#[test]
fn what_it_needs_and_what_is_too_large_is_said() {
    let build = |text: &str, set: &SharedSet| text.parse::<LearnerSpec>().unwrap().build(set).err();
    let small = set("l2", 3);
    for (text, missing) in [
        ("ons:gradient-bound=1", "exp-concavity"),
        ("ons:exp-concavity=1", "gradient-bound"),
    ] {
        let error = build(text, &small).unwrap();
        assert!(
            matches!(error, Error::Missing { name, .. } if name == missing),
            "{error}"
        );
    }
    let spec: SetSpec = "l2".parse().unwrap();
    let large = spec.build(Some(16_384)).unwrap();
    let error = build("ons:exp-concavity=1,gradient-bound=1", &large).unwrap();
    assert!(error.to_string().contains("2 GB"), "{error}");
    let text = "ons:exp-concavity=1,gradient-bound=1,eta-scale=";
    assert!(learner(&format!("{text}0.5"), &small).guarantee().is_some());
    assert!(learner(&format!("{text}1.5"), &small).guarantee().is_none());
}
