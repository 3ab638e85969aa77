//! The bytes of a [`DensePair`]: every entry of x and c.

use serde::{Deserialize, Serialize};

use super::{DensePair, Found};
use crate::kernel;
use crate::set::{Identity, check_saved_point};
use crate::{Error, Result};

#[derive(Serialize, Deserialize)]
struct Saved {
    /// x may be feasible in no other set.
    set: Identity,
    x: Vec<f64>,
    c: Vec<f64>,
    origin: Option<Box<[f64]>>,
    scale: f64,
    norm_squared: f64,
}

impl DensePair {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let saved = Saved {
            set: Identity::of(&*self.set),
            x: self.x.to_vec(),
            c: self.gradient_sum().to_vec(),
            origin: self.origin.clone(),
            scale: self.scale,
            norm_squared: self.norm_squared,
        };
        postcard::to_stdvec(&saved).map_err(|e| Error::State(e.to_string()))
    }

    /// On an error nothing has changed.
    pub(super) fn take_bytes(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = postcard::from_bytes(saved).map_err(|e| Error::State(e.to_string()))?;
        saved.set.check(&*self.set)?;
        let dim = self.set.dim();
        check_saved_point(&*self.set, &saved.x)?;
        if saved.c.len() != dim || saved.origin.as_ref().is_some_and(|o| o.len() != dim) {
            return Err(Error::State("its vectors differ in length".into()));
        }
        if let Some((index, value)) = kernel::find_not_finite(&saved.c) {
            return Err(Error::State(format!(
                "entry {index} of its gradient sum is {value}"
            )));
        }
        if let Some(origin) = &saved.origin {
            check_saved_point(&*self.set, origin)?;
        }
        let (square, bound) = (
            kernel::dot(&saved.x, &saved.x),
            self.set.geometry().norm_bound,
        );
        // as far apart as the rounding of a step can bring them
        let tolerance = 1e-9 * (square + bound * bound);
        if !((saved.norm_squared - square).abs() <= tolerance && saved.norm_squared >= 0.0) {
            return Err(Error::State(format!(
                "the square of its decision's norm is {square}, not {}",
                saved.norm_squared
            )));
        }
        if !(saved.scale > 0.0 && saved.scale.is_finite()) {
            return Err(Error::State(format!(
                "the scale of its powers is {}",
                saved.scale
            )));
        }
        self.x.copy_from_slice(&saved.x);
        self.now = false;
        self.sums[0].copy_from_slice(&saved.c);
        self.origin = saved.origin;
        self.scale = saved.scale;
        self.norm_squared = saved.norm_squared;
        self.found = Found::Nothing;
        Ok(())
    }
}
