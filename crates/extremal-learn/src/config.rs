//! What is learnt and how: all that a resumed run must agree on.

use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::loss::{Loss, LossSpec, Objective};
use extremal::set::l2::L2;
use extremal::set::{SetSpec, SharedSet};
use extremal_data::{Column, Format, Labels, ReadOptions};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What a set that grows is taken for where a learner has to be chosen for it.
const TYPICAL: usize = 1 << 10;

/// What a prediction ⟨a, x⟩ is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// As it is.
    Identity,
    /// 1/(1 + e^(−z)): a probability.
    Logistic,
}

impl Link {
    /// What is written for z.
    pub fn of(self, z: f64) -> f64 {
        match self {
            Self::Identity => z,
            Self::Logistic => 1.0 / (1.0 + (-z).exp()),
        }
    }
}

/// Flags as they were given: `None` where they were not.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// `--set`
    pub set: Option<String>,
    /// `--loss`
    pub loss: Option<String>,
    /// `--learner`
    pub learner: Option<String>,
    /// `--horizon`
    pub horizon: Option<u64>,
    /// `--gradient-bound`
    pub gradient_bound: Option<f64>,
    /// `--eta-scale`
    pub eta_scale: Option<f64>,
    /// `--l2`
    pub ridge: Option<f64>,
    /// `--storage`
    pub storage: Option<Storage>,
    /// `--link`
    pub link: Option<Link>,
    /// `--labels NEG,POS`
    pub labels: Option<(String, String)>,
    /// `--classes`
    pub classes: Option<Vec<String>>,
    /// `--bits`
    pub bits: Option<u32>,
    /// `--intercept`
    pub intercept: bool,
    /// `--zero-based`
    pub zero_based: bool,
    /// `--label`
    pub label_column: Option<String>,
    /// `--weight`
    pub weight_column: Option<String>,
    /// `--categorical`
    pub categorical: Option<Vec<String>>,
    /// `--seed`
    pub seed: Option<u64>,
}

/// What is learnt and how. It is kept in the model; a model from before a key was there has its
/// default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where decisions lie.
    pub set: SetSpec,
    /// What a round costs.
    pub loss: LossSpec,
    /// Who plays.
    pub learner: LearnerSpec,
    /// How the decision is stored.
    pub storage: Storage,
    /// λ of (λ/2)‖x‖².
    #[serde(default)]
    pub ridge: f64,
    /// What predictions are written as.
    pub link: Link,
    /// The texts that stand for −1 and +1.
    #[serde(default)]
    pub labels: Option<(String, String)>,
    /// The classes of one-against-all; none for one model.
    #[serde(default)]
    pub classes: Vec<String>,
    /// log₂ of how many places names are hashed to.
    #[serde(default)]
    pub bits: Option<u32>,
    /// Whether every example has a 1 of its own.
    #[serde(default)]
    pub intercept: bool,
    /// Whether libsvm's indices start at 0.
    #[serde(default)]
    pub zero_based: bool,
    /// The label's column.
    #[serde(default)]
    pub label_column: Option<String>,
    /// The weight's column.
    #[serde(default)]
    pub weight_column: Option<String>,
    /// Columns that are texts whatever they look like.
    #[serde(default)]
    pub categorical: Vec<String>,
    /// Chooses what learners draw.
    #[serde(default)]
    pub seed: u64,
    /// What the data call the first feature: 1 in libsvm's files, 0 elsewhere.
    #[serde(default)]
    pub first_index: u32,
    /// How the data are written, which says what features are numbered by.
    #[serde(default)]
    pub format: Option<Format>,
    /// The table's columns, where they are one.
    #[serde(default)]
    pub columns: Option<Vec<Column>>,
    /// How labels say no.
    #[serde(default)]
    pub signs: Signs,
}

/// Which of −1 and 0 labels of binary losses have beside +1: not both in one stream.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Signs {
    negative: Option<f64>,
}

impl Signs {
    /// These labels and one more; an error where it is of the other kind.
    pub fn with(self, loss: &(impl Loss + ?Sized), label: f64) -> extremal::Result<Self> {
        if loss.labels() != extremal::loss::Labels::Signs || label > 0.0 {
            return Ok(self);
        }
        match self.negative {
            Some(before) if before != label => Err(extremal::Error::Label {
                loss: loss.name(),
                label,
                allowed: if before == 0.0 {
                    "0 or +1, as those before it are"
                } else {
                    "−1 or +1, as those before it are"
                },
            }),
            _ => Ok(Self {
                negative: Some(label),
            }),
        }
    }
}

impl Plan {
    /// Fills up what was not asked for; with no set, an ℓ2 ball of this radius.
    pub fn choose(asked: &Asked, radius: f64) -> Result<Self> {
        let classes = asked.classes.clone().unwrap_or_default();
        if classes.len() == 1 {
            return Err(Error::Usage("--classes needs at least two".into()));
        }
        if asked.labels.is_some() && !classes.is_empty() {
            return Err(Error::Usage(
                "--labels names two classes and --classes all of them: give one".into(),
            ));
        }
        let two_sided = asked.labels.is_some() || !classes.is_empty();
        let loss = asked.loss.as_deref();
        let loss = loss.unwrap_or(if two_sided { "logistic" } else { "squared" });
        let loss: LossSpec = loss.parse().map_err(usage)?;
        let ridge = asked.ridge.unwrap_or(0.0);
        let objective = objective(&loss, ridge)?;
        if !classes.is_empty() && objective.loss().labels() != extremal::loss::Labels::Signs {
            return Err(Error::Usage(format!(
                "--classes plays one class against the others, with labels ±1; {} loss is not for them",
                loss.entry().name
            )));
        }
        let set: SetSpec = match &asked.set {
            Some(text) => text.parse().map_err(usage)?,
            None => SetSpec::L2(L2 { radius, dim: None }),
        };
        let learner = match &asked.learner {
            Some(text) => Some(learner_of(text, asked, ridge)?),
            None if asked.horizon.is_some()
                || asked.gradient_bound.is_some()
                || asked.eta_scale.is_some() =>
            {
                return Err(Error::Usage(
                    "--horizon, --gradient-bound and --eta-scale are for the learner named by --learner"
                        .into(),
                ));
            }
            None => None,
        };
        let start = start_set(&set)?;
        // A learner for the dimension to come: in one dimension every set is a ball.
        let later = start.grown(TYPICAL).unwrap_or(start);
        let (storage, learner) = stored(&later, asked.storage, learner, &objective)?;
        Ok(Self {
            link: asked
                .link
                .unwrap_or(match objective.loss().probability(0.0) {
                    Some(_) => Link::Logistic,
                    None => Link::Identity,
                }),
            set,
            loss,
            learner,
            storage,
            ridge,
            labels: asked.labels.clone(),
            classes,
            bits: asked.bits,
            intercept: asked.intercept,
            zero_based: asked.zero_based,
            label_column: asked.label_column.clone(),
            weight_column: asked.weight_column.clone(),
            categorical: asked.categorical.clone().unwrap_or_default(),
            seed: asked.seed.unwrap_or(0),
            first_index: 0,
            format: None,
            columns: None,
            signs: Signs::default(),
        })
    }

    /// Errors where a flag contradicts what a model was made with.
    pub fn agree(&self, asked: &Asked) -> Result<()> {
        let against = |flag: &str, given: String, kept: String| {
            let kept = match kept.is_empty() {
                true => "out".to_string(),
                false => format!(" {kept}"),
            };
            Err(Error::Usage(format!(
                "{flag} {given} contradicts the model, which was made with{kept}: leave it out, or start anew without -i"
            )))
        };
        macro_rules! same {
            ($flag:literal, $given:expr, $kept:expr) => {
                if let Some(given) = &$given
                    && *given != $kept
                {
                    return against($flag, given.as_flag(), $kept.as_flag());
                }
            };
        }
        macro_rules! given_like {
            ($flag:literal, $given:expr, $kept:expr) => {
                if let Some(given) = &$given
                    && $kept.as_ref() != Some(given)
                {
                    return against($flag, given.as_flag(), $kept.as_flag());
                }
            };
        }
        if let Some(text) = &asked.set {
            let given: SetSpec = text.parse().map_err(usage)?;
            if given != self.set {
                return against("--set", text.clone(), self.set.to_string());
            }
        }
        if let Some(text) = &asked.loss {
            let given: LossSpec = text.parse().map_err(usage)?;
            if given != self.loss {
                return against("--loss", text.clone(), self.loss.to_string());
            }
        }
        if let Some(text) = &asked.learner {
            let given = learner_of(text, asked, self.ridge)?;
            if given != self.learner {
                return against("--learner", given.to_string(), self.learner.to_string());
            }
        } else {
            self.agree_on_learner(asked)?;
        }
        same!("--l2", asked.ridge, self.ridge);
        same!("--storage", asked.storage, self.storage);
        same!("--seed", asked.seed, self.seed);
        same!("--link", asked.link, self.link);
        same!("--categorical", asked.categorical, self.categorical);
        same!("--classes", asked.classes, self.classes);
        given_like!("--bits", asked.bits, self.bits);
        given_like!("--labels", asked.labels, self.labels);
        given_like!("--label", asked.label_column, self.label_column);
        given_like!("--weight", asked.weight_column, self.weight_column);
        let without = |flag: &str| {
            Err(Error::Usage(format!(
                "{flag} contradicts the model, which was made without: leave it out, or start anew without -i"
            )))
        };
        if asked.intercept && !self.intercept {
            return without("--intercept");
        }
        if asked.zero_based && !self.zero_based {
            return without("--zero-based");
        }
        Ok(())
    }

    /// The same for the flags that are keys of the learner.
    fn agree_on_learner(&self, asked: &Asked) -> Result<()> {
        let name = self.learner.entry().name;
        let flags = [
            ("horizon", asked.horizon.map(|v| v as f64)),
            ("gradient-bound", asked.gradient_bound),
            ("eta-scale", asked.eta_scale),
        ];
        for (key, given) in flags {
            let Some(given) = given else { continue };
            let parameters = self.learner.entry().parameters;
            let Some(parameter) = parameters.iter().find(|p| p.name == key) else {
                return Err(Error::Usage(format!(
                    "--{key} is not for the model's learner, {name}: leave it out, or start anew without -i"
                )));
            };
            let kept = self.learner.value(key).or(parameter.default());
            if kept.and_then(|kept| kept.parse().ok()) != Some(given) {
                return Err(Error::Usage(format!(
                    "--{key} {given} contradicts the model, which was made with {}: leave it out, or start anew without -i",
                    self.learner
                )));
            }
        }
        Ok(())
    }

    /// How examples are read for it.
    pub fn read_options(&self) -> ReadOptions {
        let labels = match &self.labels {
            Some((negative, positive)) => Labels::Pair {
                negative: negative.clone(),
                positive: positive.clone(),
            },
            None if self.classes.is_empty() => Labels::Number,
            None => Labels::Names(self.classes.clone()),
        };
        ReadOptions {
            // Feature 7 of a model is feature 7 of a libsvm file, whatever it was learnt from.
            zero_based: self.zero_based || matches!(self.format, Some(Format::Vw | Format::Jsonl)),
            bits: self.bits,
            label_column: self.label_column.clone(),
            weight_column: self.weight_column.clone(),
            categorical: self.categorical.clone(),
            labels,
            labels_required: true,
            intercept: self.intercept,
            learnt_from: self.format,
            columns: self.columns.clone(),
            ..ReadOptions::default()
        }
    }

    /// The loss with its ridge term.
    pub fn objective(&self) -> Result<Objective> {
        objective(&self.loss, self.ridge)
    }

    /// A note if rounds cost more than lazy storage promises, for want of a ridge term.
    pub fn cost_note(&self) -> Option<String> {
        let lambda = self.learner.needs_ridge()?;
        let curved = self.objective().ok()?.strong_convexity();
        (self.storage == Storage::Lazy && lambda != curved).then(|| {
            format!(
                "{} is slow on losses without the ridge term λ = {lambda}: every few rounds go through all features seen so far. Use --l2 {lambda}",
                self.learner
            )
        })
    }

    /// What the data call feature `i`; the intercept comes before all of them.
    pub fn feature(&self, i: usize) -> String {
        match (self.intercept, i) {
            (true, 0) => "intercept".into(),
            (true, i) => (i - 1 + self.first_index as usize).to_string(),
            (false, i) => (i + self.first_index as usize).to_string(),
        }
    }

    /// How many models are learnt side by side.
    pub fn tracks(&self) -> usize {
        self.classes.len().max(1)
    }

    /// Whether labels are ±1, be it one class against the others.
    pub fn takes_signs(&self) -> bool {
        let loss = self.loss.build();
        loss.is_ok_and(|loss| loss.labels() == extremal::loss::Labels::Signs)
    }

    /// The set that a run starts on: of one dimension, if it may grow.
    pub fn start_set(&self) -> Result<SharedSet> {
        start_set(&self.set)
    }
}

/// A flag's value as one writes it; nothing where there is none.
trait AsFlag {
    fn as_flag(&self) -> String;
}

macro_rules! as_flag {
    ($($type:ty),*) => {
        $(impl AsFlag for $type {
            fn as_flag(&self) -> String {
                self.to_string()
            }
        })*
    };
}

as_flag!(f64, u32, u64, String);

impl AsFlag for Storage {
    fn as_flag(&self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl AsFlag for Link {
    fn as_flag(&self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl AsFlag for Vec<String> {
    fn as_flag(&self) -> String {
        self.join(",")
    }
}

impl AsFlag for (String, String) {
    fn as_flag(&self) -> String {
        format!("{},{}", self.0, self.1)
    }
}

impl<T: AsFlag> AsFlag for Option<T> {
    fn as_flag(&self) -> String {
        self.as_ref().map_or(String::new(), T::as_flag)
    }
}

fn usage(error: extremal::Error) -> Error {
    Error::Usage(error.to_string())
}

fn objective(loss: &LossSpec, ridge: f64) -> Result<Objective> {
    Objective::new(loss.build().map_err(usage)?, ridge).map_err(usage)
}

fn start_set(spec: &SetSpec) -> Result<SharedSet> {
    match spec.build(None) {
        Ok(set) => Ok(set),
        Err(extremal::Error::Missing { name: "dim", .. }) => {
            let set = spec.build(Some(1)).map_err(usage)?;
            if set.grown(1).is_some() {
                return Ok(set);
            }
            Err(Error::Usage(format!(
                "set {spec} can't grow as features appear: give its dimension, dim=N"
            )))
        }
        Err(error) => Err(usage(error)),
    }
}

/// `--horizon` and its like become keys of the learner's spec.
fn learner_of(text: &str, asked: &Asked, ridge: f64) -> Result<LearnerSpec> {
    let mut spec: LearnerSpec = text.parse().map_err(usage)?;
    let given = [
        ("horizon", asked.horizon.map(|t| t.to_string())),
        (
            "gradient-bound",
            asked.gradient_bound.map(|g| g.to_string()),
        ),
        ("eta-scale", asked.eta_scale.map(|scale| scale.to_string())),
        (
            "seed",
            asked
                .seed
                .map(|seed| seed.to_string())
                .filter(|_| spec.has_key("seed")),
        ),
    ];
    for (key, value) in given {
        let Some(value) = value else { continue };
        if spec.value(key).is_some() {
            return Err(Error::Usage(format!(
                "{key} is given twice: by --{key} and in the learner {spec}"
            )));
        }
        spec = spec.with(key, value).map_err(usage)?;
    }
    // λ is in the loss already: what else could be meant?
    let needs = spec.build(&start_set(&"l2".parse().map_err(usage)?)?).err();
    match needs {
        Some(extremal::Error::Missing { name: "lambda", .. }) if ridge > 0.0 => {
            spec.with("lambda", ridge).map_err(usage)
        }
        _ => Ok(spec),
    }
}

/// The cheapest storage that the learner can play in, and the default learner for it.
fn stored<L: Loss + ?Sized>(
    set: &SharedSet,
    asked: Option<Storage>,
    learner: Option<LearnerSpec>,
    objective: &Objective<L>,
) -> Result<(Storage, LearnerSpec)> {
    let all = [Storage::Lazy, Storage::Sparse, Storage::Dense];
    let tried = all.into_iter().filter(|s| asked.is_none_or(|a| a == *s));
    let mut why = None;
    for storage in tried {
        let spec = learner
            .clone()
            .unwrap_or_else(|| default_for(&**set, objective, storage));
        match spec.build_stored(set, storage) {
            Ok(_) => return Ok((storage, spec)),
            Err(error) => why = Some(error),
        }
    }
    // The last one tried is the one that takes every set: its error is the learner's own.
    match why {
        Some(error) => Err(usage(error)),
        None => Err(Error::Usage("no storage to play in".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_a_model_does_not_have_get_their_defaults() {
        let asked = Asked {
            loss: Some("logistic".into()),
            ..Asked::default()
        };
        let plan = Plan::choose(&asked, 2.0).unwrap();
        let mut value = serde_json::to_value(&plan).unwrap();
        let keys = value.as_object_mut().unwrap();
        // what there is no default for
        keys.retain(|key, _| ["set", "loss", "learner", "storage", "link"].contains(&&**key));
        assert_eq!(serde_json::from_value::<Plan>(value.clone()).unwrap(), plan);
        value.as_object_mut().unwrap().remove("set");
        assert!(serde_json::from_value::<Plan>(value).is_err());
    }
}
