//! As much of Markdown as the guide's tests need.

/// The code blocks, each with the last line of text before it.
pub fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let (mut before, mut open) = ("", None::<String>);
    for line in text.lines() {
        match &mut open {
            Some(block) if line == "```" => {
                blocks.push((before, std::mem::take(block)));
                open = None;
            }
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line.starts_with("```") => open = Some(String::new()),
            None if !line.trim().is_empty() => before = line,
            None => {}
        }
    }
    blocks
}

/// The lines that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// Where the links and images lead.
pub fn links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for line in prose(text) {
        for part in line.split("](").skip(1) {
            links.extend(part.split(')').next());
        }
        for attribute in ["src=\"", "srcset=\"", "href=\""] {
            for part in line.split(attribute).skip(1) {
                links.extend(part.split('"').next());
            }
        }
    }
    links
}

/// What the headings are called in links.
pub fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        });
        kept.collect::<String>()
    };
    headings.map(anchor).collect()
}
