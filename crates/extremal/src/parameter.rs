//! The keys of specs: the meaning, the allowed values and the default of each key. The macro [`fields!`]
//! defines a spec by one list of its fields. The output of `extremal list`, the error messages, the JSON
//! schema, the Python signatures and the tests are generated from this list.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap;
use serde_json::{Value, json};

use crate::range::{GRADIENTS, SETS};
use crate::spec::Table;
use crate::{Error, Result};

/// A key of a spec.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The name of the key.
    pub name: &'static str,
    /// The meaning of the key.
    pub about: &'static str,
    /// The allowed values.
    pub kind: Kind,
    /// The default value. It is `null` if the key has no value by default, and `None` if the key is
    /// required.
    pub(crate) default: fn() -> Option<Value>,
}

impl Parameter {
    /// Whether every spec must have this key.
    pub fn is_required(&self) -> bool {
        (self.default)().is_none()
    }

    /// The default as text, in the form that specs use. It is `None` if there is no default.
    ///
    /// ```
    /// use extremal::SetSpec;
    /// let radius = SetSpec::ENTRIES[0].parameters[0];
    /// assert_eq!((radius.name, radius.default().as_deref()), ("radius", Some("1")));
    /// assert_eq!(radius.kind.to_string(), "a number from 1e-50 to 1e50");
    /// ```
    pub fn default(&self) -> Option<String> {
        match (self.default)()? {
            Value::Null => None,
            Value::Number(number) => number.as_f64().map(number_text),
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        }
    }

    pub(crate) fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        schema["description"] = self.about.into();
        if let Some(default) = (self.default)().filter(|default| !default.is_null()) {
            schema["default"] = default;
        }
        schema
    }
}

/// The kind of values that a key allows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A finite number from `low` to `high`.
    Number {
        /// The lower limit, which is −∞ if there is none.
        low: f64,
        /// The upper limit, which is ∞ if there is none.
        high: f64,
        /// Whether the limits themselves are excluded.
        open: bool,
    },
    /// A whole number from `low` to `high`.
    Whole {
        /// The smallest value.
        low: u64,
        /// The largest value, which is [`u64::MAX`] if there is no limit.
        high: u64,
    },
    /// true or false.
    Flag,
    /// One of these words. Each word is paired with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// The name of a key.
    Text,
    /// A list of values of this kind.
    List(&'static Kind),
    /// One value for all coordinates, or a list with one value per coordinate.
    Each(&'static Kind),
    /// Another spec. The text names its kind: "set" or "learner".
    Spec(&'static str),
}

impl Kind {
    /// Any finite number.
    pub const NUMBER: Self = Self::at_least(f64::NEG_INFINITY);
    /// A number > 0.
    pub const POSITIVE: Self = Self::above(0.0);
    /// A number ≥ 0.
    pub const NOT_NEGATIVE: Self = Self::at_least(0.0);
    /// A radius or another size of a set.
    pub const SIZE: Self = Self::within(&SETS);
    /// The curvature of a loss. It is 0 for a loss that is only convex.
    pub const CURVATURE: Self = Self::between(0.0, *SETS.end());
    /// An entry of a point of a set.
    pub const ENTRY: Self = Self::between(-*SETS.end(), *SETS.end());
    /// The norm of a gradient.
    pub const GRADIENT: Self = Self::within(&GRADIENTS);
    /// A factor on a step size.
    pub const FACTOR: Self = Self::between(1e-20, 1e20);
    /// Any whole number.
    pub const WHOLE: Self = Self::Whole {
        low: 0,
        high: u64::MAX,
    };
    /// A whole number ≥ 1.
    pub const COUNT: Self = Self::Whole {
        low: 1,
        high: u64::MAX,
    };
    /// A list of numbers.
    pub const POINT: Self = Self::List(&Self::NUMBER);
    /// A list of rows. Each row is a list of numbers.
    pub const MATRIX: Self = Self::List(&Self::POINT);

    /// A number > `low`.
    pub const fn above(low: f64) -> Self {
        Self::inside(low, f64::INFINITY)
    }

    /// A number ≥ `low`.
    pub const fn at_least(low: f64) -> Self {
        Self::between(low, f64::INFINITY)
    }

    /// A number from `low` to `high`.
    pub const fn between(low: f64, high: f64) -> Self {
        let open = false;
        Self::Number { low, high, open }
    }

    const fn within(range: &RangeInclusive<f64>) -> Self {
        Self::between(*range.start(), *range.end())
    }

    /// A number > `low` and < `high`.
    pub const fn inside(low: f64, high: f64) -> Self {
        let open = true;
        Self::Number { low, high, open }
    }

    /// Returns `value`, or an error if this kind does not allow it.
    pub(crate) fn admit(&self, owner: &'static str, name: &'static str, value: f64) -> Result<f64> {
        self.check(owner, name, &value).map(|()| value)
    }

    /// Returns an error if this kind does not allow a value.
    pub(crate) fn check(
        &self,
        owner: &'static str,
        name: &'static str,
        value: &dyn Field,
    ) -> Result<()> {
        match value.refused(self) {
            None => Ok(()),
            Some(value) => Err(Error::parameter(owner, name, value, self.to_string())),
        }
    }

    /// The kind of the values of a list. For any other kind, the result is the kind itself.
    pub(crate) fn element(&self) -> &Self {
        match self {
            Self::List(kind) | Self::Each(kind) => kind,
            other => other,
        }
    }

    /// Whether the values are specs or lists of specs.
    pub fn is_spec(&self) -> bool {
        matches!(self, Self::Spec(_) | Self::List(Self::Spec(_)))
    }

    /// The JSON schema of the values.
    fn schema(&self) -> Value {
        match *self {
            Self::Number { low, high, open } => {
                let mut schema = json!({"type": "number"});
                for (end, key) in [
                    (low, ["minimum", "exclusiveMinimum"]),
                    (high, ["maximum", "exclusiveMaximum"]),
                ] {
                    if end.is_finite() {
                        schema[key[usize::from(open)]] = end.into();
                    }
                }
                schema
            }
            Self::Whole { low, high } => {
                let mut schema = json!({"type": "integer", "minimum": low});
                if high < u64::MAX {
                    schema["maximum"] = high.into();
                }
                schema
            }
            Self::Flag => json!({"type": "boolean"}),
            Self::Choice(words) => {
                let words: Vec<_> = words.iter().map(|(word, _)| word).collect();
                json!({"enum": words})
            }
            Self::Text => json!({"type": "string"}),
            Self::List(kind) => json!({"type": "array", "items": kind.schema()}),
            Self::Each(kind) => json!({"anyOf": [kind.schema(), Self::List(kind).schema()]}),
            Self::Spec(what) => json!({"$ref": format!("#/$defs/{what}")}),
        }
    }

    /// Describes one value, or several values, in words.
    fn words(&self, several: bool) -> String {
        let noun = |one: &str| match several {
            true => format!("{one}s"),
            false => format!("a {one}"),
        };
        match *self {
            Self::Number { low, high, open } => {
                let (a, b) = (number_text(low), number_text(high));
                let (least, most) = if open { (">", "<") } else { ("≥", "≤") };
                let range = match (low.is_finite(), high.is_finite()) {
                    (false, false) => String::new(),
                    (true, false) => format!(" {least} {a}"),
                    (false, true) => format!(" {most} {b}"),
                    (true, true) if open => format!(" > {a} and < {b}"),
                    (true, true) if low == -high => format!(" up to ±{b}"),
                    (true, true) => format!(" from {a} to {b}"),
                };
                noun("number") + &range
            }
            Self::Whole { low, high } => {
                let range = match (low, high) {
                    (0, u64::MAX) => String::new(),
                    (low, u64::MAX) => format!(" ≥ {low}"),
                    (0, high) => format!(" up to {high}"),
                    (low, high) => format!(" from {low} to {high}"),
                };
                noun("whole number") + &range
            }
            Self::Flag => "true or false".into(),
            Self::Choice(words) => {
                let words = words.iter().map(|(w, about)| format!("{w} ({about})"));
                words.collect::<Vec<_>>().join(", ")
            }
            Self::Text => noun("key"),
            Self::List(kind) => noun("list") + " of " + &kind.words(true),
            Self::Each(kind) => format!("{}, or a list of them", kind.words(false)),
            Self::Spec(what) => noun(what) + " in parentheses",
        }
    }
}

/// Describes the values in words, for error messages and `extremal list`.
impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words(false))
    }
}

/// Formats a number briefly: 1e50 as `1e50` and 1.0 as `1`.
fn number_text(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(String::from).unwrap_or(text)
}

/// A value that a [`Kind`] can check.
pub(crate) trait Field {
    /// The part of the value that the kind refuses, as text. It is `None` if nothing is refused.
    fn refused(&self, _kind: &Kind) -> Option<String> {
        None
    }
}

impl Field for f64 {
    fn refused(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Number { low, high, open } => {
                let at_end = *open && (self == low || self == high);
                let inside = low <= self && self <= high && !at_end && self.is_finite();
                (!inside).then(|| number_text(*self))
            }
            _ => None,
        }
    }
}

macro_rules! whole {
    ($($ty:ty),*) => {$(
        impl Field for $ty {
            fn refused(&self, kind: &Kind) -> Option<String> {
                let value = *self as u64;
                match kind {
                    Kind::Whole { low, high } if value < *low || value > *high => Some(self.to_string()),
                    _ => None,
                }
            }
        }
    )*};
}
whole!(u32, u64, usize);

impl Field for bool {}
impl Field for String {}

impl<T: Field> Field for Option<T> {
    fn refused(&self, kind: &Kind) -> Option<String> {
        self.as_ref()?.refused(kind)
    }
}

impl<T: Field> Field for Box<T> {
    fn refused(&self, kind: &Kind) -> Option<String> {
        (**self).refused(kind)
    }
}

impl<T: Field> Field for Vec<T> {
    fn refused(&self, kind: &Kind) -> Option<String> {
        self.iter().find_map(|value| value.refused(kind.element()))
    }
}

/// The name of a field with every `_` replaced by `-`.
pub(crate) const fn kebab<const N: usize>(name: &str) -> [u8; N] {
    let (name, mut key, mut i) = (name.as_bytes(), [0; N], 0);
    while i < N {
        key[i] = if name[i] == b'_' { b'-' } else { name[i] };
        i += 1;
    }
    key
}

/// Converts bytes to text. The bytes must be UTF-8.
pub(crate) const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("not UTF-8"),
    }
}

/// Converts a default to a JSON value.
pub(crate) fn json<T: Serialize>(default: Option<T>) -> Option<Value> {
    default.map(|value| serde_json::to_value(value).unwrap_or_default())
}

/// Removes a key from a table and returns its value, or the default if the table has no such key.
pub(crate) fn take<T: DeserializeOwned>(
    table: &mut Table,
    key: &'static str,
    default: Option<T>,
) -> Result<T> {
    match table.remove(key) {
        Some(value) => serde_json::from_value(value)
            .map_err(|e| Error::spec(Some(key), format_args!("{key}: {e}"))),
        None => {
            default.ok_or_else(|| Error::spec(Some(key), serde_json::Error::missing_field(key)))
        }
    }
}

/// Returns an error if the table still has a key, because no field has read it.
pub(crate) fn check_taken(table: &Table, keys: &'static [&'static str]) -> Result<()> {
    match table.keys().next() {
        None => Ok(()),
        Some(key) => Err(Error::spec(
            Some(key),
            serde_json::Error::unknown_field(key, keys),
        )),
    }
}

/// Writes a field unless its value is the default. Equal specs are therefore written in the same way.
pub(crate) fn add<M: SerializeMap, T: Serialize + PartialEq>(
    mut map: M,
    key: &'static str,
    value: &T,
    default: Option<T>,
) -> Result<M, M::Error> {
    if default.as_ref() != Some(value) {
        map.serialize_entry(key, value)?;
    }
    Ok(map)
}

/// Defines a spec by its fields. Each field has a description, a default and a kind:
///
/// ```text
/// fields! {
///     /// Spec of [`LpBall`].
///     pub struct Lp {
///         /// the norm's exponent
///         pub p: f64 => Kind::above(1.0),
///         /// the radius
///         pub radius: f64 = 1.0 => Kind::SIZE,
///     }
/// }
/// ```
///
/// A field without a default is required. `read` removes the fields from a table. Serde writes the
/// fields under names with `-` in place of `_`, and omits a field that has its default. `PARAMETERS`
/// describes the fields, and `check` compares each field with its kind. If all fields have defaults,
/// the struct implements `Default`.
macro_rules! fields {
    ($(#[$doc:meta])* pub struct $name:ident(pub $inner:ty);) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            pub(crate) const PARAMETERS: &'static [$crate::spec::Parameter] = <$inner>::PARAMETERS;

            pub(crate) fn read(table: &mut $crate::spec::Table) -> $crate::Result<Self> {
                <$inner>::read(table).map(Self)
            }

            pub(crate) fn check(&self, owner: &'static str) -> $crate::Result<()> {
                self.0.check(owner)
            }
        }
    };
    ($(#[$doc:meta])* pub struct $name:ident {
        $($(#[doc = $about:literal])+ pub $field:ident: $ty:ty = $default:expr => $kind:expr),* $(,)?
    }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }
        $crate::parameter::fields! { @spec $(#[$doc])* pub struct $name {
            $($(#[doc = $about])+ pub $field: $ty = $default => $kind),*
        } }
    };
    ($(#[$doc:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::parameter::fields! { @spec $(#[$doc])* pub struct $name { $($fields)* } }
    };
    (@spec $(#[$doc:meta])* pub struct $name:ident {
        $($(#[doc = $about:literal])+ pub $field:ident: $ty:ty $(= $default:expr)? => $kind:expr),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $ty),*
        }

        impl $name {
            pub(crate) const PARAMETERS: &'static [$crate::spec::Parameter] = &[$($crate::spec::Parameter {
                name: $crate::parameter::fields!(@key $field),
                about: concat!($($about),+).trim_ascii(),
                kind: $kind,
                default: || $crate::parameter::json($crate::parameter::fields!(@default $ty $(= $default)?)),
            }),*];

            pub(crate) fn read(table: &mut $crate::spec::Table) -> $crate::Result<Self> {
                $(let $field = $crate::parameter::take(
                    table,
                    $crate::parameter::fields!(@key $field),
                    $crate::parameter::fields!(@default $ty $(= $default)?),
                );)*
                $crate::parameter::check_taken(table, const { &[$($crate::parameter::fields!(@key $field)),*] })?;
                Ok(Self { $($field: $field?),* })
            }

            pub(crate) fn check(&self, owner: &'static str) -> $crate::Result<()> {
                let values: &[&dyn $crate::parameter::Field] = &[$(&self.$field),*];
                let mut pairs = Self::PARAMETERS.iter().zip(values);
                pairs.try_for_each(|(p, value)| p.kind.check(owner, p.name, *value))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let map = serializer.serialize_map(None)?;
                $(let map = $crate::parameter::add(
                    map,
                    $crate::parameter::fields!(@key $field),
                    &self.$field,
                    $crate::parameter::fields!(@default $ty $(= $default)?),
                )?;)*
                serde::ser::SerializeMap::end(map)
            }
        }
    };
    (@key $field:ident) => {{
        const KEY: [u8; stringify!($field).len()] = $crate::parameter::kebab(stringify!($field));
        $crate::parameter::text(&KEY)
    }};
    (@default $ty:ty) => { None::<$ty> };
    (@default $ty:ty = $default:expr) => { Some::<$ty>($default) };
}
pub(crate) use fields;

/// Defines an enum of the words that a key allows, with the meaning of each word. Also defines the `KIND`
/// of the key.
macro_rules! choices {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[doc = $about:literal])+ $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $about])+ #[serde(rename = $word)] $variant),*
        }

        impl $name {
            pub(crate) const KIND: $crate::spec::Kind = $crate::spec::Kind::Choice(
                &[$(($word, concat!($($about),+).trim_ascii())),*]
            );
        }

        impl $crate::parameter::Field for $name {}
    };
}
pub(crate) use choices;
