//! The bytes of a [`SparsePair`]: its non-zeros and no more.

use serde::{Deserialize, Serialize};

use super::ranked::Total;
use super::{First, SparsePair};
use crate::kernel;
use crate::pair::Point;
use crate::set::{Signs, SparseAtoms};
use crate::{Error, Result};

#[derive(Serialize, Deserialize)]
struct Saved {
    name: String,
    atoms: SparseAtoms,
    dim: usize,
    rest: f64,
    offset: f64,
    total: [f64; 2],
    /// In the order of the slots, which later sums depend on.
    support: Vec<(u32, f64, f64)>,
    /// The non-zeros, in the order of their indices.
    outside: Vec<(u32, f64)>,
    first: First,
}

impl SparsePair {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let Total { sum, lost } = self.outside.total();
        let entries = self.support.indices().iter().zip(self.support.x());
        let entries = entries.zip(self.support.c());
        let outside = self.outside.values().iter().enumerate();
        let saved = Saved {
            name: self.name.clone(),
            atoms: self.atoms,
            dim: self.dim(),
            rest: self.rest,
            offset: self.offset,
            total: [sum, lost],
            support: entries.map(|((i, x), c)| (*i, *x, *c)).collect(),
            outside: outside
                .filter(|(_, c)| **c != 0.0 && !c.is_nan())
                .map(|(i, c)| (i as u32, *c))
                .collect(),
            first: self.first.clone(),
        };
        postcard::to_stdvec(&saved).map_err(|e| Error::State(e.to_string()))
    }

    /// On an error nothing has changed.
    pub(super) fn take_bytes(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = postcard::from_bytes(saved).map_err(|e| Error::State(e.to_string()))?;
        self.check_saved(&saved)?;
        self.support.clear();
        self.outside.clear();
        for (i, x, c) in saved.support {
            self.outside.set(i as usize, f64::NAN);
            self.support.push(i as usize, x, c);
        }
        for (i, c) in saved.outside {
            self.outside.set(i as usize, c);
        }
        let [sum, lost] = saved.total;
        self.outside.set_total(Total { sum, lost });
        self.rest = saved.rest;
        self.offset = saved.offset;
        self.first = saved.first;
        self.last.changed.clear();
        self.last.is_aside = false;
        self.last.found = false;
        Ok(())
    }

    /// Whether a point of these entries, `rest` elsewhere, is one of the set.
    fn is_feasible(&self, rest: f64, entries: &[f64]) -> bool {
        const SLACK: f64 = 1e-8; // as for every saved state
        let SparseAtoms { count, size, signs } = self.atoms;
        let alike = (self.dim() - entries.len()) as f64 * (rest / size);
        if signs == Signs::Any {
            let top = kernel::max_abs(entries) / size;
            let sum: f64 = entries.iter().map(|x| x.abs() / size).sum();
            return rest == 0.0 && top <= 1.0 + SLACK && sum <= count as f64 * (1.0 + SLACK);
        }
        let least = entries.iter().fold(rest, |least, x| least.min(*x)) / size;
        let over = entries.iter().map(|x| x / size).sum::<f64>() + alike - 1.0;
        let fits = over <= SLACK && (over >= -SLACK || signs == Signs::PositiveOrZero);
        fits && least >= -SLACK
    }

    /// Errors unless the bytes' numbers can be taken as they are.
    fn check_saved(&self, saved: &Saved) -> Result<()> {
        let dim = self.dim();
        if (&saved.name, saved.atoms) != (&self.name, self.atoms) {
            let named = |name: &str, SparseAtoms { count, size, signs }| {
                let sign = if signs == Signs::Any { "±" } else { "" };
                format!("{name} with vertices of {count} × {sign}{size}")
            };
            return Err(Error::State(format!(
                "it is of a set {}, not of {}",
                named(&saved.name, saved.atoms),
                named(&self.name, self.atoms)
            )));
        }
        if saved.dim != dim {
            return Err(Error::State(format!(
                "it is of dimension {}, the set of {dim}",
                saved.dim
            )));
        }
        let are_features = |mut indices: Vec<u32>| {
            indices.sort_unstable();
            let apart = indices.windows(2).all(|pair| pair[0] < pair[1]);
            apart && indices.last().is_none_or(|i| (*i as usize) < dim)
        };
        let First {
            rest,
            indices,
            values,
        } = &saved.first;
        let x: Vec<f64> = saved.support.iter().map(|e| e.1).collect();
        let c = saved.support.iter().map(|e| e.2);
        let c: Vec<f64> = c.chain(saved.outside.iter().map(|e| e.1)).collect();
        let inside = saved.support.iter().map(|e| e.0);
        let features = inside.chain(saved.outside.iter().map(|e| e.0)).collect();
        let numbers = [
            saved.rest,
            saved.offset,
            saved.total[0],
            saved.total[1],
            *rest,
        ];
        let sound = are_features(features)
            && saved.outside.is_sorted_by_key(|e| e.0)
            && are_features(indices.clone())
            && indices.len() == values.len()
            && [&numbers[..], &x, &c, values]
                .iter()
                .all(|v| kernel::find_not_finite(v).is_none());
        if !sound {
            return Err(Error::State("its entries are no vectors".into()));
        }
        if !(self.is_feasible(saved.rest, &x) && self.is_feasible(*rest, values)) {
            return Err(Error::State("its decision lies outside the set".into()));
        }
        Ok(())
    }
}
