//! Laws, and the report of a check.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The laws that a component breaks. `Display` and `unwrap` list them.
#[derive(Clone, PartialEq)]
pub struct Failures {
    subject: String,
    tried: usize,
    list: Vec<Failure>,
}

/// A broken law.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The statement of the law.
    pub law: &'static str,
    /// The direction, point or round that breaks the law, with numbers.
    pub example: String,
}

impl Failures {
    /// The broken laws, in the order in which they were checked.
    pub fn list(&self) -> &[Failure] {
        &self.list
    }

    /// The counterexample to this law. It is `None` if the law is not broken.
    pub fn of(&self, law: &str) -> Option<&str> {
        let found = self.list.iter().find(|failure| failure.law == law);
        found.map(|failure| failure.example.as_str())
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (broken, tried) = (self.list.len(), self.tried);
        write!(out, "{} breaks {broken} of {tried} laws", self.subject)?;
        for Failure { law, example } in &self.list {
            write!(out, "\n- {law}: {example}")?;
        }
        Ok(())
    }
}

/// Prints the same text as `Display`, so that `unwrap` shows it.
impl fmt::Debug for Failures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for Failures {}

/// A counterexample to a law.
pub(crate) struct Broken(String);

impl Broken {
    pub(crate) fn by(example: impl fmt::Display) -> Self {
        Self(example.to_string())
    }
}

impl From<extremal::Error> for Broken {
    fn from(error: extremal::Error) -> Self {
        Self::by(error)
    }
}

pub(crate) type Verdict<T = ()> = Result<T, Broken>;

/// Reports a broken law unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($example:tt)+) => {
        if !$holds {
            return Err($crate::report::Broken::by(format_args!($($example)+)));
        }
    };
}
pub(crate) use ensure;

/// A statement about a subject, and the function that tries to refute the statement.
pub(crate) type Law<S> = (&'static str, fn(&S) -> Verdict);

/// Checks the laws on the sample that `prepare` makes. If `prepare` fails, the law `first` is broken,
/// and no other law is checked.
pub(crate) fn run<S>(
    subject: String,
    first: &'static str,
    prepare: impl FnOnce() -> Verdict<S>,
    laws: Vec<Law<S>>,
) -> Result<(), Failures> {
    let mut tried = 1;
    let mut list = Vec::new();
    match caught(prepare) {
        Err(Broken(example)) => list.push(Failure {
            law: first,
            example,
        }),
        Ok(sample) => {
            tried += laws.len();
            for (law, refute) in laws {
                if let Err(Broken(example)) = caught(|| refute(&sample)) {
                    list.push(Failure { law, example });
                }
            }
        }
    }
    if list.is_empty() {
        return Ok(());
    }
    Err(Failures {
        subject,
        tried,
        list,
    })
}

/// Checks one law. A panic also counts as a broken law.
fn caught<T>(run: impl FnOnce() -> Verdict<T>) -> Verdict<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(Broken::by(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!(
        "the component panicked: {}",
        text.unwrap_or("without a message")
    )
}

/// Formats the first entries of a vector for a message.
pub(crate) fn show(v: &[f64]) -> String {
    const MOST: usize = 8;
    if v.len() <= MOST {
        return format!("{v:?}");
    }
    let first = format!("{:?}", &v[..MOST]);
    format!("{} and {} more]", &first[..first.len() - 1], v.len() - MOST)
}
