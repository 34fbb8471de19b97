//! Who may ask.
//!
//! On this machine alone, everybody who can reach it may; but a page of another site may not ask in a visitor's name, so
//! that the name of the host and the origin of what changes something are checked. Beyond this machine a token is
//! asked for, as a header of programs; people come by a link that is good once, and get a cookie.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// A secret that whoever asks must know.
#[derive(Clone)]
pub struct Token(String);

/// The fewest characters of a token that is not easily guessed.
const SHORTEST: usize = 16;

impl Token {
    /// A token that somebody chose.
    pub fn new(text: &str) -> Result<Token, String> {
        let text = text.trim();
        let fits = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        match fits {
            true => Ok(Token(text.to_owned())),
            false => Err(format!("a token has at least {SHORTEST} letters, digits and signs")),
        }
    }

    /// A token that nobody can guess.
    pub fn fresh() -> Token {
        let mut bytes = [0; 16];
        SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
        Token(store::hex(&bytes))
    }

    /// The token itself, to be written to where only its owner reads.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What follows from the token and does not tell it: the same in all servers that have it.
    fn derived(&self) -> Token {
        Token(store::hex(&Sha256::digest(format!("cookie of {}", self.0))[..16]))
    }

    /// Whether something is this token; how long that takes tells nothing of it.
    fn is(&self, other: &str) -> bool {
        Sha256::digest(&self.0) == Sha256::digest(other)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Checks every request before anything else is done with it.
pub struct Guard {
    token: Option<Token>,
    /// What a browser shows that came by a link, to this server or to one that took its place.
    cookie: Token,
    /// The links that were not used yet.
    links: Mutex<Vec<Token>>,
}

/// The cookie's name.
const NAME: &str = "trainyard";

/// Links that may wait to be used; the oldest is forgotten.
const MOST_LINKS: usize = 16;

impl Guard {
    /// A guard who asks for a token, or lets this machine alone in.
    pub fn new(token: Option<Token>) -> Guard {
        let cookie = token.as_ref().map_or_else(Token::fresh, Token::derived);
        Guard { token, cookie, links: Mutex::default() }
    }

    pub(crate) fn asks_for_a_token(&self) -> bool {
        self.token.is_some()
    }

    /// What makes the next link, good once.
    pub(crate) fn link(&self) -> Token {
        let token = Token::fresh();
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() == MOST_LINKS {
            links.remove(0);
        }
        links.push(token.clone());
        token
    }

    /// The cookie for somebody who came by a link, which is used up by that.
    pub fn redeem(&self, found: &str) -> Option<String> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let place = links.iter().position(|link| link.is(found))?;
        links.remove(place);
        let value = self.cookie.reveal();
        Some(format!("{NAME}={value}; Path=/; HttpOnly; SameSite=Strict"))
    }

    /// Refuses requests that a page of another site could have made.
    pub fn check_site(&self, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        // With a token, a stranger's page has nothing to show; without one, names lead here that are not ours.
        if self.token.is_none() && !is_loopback(host) {
            let sentence =
                "This server answers to localhost only; --host and --token-file open it to others.";
            return Err(Problem::new(StatusCode::FORBIDDEN, sentence));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        let ours =
            origin.split_once("://").is_some_and(|(_, site)| site.eq_ignore_ascii_case(host));
        if matches!(*method, Method::GET | Method::HEAD) || ours {
            return Ok(());
        }
        let sentence = "The request comes from a page of another site.";
        Err(Problem::new(StatusCode::FORBIDDEN, sentence))
    }

    /// Refuses who does not know the token.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else { return Ok(()) };
        let text = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let bearer = text(AUTHORIZATION).find_map(|value| {
            let (scheme, found) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| found.trim())
        });
        let mut cookies = text(COOKIE).flat_map(|value| value.split(';'));
        let cookie = cookies.find_map(|cookie| {
            let (name, value) = cookie.trim().split_once('=')?;
            (name == NAME).then_some(value)
        });
        let knows = bearer.is_some_and(|found| token.is(found))
            || cookie.is_some_and(|found| self.cookie.is(found));
        let sentence = "A token is needed: send `Authorization: Bearer …`, or open the link that the server printed.";
        if knows { Ok(()) } else { Err(Problem::new(StatusCode::UNAUTHORIZED, sentence)) }
    }
}

/// Whether a `Host` names this machine, whatever the port.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some(found) => found,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_digits);
    is_port && (name.eq_ignore_ascii_case("localhost") || ["127.0.0.1", "::1"].contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&str, &str)]) -> HeaderMap {
        let name = |name: &str| axum::http::HeaderName::try_from(name).unwrap();
        all.iter().map(|(key, value)| (name(key), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_page_of_another_site_may_not_ask() {
        let guard = Guard::new(None);
        let may = |all: &[(&str, &str)]| guard.check_site(&Method::POST, &headers(all)).is_ok();
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:80"] {
            assert!(may(&[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "[::2]",
            "[::1]x",
            "localhost:x",
        ] {
            assert!(!may(&[("host", host)]), "{host}");
        }
        let ours = ("host", "localhost:8080");
        assert!(may(&[ours, ("origin", "http://localhost:8080")]));
        for origin in ["http://evil.example", "null", "http://localhost:8081", "localhost:8080"] {
            assert!(!may(&[ours, ("origin", origin)]), "{origin}");
        }
        let read = headers(&[ours, ("origin", "http://evil.example")]);
        assert!(guard.check_site(&Method::GET, &read).is_ok());
    }

    #[test]
    fn whoever_knows_the_token_may_ask() {
        let guard = Guard::new(Some(Token::new("0123456789abcdef").unwrap()));
        let may = |key, value: &str| guard.check_token(&headers(&[(key, value)])).is_ok();
        assert!(may("authorization", "Bearer 0123456789abcdef"));
        assert!(may("authorization", "bearer  0123456789abcdef"));
        for wrong in ["Bearer 0123456789abcdee", "Basic 0123456789abcdef", "0123456789abcdef", ""] {
            assert!(!may("authorization", wrong), "{wrong}");
        }
        assert!(guard.check_token(&HeaderMap::new()).is_err());
        assert!(Guard::new(None).check_token(&HeaderMap::new()).is_ok());
        assert!(Token::new("short").is_err() && Token::new("0123456789 abcdef").is_err());
    }

    #[test]
    fn a_link_is_good_once_and_becomes_a_cookie() {
        let guard = Guard::new(Some(Token::fresh()));
        let link = guard.link();
        assert_eq!(guard.redeem("other"), None);
        let cookie = guard.redeem(link.reveal()).unwrap();
        assert_eq!(guard.redeem(link.reveal()), None);
        let value = cookie.split(';').next().unwrap();
        let with = |value: &str| guard.check_token(&headers(&[("cookie", value)])).is_ok();
        assert!(with(&format!("a=b; {value}")) && !with("trainyard=other") && !with("a=b"));
        let other = Guard::new(guard.token.clone());
        assert!(other.check_token(&headers(&[("cookie", value)])).is_ok(), "it has the same token");
        let stranger = Guard::new(Some(Token::fresh()));
        assert!(stranger.check_token(&headers(&[("cookie", value)])).is_err());
        let links: Vec<_> = (0..MOST_LINKS + 1).map(|_| guard.link()).collect();
        assert_eq!(guard.redeem(links[0].reveal()), None);
        assert!(guard.redeem(links[MOST_LINKS].reveal()).is_some());
    }
}
