//! Reduces a mixture of points to at most dimension + 1 points (Carathéodory).

use crate::solver::ActiveSet;

/// A point depends on the other points if all its entries are at most this large after the
/// elimination.
const DEPENDENT: f64 = 1e-10;

/// A coefficient smaller than this is a rounding error.
const NOTHING: f64 = 1e-12;

/// The scratch memory of [`Tableau::reduce`].
#[derive(Debug, Default)]
pub(crate) struct Tableau {
    /// One row per point: its difference from the first point, followed by a 1.
    rows: Vec<f64>,
    basis: Vec<u32>,
}

impl Tableau {
    pub(crate) fn reserve(&mut self, points: usize, dim: usize) {
        self.rows.reserve(points * (dim + 1));
        self.basis.reserve(dim + 1);
    }

    /// Moves weight between atoms until the atoms with weight are affinely independent, and removes
    /// the others. The weights stay ≥ 0, and the mixture changes only by rounding errors. `size` is
    /// the largest distance between two atoms.
    ///
    /// The coordinates are eliminated one after the other. The pivot of each coordinate is the
    /// point with the largest entry. The pivots are the basis, and the elimination computes the
    /// coefficients of all other points in this basis. The basis is then maintained as in the
    /// simplex method.
    pub(crate) fn reduce(&mut self, active: &mut ActiveSet, size: f64) {
        let dim = active.dim();
        let (atoms, weights) = active.parts_mut();
        let width = dim + 1;
        self.rows.clear();
        self.rows.resize(weights.len() * width, 0.0);
        for (row, point) in self.rows.chunks_mut(width).zip(atoms) {
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
        active.prune();
    }

    /// Gauss-Jordan elimination on columns: column k becomes 1 at the k-th basis point and 0 at the
    /// other basis points. Columns without a basis point become 0.
    fn find_basis(&mut self, width: usize, weights: &[f64]) {
        self.basis.clear();
        let mut used = 0;
        while used < width {
            // the unused column and the point with the largest entry
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
        // a column without a basis point holds only rounding errors
        for row in self.rows.chunks_mut(width) {
            row[used..].fill(0.0);
        }
    }

    /// Transforms the columns so that point j becomes the unit vector of column k.
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

    /// Moves the weight of point j = Σ t_k·(basis point k) to the basis points. A basis point with
    /// t_k < 0 loses weight. If its weight reaches 0 before all weight of j has moved, point j
    /// replaces it in the basis.
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
