//! Reduces a mixture of points to at most dimension + 1 points (Carathéodory).

use crate::set::Atom;

/// A point whose entries are at most this large after elimination depends on the others.
const DEPENDENT: f64 = 1e-10;

/// A smaller share of a mixture is rounding.
const NOTHING: f64 = 1e-12;

/// The scratch memory of [`Tableau::reduce`].
#[derive(Debug, Default)]
pub(crate) struct Tableau {
    /// One row per point: its place relative to the first, and 1.
    rows: Vec<f64>,
    basis: Vec<u32>,
}

impl Tableau {
    pub(crate) fn reserve(&mut self, points: usize, dim: usize) {
        self.rows.reserve(points * (dim + 1));
        self.basis.reserve(dim + 1);
    }

    /// Moves weight between points until the points with weight are affinely independent. The
    /// weights stay ≥ 0, and their mixture stays the same but for rounding. `size` is the points'
    /// distance from one another.
    ///
    /// Coordinates are eliminated one after the other, each by the point with the largest entry.
    /// These points are the basis, and the elimination gives the coefficients of all others over
    /// it. The basis is then maintained as in the simplex method.
    pub(crate) fn reduce<'a>(
        &mut self,
        dim: usize,
        size: f64,
        points: impl Iterator<Item = &'a Atom>,
        weights: &mut [f64],
    ) {
        let width = dim + 1;
        self.rows.clear();
        self.rows.resize(weights.len() * width, 0.0);
        for (row, point) in self.rows.chunks_mut(width).zip(points) {
            point.write(&mut row[..dim]);
            row[..dim].iter_mut().for_each(|v| *v /= size);
            row[dim] = 1.0;
        }
        let (first, rest) = self.rows.split_at_mut(width);
        for row in rest.chunks_mut(width) {
            for (v, at) in row[..dim].iter_mut().zip(&*first) {
                *v -= at;
            }
        }
        first[..dim].fill(0.0);
        self.find_basis(width, weights);
        for j in 0..weights.len() as u32 {
            if !self.basis.contains(&j) && weights[j as usize] > 0.0 {
                self.dissolve(width, j, weights);
            }
        }
    }

    /// Column k becomes 1 at the k-th basis point and 0 at the others: Gauss-Jordan on columns.
    /// Columns that end up with no point are 0.
    fn find_basis(&mut self, width: usize, weights: &[f64]) {
        self.basis.clear();
        let mut used = 0;
        while used < width {
            // the free column and the point with the largest entry
            let (mut best, mut at) = (DEPENDENT, None);
            for (j, row) in self.rows.chunks(width).enumerate() {
                if weights[j] <= 0.0 {
                    continue;
                }
                for (k, v) in row[used..].iter().enumerate() {
                    if v.abs() > best {
                        (best, at) = (v.abs(), Some((j, used + k)));
                    }
                }
            }
            let Some((j, k)) = at else { break };
            for row in self.rows.chunks_mut(width) {
                row.swap(used, k);
            }
            self.basis.push(j as u32);
            self.pivot(width, j, used);
            used += 1;
        }
        // the rest of a column without a point is rounding
        for row in self.rows.chunks_mut(width) {
            row[used..].fill(0.0);
        }
    }

    /// Makes point j the unit vector of column k.
    fn pivot(&mut self, width: usize, j: usize, k: usize) {
        let (before, from) = self.rows.split_at_mut(j * width);
        let (own, after) = from.split_at_mut(width);
        let by = own[k];
        let others = before.chunks_mut(width).chain(after.chunks_mut(width));
        for row in others {
            let share = row[k] / by;
            if share != 0.0 {
                for (v, o) in row.iter_mut().zip(&*own) {
                    *v -= share * o;
                }
            }
            row[k] = share;
        }
        own.fill(0.0);
        own[k] = 1.0;
    }

    /// Point j is Σ t_k times the basis points, and its weight moves to them. If a basis point runs
    /// out of weight first, j takes its place.
    fn dissolve(&mut self, width: usize, j: u32, weights: &mut [f64]) {
        let j = j as usize;
        let row = &self.rows[j * width..][..width];
        let mut most = weights[j];
        let mut leaves = None;
        for (k, &b) in self.basis.iter().enumerate() {
            if row[k] < -NOTHING {
                let until = weights[b as usize] / -row[k];
                if until < most {
                    (most, leaves) = (until, Some(k));
                }
            }
        }
        for (k, &b) in self.basis.iter().enumerate() {
            let w = &mut weights[b as usize];
            *w = (*w + most * row[k]).max(0.0);
        }
        match leaves {
            None => weights[j] = 0.0,
            Some(k) => {
                weights[self.basis[k] as usize] = 0.0;
                weights[j] -= most;
                self.basis[k] = j as u32;
                self.pivot(width, j, k);
            }
        }
    }
}
