//! What sets made of other sets share.

use super::Geometry;
use crate::range::COMPOSITES;
use crate::spec::Parameter;
use crate::{Error, Result};

pub(crate) const SET: Parameter = Parameter {
    name: "set",
    about: "the set that it is made of",
    default: None,
    allowed: "a set in parentheses",
};
pub(crate) const SETS: Parameter = Parameter {
    name: "sets",
    about: "the sets that it is made of",
    default: None,
    allowed: "a list of sets in parentheses",
};

/// Errors unless squares of the set's sizes are numbers, with room for those of gradients.
pub(crate) fn check_size(
    owner: &'static str,
    name: &'static str,
    value: impl ToString,
    geometry: Geometry,
) -> Result<Geometry> {
    let Geometry {
        diameter,
        norm_bound,
        ..
    } = geometry;
    let fits =
        norm_bound <= *COMPOSITES.end() && (diameter == 0.0 || diameter >= *COMPOSITES.start());
    if fits {
        Ok(geometry)
    } else {
        Err(Error::parameter(
            owner,
            name,
            value,
            "such that the set's size stays between 1e-60 and 1e60",
        ))
    }
}

/// One list out of several, each behind its length; none where they are all empty, which is asked
/// every round and must not cost memory.
pub(crate) fn join(saves: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let (mut all, mut empty) = (Vec::new(), 0);
    for save in saves {
        if all.is_empty() && save.is_empty() {
            empty += 1;
            continue;
        }
        if all.is_empty() {
            all.resize(empty, 0.0);
        }
        all.push(save.len() as f64);
        all.extend(save);
    }
    all
}

/// Gives every part its piece of what [`join`] made. If one refuses, those before it get back
/// what they had.
pub(crate) fn split<T: ?Sized>(
    saved: &[f64],
    parts: &mut [Box<T>],
    save: impl Fn(&T) -> Vec<f64>,
    load: impl Fn(&mut T, &[f64]) -> Result<()>,
) -> Result<()> {
    let wrong = || Error::State("what its set remembers is of another set".into());
    let mut pieces = Vec::with_capacity(parts.len());
    let mut rest = saved;
    if saved.is_empty() {
        pieces.resize(parts.len(), saved);
    }
    for _ in pieces.len()..parts.len() {
        let (&length, after) = rest.split_first().ok_or_else(wrong)?;
        if !(length >= 0.0 && length <= after.len() as f64 && length.fract() == 0.0) {
            return Err(wrong());
        }
        let (piece, after) = after.split_at(length as usize);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(wrong());
    }
    let before: Vec<Vec<f64>> = parts.iter().map(|part| save(part)).collect();
    for k in 0..parts.len() {
        if let Err(error) = load(&mut parts[k], pieces[k]) {
            for (part, had) in parts.iter_mut().zip(&before).take(k) {
                load(part, had)?;
            }
            return Err(error);
        }
    }
    Ok(())
}

/// FNV-1a over what makes a set the one it is.
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new(name: &str) -> Self {
        let mut this = Self(0xcbf2_9ce4_8422_2325);
        name.bytes().for_each(|b| this.byte(b));
        this
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(crate) fn with_part(mut self, part: u64) -> Self {
        part.to_le_bytes().into_iter().for_each(|b| self.byte(b));
        self
    }

    pub(crate) fn with_numbers(self, numbers: &[f64]) -> Self {
        // −0 is 0
        let bits = |v: &f64| (v + 0.0).to_bits();
        numbers.iter().map(bits).fold(self, Self::with_part)
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::{Projection, SetSpec};

    #[test]
    fn saves_are_joined_and_split_and_a_wrong_one_changes_nothing() {
        let fresh = || -> Vec<Box<dyn Projection>> {
            let specs = ["simplex:dim=2", "lp:p=1.5,dim=2", "lp:p=3,dim=2"];
            let project = |text: &&str| {
                let set = text.parse::<SetSpec>().unwrap().build(None).unwrap();
                set.projection().unwrap()
            };
            specs.iter().map(project).collect()
        };
        let saves = |parts: &[Box<dyn Projection>]| join(parts.iter().map(|p| p.save()));
        let mut warm = fresh();
        for part in &mut warm {
            part.project(&mut [3.0, 4.0]).unwrap();
        }
        let saved = saves(&warm);
        let load = |parts: &mut [Box<dyn Projection>], saved: &[f64]| {
            split(saved, parts, |p| p.save(), |p, piece| p.load(piece))
        };
        let mut cold = fresh();
        let before = saves(&cold);
        assert_ne!(before, saved);
        for wrong in [
            &saved[1..],
            &saved[..saved.len() - 1],
            &[saved.as_slice(), &[1.0]].concat(),
            &[0.0, 1.0, 0.5, 2.0, 0.5, 0.5],
            &[0.0, 1.0, 0.5, f64::NAN],
            &[0.0, 1e300],
            &[],
        ] {
            assert!(matches!(load(&mut cold, wrong), Err(Error::State(_))));
            assert_eq!(saves(&cold), before, "{wrong:?}");
        }
        load(&mut cold, &saved).unwrap();
        assert_eq!(saves(&cold), saved);
    }
}
