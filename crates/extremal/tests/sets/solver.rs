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

use crate::common::{NamedSet, atom, distance, normals, rng, scaled, sets, spike};

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

    /// ‖members‖_p ≤ limit, a row of variables and constants; `part` gives each a helper.
    fn bound_norm(
        &mut self,
        p: f64,
        limit: (Vec<(usize, f64)>, f64),
        members: &[usize],
        part: impl Fn(usize) -> usize,
    ) {
        if p == 2.0 {
            let mut rows = vec![limit];
            rows.extend(members.iter().map(|&i| (vec![(i, -1.0)], 0.0)));
            return self.constrain(SecondOrderConeT(rows.len()), rows);
        }
        let mut total = limit.clone();
        total.0.extend(members.iter().map(|&i| (part(i), 1.0)));
        self.constrain(NonnegativeConeT(1), vec![total]);
        for &i in members {
            if p == 1.0 {
                let sides = [1.0, -1.0].map(|k| (vec![(i, k), (part(i), -1.0)], 0.0));
                self.constrain(NonnegativeConeT(2), sides.to_vec());
            } else {
                // |x_i| ≤ t_i^(1/p)·limit^(1−1/p)
                let rows = vec![
                    (vec![(part(i), -1.0)], 0.0),
                    limit.clone(),
                    (vec![(i, -1.0)], 0.0),
                ];
                self.constrain(PowerConeT(1.0 / p), rows);
            }
        }
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
        SetSpec::CappedSimplex(capped) => {
            let total = ((0..dim).map(|i| (i, 1.0)).collect(), capped.total);
            program.constrain(ZeroConeT(1), vec![total]);
            let bounds = |i| [at_least(i, 0.0), at_most(i, 1.0)];
            let rows: Vec<_> = (0..dim).flat_map(bounds).collect();
            program.constrain(NonnegativeConeT(rows.len()), rows);
        }
        SetSpec::KSparse(sparse) => {
            // −t_i ≤ x_i ≤ t_i ≤ r and Σ t_i ≤ kr
            program.variables = 2 * dim;
            let total = sparse.k as f64 * sparse.radius;
            let mut rows = vec![((0..dim).map(|i| (dim + i, 1.0)).collect(), total)];
            for i in 0..dim {
                rows.push((vec![(i, 1.0), (dim + i, -1.0)], 0.0));
                rows.push((vec![(i, -1.0), (dim + i, -1.0)], 0.0));
                rows.push(at_most(dim + i, sparse.radius));
            }
            program.constrain(NonnegativeConeT(rows.len()), rows);
        }
        SetSpec::KSupport(support) => {
            // x = Σ v_S over the subsets S of k places, ‖v_S‖ ≤ t_S and Σ t_S ≤ r
            let k = support.k.min(dim) as u32;
            let subsets = (0..1_u32 << dim).filter(|s| s.count_ones() == k);
            let mut sums: Vec<_> = (0..dim).map(|i| (vec![(i, -1.0)], 0.0)).collect();
            let mut total = vec![];
            for subset in subsets {
                let bound = program.variables;
                total.push((bound, 1.0));
                let mut rows = vec![(vec![(bound, -1.0)], 0.0)];
                for (part, i) in (0..dim).filter(|i| subset >> i & 1 == 1).enumerate() {
                    let variable = bound + 1 + part;
                    sums[i].0.push((variable, 1.0));
                    rows.push((vec![(variable, -1.0)], 0.0));
                }
                program.variables += rows.len();
                program.constrain(SecondOrderConeT(rows.len()), rows);
            }
            program.constrain(ZeroConeT(dim), sums);
            program.constrain(NonnegativeConeT(1), vec![(total, support.radius)]);
        }
        SetSpec::Hypercube(cube) => {
            let low = if cube.centred { -cube.radius } else { 0.0 };
            let bounds = |i| [at_least(i, low), at_most(i, cube.radius)];
            let rows: Vec<_> = (0..dim).flat_map(bounds).collect();
            program.constrain(NonnegativeConeT(rows.len()), rows);
        }
        SetSpec::Permutahedron(ranks) => {
            // x = Pw with P ≥ 0 whose rows and columns add up to 1
            let ramp = || (1..=dim).map(|i| i as f64).collect();
            let weights = ranks.weights.clone().unwrap_or_else(ramp);
            program.variables = dim + dim * dim;
            let entry = |i: usize, j: usize| dim + i * dim + j;
            let mut rows = vec![];
            for i in 0..dim {
                let mut mixed = vec![(i, -1.0)];
                mixed.extend((0..dim).map(|j| (entry(i, j), weights[j])));
                rows.push((mixed, 0.0));
                rows.push(((0..dim).map(|j| (entry(i, j), 1.0)).collect(), 1.0));
                rows.push(((0..dim).map(|j| (entry(j, i), 1.0)).collect(), 1.0));
            }
            rows.pop(); // the last column follows from the others
            program.constrain(ZeroConeT(rows.len()), rows);
            let rows: Vec<_> = (dim..dim + dim * dim).map(|v| at_least(v, 0.0)).collect();
            program.constrain(NonnegativeConeT(rows.len()), rows);
        }
        SetSpec::Ellipsoid(ellipsoid) => {
            // x = c + Fu with FFᵀ = A and ‖u‖ ≤ 1
            program.variables = 2 * dim;
            let centre = expand(&ellipsoid.centre);
            let factor = match &ellipsoid.matrix {
                Some(matrix) => cholesky(matrix),
                None => {
                    let axes = ellipsoid.axes.clone().unwrap_or(Bound::All(1.0));
                    let axes = expand(&axes);
                    (0..dim).map(|i| spike(dim, i, axes[i])).collect()
                }
            };
            let mut rows = Vec::new();
            for i in 0..dim {
                let mut entries = vec![(i, 1.0)];
                entries.extend((0..dim).map(|j| (dim + j, -factor[i][j])));
                rows.push((entries, centre[i]));
            }
            program.constrain(ZeroConeT(dim), rows);
            let mut rows = vec![(vec![], 1.0)];
            rows.extend((0..dim).map(|i| (vec![(dim + i, -1.0)], 0.0)));
            program.constrain(SecondOrderConeT(dim + 1), rows);
        }
        SetSpec::Group(group) => {
            let groups = match (&group.groups, group.size) {
                (Some(groups), _) => groups.clone(),
                (None, Some(size)) => {
                    let all: Vec<usize> = (0..dim).collect();
                    all.chunks(size).map(<[usize]>::to_vec).collect()
                }
                (None, None) => return None,
            };
            // variables: the groups' norms, then one helper for each norm and for each coordinate
            let count = groups.len();
            let (norm_of, share_of) = (|g: usize| dim + g, |g: usize| dim + count + g);
            let part_of = |i: usize| dim + 2 * count + i;
            program.variables = 2 * dim + 2 * count;
            for (g, members) in groups.iter().enumerate() {
                let limit = (vec![(norm_of(g), -1.0)], 0.0);
                program.bound_norm(group.s, limit, members, part_of);
            }
            let limit = (vec![], group.radius);
            let norms: Vec<usize> = (0..count).map(norm_of).collect();
            program.bound_norm(group.p, limit, &norms, |v| share_of(v - dim));
        }
        SetSpec::ElasticNet(net) => {
            // −t_i ≤ x_i ≤ t_i, ‖x‖² ≤ q and Σ t_i + (ω/2)q ≤ τ
            program.variables = 2 * dim + 1;
            let square = 2 * dim;
            let mut total: Vec<_> = (0..dim).map(|i| (dim + i, 1.0)).collect();
            total.push((square, 0.5 * net.omega));
            let mut rows = vec![(total, net.tau)];
            for i in 0..dim {
                rows.push((vec![(i, 1.0), (dim + i, -1.0)], 0.0));
                rows.push((vec![(i, -1.0), (dim + i, -1.0)], 0.0));
            }
            program.constrain(NonnegativeConeT(rows.len()), rows);
            // ‖(2x, q − 1)‖ ≤ q + 1
            let mut rows = vec![(vec![(square, -1.0)], 1.0), (vec![(square, -1.0)], -1.0)];
            rows.extend((0..dim).map(|i| (vec![(i, -2.0)], 0.0)));
            program.constrain(SecondOrderConeT(dim + 2), rows);
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

/// F with FFᵀ = A, lower triangular.
fn cholesky(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut f = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = a[i][j] - dot(&f[i][..j], &f[j][..j]);
            f[i][j] = if i == j { rest.sqrt() } else { rest / f[j][j] };
        }
    }
    f
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
