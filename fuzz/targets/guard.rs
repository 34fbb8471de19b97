//! Headers from anybody: nobody gets in without the token, and no page of another site does.
//!
//! The first line is a link's token, further ones are headers; `GET` alone in a line asks to read.
#![no_main]

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use libfuzzer_sys::fuzz_target;
use serve::{Guard, Token};

const TOKEN: &str = "0123456789abcdef";

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let link = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (mut headers, mut method) = (HeaderMap::new(), Method::POST);
    for line in lines {
        if line == b"GET" {
            method = Method::GET;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }

    let guarded = Guard::new(Some(Token::new(TOKEN).expect("it is long enough")));
    assert!(guarded.redeem(&link).is_none(), "nobody knows a link that was never made");
    let knows = headers
        .values()
        .any(|value| value.as_bytes().windows(TOKEN.len()).any(|some| some == TOKEN.as_bytes()));
    assert!(knows || guarded.check_token(&headers).is_err());

    let open = Guard::new(None);
    assert!(open.check_token(&headers).is_ok());
    if open.check_site(&method, &headers).is_ok() {
        let text = |name| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
        let host = text(HOST).to_ascii_lowercase();
        let name = ["localhost", "127.0.0.1", "[127.0.0.1]", "[::1]", "[localhost]"]
            .iter()
            .find_map(|name| host.strip_prefix(name.as_bytes()))
            .expect("only this machine is answered");
        assert!(name.is_empty() || name[0] == b':' && name[1..].iter().all(u8::is_ascii_digit));
        let origin = text(ORIGIN).to_ascii_lowercase();
        assert!(!headers.contains_key(ORIGIN) || method == Method::GET || origin.ends_with(&host));
    }
});
