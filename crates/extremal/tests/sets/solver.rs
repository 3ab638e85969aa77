//! Oracles and projections against Clarabel, an interior-point solver that shares nothing with
//! this library.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, PowerConeT, SecondOrderConeT,
    SolverStatus, SupportedConeT, ZeroConeT,
};
use extremal::kernel::{dot, norm};
use extremal::set::SetSpec;
use extremal::set::boxes::Bound;

use crate::common::{NamedSet, atom, distance, normals, rng, scaled, sets};

/// Rows of Ax + s = b with s in the cones; the first `dim` variables are the point.
struct Program {
    variables: usize,
    rows: Vec<(Vec<(usize, f64)>, f64)>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// s = b − Ax for each of the rows, in the cone.
    fn constrain(&mut self, cone: SupportedConeT<f64>, rows: Vec<(Vec<(usize, f64)>, f64)>) {
        self.cones.push(cone);
        self.rows.extend(rows);
    }

    /// Takes in another program, variables and all; its point's first variable is returned.
    fn embed(&mut self, other: Self) -> usize {
        let base = self.variables;
        self.variables += other.variables;
        let moved = |(entries, right): (Vec<(usize, f64)>, f64)| {
            let entries = entries.into_iter().map(|(j, v)| (base + j, v));
            (entries.collect(), right)
        };
        self.rows.extend(other.rows.into_iter().map(moved));
        self.cones.extend(other.cones);
        base
    }

    /// min ½·curvature·‖x‖² + ⟨q, x⟩ over the first variables.
    fn solve(&self, curvature: f64, q: &[f64]) -> Vec<f64> {
        let dim = q.len();
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        let mut b = Vec::new();
        for (row, (entries, right)) in self.rows.iter().enumerate() {
            for &(column, value) in entries {
                i.push(row);
                j.push(column);
                v.push(value);
            }
            b.push(*right);
        }
        let a = CscMatrix::new_from_triplets(self.rows.len(), self.variables, i, j, v);
        let curved = if curvature > 0.0 { dim } else { 0 };
        let diagonal: Vec<usize> = (0..curved).collect();
        let p = CscMatrix::new_from_triplets(
            self.variables,
            self.variables,
            diagonal.clone(),
            diagonal,
            vec![curvature; curved],
        );
        let mut cost = q.to_vec();
        cost.resize(self.variables, 0.0);
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-10,
            tol_gap_rel: 1e-10,
            tol_feas: 1e-10,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&p, &cost, &a, &b, &self.cones, settings).unwrap();
        solver.solve();
        let status = solver.solution.status;
        assert!(
            matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved),
            "Clarabel: {status:?}"
        );
        solver.solution.x[..dim].to_vec()
    }
}

/// The set as a cone program; `None` for one that has no such form here.
fn program(spec: &SetSpec, dim: usize) -> Option<Program> {
    let mut program = Program {
        variables: dim,
        rows: Vec::new(),
        cones: Vec::new(),
    };
    let at_least = |i: usize, low: f64| (vec![(i, -1.0)], -low);
    let at_most = |i: usize, high: f64| (vec![(i, 1.0)], high);
    let expand = |bound: &Bound| match bound {
        Bound::All(v) => vec![*v; dim],
        Bound::Each(v) => v.clone(),
    };
    match spec {
        SetSpec::L2(l2) => {
            let mut rows = vec![(vec![], l2.radius)];
            rows.extend((0..dim).map(|i| (vec![(i, -1.0)], 0.0)));
            program.constrain(SecondOrderConeT(dim + 1), rows);
        }
        SetSpec::Lp(lp) => {
            // |x_i| ≤ t_i^(1/p)·r^(1−1/p) and Σ t_i ≤ r
            program.variables = 2 * dim;
            let total = ((0..dim).map(|i| (dim + i, 1.0)).collect(), lp.radius);
            program.constrain(NonnegativeConeT(1), vec![total]);
            for i in 0..dim {
                let rows = vec![
                    (vec![(dim + i, -1.0)], 0.0),
                    (vec![], lp.radius),
                    (vec![(i, -1.0)], 0.0),
                ];
                program.constrain(PowerConeT(1.0 / lp.p), rows);
            }
        }
        SetSpec::L1(l1) => {
            // −t_i ≤ x_i ≤ t_i and Σ t_i ≤ r
            program.variables = 2 * dim;
            let mut rows = vec![((0..dim).map(|i| (dim + i, 1.0)).collect(), l1.radius)];
            for i in 0..dim {
                rows.push((vec![(i, 1.0), (dim + i, -1.0)], 0.0));
                rows.push((vec![(i, -1.0), (dim + i, -1.0)], 0.0));
            }
            program.constrain(NonnegativeConeT(rows.len()), rows);
        }
        SetSpec::Box(bounds) => {
            let (lower, upper) = (expand(&bounds.lower), expand(&bounds.upper));
            let mut rows: Vec<_> = (0..dim).map(|i| at_least(i, lower[i])).collect();
            rows.extend((0..dim).map(|i| at_most(i, upper[i])));
            program.constrain(NonnegativeConeT(rows.len()), rows);
        }
        SetSpec::Simplex(simplex) => {
            let total = ((0..dim).map(|i| (i, 1.0)).collect(), simplex.total);
            let cone = if simplex.at_most {
                NonnegativeConeT(1)
            } else {
                ZeroConeT(1)
            };
            program.constrain(cone, vec![total]);
            let rows: Vec<_> = (0..dim).map(|i| at_least(i, 0.0)).collect();
            program.constrain(NonnegativeConeT(dim), rows);
        }
        SetSpec::Hull(hull) => {
            // x = Σ w_i p_i, w ≥ 0, Σ w_i = 1
            let points = &hull.points;
            program.variables = dim + points.len();
            let weights = |value: &dyn Fn(usize) -> f64| -> Vec<(usize, f64)> {
                (0..points.len()).map(|k| (dim + k, value(k))).collect()
            };
            let mut rows = vec![(weights(&|_| 1.0), 1.0)];
            rows.extend((0..dim).map(|i| {
                let mut row = weights(&|k| points[k][i]);
                row.push((i, -1.0));
                (row, 0.0)
            }));
            program.constrain(ZeroConeT(dim + 1), rows);
            let rows = (0..points.len()).map(|k| at_least(dim + k, 0.0)).collect();
            program.constrain(NonnegativeConeT(points.len()), rows);
        }
        SetSpec::Product(product) => {
            let mut start = 0;
            for spec in &product.sets {
                // even shares, the first ones larger
                let len = match spec.build(None) {
                    Ok(set) => set.dim(),
                    Err(_) => dim / 2 + usize::from(start == 0 && dim % 2 == 1),
                };
                let y = program.embed(self::program(spec, len)?);
                let equal = |i| (vec![(start + i, 1.0), (y + i, -1.0)], 0.0);
                program.constrain(ZeroConeT(len), (0..len).map(equal).collect());
                start += len;
            }
            assert_eq!(start, dim);
        }
        SetSpec::Translate(moved) => {
            let y = program.embed(self::program(&moved.set, dim)?);
            let by = expand(&moved.by);
            let equal = |i| (vec![(i, 1.0), (y + i, -1.0)], by[i]);
            program.constrain(ZeroConeT(dim), (0..dim).map(equal).collect());
        }
        SetSpec::Scale(scaled) => {
            let y = program.embed(self::program(&scaled.set, dim)?);
            let equal = |i| (vec![(i, 1.0), (y + i, -scaled.by)], 0.0);
            program.constrain(ZeroConeT(dim), (0..dim).map(equal).collect());
        }
        SetSpec::Sum(sum) => {
            let mut rows: Vec<_> = (0..dim).map(|i| (vec![(i, 1.0)], 0.0)).collect();
            for spec in &sum.sets {
                let y = program.embed(self::program(spec, dim)?);
                for (i, (row, _)) in rows.iter_mut().enumerate() {
                    row.push((y + i, -1.0));
                }
            }
            program.constrain(ZeroConeT(dim), rows);
        }
        SetSpec::Image(image) => {
            let y = program.embed(self::program(&image.set, dim)?);
            let equal = |i: usize| {
                let mut row: Vec<_> = (0..dim).map(|j| (y + j, -image.matrix[i][j])).collect();
                row.push((i, 1.0));
                (row, 0.0)
            };
            program.constrain(ZeroConeT(dim), (0..dim).map(equal).collect());
        }
        _ => return None,
    }
    Some(program)
}

#[test]
fn oracles_agree_with_an_independent_solver() {
    let mut r = rng(1);
    for dim in [2, 6] {
        for NamedSet {
            name, spec, set, ..
        } in sets(dim)
        {
            let Some(program) = program(&spec, dim) else {
                continue;
            };
            for _ in 0..4 {
                let d = normals(&mut r, dim);
                let theirs = dot(&d, &program.solve(0.0, &d));
                let ours = dot(&d, &atom(&*set, &d));
                let scale = norm(&d) * set.geometry().norm_bound;
                assert!(
                    (ours - theirs).abs() <= 1e-6 * scale,
                    "{name}: {ours} and {theirs}"
                );
            }
        }
    }
}

#[test]
fn projections_agree_with_an_independent_solver() {
    let mut r = rng(2);
    for dim in [2, 6] {
        for NamedSet {
            name, spec, set, ..
        } in sets(dim)
        {
            let (Some(program), Some(mut projection)) = (program(&spec, dim), set.projection())
            else {
                continue;
            };
            let size = set.geometry().norm_bound;
            for k in [0.3, 1.0, 3.0] {
                let y = scaled(&normals(&mut r, dim), k * size);
                let mut ours = y.clone();
                projection.project(&mut ours).unwrap();
                // min ½‖x‖² − ⟨y, x⟩
                let theirs = program.solve(1.0, &scaled(&y, -1.0));
                // in the distance to y, errors of the solver count twice; in the point, as a root
                let (far, as_far) = (distance(&ours, &y), distance(&theirs, &y));
                assert!(
                    (far - as_far).abs() <= 1e-6 * size,
                    "{name}: {far} and {as_far}"
                );
                let apart = distance(&ours, &theirs);
                assert!(apart <= 1e-4 * size, "{name}: {apart:e} apart for {y:?}");
            }
        }
    }
}

#[test]
fn the_violation_of_a_hull_or_a_sum_with_balls_is_the_distance_an_independent_solver_finds() {
    let mut r = rng(3);
    let mut specs = vec![
        "sum:sets=[(simplex),(l2:radius=0.3)]".to_string(),
        "sum:sets=[(l2),(lp:p=1.5,radius=2),(l2:radius=0.5)]".into(),
        "sum:sets=[(l2:radius=0.1),(translate:by=1,set=(l1)),(l2:radius=0.2)]".into(),
    ];
    for points in [1, 2, 3, 5, 12, 40] {
        // some of them twice, and one between two others
        let mut list: Vec<Vec<f64>> = (0..points).map(|_| normals(&mut r, 4)).collect();
        list.push(list[0].clone());
        list.push(
            (0..4)
                .map(|i| 0.5 * (list[0][i] + list[points / 2][i]))
                .collect(),
        );
        specs.push(format!("hull:points={list:?}"));
    }
    for text in specs {
        let spec: SetSpec = text.parse().unwrap();
        let set = spec.build(Some(4)).unwrap();
        let geometry = set.geometry();
        let scale = match spec {
            SetSpec::Hull(_) if geometry.diameter > 0.0 => geometry.diameter,
            SetSpec::Hull(_) => geometry.norm_bound,
            _ => geometry.diameter.max(geometry.norm_bound),
        };
        let program = program(&spec, 4).unwrap();
        for k in [0.05, 0.3, 1.0, 3.0, 10.0] {
            let y = scaled(&normals(&mut r, 4), k);
            let theirs = distance(&program.solve(1.0, &scaled(&y, -1.0)), &y);
            let ours = set.violation(&y).unwrap() * scale;
            // where the point is inside, the solver's distance is the root of its precision
            let tolerance = if ours == 0.0 { 1e-4 } else { 1e-6 } * (scale + theirs);
            assert!(
                (ours - theirs).abs() <= tolerance,
                "{text} at {y:?}: {ours} and {theirs}"
            );
        }
    }
}
