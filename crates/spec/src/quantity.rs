//! Durations and sizes as people write them: `2h`, `1h30m`, `7GiB`, `125Mi`.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::words::shortened;

/// A length of time, written `90s`, `1h30m`, `250ms`. Whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Duration(std::time::Duration);

/// A number of bytes, written `7GiB`, `125Mi`, `64MB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub u64);

/// Why a text is not a quantity. Reads on after the text itself: "`5` has no unit; …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(String);

const TIMES: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// From large to small: a size is printed in the first unit that divides it.
const SIZES: [(&str, u64); 17] = [
    ("TiB", 1 << 40),
    ("Ti", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("T", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("Gi", 1 << 30),
    ("GB", 1_000_000_000),
    ("G", 1_000_000_000),
    ("MiB", 1 << 20),
    ("Mi", 1 << 20),
    ("MB", 1_000_000),
    ("M", 1_000_000),
    ("KiB", 1 << 10),
    ("Ki", 1 << 10),
    ("kB", 1_000),
    ("k", 1_000),
    ("B", 1),
];

impl Duration {
    /// So many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Duration(std::time::Duration::from_millis(millis))
    }

    /// So many seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Duration(std::time::Duration::from_secs(seconds))
    }

    /// As the standard library counts time.
    pub const fn get(self) -> std::time::Duration {
        self.0
    }
}

impl FromStr for Duration {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let mut rest = text.trim();
        let mut millis = 0u64;
        let mut last_scale = u64::MAX;
        if rest.is_empty() {
            return Err(duration_expected(text));
        }
        while !rest.is_empty() {
            let (number, unit, tail) = number_and_unit(rest);
            let scale = TIMES.iter().find(|(name, _)| *name == unit);
            let Some(&(_, scale)) = scale else {
                return Err(duration_expected(text));
            };
            // Units go from large to small, each once, so `30m1h` and `1s1s` are typing errors.
            if scale >= last_scale {
                return Err(duration_expected(text));
            }
            last_scale = scale;
            let part = scaled(number, scale).ok_or_else(|| duration_expected(text))?;
            millis = millis.checked_add(part).ok_or_else(|| duration_expected(text))?;
            rest = tail;
        }
        Ok(Duration::from_millis(millis))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in TIMES {
            if rest >= scale {
                write!(f, "{}{unit}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (number, unit, rest) = number_and_unit(text.trim());
        let scale = SIZES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
            .map(|&(_, scale)| scale)
            .or_else(|| unit.is_empty().then_some(1));
        match scale.and_then(|scale| scaled(number, scale)) {
            Some(bytes) if rest.is_empty() => Ok(Bytes(bytes)),
            _ => Err(QuantityError(format!(
                "expected a size such as `7GiB`, `125Mi` or `64MB`, found `{}`",
                shortened(text)
            ))),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |scale: u64| self.0 >= scale && self.0.is_multiple_of(scale);
        let (unit, scale) = SIZES.into_iter().find(|&(_, scale)| fits(scale)).unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

/// `1.5GiB…` as `1.5`, `GiB` and what follows.
fn number_and_unit(text: &str) -> (&str, &str, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    (number, unit, rest)
}

/// A decimal number times a scale, exactly; `None` when it is no number, too large, or does not
/// come out whole.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.len() > 9 {
        return None;
    }
    let power = 10u64.pow(u32::try_from(fraction.len()).ok()?);
    let fraction: u64 = format!("0{fraction}").parse().ok()?;
    let part = u128::from(fraction) * u128::from(scale);
    if part % u128::from(power) != 0 {
        return None;
    }
    let part = u64::try_from(part / u128::from(power)).ok()?;
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)
}

fn duration_expected(text: &str) -> QuantityError {
    QuantityError(format!(
        "expected a duration such as `90s`, `2h` or `1h30m`, found `{}`",
        shortened(text)
    ))
}

impl TryFrom<String> for Duration {
    type Error = QuantityError;
    fn try_from(text: String) -> Result<Self, QuantityError> {
        text.parse()
    }
}

impl From<Duration> for String {
    fn from(duration: Duration) -> String {
        duration.to_string()
    }
}

impl TryFrom<String> for Bytes {
    type Error = QuantityError;
    fn try_from(text: String) -> Result<Self, QuantityError> {
        text.parse()
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> String {
        bytes.to_string()
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A length of time: `90s`, `2h`, `1h30m`.",
            "type": "string",
            "format": "duration-text",
            "pattern": "^([0-9]+(\\.[0-9]+)?(d|h|m|s|ms))+$"
        })
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of bytes: `7GiB`, `125Mi`, `64MB`.",
            "type": "string",
            "format": "size-text",
            "pattern": "^[0-9]+(\\.[0-9]+)?([KMGTkmgt]i?)?[Bb]?$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_printed() {
        for (text, millis, printed) in [
            ("2h", 7_200_000, "2h"),
            ("90s", 90_000, "1m30s"),
            ("1h30m", 5_400_000, "1h30m"),
            ("250ms", 250, "250ms"),
            ("1.5s", 1_500, "1s500ms"),
            ("2d", 172_800_000, "2d"),
            ("0s", 0, "0s"),
        ] {
            let duration: Duration = text.parse().unwrap();
            assert_eq!(duration, Duration::from_millis(millis));
            assert_eq!(duration.to_string(), printed);
            assert_eq!(printed.parse(), Ok(duration));
        }
    }

    #[test]
    fn what_is_no_duration_says_how_to_write_one() {
        for text in
            ["", "5", "h", "1h1h", "30m1h", "1.s", "-1s", "1 h", "1y", "0.1ms", "9999999999999d"]
        {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.contains("`1h30m`"), "{error}");
        }
    }

    #[test]
    fn sizes_are_read_and_printed() {
        for (text, bytes, printed) in [
            ("7GiB", 7 << 30, "7GiB"),
            ("125Mi", 125 << 20, "125MiB"),
            ("64MB", 64_000_000, "64MB"),
            ("64mb", 64_000_000, "64MB"),
            ("1.5GiB", 3 << 29, "1536MiB"),
            ("1000", 1000, "1kB"),
            ("12B", 12, "12B"),
            ("0", 0, "0B"),
        ] {
            let size: Bytes = text.parse().unwrap();
            assert_eq!(size, Bytes(bytes));
            assert_eq!(size.to_string(), printed);
            assert_eq!(printed.parse(), Ok(size));
        }
        for text in ["", "GiB", "7 GiB", "7GiBs", "-1", "1.2.3M", "99999999999TiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
