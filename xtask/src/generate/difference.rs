//! Shows where two texts differ: the lines between what they begin with and what they end with in
//! common.

const SHOWN: usize = 30;

/// Lines of the old text with `-` before them, then those of the new with `+`.
pub(super) fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = common(old.iter(), new.iter());
    let (old, new) = (&old[start..], &new[start..]);
    let end = common(old.iter().rev(), new.iter().rev());
    let removed = shown('-', &old[..old.len() - end]);
    let added = shown('+', &new[..new.len() - end]);
    let mut lines = vec![format!("@@ line {} @@", start + 1)];
    lines.extend(removed.into_iter().chain(added));
    lines.join("\n")
}

fn common<'a>(a: impl Iterator<Item = &'a &'a str>, b: impl Iterator<Item = &'a &'a str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

fn shown(sign: char, lines: &[&str]) -> Vec<String> {
    let mut shown: Vec<String> =
        lines.iter().take(SHOWN).map(|line| format!("{sign} {line}")).collect();
    if lines.len() > SHOWN {
        shown.push(format!("{sign} … and {} more lines", lines.len() - SHOWN));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let shown = difference("a\nb\nc\nd\n", "a\nB\nBB\nc\nd\n");
        assert_eq!(shown, "@@ line 2 @@\n- b\n+ B\n+ BB");
        assert_eq!(difference("a\na\n", "a\n"), "@@ line 2 @@\n- a");
        assert!(difference("", &"x\n".repeat(99)).ends_with("+ … and 69 more lines"));
    }
}
