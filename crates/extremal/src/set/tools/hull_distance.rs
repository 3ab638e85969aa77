//! The distance from a point to a hull of points, by non-negative least squares.
//!
//! For points p_i of the hull and the point x, let q_i = p_i − x and a_i = (q_i, 1). Non-negative least
//! squares finds weights w ≥ 0 for which Σw_i a_i is nearest to (0, 1). Divided by their sum, the w_i are
//! the weights of the point of the hull that is nearest to x. The active columns are stored as QR
//! factors. Each column is orthogonalised twice, so that the distance loses no digits if points are
//! nearly dependent.

use crate::kernel::{axpy, dot, max_abs, norm};

/// A column is treated as dependent on other columns if its part that is orthogonal to these columns is
/// at most this share of its length.
const DEPENDENT: f64 = 1e-13;

/// The memory for one hull. Each column has `rows` = d + 1 entries.
pub(crate) struct Nearest {
    rows: usize,
    /// The columns a_i, one after the other.
    columns: Vec<f64>,
    /// The active columns, in the order in which they were added.
    used: Vec<usize>,
    weights: Vec<f64>,
    /// The orthonormal columns, one after the other, `rows` entries each.
    q: Vec<f64>,
    /// The triangular factor, column after column, `rows` entries each.
    r: Vec<f64>,
    target: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    /// Columns that did not reduce the residual since the weights last improved.
    barred: Vec<bool>,
}

impl Nearest {
    pub(crate) fn new(dim: usize, points: usize) -> Self {
        let rows = dim + 1;
        let most = points.min(rows);
        Self {
            rows,
            columns: vec![0.0; points * rows],
            used: Vec::with_capacity(most),
            weights: Vec::with_capacity(most),
            q: vec![0.0; most * rows],
            r: vec![0.0; most * rows],
            target: vec![0.0; rows],
            solution: vec![0.0; rows],
            residual: vec![0.0; rows],
            barred: vec![false; points],
        }
    }

    /// The distance min ‖Σλ_i p_i − x‖ over mixtures λ. All numbers must be finite.
    pub(crate) fn distance(&mut self, points: &[f64], x: &[f64]) -> f64 {
        let scale = self.set_columns(points, x);
        if scale == 0.0 {
            return 0.0;
        }
        self.used.clear();
        self.weights.clear();
        self.residual.copy_from_slice(&self.target);
        self.barred.fill(false);
        // The number of steps is finite in exact arithmetic. The limit guards against rounding errors.
        for _ in 0..20 + 4 * (self.barred.len() + self.rows) {
            if !self.step() {
                break;
            }
        }
        scale * self.mixture_length()
    }

    /// Sets a_i = (q_i, 1), where each q_i is divided by the largest entry of all q_i. Returns this
    /// entry.
    fn set_columns(&mut self, points: &[f64], x: &[f64]) -> f64 {
        let (rows, dim) = (self.rows, x.len());
        for (column, point) in self.columns.chunks_mut(rows).zip(points.chunks(dim)) {
            for ((a, p), x) in column.iter_mut().zip(point).zip(x) {
                *a = p - x;
            }
            column[dim] = 0.0;
        }
        let scale = max_abs(&self.columns);
        for column in self.columns.chunks_mut(rows) {
            if scale > 0.0 {
                column.iter_mut().for_each(|a| *a /= scale);
            }
            column[dim] = 1.0;
        }
        self.target.fill(0.0);
        self.target[dim] = 1.0;
        scale
    }

    /// Adds the column that reduces the residual most, and removes the columns that become superfluous.
    /// Returns false if no column reduces the residual.
    fn step(&mut self) -> bool {
        let length = norm(&self.residual);
        if self.used.len() == self.rows || length <= 1e-16 {
            return false;
        }
        let (mut best, mut most) = (None, 0.0);
        for i in 0..self.barred.len() {
            if self.barred[i] || self.used.contains(&i) {
                continue;
            }
            let column = &self.columns[i * self.rows..][..self.rows];
            let help = dot(column, &self.residual);
            if help > most && help > DEPENDENT * norm(column) * length {
                (best, most) = (Some(i), help);
            }
        }
        let Some(i) = best else { return false };
        self.used.push(i);
        self.weights.push(0.0);
        if !self.factor_from(self.used.len() - 1) {
            self.bar_last(i);
            return true;
        }
        self.solve();
        // without rounding errors, the new column's weight would be positive
        if self.solution[self.used.len() - 1] <= 0.0 {
            self.bar_last(i);
            return true;
        }
        while let Some(first) = self.go_towards_solution() {
            if !self.factor_from(first) {
                break;
            }
            self.solve();
        }
        self.residual.copy_from_slice(&self.target);
        self.add_mixture(-1.0);
        self.barred.fill(false);
        true
    }

    fn bar_last(&mut self, i: usize) {
        self.used.pop();
        self.weights.pop();
        self.barred[i] = true;
    }

    /// Computes the QR factors of the active columns from the k-th on. Returns false if a column depends
    /// on earlier columns.
    fn factor_from(&mut self, k: usize) -> bool {
        let rows = self.rows;
        for j in k..self.used.len() {
            let (before, rest) = self.q.split_at_mut(j * rows);
            let q = &mut rest[..rows];
            let r = &mut self.r[j * rows..][..rows];
            q.copy_from_slice(&self.columns[self.used[j] * rows..][..rows]);
            r.fill(0.0);
            let whole = norm(q);
            for _ in 0..2 {
                for (other, r) in before.chunks(rows).zip(r.iter_mut()) {
                    let share = dot(other, q);
                    axpy(-share, other, q);
                    *r += share;
                }
            }
            r[j] = norm(q);
            if r[j] <= DEPENDENT * whole {
                return false;
            }
            q.iter_mut().for_each(|v| *v /= r[j]);
        }
        true
    }

    /// The weights, of any sign, for which Σ weight·(active column) is nearest to the target.
    fn solve(&mut self) {
        let (rows, k) = (self.rows, self.used.len());
        for j in (0..k).rev() {
            let mut value = dot(&self.q[j * rows..][..rows], &self.target);
            for later in j + 1..k {
                value -= self.r[later * rows + j] * self.solution[later];
            }
            self.solution[j] = value / self.r[j * rows + j];
        }
    }

    /// Moves the weights towards the solution until one of them is 0, and removes the columns of
    /// weight 0. Returns the position of the first removed column, or `None` if the solution was
    /// reached.
    fn go_towards_solution(&mut self) -> Option<usize> {
        let mut share = 1.0_f64;
        for (w, z) in self.weights.iter().zip(&self.solution) {
            if *z <= 0.0 {
                share = share.min(w / (w - z));
            }
        }
        if share == 1.0 && self.solution[..self.used.len()].iter().all(|z| *z > 0.0) {
            self.weights
                .copy_from_slice(&self.solution[..self.used.len()]);
            return None;
        }
        let mut kept = 0;
        let mut first = None;
        for j in 0..self.used.len() {
            let (w, z) = (self.weights[j], self.solution[j]);
            let moved = w + share * (z - w);
            // the weight that limited the step is removed, even if rounding leaves it positive
            let stops = z <= 0.0 && (moved <= 0.0 || w / (w - z) <= share);
            if stops {
                first = first.or(Some(j));
            } else {
                self.used[kept] = self.used[j];
                self.weights[kept] = moved;
                kept += 1;
            }
        }
        self.used.truncate(kept);
        self.weights.truncate(kept);
        first
    }

    /// ‖Σλ_i q_i‖, where λ are the weights divided by their sum.
    fn mixture_length(&mut self) -> f64 {
        let total: f64 = self.weights.iter().sum();
        self.residual.fill(0.0);
        self.add_mixture(1.0 / total);
        norm(&self.residual[..self.rows - 1])
    }
    /// residual += factor·Σ w_i a_i.
    fn add_mixture(&mut self, factor: f64) {
        for (&i, &w) in self.used.iter().zip(&self.weights) {
            let column = &self.columns[i * self.rows..][..self.rows];
            axpy(factor * w, column, &mut self.residual);
        }
    }
}
