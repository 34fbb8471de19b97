//! Lines with a time stamp, for where nobody watches: CI, a pipe, a container's log.

use train::{Event, Kind, describe};

use crate::output;

/// Between two lines of progress, at least.
const PROGRESS_EVERY_MS: u64 = 5_000;

#[derive(Default)]
pub(crate) struct Plain {
    told_progress_ms: u64,
}

impl Plain {
    pub(crate) fn show(&mut self, event: &Event) {
        if matches!(event.kind, Kind::Progress(_) | Kind::Fetching { .. }) {
            if self.told_progress_ms == 0 {
                self.told_progress_ms = event.ms;
            }
            if event.ms < self.told_progress_ms + PROGRESS_EVERY_MS {
                return;
            }
            self.told_progress_ms = event.ms;
        }
        if let Some(line) = describe(event) {
            output::talk(&format!("{} {line}", time(event.ms)));
        }
    }
}

/// Milliseconds since 1970 as `2026-11-15T04:10:21Z`.
pub(crate) fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Days since 1970 as a date. Years are taken to begin in March, so that a leap day is the last of
/// its year; 400 such years have 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // from 1 March of year 0
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(time(1_763_179_821_999), "2025-11-15T04:10:21Z");
        assert_eq!(time(4_107_542_399_000), "2100-02-28T23:59:59Z");
        assert_eq!(time(4_107_542_400_000), "2100-03-01T00:00:00Z");
    }
}
