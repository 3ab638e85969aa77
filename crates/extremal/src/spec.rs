//! Specs: a set, loss, learner or stream written as `name:key=value,key=value`, as a TOML or
//! JSON table, or as a value of one serde enum. The registries below each enum's doc make the
//! names; adding a component is one file and one line there.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

pub use crate::parameter::{Kind, Limits, Parameter};
use crate::{Error, Result};

/// One registered component, as `extremal list` and the docs show it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in specs.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its keys.
    pub parameters: &'static [Parameter],
    /// What one call or one round costs.
    pub cost: &'static str,
    /// What is guaranteed, with its conditions; for a set, its constants.
    pub guarantee: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The keys of its papers in [`references`](crate::references). Learners have some; for sets,
    /// losses and streams `reference` is enough.
    pub citations: &'static [&'static str],
    /// Specs to copy. The conformance tests run on every one of them, in small dimensions, for
    /// 1,000 rounds of gradients of norm at most 1.
    pub examples: &'static [&'static str],
}

impl Entry {
    /// The JSON schema of its specs.
    fn schema(&self) -> Value {
        crate::parameter::schema(self.name, self.summary, self.parameters)
    }
}

/// What every registered component has.
pub trait Described {
    /// The component's entry.
    const ENTRY: Entry;
}

/// Reads `name:key=value,key=value`. Numbers, booleans, `[a,b]` lists and specs in parentheses,
/// `scale:by=2,set=(lp:p=1.5)`, are recognised, all else is text.
///
/// ```
/// use extremal::SetSpec;
/// let set: SetSpec = extremal::spec::parse("set", "lp:p=1.5,radius=3,dim=10").unwrap();
/// assert_eq!(set.to_string(), "lp:p=1.5,radius=3.0,dim=10");
/// let error = extremal::spec::parse::<SetSpec>("set", "lp:q=2").unwrap_err();
/// assert!(error.to_string().contains("unknown field `q`, expected"));
/// ```
pub fn parse<T: DeserializeOwned>(kind: &str, text: &str) -> Result<T> {
    check_depth(kind, text)?;
    serde_json::from_value(Value::Object(table_of(kind, text)?))
        .map_err(|e| Error::Spec(format!("{kind} `{text}`: {e}")))
}

/// Each level takes a piece of the stack, and the text may come from anywhere.
const DEEPEST: i32 = 32;

fn check_depth(kind: &str, text: &str) -> Result<()> {
    if depth(text) <= DEEPEST {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "{kind}: more than {DEEPEST} brackets lie within one another"
    )))
}

/// How many brackets are open at most.
fn depth(text: &str) -> i32 {
    let (mut depth, mut deepest) = (0, 0);
    for ch in text.chars() {
        match ch {
            '[' | '(' => depth += 1,
            // a stray one closes nothing
            ']' | ')' => depth = (depth - 1).max(0),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn table_of(kind: &str, text: &str) -> Result<Map<String, Value>> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut table = Map::new();
    table.insert("name".into(), Value::String(name.trim().into()));
    for part in split_outside_brackets(rest) {
        if part.trim().is_empty() {
            continue;
        }
        let Some((key, value)) = part.split_once('=') else {
            return Err(Error::Spec(format!(
                "{kind} `{text}`: `{part}` is not of the form key=value"
            )));
        };
        let key = key.trim().to_string();
        if table.contains_key(&key) {
            return Err(Error::Spec(format!(
                "{kind} `{text}`: `{key}` is given twice"
            )));
        }
        let value = value.trim();
        // `nan`, `inf`, 1e999: they read as text, and would be told so
        if value.parse::<f64>().is_ok_and(|v| !v.is_finite()) {
            return Err(Error::Spec(format!(
                "{kind} `{text}`: {key} = {value} is not allowed; it must be a finite number"
            )));
        }
        let value = value_of(kind, value)?;
        table.insert(key, value);
    }
    Ok(table)
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (i, ch) in text.char_indices() {
        match ch {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// What stands between an opening and a closing bracket, if the text is that.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn value_of(kind: &str, text: &str) -> Result<Value> {
    if let Some(spec) = inside(text, '(', ')') {
        return Ok(Value::Object(table_of(kind, spec)?));
    }
    if let Some(list) = inside(text, '[', ']').filter(|list| list.contains('(')) {
        let parts = split_outside_brackets(list).into_iter();
        return parts.map(|part| value_of(kind, part.trim())).collect();
    }
    Ok(match serde_json::from_str::<Value>(text) {
        // 1e6 is a whole number to everybody but JSON
        Ok(Value::Number(n)) if !n.is_u64() && !n.is_i64() && !text.contains('.') => {
            match n.as_f64() {
                Some(f) if f >= 0.0 && f <= 2f64.powi(53) && f.fract() == 0.0 => {
                    Value::from(f as u64)
                }
                _ => Value::Number(n),
            }
        }
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Array(_))) => value,
        _ => Value::String(text.into()),
    })
}

/// The spec as text, in the form that [`parse`] reads.
pub(crate) fn format<T: Serialize>(spec: &T) -> String {
    match serde_json::to_value(spec) {
        Ok(Value::Object(table)) => format_table(&table),
        _ => String::from("?"),
    }
}

/// The value of a key that is not the default.
pub(crate) fn value<T: Serialize>(spec: &T, key: &str) -> Option<String> {
    let table = serde_json::to_value(spec).ok()?;
    table.get(key).map(format_value)
}

/// `spec` with a key set to a value.
pub(crate) fn with<T: Serialize + DeserializeOwned>(
    kind: &str,
    spec: &T,
    key: &str,
    value: &str,
) -> Result<T> {
    let trouble = |e| Error::Spec(format!("{kind} `{}` with {key}={value}: {e}", format(spec)));
    let mut table = serde_json::to_value(spec).map_err(trouble)?;
    table[key] = value_of(kind, value)?;
    serde_json::from_value(table).map_err(trouble)
}

/// Errors unless the text begins with the name of an entry; with the nearest one, if one is near.
pub(crate) fn check_name(kind: &str, text: &str, entries: &[Entry]) -> Result<()> {
    check_depth(kind, text)?;
    let name = text.split(':').next().unwrap_or(text).trim();
    if entries.iter().any(|entry| entry.name == name) {
        return Ok(());
    }
    let near = entries
        .iter()
        .map(|entry| (distance(name, entry.name), entry.name))
        .min();
    let hint = match near {
        Some((edits, near)) if 3 * edits <= name.len() => {
            format!("did you mean `{near}`?")
        }
        _ => {
            let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
            format!("there are {}", names.join(", "))
        }
    };
    Err(Error::Spec(format!("no {kind} `{name}`; {hint}")))
}

/// How many letters must be added, removed or replaced to make `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The JSON schema of all specs: `$defs` has set, loss, learner and stream.
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
    let keys: Vec<String> = table
        .iter()
        .filter(|(k, v)| *k != "name" && !v.is_null())
        .map(|(k, v)| format!("{k}={}", format_value(v)))
        .collect();
    if keys.is_empty() {
        name.into()
    } else {
        format!("{name}:{}", keys.join(","))
    }
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

/// Makes the spec enum of one kind of component from its list.
macro_rules! registry {
    ($(#[$doc:meta])* $kind:literal $spec:ident: $make:ident { $($name:literal => $variant:ident($ty:ty)),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "name")]
        #[non_exhaustive]
        pub enum $spec {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant($ty)),*
        }

        impl $spec {
            /// Everything registered, in order.
            pub const ENTRIES: &'static [$crate::spec::Entry] =
                &[$(<$ty as $crate::spec::Described>::ENTRY),*];

            fn inner(&self) -> &dyn $make {
                match self { $(Self::$variant(inner) => inner),* }
            }

            /// Errors unless every key has a value that is allowed.
            fn check(&self) -> $crate::Result<()> {
                match self { $(Self::$variant(inner) => inner.check($name)),* }
            }

            /// Whether it has this key.
            pub fn has_key(&self, key: &str) -> bool {
                self.entry().parameters.iter().any(|p| p.name == key)
            }

            /// The value of a key that is given and is not the default, as specs write it.
            pub fn value(&self, key: &str) -> Option<String> {
                $crate::spec::value(self, key)
            }

            /// The same with another value of a key, `spec.with("horizon", 1000)`.
            pub fn with(&self, key: &str, value: impl ToString) -> $crate::Result<Self> {
                $crate::spec::with($kind, self, key, &value.to_string())
            }

            /// This one's entry.
            pub fn entry(&self) -> &'static $crate::spec::Entry {
                match self { $(Self::$variant(_) => &<$ty as $crate::spec::Described>::ENTRY),* }
            }
        }

        /// A spec within a spec is checked when it is built.
        impl $crate::parameter::Field for $spec {}

        impl std::str::FromStr for $spec {
            type Err = $crate::Error;
            fn from_str(text: &str) -> $crate::Result<Self> {
                $crate::spec::check_name($kind, text, Self::ENTRIES)?;
                $crate::spec::parse($kind, text)
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

#[cfg(test)]
mod tests {
    #[test]
    fn specs_in_parentheses_nest() {
        use super::{format_value, value_of};
        for text in [
            "(l2:radius=1.0,dim=3)",
            "[(l2:dim=3),(box:lower=[0.0,1.0],upper=2.0)]",
            "(product:sets=[(scale:by=2.0,set=(simplex)),(l1)])",
        ] {
            assert_eq!(format_value(&value_of("set", text).unwrap()), text);
        }
        let error = value_of("set", "(l2:radius)").unwrap_err().to_string();
        assert!(error.contains("key=value"), "{error}");
    }
}
