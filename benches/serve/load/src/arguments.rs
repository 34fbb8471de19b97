//! The command line.

use std::net::SocketAddr;
use std::time::Duration;

pub const USAGE: &str = "usage: trainyard-load ADDRESS PATH CONTENT_TYPE BODIES [OPTION VALUE]...

  ADDRESS       127.0.0.1:8080
  BODIES        a file that holds, for each body, a line with its length and then the body
  --rate R      requests a second; without it each connection sends as soon as it has its answer
  --arrivals A  poisson (the default) or constant
  --seconds S   how long requests are sent (default 5)
  --settle S    what is left out of the results at the beginning (default 1)
  --connections N  (default 256)
  --deadline S  an answer later than this is no longer good (default 1)
  --seed N      of the arrivals (default 0)
  --answers F   writes every different answer with its body's number and how often it came";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    Poisson,
    Constant,
}

pub struct Arguments {
    pub address: SocketAddr,
    /// Whole requests, ready to be sent.
    pub requests: Vec<Vec<u8>>,
    pub rate: Option<f64>,
    pub spacing: Spacing,
    pub seconds: Duration,
    pub settle: Duration,
    pub connections: usize,
    pub deadline: Duration,
    pub seed: u64,
    pub answers: Option<String>,
}

impl Arguments {
    pub fn parse(given: impl Iterator<Item = String>) -> Result<Self, String> {
        let given: Vec<String> = given.collect();
        let [address, path, kind, bodies, options @ ..] = given.as_slice() else {
            return Err(USAGE.into());
        };
        let file =
            std::fs::read(bodies).map_err(|problem| format!("cannot read {bodies}: {problem}"))?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {kind}\r\nAccept: application/json\r\n"
        );
        let mut parsed = Self {
            address: number(address, "ADDRESS")?,
            requests: requests(&head, &file)
                .ok_or_else(|| format!("{bodies} is not a file of bodies"))?,
            rate: None,
            spacing: Spacing::Poisson,
            seconds: Duration::from_secs(5),
            settle: Duration::from_secs(1),
            connections: 256,
            deadline: Duration::from_secs(1),
            seed: 0,
            answers: None,
        };
        for option in options.chunks(2) {
            let [name, value] = option else {
                return Err(format!("{} lacks a value\n\n{USAGE}", option[0]));
            };
            parsed.set(name, value)?;
        }
        Ok(parsed)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--rate" => self.rate = Some(number(value, name)?),
            "--arrivals" => {
                self.spacing = match value {
                    "poisson" => Spacing::Poisson,
                    "constant" => Spacing::Constant,
                    _ => return Err(format!("--arrivals is poisson or constant, not {value}")),
                }
            }
            "--seconds" => self.seconds = seconds(value, name)?,
            "--settle" => self.settle = seconds(value, name)?,
            "--connections" => self.connections = number(value, name)?,
            "--deadline" => self.deadline = seconds(value, name)?,
            "--seed" => self.seed = number(value, name)?,
            "--answers" => self.answers = Some(value.into()),
            _ => return Err(format!("there is no {name}\n\n{USAGE}")),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(value: &str, name: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} cannot be {value}"))
}

fn seconds(value: &str, name: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(value, name)?)
        .map_err(|_| format!("{name} cannot be {value}"))
}

/// The bodies of the file behind their heads; none where it is cut short or empty.
fn requests(head: &str, mut file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut found = vec![];
    while !file.is_empty() {
        let end = file.iter().position(|&byte| byte == b'\n')?;
        let length: usize = std::str::from_utf8(&file[..end]).ok()?.parse().ok()?;
        let body = file.get(end + 1..end + 1 + length)?;
        let mut request = format!("{head}Content-Length: {length}\r\n\r\n").into_bytes();
        request.extend_from_slice(body);
        found.push(request);
        file = &file[end + 1 + length..];
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_told_by_their_lengths() {
        let found = requests("H\r\n", b"2\na\n3\nxyz").unwrap();
        assert_eq!(
            found,
            [
                b"H\r\nContent-Length: 2\r\n\r\na\n".to_vec(),
                b"H\r\nContent-Length: 3\r\n\r\nxyz".to_vec()
            ]
        );
        assert_eq!(requests("", b"4\nxyz"), None);
        assert_eq!(requests("", b""), None);
    }
}
