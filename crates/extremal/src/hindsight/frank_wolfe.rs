//! Methods that need nothing but the oracle.

use std::collections::HashMap;

use super::solve::{Search, Stop};
use super::total::Place;
use crate::Result;
use crate::kernel;
use crate::set::{Atom, AtomView};

/// Updated points and images are computed afresh after this many steps.
const REFRESH: u64 = 100;

/// Frank-Wolfe.
pub(super) fn plain(search: &mut Search<'_>, x: &mut [f64]) -> Result<Stop> {
    let (mut image, mut gradient) = search.room();
    let mut way = vec![0.0; x.len()];
    let mut way_image = vec![0.0; image.len()];
    let mut reading = search
        .total
        .evaluate(search.mu, x, &mut image, &mut gradient);
    for k in 1.. {
        let gap = search.certify(x, &gradient, reading)?;
        if let Some(stop) = search.stop(gap) {
            return Ok(stop);
        }
        search.atom.write(&mut way);
        search.total.map(&search.atom, &mut way_image);
        kernel::axpy(-1.0, x, &mut way);
        kernel::axpy(-1.0, &image, &mut way_image);
        let by = Place {
            x: &way,
            image: &way_image,
        };
        let s = search.step(gap, reading.value, Place { x, image: &image }, by);
        if s == 0.0 {
            break;
        }
        // (1 − s)x + s·atom rather than x + s·way: feasible to the last place
        x.iter_mut().for_each(|x| *x *= 1.0 - s);
        search.atom.add_to(s, x);
        kernel::axpy(s, &way_image, &mut image);
        reading = if k % REFRESH == 0 {
            search
                .total
                .evaluate(search.mu, x, &mut image, &mut gradient)
        } else {
            search.total.at_image(search.mu, x, &image, &mut gradient)
        };
    }
    Ok(Stop::Stalled)
}

/// x as a mixture of atoms, which are told apart by their entries.
#[derive(Default)]
struct Mixture {
    atoms: Vec<Atom>,
    weights: Vec<f64>,
    places: HashMap<Key, usize>,
}

/// What atoms are told apart by: how they are written, and the entries' bits, with their places
/// where they are few.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Entries(Vec<u64>),
    Dense(Vec<u64>),
    RankOne(Vec<u64>),
}

fn key(atom: &Atom) -> Key {
    let bits = |v: f64| (v + 0.0).to_bits(); // −0 is 0
    match atom.view() {
        AtomView::Zero => Key::Entries(Vec::new()),
        AtomView::Coordinate { index, value } => Key::Entries(vec![index as u64, bits(value)]),
        AtomView::Sparse { indices, values } => {
            let mut entries: Vec<_> = indices.iter().zip(values).collect();
            entries.sort_unstable_by_key(|(i, _)| **i);
            let entries = entries.iter();
            Key::Entries(
                entries
                    .flat_map(|(i, v)| [u64::from(**i), bits(**v)])
                    .collect(),
            )
        }
        AtomView::Dense(values) => Key::Dense(values.iter().map(|v| bits(*v)).collect()),
        AtomView::RankOne { scale, left, right } => {
            let numbers = std::iter::once(&scale).chain(left).chain(right);
            Key::RankOne(numbers.map(|v| bits(*v)).collect())
        }
    }
}

impl Mixture {
    /// The place of an atom, which comes in with weight 0 if it is new.
    fn find(&mut self, atom: &Atom) -> usize {
        *self.places.entry(key(atom)).or_insert_with(|| {
            self.atoms.push(atom.clone());
            self.weights.push(0.0);
            self.atoms.len() - 1
        })
    }

    /// Forgets atoms without weight.
    fn clean(&mut self) {
        let mut i = 0;
        while i < self.atoms.len() {
            if self.weights[i] > 0.0 {
                i += 1;
                continue;
            }
            self.places.remove(&key(&self.atoms[i]));
            self.atoms.swap_remove(i);
            self.weights.swap_remove(i);
            if i < self.atoms.len() {
                self.places.insert(key(&self.atoms[i]), i);
            }
        }
    }

    /// Makes the weights sum up to 1 again.
    fn renormalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= sum);
    }

    fn write(&self, x: &mut [f64]) {
        x.fill(0.0);
        for (atom, weight) in self.atoms.iter().zip(&self.weights) {
            atom.add_to(*weight, x);
        }
    }

    /// The atoms with the smallest and the largest ⟨gradient, atom⟩, and these.
    fn extremes(&self, gradient: &[f64]) -> [(usize, f64); 2] {
        let mut ends = [(0, f64::INFINITY), (0, f64::NEG_INFINITY)];
        for (i, atom) in self.atoms.iter().enumerate() {
            let dot = atom.dot(gradient);
            if dot < ends[0].1 {
                ends[0] = (i, dot);
            }
            if dot > ends[1].1 {
                ends[1] = (i, dot);
            }
        }
        ends
    }
}

/// Frank-Wolfe steps, and where atoms in use promise more: steps away from the worst of them, or
/// (`pairwise`) weight moved from the worst to the best of them.
pub(super) fn active(search: &mut Search<'_>, x: &mut [f64], pairwise: bool) -> Result<Stop> {
    let (mut image, mut gradient) = search.room();
    let mut way = vec![0.0; x.len()];
    let mut way_image = vec![0.0; image.len()];
    let mut atom_image = vec![0.0; image.len()];
    let mut reading = search
        .total
        .evaluate(search.mu, x, &mut image, &mut gradient);
    let gap = search.certify(x, &gradient, reading)?;
    if let Some(stop) = search.stop(gap) {
        return Ok(stop);
    }
    let mut mixture = Mixture::default();
    mixture.find(&search.atom);
    mixture.weights[0] = 1.0;
    mixture.write(x);
    reading = search
        .total
        .evaluate(search.mu, x, &mut image, &mut gradient);
    for k in 1.. {
        let gap = search.certify(x, &gradient, reading)?;
        if let Some(stop) = search.stop(gap) {
            return Ok(stop);
        }
        let here = kernel::dot(&gradient, x);
        let [(good, least), (bad, most)] = mixture.extremes(&gradient);
        let inward = if pairwise { most - least } else { most - here };
        let weight = mixture.weights[bad];
        // A lone atom can't be left.
        let takes_new = inward <= gap || (!pairwise && weight >= 1.0);
        let (slope, reach) = if takes_new {
            search.atom.write(&mut way);
            search.total.map(&search.atom, &mut way_image);
            kernel::axpy(-1.0, x, &mut way);
            kernel::axpy(-1.0, &image, &mut way_image);
            (-gap, 1.0)
        } else {
            if pairwise {
                mixture.atoms[good].write(&mut way);
                search.total.map(&mixture.atoms[good], &mut way_image);
            } else {
                way.copy_from_slice(x);
                way_image.copy_from_slice(&image);
            }
            mixture.atoms[bad].add_to(-1.0, &mut way);
            search.total.map(&mixture.atoms[bad], &mut atom_image);
            kernel::axpy(-1.0, &atom_image, &mut way_image);
            (
                -inward,
                if pairwise {
                    weight
                } else {
                    weight / (1.0 - weight)
                },
            )
        };
        let by = Place {
            x: &way,
            image: &way_image,
        };
        let s = search.line_search(slope, reach, Place { x, image: &image }, by);
        if s == 0.0 {
            break;
        }
        kernel::axpy(s, &way, x);
        kernel::axpy(s, &way_image, &mut image);
        match (takes_new, pairwise) {
            (true, _) => {
                mixture.weights.iter_mut().for_each(|w| *w *= 1.0 - s);
                let new = mixture.find(&search.atom);
                mixture.weights[new] += s;
            }
            (false, true) => {
                mixture.weights[good] += s;
                mixture.weights[bad] -= s;
            }
            (false, false) => {
                mixture.weights.iter_mut().for_each(|w| *w *= 1.0 + s);
                mixture.weights[bad] -= s;
            }
        }
        let dropped = !takes_new && s == reach;
        if dropped {
            mixture.weights[bad] = 0.0;
        }
        if dropped || takes_new {
            mixture.weights.iter_mut().for_each(|w| {
                if *w < 1e-14 {
                    *w = 0.0
                }
            });
            mixture.clean();
            mixture.renormalise();
        }
        reading = if k % REFRESH == 0 {
            mixture.renormalise();
            mixture.write(x);
            search
                .total
                .evaluate(search.mu, x, &mut image, &mut gradient)
        } else {
            search.total.at_image(search.mu, x, &image, &mut gradient)
        };
    }
    Ok(Stop::Stalled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_told_apart_however_they_are_written() {
        // the dense atom's first entry has the bits of the index 1
        let mut coordinate = Atom::new();
        coordinate.set_coordinate(1, 0.5);
        let mut dense = Atom::new();
        dense
            .dense_mut(2)
            .copy_from_slice(&[f64::from_bits(1), 0.5]);
        let mut mixture = Mixture::default();
        assert_eq!(mixture.find(&coordinate), 0);
        assert_eq!(mixture.find(&dense), 1);
        assert_eq!(mixture.find(&coordinate), 0);
        // and one entry is one entry
        let mut sparse = Atom::new();
        let (indices, values) = sparse.sparse_mut();
        indices.push(1);
        values.push(0.5);
        assert_eq!(mixture.find(&sparse), 0);
    }
}
