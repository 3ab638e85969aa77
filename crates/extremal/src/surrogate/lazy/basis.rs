//! The coordinates of x, c and ∇F with respect to two vectors w and u, for
//! [`LazySurrogate`](crate::surrogate::LazySurrogate), and the steps that keep these coordinates
//! accurate.

use serde::{Deserialize, Serialize};

use crate::Row;
use crate::range::SMALLEST_DIRECTION;
use crate::surrogate::lazy::cells::{Cells, Change, Coordinates, Gram};
use crate::surrogate::sparse_vector::SparseVector;

/// A sum has cancelled if it is below this share of the sum of its terms' absolute values.
const CANCELLED: f64 = 1e-4;

/// ‖v − x‖² is treated as 0 below this share of ‖v‖² + ‖x‖².
const NEAR: f64 = 1e-9;

/// ‖u‖² has lost digits if it is below this share of its largest value.
const SHRUNK: f64 = 1e-2;

/// The largest distance, in radii, by which a gradient may move the two parts of x. Beyond this
/// distance x would lose digits.
const JUMP: f64 = 10.0;

/// ‖u‖ is kept between 1/REACH and REACH.
const REACH: f64 = 1e50;

/// ∇F is treated as 0 below this share of βx, because coordinates can be far smaller than the
/// rounding errors of entries.
const NEGLIGIBLE: f64 = 1e-40;

/// (x, c): the vectors w and u, and the coordinates of x and c.
pub(crate) struct Span {
    pub cells: Cells,
    pub at: Numbers,
    /// x₁. It is `None` if x₁ = 0.
    pub origin: Option<SparseVector>,
}

/// The numbers that a probe changes. Decisions are in units of the ball's radius.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Numbers {
    pub gram: Gram,
    /// x = x[0]·w + x[1]·u with x[0] ≠ 0. The coordinates of c and ∇F have the same meaning.
    pub x: Coordinates,
    pub c: Coordinates,
    pub gradient: Coordinates,
    /// β·radius, with the β of ∇F.
    pub beta: f64,
    /// |x[0]| when w was last scaled.
    pub base: f64,
    /// The largest ‖w‖² and ‖u‖² since the inner products were last computed from the entries.
    pub tops: [f64; 2],
    /// The number of non-zeros absorbed since the inner products were last computed from the
    /// entries.
    pub absorbed: u64,
    pub passes: Passes,
}

/// The number of passes over all entries, for each reason. It measures the cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Passes {
    /// Passes that recomputed the inner products.
    pub products: u64,
    /// Passes that computed a round from all entries and changed the basis.
    pub dense: u64,
    /// Passes that set w and u to x and c, before a large gradient or when a scale left its range.
    pub written: u64,
}

impl Passes {
    /// The total number of passes.
    pub fn total(&self) -> u64 {
        self.products + self.dense + self.written
    }
}

/// The lengths that a probe computes, in units of the radius.
pub(crate) struct Measured {
    pub norm: f64,
    pub slope: f64,
    pub xx: f64,
    pub gap: f64,
    pub distance: f64,
}

/// y + k·z.
fn plus(y: Coordinates, k: f64, z: Coordinates) -> Coordinates {
    [y[0] + k * z[0], y[1] + k * z[1]]
}

pub(crate) fn times(k: f64, y: Coordinates) -> Coordinates {
    [k * y[0], k * y[1]]
}

/// The largest power of two that is at most `size`, or 1 if `size` is 0. Dividing by it is exact.
pub(crate) fn scale_of(size: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if size == 0.0 {
        1.0
    } else {
        f64::from_bits(size.max(f64::MIN_POSITIVE).to_bits() & EXPONENT)
    }
}

impl Span {
    /// x = w, and c = u = 0.
    pub fn new(dim: usize, origin: Option<SparseVector>) -> Self {
        Self {
            cells: Cells::new(dim),
            at: Numbers {
                gram: Gram::default(),
                x: [1.0, 0.0],
                c: [0.0, 1.0],
                gradient: [0.0, 1.0],
                beta: 0.0,
                base: 1.0,
                tops: [0.0; 2],
                absorbed: 0,
                passes: Passes::default(),
            },
            origin,
        }
    }

    /// Adds m·x to c, and sets the new β. If w = 0, the coordinate of x along w is arbitrary. It is
    /// set to the size of the other coordinate.
    pub fn bend(&mut self, m: f64, beta: f64) {
        let w_is_zero = self.at.gram.ww == 0.0;
        if w_is_zero && self.at.x[1] != 0.0 {
            self.at.x[0] = self.at.x[1].abs();
            self.at.base = self.at.x[0];
        }
        self.at.c = plus(self.at.c, m, self.at.x);
        self.at.gradient = plus(self.at.gradient, m + (beta - self.at.beta), self.at.x);
        self.at.beta = beta;
        if w_is_zero {
            self.at.c[0] = 0.0;
        }
        if self.at.c[0] == 0.0 {
            self.at.gradient[0] = beta * self.at.x[0];
        }
    }

    /// The change of u and w that adds k·a to c and leaves x unchanged. `size` is ‖k·a‖. The result
    /// is `None` if x and c are almost parallel.
    fn change(&self, k: f64, size: f64) -> Option<Change> {
        let ([p, q], [e, f]) = (self.at.x, self.at.c);
        let rho = -q / p;
        // If c has no part along w, only u changes and nothing cancels. Only a ridge term creates a
        // part along w.
        let along = f + e * rho;
        let sound = e == 0.0 && f != 0.0 || along.abs() >= CANCELLED * (f.abs() + (e * rho).abs());
        let delta = k / along;
        (sound && rho.is_finite()).then(|| Change {
            delta,
            rho,
            size: size / along.abs(),
        })
    }

    /// Adds k·a to c, where `size` = ‖k·a‖ > 0. Returns ⟨a, x⟩.
    pub fn absorb(&mut self, row: &Row<'_>, k: f64, size: f64) -> f64 {
        let fits = |change: &Change| {
            let reach = self.at.gram.uu.sqrt() + change.size;
            self.at.x[1].abs() * change.size <= JUMP && (1.0 / REACH..=REACH).contains(&reach)
        };
        let change = match self.change(k, size).filter(fits) {
            Some(change) => change,
            None => {
                self.write_out(size);
                Change {
                    delta: k / self.at.c[1],
                    rho: 0.0,
                    size: size / self.at.c[1].abs(),
                }
            }
        };
        let dot = self.cells.absorb(row, change, &mut self.at.gram, self.at.x);
        self.at.absorbed += row.stored() as u64;
        let Gram { ww, uu, .. } = self.at.gram;
        let shrunk = ww < SHRUNK * self.at.tops[0] || uu < SHRUNK * self.at.tops[1];
        if shrunk || self.at.absorbed >= 4 * self.cells.touched_len() as u64 {
            self.at.passes.products += 1;
            self.measure_basis();
            // After cancellation, u may be too small to be squared.
            if self.at.gram.uu < REACH.powi(-2) {
                self.write_out(0.0);
            }
        }
        self.at.tops[0] = self.at.tops[0].max(self.at.gram.ww);
        self.at.tops[1] = self.at.tops[1].max(self.at.gram.uu);
        dot
    }

    pub fn measure_basis(&mut self) {
        self.at.gram = self.cells.gram();
        self.at.tops = [self.at.gram.ww, self.at.gram.uu];
        self.at.absorbed = 0;
    }

    /// Counts a pass, and then calls [`Span::rest_on_point`].
    pub fn write_out(&mut self, coming: f64) {
        self.at.passes.written += 1;
        self.rest_on_point(coming);
    }

    /// Sets w = x and u = c, each divided by a scale, in O(touched). The scale of c is chosen for a
    /// next gradient of norm `coming`.
    fn rest_on_point(&mut self, coming: f64) {
        let p = scale_of(self.cells.top(self.at.x));
        let f = scale_of(self.cells.top(self.at.c).max(coming));
        self.cells
            .rewrite([times(1.0 / p, self.at.x), times(1.0 / f, self.at.c)]);
        self.at.x = [p, 0.0];
        self.at.c = [0.0, f];
        self.at.gradient = [self.at.beta * p, f];
        self.at.base = p;
        self.measure_basis();
    }

    /// Sets c = −βx and x₁ = x, which restarts F at the current decision, in O(touched).
    pub fn start_over(&mut self, beta: f64, radius: f64) {
        self.at.passes.written += 1;
        let origin = self.origin.get_or_insert_default();
        let entries = self.cells.entries(times(radius, self.at.x));
        origin.set(self.cells.touched_len(), entries.filter(|(_, v)| *v != 0.0));
        if beta == 0.0 {
            self.cells.rewrite([self.at.x, [0.0, 0.0]]);
        } else {
            self.cells.rewrite([[0.0, 0.0], self.at.x]);
        }
        self.rest_on_origin(beta);
    }

    /// Sets x = x₁ and c = −βx₁. The call requires w = 0 and u = x₁, or w = x₁ and u = 0 if β = 0.
    pub fn rest_on_origin(&mut self, beta: f64) {
        let centred = self.origin.as_ref().is_none_or(SparseVector::is_empty);
        let still = beta == 0.0 || centred;
        (self.at.x, self.at.c) = if still {
            ([1.0, 0.0], [0.0, 1.0])
        } else {
            ([1.0, 1.0], [0.0, -beta])
        };
        self.at.gradient = self.at.c;
        self.at.beta = 0.0;
        self.at.base = 1.0;
        self.measure_basis();
    }

    /// Whether ∇F is 0 up to rounding. `norm` is the length of ∇F.
    fn is_still(&self, norm: f64, xx: f64) -> bool {
        !(norm > SMALLEST_DIRECTION.max(NEGLIGIBLE * self.at.beta * xx.sqrt()))
    }

    /// The lengths, computed from the inner products. The result is `None` if a sum has cancelled.
    pub fn measure(&self) -> Option<Measured> {
        let xx = self
            .at
            .gram
            .dot_unless_cancelled(self.at.x, self.at.x, CANCELLED)?;
        let scale = scale_of(self.at.gram.size(self.at.gradient));
        let d = times(1.0 / scale, self.at.gradient);
        let dd = self.at.gram.dot_unless_cancelled(d, d, CANCELLED)?;
        let slope = scale * self.at.gram.dot(d, self.at.x);
        let norm = dd.sqrt();
        if self.is_still(scale * norm, xx) {
            return Some(Measured::still(slope, xx));
        }
        // v − x in coordinates, so that its length and the gap do not cancel if x is close to v
        let away = plus(times(-1.0 / norm, d), -1.0, self.at.x);
        let distance = match self.at.gram.dot_unless_cancelled(away, away, CANCELLED) {
            Some(distance) => distance,
            None if self.at.gram.size(away).powi(2) < NEAR * (1.0 + xx) => {
                self.at.gram.dot(away, away).max(0.0)
            }
            None => return None,
        };
        Some(Measured {
            norm: scale * norm,
            slope,
            xx,
            gap: -scale * self.at.gram.dot(d, away),
            distance,
        })
    }

    /// Computes the lengths from all entries, and changes to a basis in which x and ∇F do not
    /// cancel, in O(touched).
    pub fn measure_entries(&mut self) -> Measured {
        self.at.passes.dense += 1;
        let scale = scale_of(self.cells.top(self.at.gradient));
        let (x, d) = (self.at.x, times(1.0 / scale, self.at.gradient));
        let f = scale_of(self.cells.top(self.at.c));
        let c = times(1.0 / f, self.at.c);
        let at = |y: Coordinates, w: f64, u: f64| y[0] * w + y[1] * u;
        let [xx, xd, dd, cc] = self.cells.sums(|w, u| {
            let (x, d, c) = (at(x, w, u), at(d, w, u), at(c, w, u));
            [x * x, x * d, d * d, c * c]
        });
        let norm = dd.sqrt();
        let slope = scale * xd;
        let measured = if self.is_still(scale * norm, xx) {
            Measured::still(slope, xx)
        } else {
            let mut gap = xd + norm;
            let mut distance = 1.0 + 2.0 * (xd / norm) + xx;
            if distance < NEAR * (1.0 + xx) {
                [gap, distance] = self.cells.sums(|w, u| {
                    let d = at(d, w, u);
                    let away = at(x, w, u) + d / norm;
                    [d * away, away * away]
                });
            }
            Measured {
                norm: scale * norm,
                slope,
                xx,
                gap: scale * gap,
                distance,
            }
        };
        if self.at.beta > 0.0 && self.at.beta * xx.sqrt() > 0.1 * f * cc.sqrt() {
            // c + βx cancels, so ∇F itself is stored, and x = (∇F − c)/β
            self.cells.rewrite([d, c]);
            self.at.x = [scale / self.at.beta, -f / self.at.beta];
            self.at.c = [0.0, f];
            self.at.gradient = [scale, 0.0];
            self.at.base = self.at.x[0];
            self.measure_basis();
        } else {
            self.rest_on_point(0.0);
        }
        measured
    }

    /// x += σ(α∇F − x).
    pub fn step(&mut self, sigma: f64, alpha: f64) {
        let keep = 1.0 - sigma + sigma * alpha * self.at.beta;
        // Uses the coordinates of ∇F itself: if c + βx cancels, α(c + βx) would not be an atom.
        self.at.x = plus(
            times(1.0 - sigma, self.at.x),
            sigma * alpha,
            self.at.gradient,
        );
        self.at.gradient = plus(times(keep, self.at.gradient), sigma, self.at.c);
        // In each coordinate, the smaller of x and ∇F = c + βx is more exact, so the larger is
        // computed from it.
        for i in 0..2 {
            let (c, d) = (self.at.c[i], self.at.gradient[i]);
            if c != 0.0 && d.abs() < 0.5 * c.abs() && self.at.beta > 0.0 {
                self.at.x[i] = (d - c) / self.at.beta;
            } else {
                self.at.gradient[i] = c + self.at.beta * self.at.x[i];
            }
        }
        self.tidy();
    }

    /// x = s·α∇F.
    pub fn place(&mut self, s: f64, alpha: f64) {
        self.at.x = times(s * alpha, self.at.gradient);
        self.at.gradient = plus(self.at.c, self.at.beta, self.at.x);
        self.tidy();
    }

    /// Keeps the coordinate of x along w away from 0 and ∞.
    fn tidy(&mut self) {
        let share = self.at.x[0] / self.at.base;
        if share.abs() >= Cells::VANISHING && share.abs() <= 1.0 / Cells::VANISHING {
            return;
        }
        if self.at.c[0] != 0.0 || share.abs() > 1.0 {
            return self.write_out(0.0);
        }
        self.cells.scale_w(share);
        self.at.gram.ww *= share * share;
        self.at.gram.wu *= share;
        self.at.tops[0] = self.at.gram.ww;
        self.at.x[0] = self.at.base;
        self.at.gradient[0] = self.at.beta * self.at.base;
    }
}

impl Measured {
    fn still(slope: f64, xx: f64) -> Self {
        Self {
            norm: 0.0,
            slope,
            xx,
            gap: 0.0,
            distance: 0.0,
        }
    }
}
