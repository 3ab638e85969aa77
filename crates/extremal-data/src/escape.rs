//! Escaping of text, so that it fits on one line. Each text has exactly one escaped form.

/// Appends `text` to `out`, with a backslash escape for each control character and each backslash. If
/// `equals` is set, `=` is escaped too.
pub(crate) fn escape(text: &str, equals: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '=' if equals => out.push_str("\\="),
            c if c.is_control() => out.push_str(&format!("\\u{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// The inverse of [`escape`]. A line that [`escape`] can't write gives `None`.
pub(crate) fn unescape(line: &str, equals: bool) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '\\' => '\\',
                '=' => '=',
                'u' => {
                    let digits: String = chars.by_ref().take(2).collect();
                    char::from(u8::from_str_radix(&digits, 16).ok()?)
                }
                _ => return None,
            }),
            c => out.push(c),
        }
    }
    let mut again = String::with_capacity(line.len());
    escape(&out, equals, &mut again);
    (again == line).then_some(out)
}
