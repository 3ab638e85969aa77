//! The same problems as cone programs for Clarabel, which shares nothing with this library.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, PowerConeT,
    SecondOrderConeT, SolverStatus, SupportedConeT, ZeroConeT,
};
use extremal::set::SetSpec;
use extremal::set::boxes::Bound;

use crate::Data;

/// A row of b − Ax: the entries of A, and b.
type Line = (Vec<(usize, f64)>, f64);

/// min ½xᵀPx + ⟨q, x⟩ + r with b − Ax in the cones.
#[derive(Default)]
struct Program {
    p: Vec<(usize, usize, f64)>,
    q: Vec<f64>,
    r: f64,
    lines: Vec<Line>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// A new variable with this cost.
    fn variable(&mut self, cost: f64) -> usize {
        self.q.push(cost);
        self.q.len() - 1
    }

    fn constrain(&mut self, cone: SupportedConeT<f64>, lines: Vec<Line>) {
        self.cones.push(cone);
        self.lines.extend(lines);
    }

    fn at_least_0(&mut self, line: Line) {
        self.constrain(NonnegativeConeT(1), vec![line]);
    }

    fn solve(&self) -> f64 {
        let n = self.q.len();
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for (row, (entries, _)) in self.lines.iter().enumerate() {
            for &(column, value) in entries {
                i.push(row);
                j.push(column);
                v.push(value);
            }
        }
        let b: Vec<f64> = self.lines.iter().map(|(_, b)| *b).collect();
        let a = CscMatrix::new_from_triplets(b.len(), n, i, j, v);
        let upper = self.p.iter().filter(|(i, j, _)| i <= j);
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for &(row, column, value) in upper {
            i.push(row);
            j.push(column);
            v.push(value);
        }
        let p = CscMatrix::new_from_triplets(n, n, i, j, v);
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-10,
            tol_gap_rel: 1e-10,
            tol_feas: 1e-10,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&p, &self.q, &a, &b, &self.cones, settings).unwrap();
        solver.solve();
        let status = solver.solution.status;
        assert!(
            matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved),
            "Clarabel: {status:?}"
        );
        solver.solution.obj_val + self.r
    }

    fn stay_inside(&mut self, spec: &SetSpec, dim: usize) {
        let expand = |bound: &Bound| match bound {
            Bound::All(v) => vec![*v; dim],
            Bound::Each(v) => v.clone(),
        };
        match spec {
            SetSpec::L2(l2) => {
                let mut lines = vec![(vec![], l2.radius)];
                lines.extend((0..dim).map(|i| (vec![(i, -1.0)], 0.0)));
                self.constrain(SecondOrderConeT(dim + 1), lines);
            }
            SetSpec::L1(l1) => {
                let sizes: Vec<usize> = (0..dim).map(|_| self.variable(0.0)).collect();
                for (i, &t) in sizes.iter().enumerate() {
                    self.at_least_0((vec![(i, 1.0), (t, -1.0)], 0.0));
                    self.at_least_0((vec![(i, -1.0), (t, -1.0)], 0.0));
                }
                self.at_least_0((sizes.iter().map(|&t| (t, 1.0)).collect(), l1.radius));
            }
            SetSpec::Lp(lp) => {
                // |x_i| ≤ t_i^(1/p)·r^(1−1/p) and Σt_i ≤ r
                let powers: Vec<usize> = (0..dim).map(|_| self.variable(0.0)).collect();
                for (i, &t) in powers.iter().enumerate() {
                    let lines = vec![
                        (vec![(t, -1.0)], 0.0),
                        (vec![], lp.radius),
                        (vec![(i, -1.0)], 0.0),
                    ];
                    self.constrain(PowerConeT(1.0 / lp.p), lines);
                }
                self.at_least_0((powers.iter().map(|&t| (t, 1.0)).collect(), lp.radius));
            }
            SetSpec::Box(bounds) => {
                let (lower, upper) = (expand(&bounds.lower), expand(&bounds.upper));
                for (i, (low, high)) in lower.iter().zip(&upper).enumerate() {
                    self.at_least_0((vec![(i, -1.0)], -low));
                    self.at_least_0((vec![(i, 1.0)], *high));
                }
            }
            SetSpec::Simplex(simplex) => {
                let total = ((0..dim).map(|i| (i, 1.0)).collect(), simplex.total);
                let cone = if simplex.at_most {
                    NonnegativeConeT(1)
                } else {
                    ZeroConeT(1)
                };
                self.constrain(cone, vec![total]);
                for i in 0..dim {
                    self.at_least_0((vec![(i, -1.0)], 0.0));
                }
            }
            other => panic!("no cone program for {other}"),
        }
    }

    /// Σ wℓ(⟨a, x⟩, y), the first variables being x.
    fn pay(&mut self, data: &Data) {
        let dim = data.dim();
        let rounds = data.rows.iter().zip(&data.labels).zip(&data.weights);
        for ((row, &y), &w) in rounds {
            let entries = |k: f64| -> Vec<(usize, f64)> {
                row.iter().enumerate().map(|(j, a)| (j, k * a)).collect()
            };
            match data.loss {
                "squared" => {
                    for (i, a) in row.iter().enumerate() {
                        self.q[i] -= w * y * a;
                        for (j, b) in row.iter().enumerate() {
                            self.p.push((i, j, w * a * b));
                        }
                    }
                    self.r += 0.5 * w * y * y;
                }
                "absolute" => {
                    // t ≥ ±(⟨a, x⟩ − y)
                    let t = self.variable(w);
                    for sign in [1.0, -1.0] {
                        let mut line = entries(sign);
                        line.push((t, -1.0));
                        self.at_least_0((line, sign * y));
                    }
                }
                "logistic" => {
                    // e^(−y⟨a,x⟩ − t) + e^(−t) ≤ 1
                    let (t, u, v) = (self.variable(w), self.variable(0.0), self.variable(0.0));
                    self.at_least_0((vec![(u, 1.0), (v, 1.0)], 1.0));
                    let mut line = entries(y);
                    line.push((t, 1.0));
                    for (exponent, bound) in [(line, u), (vec![(t, 1.0)], v)] {
                        let lines =
                            vec![(exponent, 0.0), (vec![], 1.0), (vec![(bound, -1.0)], 0.0)];
                        self.constrain(ExponentialConeT(), lines);
                    }
                }
                other => panic!("no such loss here: {other}"),
            }
            for i in 0..dim {
                self.p.push((i, i, data.ridge));
            }
        }
    }
}

/// The smallest total of a decision in the set.
pub fn optimum(data: &Data, set: &str) -> f64 {
    let mut program = Program::default();
    for _ in 0..data.dim() {
        program.variable(0.0);
    }
    program.stay_inside(&set.parse().unwrap(), data.dim());
    program.pay(data);
    program.solve()
}
