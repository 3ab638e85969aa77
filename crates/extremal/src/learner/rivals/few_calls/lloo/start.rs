//! Writes a point of a set as a mixture of vertices.

use crate::set::{
    Atom, AtomSigns, CheckedOracle, Oracle, SharedSet, SparseAtoms, Structure, centre_of,
    check_point,
};
use crate::solver::{ActiveSet, Distance, Method, Search, Task};
use crate::{Error, Result, kernel};

impl ActiveSet {
    /// Writes `start` as a mixture of vertices. Without `start`, the point is the set's centre, or
    /// another point if the mixture for the centre needs too many steps.
    pub fn start(set: &SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let (dim, diameter) = (set.dim(), set.geometry().diameter);
        let mut aim = centre_of(&**set);
        let mut oracle = CheckedOracle::of(&**set);
        if let Some(start) = start {
            // A vertex is a mixture by itself. It is usually the oracle's atom for the direction
            // from the vertex to the centre.
            check_point(dim, start)?;
            let mut away = aim.clone();
            kernel::axpy(-1.0, start, &mut away);
            let active = mean_of(&mut oracle, dim, [away])?;
            if active.distance(start) == 0.0 {
                return Ok(active);
            }
            aim.copy_from_slice(start);
        }
        if let Some(active) = Self::of_entries(&aim, &set.structure()) {
            return Ok(active);
        }
        let active = mean_of(&mut oracle, dim, [vec![1.0; dim], vec![-1.0; dim]])?;
        if active.distance(&aim) <= 1e-15 * diameter {
            return Ok(active);
        }
        // If the set is symmetric in all coordinates, one vertex for each rotation of the
        // coordinates is enough.
        if (2..=1000).contains(&dim) {
            let turned = |i| (0..dim).map(|j| ((j + dim - i) % dim) as f64).collect();
            let active = mean_of(&mut oracle, dim, (0..dim).map(turned))?;
            if active.distance(&aim) <= 1e-15 * diameter {
                return Ok(active);
            }
        }
        let distance = Distance {
            target: &aim,
            factor: None,
            unit: diameter,
        };
        let steps = (400_000_000 / (dim * dim)).clamp(1000, 50_000) as u64;
        let task = Task {
            value: 1e-32,
            ..Task::new(&distance, steps)
        };
        let mut search = Search::new(&**set, dim);
        let mut x = vec![0.0; dim];
        mean_of(&mut oracle, dim, [vec![1.0; dim]])?.write(&mut x);
        search.restart(&x);
        search.descend(Method::Pairwise, &task, &mut x)?;
        let active = search.into_active_set();
        let apart = active.distance(&aim);
        if start.is_some() && apart > 1e-9 * diameter {
            return Err(Error::Unsupported(format!(
                "the starting point could not be written as a mixture of vertices of set {} (distance {apart:e}); use a vertex or the centre",
                set.name()
            )));
        }
        Ok(active)
    }

    /// Writes a point x of a simplex or of an ℓ1 ball as a mixture whose weights are the entries of
    /// x. Returns `None` for other sets.
    fn of_entries(x: &[f64], structure: &Structure) -> Option<Self> {
        let Structure::Sparse(SparseAtoms {
            count: 1,
            size,
            signs,
        }) = *structure
        else {
            return None;
        };
        let (mut active, mut atom) = (Self::new(x.len()), Atom::new());
        let mut rest = 1.0;
        for (i, v) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            let weight = v.abs() / size;
            atom.set_coordinate(i, size.copysign(*v));
            active.push(&atom, weight);
            rest -= weight;
        }
        // the remaining weight goes to the atom 0, or to two atoms whose mean is 0
        let pads: &[f64] = match signs {
            AtomSigns::Positive => &[],
            AtomSigns::PositiveOrZero => &[0.0],
            AtomSigns::Any => &[size, -size],
        };
        for value in pads.iter().filter(|_| rest > 0.0) {
            atom.set_coordinate(0, *value);
            active.add(&atom, rest / pads.len() as f64);
        }
        active.normalise();
        Some(active)
    }

    fn distance(&self, aim: &[f64]) -> f64 {
        let mut x = vec![0.0; aim.len()];
        self.write(&mut x);
        kernel::axpy(-1.0, aim, &mut x);
        kernel::norm(&x)
    }
}

/// The mean of the oracle's atoms for these directions.
fn mean_of(
    oracle: &mut CheckedOracle,
    dim: usize,
    directions: impl IntoIterator<Item = Vec<f64>>,
) -> Result<ActiveSet> {
    let (mut active, mut atom) = (ActiveSet::new(dim), Atom::new());
    for direction in directions {
        oracle.minimise(&direction, &mut atom)?;
        active.add(&atom, 1.0);
    }
    active.normalise();
    Ok(active)
}
