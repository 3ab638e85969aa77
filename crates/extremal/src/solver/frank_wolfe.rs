//! Frank-Wolfe methods, which need only the oracle of the set.

use super::search::Memory;
use super::{Imaged, Search, Task, TotalValue};
use crate::set::Atom;
use crate::{Result, kernel};

/// Points and images are updated in each step, and recomputed after this many steps.
const REFRESH: u64 = 100;

/// The largest number of exchanges of weight between two atoms after a step. Only totals that are
/// squares use exchanges.
const EXCHANGES: usize = 1_000;

/// Frank-Wolfe steps. If `pairwise` is true, a step moves weight from the worst to the best active
/// atom whenever this promises a larger decrease. The starting point is one of the atoms.
pub(super) fn frank_wolfe(
    search: &mut Search,
    task: &Task<'_>,
    memory: &mut Memory,
    x: &mut [f64],
    pairwise: bool,
) -> Result<bool> {
    if pairwise {
        memory.active.clear();
        search.atom.dense_mut(x.len()).copy_from_slice(x);
        memory.active.add(&search.atom, 1.0);
    }
    let square = pairwise && task.total.is_square();
    let mut reading = memory.evaluate(task, x);
    for k in 1.. {
        let gap = search.certify(task, x, memory.gradient(), reading)?;
        if let Some(good) = search.stop(task, x, gap) {
            return Ok(good);
        }
        let mut exchange = || memory.exchange(task, gap, x);
        if let Some(ahead) = pairwise.then(&mut exchange).flatten() {
            reading = ahead;
        } else if let Some((s, ahead)) = memory.step_to(task, &search.atom, gap, x) {
            if pairwise {
                memory.active.mix(&search.atom, s);
            }
            reading = ahead;
        } else {
            break;
        }
        if square {
            memory.correct(task, 0.5 * search.target(task));
        }
        if k % REFRESH == 0 || square {
            if pairwise {
                memory.active.write(x);
            }
            reading = memory.evaluate(task, x);
        }
        if reading.value <= task.value {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Memory {
    fn gradient(&self) -> &[f64] {
        &self.points[0]
    }

    /// Writes the gradient at x to points[0], and the image of x to images[0].
    fn evaluate(&mut self, task: &Task<'_>, x: &[f64]) -> TotalValue {
        task.evaluate(x, &mut self.images[0], &mut self.points[0])
    }

    /// Moves to the minimum on the segment from x to an atom. Returns the step size and the value, or
    /// `None` if the step size is 0.
    fn step_to(
        &mut self,
        task: &Task<'_>,
        atom: &Atom,
        gap: f64,
        x: &mut [f64],
    ) -> Option<(f64, TotalValue)> {
        let [gradient, way, ..] = &mut self.points;
        let [image, way_image, ..] = &mut self.images;
        atom.write(way);
        task.total.map(atom, way_image);
        kernel::axpy(-1.0, x, way);
        kernel::axpy(-1.0, image, way_image);
        let s = task.line_search(-gap, 1.0, Imaged { x, image }, Imaged::of(way, way_image));
        if s == 0.0 {
            return None;
        }
        // (1 − s)x + s·atom is feasible to the last digit, but x + s·way is not
        x.iter_mut().for_each(|x| *x *= 1.0 - s);
        atom.add_to(s, x);
        kernel::axpy(s, way_image, image);
        Some((s, task.total.at_image(task.mu, x, image, gradient)))
    }

    /// Moves weight from the worst to the best atom, if the slopes of the two differ by more than
    /// `least_gap`. Returns `None` if no weight moves.
    fn exchange(&mut self, task: &Task<'_>, least_gap: f64, x: &mut [f64]) -> Option<TotalValue> {
        let [gradient, way, ..] = &mut self.points;
        let [image, way_image, atom_image, ..] = &mut self.images;
        let [(good, least), (bad, most)] = self.active.extremes(gradient);
        let inward = most - least;
        if !(inward > least_gap) {
            return None;
        }
        let (good_atom, bad_atom) = (self.active.atom(good), self.active.atom(bad));
        good_atom.write(way);
        bad_atom.add_to(-1.0, way);
        task.total.map(good_atom, way_image);
        task.total.map(bad_atom, atom_image);
        kernel::axpy(-1.0, atom_image, way_image);
        let (from, by) = (Imaged { x, image }, Imaged::of(way, way_image));
        let s = task.line_search(-inward, self.active.weight(bad), from, by);
        if s == 0.0 {
            return None;
        }
        kernel::axpy(s, way, x);
        kernel::axpy(s, way_image, image);
        self.active.shift(bad, good, s);
        Some(task.total.at_image(task.mu, x, image, gradient))
    }

    /// Moves weight from the worst to the best atom until their slopes differ by at most `gap`. The
    /// total must be half the squared norm of the image, so that the inner products of the atoms'
    /// images are enough.
    fn correct(&mut self, task: &Task<'_>, gap: f64) {
        let (count, width) = (self.active.len(), task.total.images());
        let [images, products, slopes] = &mut self.products;
        images.resize(count * width, 0.0);
        for (i, image) in images.chunks_exact_mut(width).enumerate() {
            task.total.map(self.active.atom(i), image);
        }
        products.clear();
        for one in images.chunks_exact(width) {
            let others = images.chunks_exact(width);
            products.extend(others.map(|other| kernel::dot(one, other)));
        }
        let weights = self.active.weights_mut();
        slopes.clear();
        let rows = products.chunks_exact(count);
        slopes.extend(rows.map(|row| kernel::dot(row, weights)));
        for _ in 0..EXCHANGES {
            let (mut good, mut bad) = (0, None);
            for (i, slope) in slopes.iter().enumerate() {
                if *slope < slopes[good] {
                    good = i;
                }
                if weights[i] > 0.0 && bad.is_none_or(|b: usize| *slope > slopes[b]) {
                    bad = Some(i);
                }
            }
            let Some(bad) = bad else { break };
            let apart = slopes[bad] - slopes[good];
            if !(apart > gap) {
                break;
            }
            let at = |i: usize, j: usize| products[i * count + j];
            let bend = at(good, good) + at(bad, bad) - 2.0 * at(good, bad);
            // if two atoms differ only by rounding, all the weight moves
            let share = if bend > 0.0 { apart / bend } else { 1.0 };
            let share = share.min(weights[bad]);
            weights[bad] -= share;
            weights[good] += share;
            for (i, slope) in slopes.iter_mut().enumerate() {
                *slope += share * (at(i, good) - at(i, bad));
            }
        }
        self.active.prune();
    }
}
