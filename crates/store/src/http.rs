//! Reading from plain file servers over http and https.
//!
//! A download that is cut or stalls goes on where it was, with a `Range` request; a server that
//! answers such a request with the whole file is read from the start and the part already seen is
//! skipped. `If-Range` sees to it that two versions of a file are never joined.
//! `docs/decisions/0002-http-client.md` says why this is not `object_store`'s own http store.

use std::io::{self, Read};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, BodyReader};

use crate::{Reader, Result, StoreError};

/// A folder behind an address.
#[derive(Debug)]
pub(crate) struct Http {
    agent: Agent,
    base: String,
}

/// How long a server may take for each part of its answer. There is no bound on a whole download,
/// as long as bytes arrive.
const CONNECT: Duration = Duration::from_secs(15);
const ANSWER: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(30);

/// How often a download may break in a row without a byte in between.
const ATTEMPTS: u32 = 3;

/// What is written as it is in an address; `/` parts folders.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Http {
    pub(crate) fn new(base: &str) -> Http {
        // ring, the only provider built in, is named through the feature.
        let tls = TlsConfig::builder().root_certs(root_certs()).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_resolve(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_per_read(Some(SILENCE))
            .user_agent(concat!("trainyard/", env!("CARGO_PKG_VERSION")))
            .build();
        Http { agent: config.new_agent(), base: base.trim_end_matches('/').into() }
    }

    pub(crate) fn reader(&self, path: &str, offset: u64, place: &str) -> Result<Reader> {
        let url = self.address(path);
        let mut download = Download {
            agent: self.agent.clone(),
            url: url.clone(),
            body: None,
            position: offset,
            size: None,
            tag: None,
            failures: 0,
        };
        let answer = download.ask().map_err(|error| unreachable(&url, &error))?;
        refusal(answer.status(), path, place, &url)?;
        let accepted = download.accept(answer);
        accepted.map_err(|error| unreachable(&url, &error))?;
        Ok(Reader::http(download))
    }

    pub(crate) fn size(&self, path: &str, place: &str) -> Result<u64> {
        let url = self.address(path);
        let answer = self.agent.head(&url).call();
        let answer = answer.map_err(|error| unreachable(&url, &error))?;
        refusal(answer.status(), path, place, &url)?;
        length(&answer).ok_or_else(|| unreachable(&url, &"the server does not tell the size"))
    }

    fn address(&self, path: &str) -> String {
        format!("{}/{}", self.base, utf8_percent_encode(path, PLAIN))
    }
}

/// Whom we trust: the system's list, to which companies add their own authority, or the list that
/// is built in where the system has none, as in a small image.
fn root_certs() -> RootCerts {
    let system = SYSTEM_CERTS.iter().find_map(|path| std::fs::read(path).ok()).unwrap_or_default();
    let certs: Vec<Certificate<'static>> = parse_pem(&system)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(cert)) => Some(cert),
            _ => None,
        })
        .collect();
    match &certs[..] {
        [] => RootCerts::WebPki,
        certs => RootCerts::new_with_certs(certs),
    }
}

/// Where Debian, Red Hat and Alpine keep their lists.
const SYSTEM_CERTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// A file being read, over as many connections as it takes.
pub(crate) struct Download {
    agent: Agent,
    url: String,
    /// None between a broken connection and the next.
    body: Option<BodyReader<'static>>,
    /// How many bytes of the file have been read or skipped.
    position: u64,
    size: Option<u64>,
    /// What the server calls this version of the file.
    tag: Option<String>,
    /// Breaks since the last byte.
    failures: u32,
}

impl Download {
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    fn ask(&self) -> Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.get(&self.url);
        if self.position > 0 {
            request = request.header(header::RANGE, format!("bytes={}-", self.position));
            if let Some(tag) = &self.tag {
                request = request.header(header::IF_RANGE, tag);
            }
        }
        request.call()
    }

    /// Takes up the file at `position` from an answer of 200, 206 or 416.
    fn accept(&mut self, answer: Response<Body>) -> io::Result<()> {
        let tag = strong_tag(&answer);
        let part = content_range(&answer);
        let size = match answer.status() {
            StatusCode::OK => length(&answer),
            _ => part.and_then(|(_, size)| size),
        };
        let changed = |old: &Option<String>| old.is_some() && *old != tag;
        if changed(&self.tag) || (self.size.is_some() && size.is_some() && self.size != size) {
            return Err(io::Error::other("the file changed while it was being read"));
        }
        let status = answer.status();
        let mut body = answer.into_body().into_reader();
        match status {
            StatusCode::RANGE_NOT_SATISFIABLE if size == Some(self.position) => {}
            StatusCode::PARTIAL_CONTENT if part.map(|(start, _)| start) == Some(self.position) => {}
            StatusCode::OK => skip(&mut body, self.position)?,
            _ => {
                let problem = format!("the server has no byte {}", self.position);
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
        }
        self.size = size.or(self.size);
        self.tag = tag.or(self.tag.take());
        let at_end = status == StatusCode::RANGE_NOT_SATISFIABLE;
        self.body = (!at_end).then_some(body);
        Ok(())
    }

    /// One attempt to read on, over a new connection if the last one broke.
    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.body.is_none() {
            let answer = self.ask().map_err(io::Error::other)?;
            if !answer.status().is_success() {
                return Err(io::Error::other(format!("answered {}", answer.status())));
            }
            self.accept(answer)?;
        }
        let body = self.body.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?;
        let count = body.read(buffer)?;
        if count == 0 && self.size.is_some_and(|size| self.position < size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(count)
    }
}

impl std::fmt::Debug for Download {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Download({} at {})", self.url, self.position)
    }
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.size == Some(self.position) {
            return Ok(0);
        }
        loop {
            match self.try_read(buffer) {
                Ok(count) => {
                    self.position += count as u64;
                    self.failures = 0;
                    return Ok(count);
                }
                Err(error) => {
                    self.body = None;
                    self.failures += 1;
                    if self.failures == ATTEMPTS {
                        let problem = format!("{} broke off: {error}", self.url);
                        return Err(io::Error::new(error.kind(), problem));
                    }
                }
            }
        }
    }
}

fn skip(body: &mut BodyReader<'static>, bytes: u64) -> io::Result<()> {
    match io::copy(&mut body.take(bytes), &mut io::sink())? {
        skipped if skipped < bytes => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// Turns every answer that brings no bytes into an error.
fn refusal(status: StatusCode, path: &str, place: &str, url: &str) -> Result<()> {
    let (path, place) = (path.to_string(), place.to_string());
    match status {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => Ok(()),
        StatusCode::NOT_FOUND | StatusCode::GONE => Err(StoreError::NotFound { path, place }),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(StoreError::Denied { path, place }),
        other => Err(unreachable(url, &format!("the server answered {other}"))),
    }
}

fn unreachable(url: &str, problem: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreachable { url: url.into(), problem: problem.to_string() }
}

fn text(answer: &Response<Body>, name: header::HeaderName) -> Option<&str> {
    answer.headers().get(name)?.to_str().ok()
}

fn length(answer: &Response<Body>) -> Option<u64> {
    text(answer, header::CONTENT_LENGTH)?.parse().ok()
}

/// The ETag, if it promises the same bytes.
fn strong_tag(answer: &Response<Body>) -> Option<String> {
    let tag = text(answer, header::ETAG)?;
    (!tag.starts_with("W/")).then(|| tag.to_string())
}

/// Start and total of `bytes 5-9/10`, or `bytes */10`.
fn content_range(answer: &Response<Body>) -> Option<(u64, Option<u64>)> {
    let (part, total) =
        text(answer, header::CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let start = part.split('-').next()?.parse().unwrap_or(u64::MAX);
    Some((start, total.parse().ok()))
}
