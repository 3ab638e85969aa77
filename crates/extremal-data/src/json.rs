//! The parts of a JSON text, one after the other, without building anything.

use std::ops::Range;

use crate::parse::ParseError;

/// How deep values nest that are skipped.
const DEEPEST: usize = 64;

/// What a value is, by its first character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Number,
    True,
    False,
    Null,
}

/// A place in a JSON text.
pub(crate) struct Json<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Json<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Json<'t> {
        Json { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Something wrong from here on.
    pub(crate) fn error(&self, what: &'static str) -> ParseError {
        ParseError::new(what, self.at.min(self.text.len())..self.text.len())
    }

    /// The next character that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    pub(crate) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// What the next value is.
    pub(crate) fn kind(&mut self) -> Result<Kind, ParseError> {
        match self.peek() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't') => Ok(Kind::True),
            Some(b'f') => Ok(Kind::False),
            Some(b'n') => Ok(Kind::Null),
            Some(_) => Err(self.error("not JSON")),
            None => Err(ParseError::new(
                "the JSON ends too early",
                0..self.text.len(),
            )),
        }
    }

    pub(crate) fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), ParseError> {
        if self.peek() != Some(byte) {
            return Err(match self.at < self.text.len() {
                true => self.error(what),
                false => ParseError::new("the JSON ends too early", 0..self.text.len()),
            });
        }
        self.at += 1;
        Ok(())
    }

    /// Whether another element follows in an object or array that ends with `close`.
    pub(crate) fn more(&mut self, close: u8, first: &mut bool) -> Result<bool, ParseError> {
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if !std::mem::replace(first, false) {
            self.expect(b',', "expected a comma")?;
            if self.peek() == Some(close) {
                return Err(self.error("a comma before the end"));
            }
        }
        Ok(true)
    }

    /// A key and its colon; `key` is what it says.
    pub(crate) fn key(&mut self, key: &mut String) -> Result<(), ParseError> {
        self.expect(b'"', "expected a name in quotes")?;
        key.clear();
        self.string_behind_quote(key)?;
        self.expect(b':', "expected a colon")
    }

    /// `true`, `false` or `null`.
    pub(crate) fn word(&mut self, kind: Kind) -> Result<(), ParseError> {
        let word: &[u8] = match kind {
            Kind::True => b"true",
            Kind::False => b"false",
            _ => b"null",
        };
        if !self.text[self.at..].starts_with(word) {
            return Err(self.error("not JSON"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Where a number is.
    pub(crate) fn number(&mut self) -> Result<Range<usize>, ParseError> {
        let start = self.at;
        let digits = |json: &mut Json<'t>| {
            let from = json.at;
            while json.text.get(json.at).is_some_and(u8::is_ascii_digit) {
                json.at += 1;
            }
            json.at - from
        };
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let leading_zero = self.text.get(self.at) == Some(&b'0');
        let whole = digits(self);
        let mut good = whole == 1 || (whole > 1 && !leading_zero);
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            good &= digits(self) > 0;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            good &= digits(self) > 0;
        }
        if !good {
            self.at = start;
            return Err(self.error("not a JSON number"));
        }
        Ok(start..self.at)
    }

    /// Adds what a string says to `out`.
    pub(crate) fn string(&mut self, out: &mut String) -> Result<(), ParseError> {
        self.at += 1;
        self.string_behind_quote(out)
    }

    fn string_behind_quote(&mut self, out: &mut String) -> Result<(), ParseError> {
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(self.error("a string without an end"));
            };
            let piece = &rest[..length];
            if piece.iter().any(|&byte| byte < 0x20) {
                return Err(self.error("a control character in a string"));
            }
            out.push_str(std::str::from_utf8(piece).map_err(|_| self.error("not UTF-8"))?);
            self.at += length + 1;
            if rest[length] == b'"' {
                return Ok(());
            }
            out.push(self.escape()?);
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, ParseError> {
        let Some(&byte) = self.text.get(self.at) else {
            return Err(self.error("a string without an end"));
        };
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.four_digits()?;
                if (0xD800..0xDC00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.four_digits()?;
                    if !(0xDC00..0xE000).contains(&low) {
                        return Err(self.error("half a character"));
                    }
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                }
                char::from_u32(code).ok_or_else(|| self.error("half a character"))?
            }
            _ => {
                self.at -= 1;
                return Err(self.error("no such escape in JSON"));
            }
        })
    }

    fn four_digits(&mut self) -> Result<u32, ParseError> {
        let digits = self.text[self.at..]
            .first_chunk::<4>()
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .ok_or_else(|| self.error("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(digits.iter().fold(0, |code, &digit| {
            code * 16 + char::from(digit).to_digit(16).unwrap_or(0)
        }))
    }

    /// Passes over any value, checking it.
    pub(crate) fn skip(&mut self, scratch: &mut String) -> Result<(), ParseError> {
        self.skip_nested(scratch, 0)
    }

    fn skip_nested(&mut self, scratch: &mut String, depth: usize) -> Result<(), ParseError> {
        let kind = self.kind()?;
        if depth == DEEPEST {
            return Err(self.error("the JSON nests too deep"));
        }
        let mut first = true;
        match kind {
            Kind::Object => {
                self.at += 1;
                while self.more(b'}', &mut first)? {
                    self.key(scratch)?;
                    self.skip_nested(scratch, depth + 1)?;
                }
                Ok(())
            }
            Kind::Array => {
                self.at += 1;
                while self.more(b']', &mut first)? {
                    self.skip_nested(scratch, depth + 1)?;
                }
                Ok(())
            }
            Kind::String => {
                scratch.clear();
                self.string(scratch)
            }
            Kind::Number => self.number().map(|_| ()),
            Kind::True | Kind::False | Kind::Null => self.word(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &[u8]) -> bool {
        let mut json = Json::new(text);
        json.skip(&mut String::new()).is_ok() && json.at_end()
    }

    #[test]
    fn texts_are_accepted_where_serde_json_accepts_them() {
        let texts = [
            "0",
            "-0",
            "01",
            "1.",
            "1.5",
            ".5",
            "1e5",
            "1e",
            "1E+5",
            "-",
            "+1",
            "\"a\"",
            "\"a",
            "\"\\n\"",
            "\"\\x\"",
            "\"\\u00e4\"",
            "\"\\u00g4\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\ud83d\\u0041\"",
            "\"a\tb\"",
            "\"ä\"",
            "[]",
            "[1]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1,2",
            "{}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "{\"a\":}",
            "tru",
            "true",
            "false",
            "null",
            "nul",
            "truefalse",
            "",
            " ",
            "[[[]]]",
            "NaN",
            "Infinity",
            "{\"a\":{\"b\":[1,{\"c\":null}]}} ",
            "1 1",
            "[1]]",
        ];
        let mut good = 0;
        for text in texts {
            let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(accepts(text.as_bytes()), theirs, "{text:?}");
            good += u32::from(theirs);
        }
        assert_eq!(good, 19);
        assert!(!accepts(b"\"\xff\""));
    }

    #[test]
    fn strings_say_what_serde_json_makes_of_them() {
        for text in [
            "\"plain\"",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
            "\"x\\u00e4y\\ud83d\\ude00z\"",
            "\"ünï\"",
        ] {
            let mut ours = String::new();
            Json::new(text.as_bytes()).string(&mut ours).unwrap();
            assert_eq!(ours, serde_json::from_str::<String>(text).unwrap());
        }
    }

    #[test]
    fn a_text_that_nests_without_end_is_refused() {
        assert!(accepts(
            "[".repeat(60)
                .as_bytes()
                .iter()
                .copied()
                .chain("]".repeat(60).bytes())
                .collect::<Vec<_>>()
                .as_slice()
        ));
        assert!(!accepts("[".repeat(1_000_000).as_bytes()));
    }
}
