//! Specs describe a set, loss, learner or stream. A spec is written as `name:key=value,key=value` or as
//! a TOML or JSON table, and is represented by a serde enum. Each enum is made from a registry of
//! names. A new component needs one file and one line in the registry.

use serde::Serialize;
use serde_json::{Map, Value, json};

pub use crate::parameter::{Kind, Parameter};
use crate::{Error, Result};

/// The description of a component, which `extremal list` and the docs show.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// A summary in one line.
    pub summary: &'static str,
    /// The cost of one call or one round.
    pub cost: &'static str,
    /// The guarantee with its conditions. For a set or a loss, this is a list of constants.
    pub guarantee: &'static str,
    /// The source, usually a paper.
    pub reference: &'static str,
    /// The keys of the component's papers in [`references`](crate::references). The list is empty for
    /// sets, losses and streams.
    pub citations: &'static [&'static str],
    /// Example specs. The conformance tests run every example in small dimensions, for 1,000 rounds
    /// with gradients of norm at most 1.
    pub examples: &'static [&'static str],
}

/// A registered component. An entry dereferences to its [`About`].
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in specs.
    pub name: &'static str,
    /// The keys of its specs.
    pub parameters: &'static [Parameter],
    pub(crate) about: About,
}

impl std::ops::Deref for Entry {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

impl Entry {
    /// The JSON schema of the component's specs.
    fn schema(&self) -> Value {
        let mut properties = json!({"name": {"const": self.name}});
        for parameter in self.parameters {
            properties[parameter.name] = parameter.schema();
        }
        let required = self.parameters.iter().filter(|p| p.is_required());
        let required = required.map(|parameter| parameter.name);
        let required: Vec<_> = ["name"].into_iter().chain(required).collect();
        json!({
            "type": "object",
            "description": self.summary,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// A component with a description. The author of the component implements this trait.
pub trait Described {
    /// The description.
    const ABOUT: About;
}

/// A component with an entry. The registry implements this trait.
pub(crate) trait Registered {
    const ENTRY: Entry;
}

/// A spec as a table: its keys with their values, and `name`.
pub type Table = Map<String, Value>;

/// Parses `name:key=value,key=value`. A value is a number, a boolean, a list `[a,b]`, a spec in
/// parentheses as in `scale:by=2,set=(lp:p=1.5)`, or text.
pub(crate) fn parse<T>(kind: &str, text: &str, entries: &[Entry]) -> Result<T>
where
    T: TryFrom<Table, Error = Error>,
{
    let of_spec = |e: Error| e.of_spec(format_args!("{kind} `{text}`"));
    let table = table_of(text, 0).map_err(of_spec)?;
    check_name(kind, table["name"].as_str().unwrap_or_default(), entries)?;
    T::try_from(table).map_err(of_spec)
}

/// The deepest nesting of brackets that is allowed. Each level uses stack memory, and the text may be
/// untrusted.
const DEEPEST: u32 = 32;

fn table_of(text: &str, depth: u32) -> Result<Table> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut table = Table::new();
    table.insert("name".into(), name.trim().into());
    for part in split_outside_brackets(rest) {
        if part.trim().is_empty() {
            continue;
        }
        let Some((key, value)) = part.split_once('=') else {
            let what = format!("`{part}` is not of the form key=value");
            return Err(Error::spec(None, what));
        };
        let (key, value) = (key.trim(), value.trim());
        // JSON would read `nan`, `inf` and 1e999 as text, and the error would be misleading
        if value.parse::<f64>().is_ok_and(|v| !v.is_finite()) {
            let what = format!("{key} = {value} is not allowed; it must be a finite number");
            return Err(Error::spec(Some(key), what));
        }
        let value = value_of(value, depth)?;
        if table.insert(key.into(), value).is_some() {
            let what = format!("`{key}` is given twice");
            return Err(Error::spec(Some(key), what));
        }
    }
    Ok(table)
}

fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        depth += i32::from("[(".contains(c)) - i32::from("])".contains(c));
        c == ',' && depth == 0
    })
}

/// The part of a text between its two brackets. It is `None` if the text has another form.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn value_of(text: &str, depth: u32) -> Result<Value> {
    if depth > DEEPEST {
        let what = format!("brackets are nested more than {DEEPEST} deep");
        return Err(Error::spec(None, what));
    }
    if let Some(spec) = inside(text, '(', ')') {
        return table_of(spec, depth + 1).map(Value::Object);
    }
    if let Some(list) = inside(text, '[', ']').filter(|list| list.contains('(')) {
        let parts = split_outside_brackets(list);
        return parts.map(|part| value_of(part.trim(), depth + 1)).collect();
    }
    Ok(match serde_json::from_str::<Value>(text) {
        // 1e6 is a float in JSON, but a whole number to a user
        Ok(Value::Number(n)) if n.is_f64() && !text.contains('.') => match n.as_f64() {
            Some(f) if (0.0..=2f64.powi(53)).contains(&f) && f.fract() == 0.0 => (f as u64).into(),
            _ => Value::Number(n),
        },
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Array(_))) => value,
        _ => text.into(),
    })
}

/// Writes a spec as a table.
fn table<T: Serialize>(spec: &T) -> Table {
    match serde_json::to_value(spec) {
        Ok(Value::Object(table)) => table,
        _ => Table::new(),
    }
}

/// Writes a spec as text, in the form that [`parse`] reads.
pub(crate) fn format<T: Serialize>(spec: &T) -> String {
    format_table(&table(spec))
}

/// The value of a key as text. It is `None` if the value is the default.
pub(crate) fn value<T: Serialize>(spec: &T, key: &str) -> Option<String> {
    table(spec).get(key).map(format_value)
}

/// A copy of `spec` with another value of a key.
pub(crate) fn with<T>(kind: &str, spec: &T, key: &str, value: &str) -> Result<T>
where
    T: Serialize + TryFrom<Table, Error = Error>,
{
    let changed = || {
        let mut table = table(spec);
        table.insert(key.into(), value_of(value, 0)?);
        T::try_from(table)
    };
    changed().map_err(|e| e.of_spec(format_args!("{kind} `{}` with {key}={value}", format(spec))))
}

/// Returns an error if no entry has this name. The error suggests a similar name if there is a similar
/// name.
fn check_name(kind: &str, name: &str, entries: &[Entry]) -> Result<()> {
    let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let edits = |near| (strsim::levenshtein(name, near), near);
    let hint = match names.iter().map(|near| edits(*near)).min() {
        Some((edits, near)) if 3 * edits <= name.len() => format!("did you mean `{near}`?"),
        _ => format!("there are {}", names.join(", ")),
    };
    let what = format!("no {kind} `{name}`; {hint}");
    Err(Error::spec(Some("name"), what))
}

/// The JSON schema of all specs. The schema's `$defs` are `set`, `loss`, `learner` and `stream`.
///
/// ```
/// let schema = extremal::spec::schema();
/// assert!(schema.contains(r#""const": "l2""#));
/// ```
pub fn schema() -> String {
    let kinds = [
        ("set", crate::set::SetSpec::ENTRIES),
        ("loss", crate::loss::LossSpec::ENTRIES),
        ("learner", crate::learner::LearnerSpec::ENTRIES),
        ("stream", crate::stream::StreamSpec::ENTRIES),
    ];
    let all = kinds.map(|(kind, entries)| {
        let entries: Vec<_> = entries.iter().map(Entry::schema).collect();
        (kind.to_string(), json!({"oneOf": entries}))
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": Map::from_iter(all),
    });
    format!("{schema:#}")
}

fn format_table(table: &Map<String, Value>) -> String {
    let name = table.get("name").and_then(Value::as_str).unwrap_or("?");
    let keys = table.iter().filter(|(k, v)| *k != "name" && !v.is_null());
    let keys: Vec<_> = keys
        .map(|(k, v)| format!("{k}={}", format_value(v)))
        .collect();
    let colon = if keys.is_empty() { "" } else { ":" };
    format!("{name}{colon}{}", keys.join(","))
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(table) => format!("({})", format_table(table)),
        Value::Array(values) if values.iter().any(Value::is_object) => {
            let values: Vec<String> = values.iter().map(format_value).collect();
            format!("[{}]", values.join(","))
        }
        value => value.to_string(),
    }
}

/// Defines the spec enum of one kind of component from a list of names and types.
macro_rules! registry {
    ($(#[$doc:meta])* $kind:literal $spec:ident: $make:ident { $($name:literal => $variant:ident($ty:ty)),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "name", try_from = "crate::spec::Table")]
        #[non_exhaustive]
        pub enum $spec {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant($ty)),*
        }

        $(impl $crate::spec::Registered for $ty {
            const ENTRY: $crate::spec::Entry = $crate::spec::Entry {
                name: $name,
                parameters: <$ty>::PARAMETERS,
                about: <$ty as $crate::spec::Described>::ABOUT,
            };
        })*

        impl $spec {
            /// All registered components, in the order of the list.
            pub const ENTRIES: &'static [$crate::spec::Entry] =
                &[$(<$ty as $crate::spec::Registered>::ENTRY),*];

            fn inner(&self) -> &dyn $make {
                match self { $(Self::$variant(inner) => inner),* }
            }

            /// Returns an error unless the value of every key is allowed.
            fn check(&self) -> $crate::Result<()> {
                match self { $(Self::$variant(inner) => inner.check($name)),* }
            }

            /// Whether this component has the key.
            pub fn has_key(&self, key: &str) -> bool {
                self.entry().parameters.iter().any(|p| p.name == key)
            }

            /// The value of a key as text. It is `None` if the value is the default.
            pub fn value(&self, key: &str) -> Option<String> {
                $crate::spec::value(self, key)
            }

            /// A copy with another value of a key, as in `spec.with("horizon", 1000)`.
            pub fn with(&self, key: &str, value: impl ToString) -> $crate::Result<Self> {
                $crate::spec::with($kind, self, key, &value.to_string())
            }

            /// The entry of this component.
            pub fn entry(&self) -> &'static $crate::spec::Entry {
                match self { $(Self::$variant(_) => &<$ty as $crate::spec::Registered>::ENTRY),* }
            }
        }

        /// A spec inside another spec is checked when it is built.
        impl $crate::parameter::Field for $spec {}

        impl TryFrom<$crate::spec::Table> for $spec {
            type Error = $crate::Error;
            fn try_from(mut table: $crate::spec::Table) -> $crate::Result<Self> {
                let name: String = $crate::parameter::take(&mut table, "name", None)?;
                match name.as_str() {
                    $($name => <$ty>::read(&mut table).map(Self::$variant),)*
                    _ => Err($crate::Error::spec(
                        Some("name"),
                        <serde_json::Error as serde::de::Error>::unknown_variant(&name, &[$($name),*]),
                    )),
                }
            }
        }

        impl std::str::FromStr for $spec {
            type Err = $crate::Error;
            fn from_str(text: &str) -> $crate::Result<Self> {
                $crate::spec::parse($kind, text, Self::ENTRIES)
            }
        }

        impl std::fmt::Display for $spec {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&$crate::spec::format(self))
            }
        }
    };
}
pub(crate) use registry;
