//! Reading over http, from servers with the habits of real ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use store::{Store, StoreError};

/// How a server behaves.
#[derive(Clone, Copy, Default)]
struct Habits {
    /// It honours `Range`.
    ranges: bool,
    /// It does not say how long its answers are.
    chunked: bool,
    /// It breaks off after this many bytes, each time.
    cut: Option<usize>,
    /// Its file is another one each time.
    changing: bool,
}

/// Serves one file, `/dir/a%20file`, until the test ends. Returns its address and the requests seen.
fn serve(content: &'static [u8], habits: Habits) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, content, habits, &log);
        }
    });
    (format!("http://{address}/dir/"), seen)
}

fn answer(
    mut stream: TcpStream,
    content: &[u8],
    habits: Habits,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut request = String::new();
    let mut lines = BufReader::new(stream.try_clone()?);
    while lines.read_line(&mut request)? > 2 {}
    let mut log = log.lock().expect("no test thread panics with it");
    log.push(request.clone());
    let asked = request.to_lowercase();
    if !asked.contains(" /dir/a%20file ") {
        return stream.write_all(
            b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    }
    let start: Option<usize> = asked
        .split_once("range: bytes=")
        .filter(|_| habits.ranges)
        .and_then(|(_, rest)| rest.split_once('-')?.0.parse().ok());
    let size = content.len();
    let version = if habits.changing { log.len() } else { 0 };
    let mut head = match start {
        Some(start) if start >= size => {
            format!("HTTP/1.1 416 No\r\ncontent-range: bytes */{size}\r\n")
        }
        Some(start) => {
            format!("HTTP/1.1 206 Part\r\ncontent-range: bytes {start}-{}/{size}\r\n", size - 1)
        }
        None => "HTTP/1.1 200 OK\r\n".into(),
    };
    let body = content.get(start.unwrap_or(0)..).unwrap_or_default();
    head += &format!("etag: \"{version}\"\r\nconnection: close\r\n");
    if habits.chunked {
        head += "transfer-encoding: chunked\r\n\r\n";
        write!(stream, "{head}{:x}\r\n", body.len())?;
        stream.write_all(body)?;
        return stream.write_all(b"\r\n0\r\n\r\n");
    }
    write!(stream, "{head}content-length: {}\r\n\r\n", body.len())?;
    if asked.starts_with("head") {
        return Ok(());
    }
    stream.write_all(&body[..habits.cut.unwrap_or(size).min(body.len())])
}

const TEXT: &[u8] = b"0123456789abcdefghij";

fn read_from(store: &Store, offset: u64) -> std::io::Result<String> {
    let mut text = String::new();
    let mut reader = store.reader("a file", offset).expect("the server answers");
    reader.read_to_string(&mut text).map(|_| text)
}

#[test]
fn plain_servers_of_every_kind_are_read() {
    for ranges in [true, false] {
        for chunked in [true, false] {
            let habits = Habits { ranges, chunked, ..Habits::default() };
            let (url, _) = serve(TEXT, habits);
            let store = Store::url(&url).unwrap();
            assert_eq!(store.get("a file", 20).unwrap(), TEXT);
            assert!(matches!(store.get("a file", 19), Err(StoreError::TooLarge { .. })));
            assert_eq!(store.get_range("a file", 3..6).unwrap(), &b"345"[..]);
            assert_eq!(read_from(&store, 15).unwrap(), "fghij");
            assert_eq!(read_from(&store, 20).unwrap(), "");
        }
    }
}

#[test]
fn a_broken_download_goes_on_where_it_was() {
    let habits = Habits { ranges: true, cut: Some(7), ..Habits::default() };
    let (url, seen) = serve(TEXT, habits);
    let store = Store::url(&url).unwrap();
    assert_eq!(store.reader("a file", 0).unwrap().size(), Some(20));
    assert_eq!(read_from(&store, 0).unwrap(), "0123456789abcdefghij");
    let last = seen.lock().unwrap().last().unwrap().to_lowercase();
    assert!(last.contains("range: bytes=14-") && last.contains("if-range: \"0\""), "{last}");
}

#[test]
fn a_download_that_never_gets_on_ends() {
    let (url, seen) = serve(TEXT, Habits { ranges: true, cut: Some(0), ..Habits::default() });
    let error = read_from(&Store::url(&url).unwrap(), 0).unwrap_err();
    assert!(error.to_string().contains("broke off"), "{error}");
    assert_eq!(seen.lock().unwrap().len(), 3);
}

#[test]
fn two_versions_are_never_joined() {
    let habits = Habits { ranges: true, cut: Some(7), changing: true, ..Habits::default() };
    let (url, _) = serve(TEXT, habits);
    let error = read_from(&Store::url(&url).unwrap(), 0).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
}

#[test]
fn errors_are_told_apart() {
    let (url, _) = serve(TEXT, Habits { ranges: true, ..Habits::default() });
    let store = Store::url(&url).unwrap();
    assert_eq!(store.size("a file").unwrap(), 20);
    assert!(!store.exists("other").unwrap());
    let missing = store.get("other", 9).unwrap_err();
    assert!(matches!(missing, StoreError::NotFound { .. }), "{missing}");
    let outside = store.get("../other", 9).unwrap_err();
    assert!(matches!(outside, StoreError::BadPath { .. }), "{outside}");
    for refused in [store.put("x", vec![1]), store.delete("x"), store.list("").map(drop)] {
        assert!(matches!(refused, Err(StoreError::ReadOnly { .. })));
    }
    // A server that does not speak TLS: refused in order, with the built-in provider.
    let secure = Store::url(&url.replace("http:", "https:")).unwrap();
    let error = secure.get("a file", 99).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = Store::url(&format!("http://{free}/")).unwrap();
    let error = nobody.get("x", 9).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
}
