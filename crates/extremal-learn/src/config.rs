//! The configuration of a session: one table for flags, model files and other programs.

use std::fmt::Display;
use std::str::FromStr;

use extremal::learner::{LearnerSpec, Storage};
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal_data::LabelFacts;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
#[cfg(feature = "clap")]
use crate::flag;
use crate::reading::Reading;

/// Names that are one value of a flag: `A,B,C`.
pub type Names = Vec<String>;

/// The form of written predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// The prediction z = ⟨a, x⟩ itself.
    Identity,
    /// The probability 1/(1 + e^(−z)).
    Logistic,
}

impl Link {
    /// The number that is written for the prediction z.
    pub fn of(self, z: f64) -> f64 {
        match self {
            Self::Identity => z,
            Self::Logistic => 1.0 / (1.0 + (-z).exp()),
        }
    }
}

/// The components and settings of a session. [`Plan::choose`](crate::Plan::choose) fills in the
/// defaults. Every field is a flag, `--gradient-bound` for example, and a key in the model file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Model and algorithm"))]
pub struct Config {
    /// Constraint set, e.g. l2:radius=10, lp:p=1.5,radius=3, l1:radius=20
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEC"))]
    #[serde(with = "text")]
    pub set: Option<SetSpec>,
    /// Loss function, e.g. logistic, squared, hinge, huber:delta=1, quantile:level=0.9 [default: logistic
    /// for two classes, else squared]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEC"))]
    #[serde(with = "text")]
    pub loss: Option<LossSpec>,
    /// Learning algorithm, e.g. ofw-ls, sc-ofw:lambda=0.01, gauge-ftrl, ogd; see `extremal list`
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEC"))]
    #[serde(with = "text")]
    pub learner: Option<LearnerSpec>,
    /// Number T of rounds, if T is known in advance
    #[cfg_attr(feature = "clap", arg(long, value_name = "T"))]
    pub horizon: Option<u64>,
    /// Upper bound G on the norm of every gradient, if G is known
    #[cfg_attr(feature = "clap", arg(long, value_name = "G"))]
    #[serde(serialize_with = "number")]
    pub gradient_bound: Option<f64>,
    /// Multiply the step size of the learner's theorem by C
    #[cfg_attr(feature = "clap", arg(long, value_name = "C"))]
    #[serde(serialize_with = "number")]
    pub eta_scale: Option<f64>,
    /// Add the ridge term (LAMBDA/2)|x|² to the loss, where x is the vector of weights
    #[cfg_attr(feature = "clap", arg(long, value_name = "LAMBDA"))]
    #[serde(serialize_with = "number")]
    pub l2: Option<f64>,
    /// Add an intercept: a feature that is always 1 [default for the learner unit-free]
    #[cfg_attr(feature = "clap", arg(long))]
    pub intercept: bool,
    /// Add no intercept
    #[cfg_attr(feature = "clap", arg(long, conflicts_with = "intercept"))]
    pub no_intercept: bool,
    /// Do not clip predictions to the range of the labels so far. Only the default learner, unit-free,
    /// clips predictions
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_clip: bool,
    /// The two labels. The first label means -1, and the second label means +1
    #[cfg_attr(feature = "clap", arg(long, value_name = "NEG,POS", value_parser = flag::pair, allow_hyphen_values = true))]
    pub labels: Option<(String, String)>,
    /// Train one model per class. The value is the list of the classes' labels, or the number N of
    /// classes if their labels are 1 to N
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|A,B,..", value_parser = flag::classes, allow_hyphen_values = true))]
    pub classes: Option<Names>,
    /// Storage of the weights [default: the cheapest storage that the set and the learner allow]
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<Storage>(&["dense", "lazy", "sparse"])))]
    pub storage: Option<Storage>,
    /// Seed of the random numbers, for learners such as ospf and fpl
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seed: Option<u64>,

    /// Options for reading.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub reading: Reading,

    /// Form of the predictions: the product of weights and features (identity), or a probability
    /// (logistic) [default: logistic if the loss is logistic, otherwise identity]
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<Link>(flag::LINKS)))]
    pub link: Option<Link>,
}

/// The keys that are also keys of the learner's spec.
const OF_THE_LEARNER: [&str; 3] = ["horizon", "gradient-bound", "eta-scale"];

impl Config {
    /// The classes. The list is empty for a single model.
    pub fn classes(&self) -> &[String] {
        self.classes.as_deref().unwrap_or_default()
    }

    /// Chooses labels and loss by the labels of the first block, unless they are given. Returns a note
    /// for the user.
    pub(crate) fn settle(&mut self, labels: &LabelFacts) -> Option<String> {
        let found = match labels {
            LabelFacts::Signs => "-1 and 1".into(),
            LabelFacts::ZeroOne => "0 and 1".into(),
            LabelFacts::TwoTexts(negative, positive) => {
                self.labels = Some((negative.clone(), positive.clone()));
                format!("{negative} (-1) and {positive} (+1)")
            }
            LabelFacts::TwoNumbers(a, b) if self.loss.is_none() => {
                return Some(format!(
                    "the labels of the first rows are {a} and {b}, and the loss is squared. Use --labels {a},{b} if they are two classes"
                ));
            }
            LabelFacts::One(a) if self.loss.is_none() && [-1.0, 0.0, 1.0].contains(a) => {
                return Some(format!(
                    "all labels of the first rows are {a}, and the loss is squared. Use --loss logistic if the rows have two classes"
                ));
            }
            _ => return None,
        };
        if self.loss.is_some() {
            return Some(format!("the labels are {found}")).filter(|_| self.labels.is_some());
        }
        self.loss = "logistic".parse().ok();
        Some(format!(
            "the labels are {found}, so the loss is logistic. Use --loss for another one"
        ))
    }

    /// The coefficient λ of the ridge term (λ/2)‖x‖².
    pub fn ridge(&self) -> f64 {
        self.l2.unwrap_or(0.0)
    }

    /// The learner, with the keys that have flags of their own. If the learner needs λ, it gets the
    /// coefficient of the ridge term.
    pub(crate) fn full_learner(&self, ridge: f64) -> Result<Option<LearnerSpec>> {
        let table = self.table();
        let Some(mut spec) = self.learner.clone() else {
            if !OF_THE_LEARNER.iter().any(|key| table.contains_key(*key)) {
                return Ok(None);
            }
            return Err(Error::Usage(
                "--horizon, --gradient-bound and --eta-scale need --learner".into(),
            ));
        };
        let seed = spec.has_key("seed").then_some("seed");
        for key in OF_THE_LEARNER.into_iter().chain(seed) {
            let Some(value) = table.get(key) else {
                continue;
            };
            if spec.value(key).is_some() {
                return Err(Error::Usage(format!(
                    "{key} is set twice, by --{key} and in --learner {spec}. Leave out one of them"
                )));
            }
            spec = spec.with(key, written(value)).map_err(Error::options)?;
        }
        // Any set shows whether λ is missing.
        let ball = SetSpec::from_str("l2:dim=1").and_then(|set| set.build(None));
        let ball = ball.map_err(Error::options)?;
        match spec.build(&ball) {
            Err(extremal::Error::Missing { name: "lambda", .. }) if ridge > 0.0 => {
                spec.with("lambda", ridge).map(Some).map_err(Error::options)
            }
            _ => Ok(Some(spec)),
        }
    }

    /// Checks that no key contradicts the complete configuration of a model.
    pub(crate) fn agree(&self, model: &Self, learner: &LearnerSpec) -> Result<()> {
        let mut given = self.clone();
        if given.learner.is_some() {
            given.learner = self.full_learner(model.ridge())?;
            if let (Some(LearnerSpec::UnitFree(spec)), LearnerSpec::UnitFree(kept)) =
                (&mut given.learner, learner)
            {
                // The model's spec includes flags, which are compared below.
                if spec.intercept.is_none_or(|own| own == model.intercept) {
                    spec.intercept = kept.intercept;
                }
                spec.no_clip |= model.no_clip;
            }
            (given.horizon, given.gradient_bound, given.eta_scale) = (None, None, None);
        }
        let kept = model.table();
        for (key, value) in given.table() {
            let (given, mut with) = (written(&value), kept.get(&key).map(written));
            let agrees = if OF_THE_LEARNER.contains(&&*key) {
                if !learner.has_key(&key) {
                    let name = learner.entry().name;
                    return Err(Error::Usage(format!(
                        "--{key} does not apply to the model's learner, {name}. Leave it out, or train a new model without -i"
                    )));
                }
                with = Some(learner.to_string());
                learner.with(&key, &given).map_err(Error::options)? == *learner
            } else {
                kept.get(&key) == Some(&value)
            };
            if !agrees {
                let given = format!(" {given}");
                let given = given.trim_end();
                let with = with.map_or("out".into(), |with| format!(" {with}"));
                return Err(Error::Usage(format!(
                    "--{key}{given} contradicts the model, which was trained with{with}. Leave it out, or train a new model without -i"
                )));
            }
        }
        Ok(())
    }

    /// The keys that are set, with their values as text.
    pub(crate) fn describe(&self) -> Vec<(String, String)> {
        let table = self.table().into_iter();
        let text = |key: &str, value: &Value| match (value, &self.labels) {
            (Value::Bool(_), _) => "yes".into(),
            (_, Some((negative, positive))) if key == "labels" => {
                format!("{negative} (-1), {positive} (+1)")
            }
            (value, _) => written(value),
        };
        let pair = |(key, value): (String, Value)| (key.clone(), text(&key, &value));
        table.map(pair).collect()
    }

    /// The keys that are set, with their values.
    fn table(&self) -> Map<String, Value> {
        let Ok(Value::Object(table)) = serde_json::to_value(self) else {
            unreachable!("a struct is an object");
        };
        let is_set = |value: &Value| !value.is_null() && *value != Value::Bool(false);
        table
            .into_iter()
            .filter(|(_, value)| is_set(value))
            .collect()
    }
}

/// The text of a value after its flag. It is empty for a flag that takes no value.
fn written(value: &Value) -> String {
    match value {
        Value::Bool(_) => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(written).collect::<Vec<_>>().join(","),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}

/// Writes NaN and ∞ as text, since JSON has no such numbers. Later checks refuse them.
fn number<S: Serializer>(value: &Option<f64>, out: S) -> std::result::Result<S::Ok, S::Error> {
    match value {
        Some(number) if !number.is_finite() => out.collect_str(number),
        value => value.serialize(out),
    }
}

/// Specs as text.
mod text {
    use super::*;

    pub fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        out: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_string).serialize(out)
    }

    pub fn deserialize<'de, T: FromStr<Err = extremal::Error>, D: Deserializer<'de>>(
        from: D,
    ) -> std::result::Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let spec = text.map(|text| text.parse()).transpose();
        spec.map_err(serde::de::Error::custom)
    }
}
