//! The saved form of a [`SparseSurrogate`]: its non-zeros only.

use serde::{Deserialize, Serialize};

use crate::rounding::Wide;
use crate::saved::{check_shape, decode, encode};
use crate::surrogate::sparse::SparseSurrogate;
use crate::surrogate::sparse_vector::SparseVector;
use crate::{Point, Result};

#[derive(Serialize, Deserialize)]
struct Saved {
    rest: f64,
    offset: f64,
    total: Wide,
    /// x on the support, in the order of the slots, because later sums depend on this order.
    support: SparseVector,
    /// c on the support.
    sums: Vec<f64>,
    /// The non-zeros of c outside the support.
    outside: SparseVector,
    first_rest: f64,
    first: SparseVector,
}

impl SparseSurrogate {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut outside = SparseVector::default();
        let entries = self.outside.values().iter().enumerate();
        let nonzeros = entries.filter(|(_, c)| **c != 0.0 && !c.is_nan());
        nonzeros.for_each(|(i, c)| outside.push(i, *c));
        encode(&Saved {
            rest: self.rest,
            offset: self.offset,
            total: self.outside.total(),
            support: SparseVector {
                indices: self.support.indices().to_vec(),
                values: self.support.x().to_vec(),
            },
            sums: self.support.c().to_vec(),
            outside,
            first_rest: self.first_rest,
            first: self.first.clone(),
        })
    }

    pub(crate) fn take_bytes(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = decode(saved)?;
        for vector in [&saved.support, &saved.outside, &saved.first] {
            vector.check(self.dim())?;
        }
        check_shape(saved.sums.len() == saved.support.len())?;
        self.support.clear();
        self.outside.clear();
        for ((i, x), c) in saved.support.entries().zip(saved.sums) {
            check_shape(self.support.slot(i).is_none())?;
            self.outside.set(i, f64::NAN);
            self.support.push(i, x, c);
        }
        for (i, c) in saved.outside.entries() {
            self.outside.set(i, c);
        }
        self.outside.set_total(saved.total);
        self.rest = saved.rest;
        self.offset = saved.offset;
        self.first_rest = saved.first_rest;
        self.first = saved.first;
        self.last.changed.clear();
        self.last.is_aside = false;
        self.last.found = false;
        Ok(())
    }
}
