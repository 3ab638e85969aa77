//! The squared distance to a point. Its minimiser over a set is the projection of this point.

use super::total::{Imaged, Total, TotalValue};
use crate::kernel::{Factor, dot};
use crate::set::Atom;

/// f(x) = ½‖R(x − y)‖²/u², where R is the identity or the factor of a metric M = RᵀR. The image of x
/// is R(x − y)/u.
pub(crate) struct Distance<'a> {
    /// The point y.
    pub target: &'a [f64],
    /// The factor R. It is `None` for the identity.
    pub factor: Option<&'a Factor>,
    /// The unit of length u.
    pub unit: f64,
}

impl Distance<'_> {
    /// On entry `image` holds x. Replaces x with the image of x.
    fn shift(&self, image: &mut [f64]) {
        for (z, y) in image.iter_mut().zip(self.target) {
            *z = (*z - y) / self.unit;
        }
        if let Some(factor) = self.factor {
            factor.apply(image);
        }
    }
}

impl Total for Distance<'_> {
    fn dim(&self) -> usize {
        self.target.len()
    }

    fn images(&self) -> usize {
        self.target.len()
    }

    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue {
        image.copy_from_slice(x);
        self.shift(image);
        self.at_image(mu, x, image, gradient)
    }

    fn at_image(&self, _mu: f64, _x: &[f64], image: &[f64], gradient: &mut [f64]) -> TotalValue {
        match self.factor {
            None => gradient.copy_from_slice(image),
            Some(factor) => {
                gradient.fill(0.0);
                factor.add_transposed(image, gradient);
            }
        }
        gradient.iter_mut().for_each(|g| *g /= self.unit);
        let value = 0.5 * dot(image, image);
        TotalValue {
            value,
            unsmoothed: value,
            smoothing_slack: 0.0,
            rounding: 4.0 * f64::EPSILON * value,
        }
    }

    fn map(&self, atom: &Atom, image: &mut [f64]) {
        atom.write(image);
        self.shift(image);
    }

    fn along(&self, _mu: f64, s: f64, from: Imaged<'_>, by: Imaged<'_>) -> (f64, f64) {
        let (mut square, mut slope) = (0.0, 0.0);
        for (z, d) in from.image.iter().zip(by.image) {
            let here = z + s * d;
            square += here * here;
            slope += here * d;
        }
        (0.5 * square, slope)
    }

    /// The curvature if R is the identity. A metric M ≥ I has at least this curvature.
    fn smoothness(&self, _mu: f64) -> f64 {
        1.0 / (self.unit * self.unit)
    }

    fn is_square(&self) -> bool {
        true
    }
}
