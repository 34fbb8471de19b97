//! The name that was meant.

/// The known name most like a wrong one, if any is like it at all.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong, and at least one.
    let allowed = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Letters to change, add, drop or swap; case, dashes and underscores do not count.
fn distance(a: &str, b: &str) -> usize {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    strsim::osa_distance(&plain(a), &plain(b))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typing_errors_find_their_name() {
        let fields = ["epochs", "steps", "batch", "learning_rate"];
        assert_eq!(nearest("epohcs", fields), Some("epochs"));
        assert_eq!(nearest("learningRate", fields), Some("learning_rate"));
        assert_eq!(nearest("step", fields), Some("steps"));
        assert_eq!(nearest("colour", fields), None);
        assert_eq!(nearest("", fields), None);
    }
}
