//! The saved form of a [`DenseSurrogate`]: every entry of x and c.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::saved::{check_shape, decode, encode};
use crate::set::Atom;
use crate::surrogate::dense::{DenseSurrogate, LastAtom};

#[derive(Serialize, Deserialize)]
struct Saved {
    x: Vec<f64>,
    c: Vec<f64>,
    origin: Option<Vec<f64>>,
    scale: f64,
    norm_squared: f64,
    guess: Atom,
}

impl DenseSurrogate {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        encode(&Saved {
            x: self.vectors.x.to_vec(),
            c: self.vectors.c.to_vec(),
            origin: self.origin.clone(),
            scale: self.scale,
            norm_squared: self.norm_squared,
            guess: self.guess.clone(),
        })
    }

    pub(crate) fn take_bytes(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = decode(saved)?;
        for vector in [&saved.x, &saved.c].into_iter().chain(&saved.origin) {
            check_shape(vector.len() == self.vectors.x.len())?;
        }
        check_shape(saved.guess.fits(self.vectors.x.len()))?;
        self.vectors.x.copy_from_slice(&saved.x);
        self.vectors.c.copy_from_slice(&saved.c);
        self.origin = saved.origin;
        self.scale = saved.scale;
        self.norm_squared = saved.norm_squared;
        self.guess = saved.guess;
        self.found = LastAtom::Nothing;
        Ok(())
    }
}
