//! Methods that need nothing but the oracle.

use super::search::Memory;
use super::{Place, Reading, Search, Stop, Task};
use crate::set::Atom;
use crate::{Result, kernel};

/// Updated points and images are computed afresh after this many steps.
const REFRESH: u64 = 100;

/// Frank-Wolfe.
pub(super) fn plain(
    search: &mut Search,
    task: &Task<'_>,
    memory: &mut Memory,
    x: &mut [f64],
) -> Result<Stop> {
    let mut reading = memory.evaluate(task, x);
    for k in 1.. {
        let gap = search.certify(task, x, memory.gradient(), reading)?;
        if let Some(stop) = search.stop(task, x, gap) {
            return Ok(stop);
        }
        let Some((_, ahead)) = memory.step_to(task, &search.atom, gap, x) else {
            break;
        };
        reading = ahead;
        if k % REFRESH == 0 {
            reading = memory.evaluate(task, x);
        }
        if reading.value <= task.value {
            return Ok(Stop::Good);
        }
    }
    Ok(Stop::Stalled)
}

/// Frank-Wolfe steps, and where atoms in use promise more, weight moved from the worst to the best
/// of them. The point where it begins counts as an atom.
pub(super) fn pairwise(
    search: &mut Search,
    task: &Task<'_>,
    memory: &mut Memory,
    x: &mut [f64],
) -> Result<Stop> {
    memory.active.clear();
    search.atom.dense_mut(x.len()).copy_from_slice(x);
    memory.active.add(&search.atom, 1.0);
    let mut reading = memory.evaluate(task, x);
    for k in 1.. {
        let gap = search.certify(task, x, memory.gradient(), reading)?;
        if let Some(stop) = search.stop(task, x, gap) {
            return Ok(stop);
        }
        if let Some(ahead) = memory.exchange(task, gap, x) {
            reading = ahead;
        } else if let Some((s, ahead)) = memory.step_to(task, &search.atom, gap, x) {
            memory.active.mix(&search.atom, s);
            reading = ahead;
        } else {
            break;
        }
        // no better than the next oracle call can make use of
        let enough = (0.5 * search.target(task)).max(0.1 * gap);
        for _ in 0..task.corrections {
            match memory.exchange(task, enough, x) {
                Some(ahead) => reading = ahead,
                None => break,
            }
        }
        if k % REFRESH == 0 || task.corrections > 0 {
            memory.active.write(x);
            reading = memory.evaluate(task, x);
        }
        if reading.value <= task.value {
            return Ok(Stop::Good);
        }
    }
    Ok(Stop::Stalled)
}

impl Memory {
    fn gradient(&self) -> &[f64] {
        &self.points[0]
    }

    /// The gradient at x and its image become the first ones of `points` and `images`.
    fn evaluate(&mut self, task: &Task<'_>, x: &[f64]) -> Reading {
        task.evaluate(x, &mut self.images[0], &mut self.points[0])
    }

    /// A step towards an atom, to the minimum on the way: its share of the way. None if it is 0.
    fn step_to(
        &mut self,
        task: &Task<'_>,
        atom: &Atom,
        gap: f64,
        x: &mut [f64],
    ) -> Option<(f64, Reading)> {
        let [gradient, way, ..] = &mut self.points;
        let [image, way_image, ..] = &mut self.images;
        atom.write(way);
        task.total.map(atom, way_image);
        kernel::axpy(-1.0, x, way);
        kernel::axpy(-1.0, image, way_image);
        let s = task.line_search(-gap, 1.0, Place { x, image }, Place::of(way, way_image));
        if s == 0.0 {
            return None;
        }
        // (1 − s)x + s·atom rather than x + s·way: feasible to the last place
        x.iter_mut().for_each(|x| *x *= 1.0 - s);
        atom.add_to(s, x);
        kernel::axpy(s, way_image, image);
        Some((s, task.total.at_image(task.mu, x, image, gradient)))
    }

    /// Moves weight from the worst to the best atom, if that promises a gap larger than `least_gap`.
    /// None if nothing moves.
    fn exchange(&mut self, task: &Task<'_>, least_gap: f64, x: &mut [f64]) -> Option<Reading> {
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
        let (from, by) = (Place { x, image }, Place::of(way, way_image));
        let s = task.line_search(-inward, self.active.weight(bad), from, by);
        if s == 0.0 {
            return None;
        }
        kernel::axpy(s, way, x);
        kernel::axpy(s, way_image, image);
        self.active.shift(bad, good, s);
        Some(task.total.at_image(task.mu, x, image, gradient))
    }
}
