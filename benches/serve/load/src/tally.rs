//! What came of the requests.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::connection::{Answer, Failure};

/// A request sent this long after its moment found no free connection.
const LATE: Duration = Duration::from_millis(5);
/// Failures told one by one; more are only counted.
const MAX_TOLD: usize = 1000;

/// When a request was planned for, was sent and had its end, since the start.
pub struct Moment {
    pub intended: Duration,
    pub sent: Duration,
    pub sent_unix: Duration,
    pub ended: Duration,
    pub reused: bool,
}

#[derive(Default)]
pub struct Tally {
    pub planned: u64,
    pub sent: u64,
    late: u64,
    /// Good answers that came within the time that counts, whenever they were asked for.
    good: u64,
    overdue: u64,
    statuses: BTreeMap<u16, u64>,
    failures: BTreeMap<Failure, u64>,
    told: Vec<String>,
    /// Seconds from the planned moment to the good answer, of requests planned for the time that counts.
    latencies: Vec<f64>,
    /// By number of the body and answer.
    answers: BTreeMap<(usize, Vec<u8>), u64>,
}

impl Tally {
    pub fn count(
        &mut self,
        given: &Arguments,
        body: usize,
        moment: &Moment,
        outcome: Result<Answer, Failure>,
    ) {
        self.sent += 1;
        self.late += u64::from(moment.sent > moment.intended + LATE);
        match outcome {
            Ok(answer) => {
                *self.statuses.entry(answer.status).or_default() += 1;
                if answer.status == 200 {
                    self.count_good(given, moment);
                }
                if given.answers.is_some() {
                    *self.answers.entry((body, answer.body)).or_default() += 1;
                }
            }
            Err(failure) => {
                *self.failures.entry(failure).or_default() += 1;
                let sent = moment.sent_unix.as_secs_f64();
                self.told.push(format!(
                    r#"{{"what": "{failure:?}", "sent": {sent:.6}, "reused": {}}}"#,
                    moment.reused
                ));
                self.told.truncate(MAX_TOLD);
            }
        }
    }

    fn count_good(&mut self, given: &Arguments, moment: &Moment) {
        let took = moment.ended.saturating_sub(moment.intended);
        if took > given.deadline {
            self.overdue += 1;
        } else if (given.settle..given.seconds).contains(&moment.ended) {
            self.good += 1;
        }
        if moment.intended >= given.settle {
            self.latencies.push(took.as_secs_f64());
        }
    }

    pub fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.late += other.late;
        self.good += other.good;
        self.overdue += other.overdue;
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        for (failure, count) in other.failures {
            *self.failures.entry(failure).or_default() += count;
        }
        self.told.extend(other.told);
        self.told.truncate(MAX_TOLD);
        self.latencies.extend(other.latencies);
        for (answer, count) in other.answers {
            *self.answers.entry(answer).or_default() += count;
        }
    }

    pub fn as_json(&self, given: &Arguments) -> String {
        let mut sorted = self.latencies.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            sorted
                .get((share * sorted.len() as f64) as usize)
                .or(sorted.last())
                .copied()
                .unwrap_or(0.0)
        };
        let seconds = given.seconds.saturating_sub(given.settle).as_secs_f64();
        let statuses =
            joined(self.statuses.iter().map(|(status, count)| format!(r#""{status}": {count}"#)));
        let failures = joined(
            self.failures.iter().map(|(failure, count)| format!(r#""{failure:?}": {count}"#)),
        );
        format!(
            r#"{{"planned": {}, "sent": {}, "late": {}, "goodput": {:.3}, "overdue": {}, "statuses": {{{statuses}}}, "failures": {{{failures}}}, "p50": {:.6}, "p99": {:.6}, "max": {:.6}, "told": [{}]}}"#,
            self.planned,
            self.sent,
            self.late,
            self.good as f64 / seconds,
            self.overdue,
            at(0.5),
            at(0.99),
            at(1.0),
            joined(self.told.iter().cloned()),
        )
    }

    /// The body's number, how often, and the answer itself, which is JSON in one line.
    pub fn answers_as_lines(&self) -> String {
        let mut lines = String::new();
        for ((body, answer), count) in &self.answers {
            let _ =
                writeln!(lines, "{body}\t{count}\t{}", String::from_utf8_lossy(answer).trim_end());
        }
        lines
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
