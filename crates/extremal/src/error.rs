//! The library's error type.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The error type of the library. Each error prints as a sentence for the caller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A vector has the wrong number of entries.
    #[error("{what}: expected {expected} entries, found {found}")]
    Size {
        /// Which vector.
        what: &'static str,
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what}: entry {index} is {value}; every entry must be a finite number")]
    NotFinite {
        /// Which vector.
        what: &'static str,
        /// Where in it.
        index: usize,
        /// The offending number.
        value: f64,
    },
    /// A gradient is too large. A gradient that is too small counts as 0.
    #[error(
        "{what} of size {size:e} is too large; at most {largest:e} is allowed. Divide the losses or the features by a constant"
    )]
    Range {
        /// The kind of number.
        what: &'static str,
        /// Its norm.
        size: f64,
        /// The largest that is allowed.
        largest: f64,
    },
    /// An index points outside the vector.
    #[error("{what}: index {index} is outside the dimension {dim}")]
    Index {
        /// Which vector.
        what: &'static str,
        /// The offending index.
        index: usize,
        /// The dimension.
        dim: usize,
    },
    /// The indices of a sparse row do not increase.
    #[error("{what}: index {index} is repeated or out of order; indices must increase")]
    Order {
        /// Which vector.
        what: &'static str,
        /// The first index that is no larger than the one before it.
        index: usize,
    },
    /// A planned round must be committed or discarded before any other call.
    #[error("out of turn: {0}")]
    OutOfTurn(&'static str),
    /// A parameter is outside its range.
    #[error("{owner}: {name} = {value} is not allowed; it must be {allowed}")]
    Parameter {
        /// The set, loss, learner or stream it belongs to.
        owner: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// The value given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that has no default was not given.
    #[error("{owner} needs {name}: {why}")]
    Missing {
        /// The set, loss, learner or stream it belongs to.
        owner: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// What it is needed for.
        why: &'static str,
    },
    /// A learner needs something that the set does not have.
    #[error("{learner} can't play set {set}: it needs {needs}{}", others(instead))]
    CannotPlay {
        /// The learner.
        learner: &'static str,
        /// The set's name.
        set: String,
        /// What the learner needs.
        needs: &'static str,
        /// Learners that play the set, in the same storage.
        instead: Vec<&'static str>,
    },
    /// Two components are incompatible.
    #[error("{0}")]
    Unsupported(String),
    /// A spec such as `lp:p=1.5` can't be read.
    #[error("{what}")]
    Spec {
        /// The key at fault, which may be `name`; `None` if the text does not have the form of a spec.
        key: Option<String>,
        /// What is wrong.
        what: String,
    },
    /// A saved state is damaged or belongs to another learner or set.
    #[error("saved state: {0}")]
    State(String),
    /// An oracle failed.
    #[error("oracle of {set}: {cause}")]
    Oracle {
        /// The set's name.
        set: String,
        /// The error that the oracle returned, or what is wrong with its answer.
        cause: Cause,
    },
    /// An error of the user's own code, a stream or a learner for example ([`Error::other`]).
    #[error("{0}")]
    Other(Cause),
    /// A label that the loss does not admit.
    #[error("label {label} is not allowed for {loss} loss; it must be {allowed}")]
    Label {
        /// The loss.
        loss: &'static str,
        /// The label.
        label: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A prediction at which the loss is not defined.
    #[error("{loss} loss is not defined for the prediction {prediction:?}; it must be {allowed}")]
    Prediction {
        /// The loss.
        loss: &'static str,
        /// ⟨a, x⟩.
        prediction: f64,
        /// Where it is defined.
        allowed: &'static str,
    },
    /// The system has no memory for that many features.
    #[error("not enough memory for {features} features")]
    Memory {
        /// How many features.
        features: usize,
    },
    /// A computation overflowed or became NaN.
    #[error("numerical failure in round {round}: {what}")]
    Numerical {
        /// The round.
        round: u64,
        /// What failed.
        what: String,
    },
}

/// The sentence about learners that can play.
fn others(instead: &[&str]) -> String {
    match instead {
        [] => String::new(),
        some => format!(". These learners can: {}", some.join(", ")),
    }
}

/// An error of another type, which can be downcast to that type. A cause prints the error and all
/// its sources. Two causes are equal if they print the same.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Cause {
    fn from(error: E) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl Deref for Cause {
    type Target = dyn std::error::Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)?;
        let mut behind = std::iter::successors(self.0.source(), |error| error.source());
        behind.try_for_each(|error| write!(out, ": {error}"))
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Error {
    /// Wraps an error of the user's own code, or a text.
    ///
    /// ```
    /// use std::num::ParseIntError;
    /// use extremal::Error;
    /// let error = "x".parse::<u32>().map_err(Error::other).unwrap_err();
    /// assert!(matches!(&error, Error::Other(cause) if cause.is::<ParseIntError>()));
    /// ```
    pub fn other(error: impl Into<Cause>) -> Self {
        Self::Other(error.into())
    }

    /// Whether the error is numerical (overflow or too large numbers) and not invalid input.
    pub fn is_numerical(&self) -> bool {
        matches!(self, Self::Numerical { .. } | Self::Range { .. })
    }

    /// A spec that can't be read, because of this key.
    pub(crate) fn spec(key: Option<&str>, what: impl ToString) -> Self {
        Self::Spec {
            key: key.map(String::from),
            what: what.to_string(),
        }
    }

    /// Adds the spec that the error is about.
    pub(crate) fn of_spec(self, spec: fmt::Arguments<'_>) -> Self {
        match self {
            Self::Spec { key, what } => Self::Spec {
                key,
                what: format!("{spec}: {what}"),
            },
            other => other,
        }
    }

    /// A computation failed. A learner fills in its round.
    pub(crate) fn numerical(round: u64, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::Numerical { round, what }
    }

    /// A parameter out of range.
    pub(crate) fn parameter(
        owner: &'static str,
        name: &'static str,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Parameter {
            owner,
            name,
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
