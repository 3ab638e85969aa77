//! Keys that several learners share.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::range::{GRADIENTS, SETS};
use crate::set::{Answers, Set};
use crate::spec::Parameter;
use crate::{Error, Result};

/// What a learner with theoretical step sizes is told.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Known {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
    /// G.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_bound: Option<f64>,
    /// Factor on η.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_scale: Option<f64>,
    /// Whether T or G, where it is not given, is found by starting anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubling: bool,
    /// x₁.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<f64>>,
}

pub(crate) const HORIZON: Parameter = Parameter {
    name: "horizon",
    about: "the number of rounds T",
    default: None,
    allowed: "1 or more",
};
pub(crate) const GRADIENT_BOUND: Parameter = Parameter {
    name: "gradient-bound",
    about: "a bound G of the gradients' ℓ2 norm",
    default: None,
    allowed: "a number from 1e-100 to 1e100",
};
pub(crate) const LAMBDA: Parameter = Parameter {
    name: "lambda",
    about: "the losses' strong convexity λ",
    default: None,
    allowed: "a number from 1e-50 to 1e50",
};
pub(crate) const START: Parameter = Parameter {
    name: "start",
    about: "the first decision x₁",
    default: None,
    allowed: "a point of the set; its centre if left out",
};
pub(crate) const ETA_SCALE: Parameter = Parameter {
    name: "eta-scale",
    about: "factor on the theoretical step size",
    default: Some("1"),
    allowed: "a number from 1e-20 to 1e20",
};

impl Known {
    pub(crate) const PARAMETERS: &'static [Parameter] = &[
        Parameter {
            name: "horizon",
            about: "the number of rounds T; left out, the regulariser grows",
            ..HORIZON
        },
        Parameter {
            name: "gradient-bound",
            about: "a bound G of the gradients' ℓ2 norm; left out, √(Σ‖g‖²) stands for G√t and T is not used",
            ..GRADIENT_BOUND
        },
        ETA_SCALE,
        Parameter {
            name: "doubling",
            about: "find what is left out, T or G, by starting anew from the present decision",
            default: Some("false"),
            allowed: "true or false; false where T and G are given",
        },
        START,
    ];

    /// η, which must be a number.
    pub(crate) fn eta(owner: &'static str, eta: f64) -> Result<f64> {
        if eta.is_finite() {
            Ok(eta)
        } else {
            Err(Error::parameter(
                owner,
                "the step size that follows from the other keys",
                eta,
                "a finite number",
            ))
        }
    }

    pub(crate) fn eta_scale(&self, owner: &'static str) -> Result<f64> {
        eta_scale(owner, self.eta_scale)
    }
}

/// T and G where they are given but not needed: out of range they are errors all the same.
pub(crate) fn check_unneeded(
    owner: &'static str,
    horizon_given: Option<u64>,
    bound_given: Option<f64>,
) -> Result<()> {
    if horizon_given.is_some() {
        horizon(owner, horizon_given)?;
    }
    if bound_given.is_some() {
        bound(owner, bound_given)?;
    }
    Ok(())
}

/// T, which must be given.
pub(crate) fn horizon(owner: &'static str, horizon: Option<u64>) -> Result<f64> {
    match horizon {
        None => Err(Error::Missing {
            owner,
            name: "horizon",
            why: "its step size depends on the number of rounds",
        }),
        Some(0) => Err(Error::parameter(owner, "horizon", 0, "1 or more")),
        Some(t) => Ok(t as f64),
    }
}

/// G, which must be given.
pub(crate) fn bound(owner: &'static str, bound: Option<f64>) -> Result<f64> {
    let missing = Error::Missing {
        owner,
        name: "gradient-bound",
        why: "its step size depends on the gradients' norm",
    };
    within(
        owner,
        "gradient-bound",
        bound.ok_or(missing)?,
        &GRADIENTS,
        "a number between 1e-100 and 1e100",
    )
}

/// λ.
pub(crate) fn lambda(owner: &'static str, lambda: f64) -> Result<f64> {
    let allowed = "a number between 1e-50 and 1e50";
    within(owner, "lambda", lambda, &SETS, allowed)
}

/// The factor on η, 1 if left out.
pub(crate) fn eta_scale(owner: &'static str, scale: Option<f64>) -> Result<f64> {
    let allowed = "a number between 1e-20 and 1e20";
    let scale = scale.unwrap_or(1.0);
    within(owner, "eta-scale", scale, &(1e-20..=1e20), allowed)
}

fn within(
    owner: &'static str,
    name: &'static str,
    value: f64,
    range: &RangeInclusive<f64>,
    allowed: &'static str,
) -> Result<f64> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(Error::parameter(owner, name, value, allowed))
    }
}

pub(crate) fn positive(owner: &'static str, name: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::parameter(owner, name, value, "a finite number > 0"))
    }
}

/// The learner can't play the set, because it needs `needs`; with learners that can.
pub(super) fn cannot_play(learner: &'static str, set: &dyn Set, needs: &'static str) -> Error {
    let mut instead = Vec::new();
    if set.facts().oracle == Answers::Missing {
        instead.push("gauge-wrapper");
    } else {
        instead.extend(set.curvature().map(|_| "gauge-ftrl"));
        let faces = set.polytope().and_then(|p| p.facial_distance);
        instead.extend(faces.map(|_| "lloo"));
        instead.extend(["ofw-ls", "ofw-free", "loo-bogd"]);
    }
    instead.extend(set.projection().map(|_| "ogd"));
    instead.retain(|other| *other != learner);
    Error::CannotPlay {
        learner,
        set: set.name().into(),
        needs,
        instead,
    }
}

/// Errors unless the set has a linear oracle.
pub(super) fn need_oracle(learner: &'static str, set: &dyn Set) -> Result<()> {
    match set.facts().oracle {
        Answers::Missing => Err(cannot_play(learner, set, "a linear oracle")),
        Answers::Checked | Answers::Trusted => Ok(()),
    }
}
