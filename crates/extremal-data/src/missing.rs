//! Tokens for missing values.

/// The tokens that mean that a value is missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Missing {
    /// The tokens that the user added.
    added: Vec<Vec<u8>>,
    /// Whether one of them looks like a number.
    has_numbers: bool,
}

impl Missing {
    pub(crate) fn new(added: &[String]) -> Missing {
        let is_number = |token: &String| crate::number::parse(token.as_bytes()).is_some();
        Missing {
            has_numbers: added.iter().any(is_number),
            added: added.iter().map(|token| token.as_bytes().into()).collect(),
        }
    }

    /// Whether a field, or the text of a value, means that the value is missing.
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        match text {
            b"" | b"NA" | b"N/A" | b"?" => true,
            _ if text.len() < 5
                && [&b"nan"[..], b"null", b"none"]
                    .iter()
                    .any(|token| token.eq_ignore_ascii_case(text)) =>
            {
                true
            }
            _ => self.is_added(text),
        }
    }

    /// Whether numbers may mean that the value is missing.
    pub(crate) fn has_numbers(&self) -> bool {
        self.has_numbers
    }

    fn is_added(&self, text: &[u8]) -> bool {
        self.added.iter().any(|token| token == text)
    }
}

#[cfg(test)]
mod tests {
    use super::Missing;

    #[test]
    fn usual_tokens_are_missing_and_others_can_be_added() {
        let missing = Missing::new(&["-999".into(), "n.a.".into()]);
        for token in ["", "NA", "N/A", "?", "nan", "NaN", "NULL", "None", "n.a."] {
            assert!(missing.is(token.as_bytes()), "{token}");
        }
        for value in ["na", "n/a", "0", "nano", "-"] {
            assert!(!missing.is(value.as_bytes()), "{value}");
        }
        assert!(missing.has_numbers() && missing.is(b"-999") && !missing.is(b"-998"));
    }
}
