//! Fetching from a small server on this machine that can cut, refuse and lie.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::{TempDir, tempdir};

use super::*;
use crate::idx;
use crate::known::Expected;

/// What the server does with a request for a file.
#[derive(Clone)]
pub(super) enum Answer {
    /// Serves it, ranges too.
    Whole(Vec<u8>),
    /// Serves it from the start whatever is asked.
    NoRanges(Vec<u8>),
    /// Breaks off after so many bytes, every time.
    Cut(Vec<u8>, usize),
    /// Says 503.
    Busy,
}

/// Files by name; everything else is 404. Requests are written down as `name from-byte`.
pub(super) struct Server {
    pub(super) url: String,
    files: Arc<Mutex<BTreeMap<String, Answer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn start(files: impl IntoIterator<Item = (String, Answer)>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            url: format!("http://{}/data", listener.local_addr().unwrap()),
            files: Arc::new(Mutex::new(files.into_iter().collect())),
            requests: Arc::default(),
        };
        let (files, requests) = (Arc::clone(&server.files), Arc::clone(&server.requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (name, from) = request(&stream);
                requests.lock().unwrap().push(format!("{name} {from}"));
                let answer = files.lock().unwrap().get(&name).cloned();
                let _ = respond(stream, answer, from);
            }
        });
        server
    }

    pub(super) fn set(&self, name: &str, answer: Answer) {
        self.files.lock().unwrap().insert(name.to_owned(), answer);
    }

    /// How often a file was asked for since the last look.
    pub(super) fn count(&self, name: &str) -> usize {
        let requests = self.requests();
        requests.iter().filter(|request| request.split(' ').next() == Some(name)).count()
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

/// The file asked for and the byte to begin with.
fn request(stream: &TcpStream) -> (String, usize) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default();
    let name = path.trim_start_matches("/data/").to_owned();
    let from = lines
        .take_while(|line| !line.is_empty())
        .find_map(|line| {
            let line = line.to_ascii_lowercase();
            let range = line.strip_prefix("range: bytes=")?;
            range.split('-').next()?.parse().ok()
        })
        .unwrap_or(0);
    (name, from)
}

fn respond(mut stream: TcpStream, answer: Option<Answer>, from: usize) -> io::Result<()> {
    let (bytes, cut, ranges) = match answer {
        None => {
            return write!(
                stream,
                "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        }
        Some(Answer::Busy) => {
            return write!(
                stream,
                "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        }
        Some(Answer::Whole(bytes)) => (bytes, usize::MAX, true),
        Some(Answer::NoRanges(bytes)) => (bytes, usize::MAX, false),
        Some(Answer::Cut(bytes, cut)) => (bytes, cut, true),
    };
    let total = bytes.len();
    let head = match from {
        from if from > 0 && ranges && from >= total => {
            return write!(
                stream,
                "HTTP/1.1 416 Range\r\ncontent-range: bytes */{total}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        }
        from if from > 0 && ranges => {
            format!("206 Partial\r\ncontent-range: bytes {from}-{}/{total}", total - 1)
        }
        _ => "200 OK".to_owned(),
    };
    let body = if ranges { &bytes[from..] } else { &bytes[..] };
    write!(
        stream,
        "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body[..body.len().min(cut)])
}

/// A small dataset in MNIST's form: what is known of it, and its files.
struct Scene {
    known: &'static Known,
    files: BTreeMap<String, Vec<u8>>,
    cache: TempDir,
}

fn split_files(split: &str, samples: usize, seed: u64) -> ([(String, Vec<u8>); 2], Expected) {
    let whole = Samples::synthetic(&[28, 28, 1], 10, samples, seed);
    let crate::Values::U8(pixels) = &whole.x else { panic!("synthetic samples are bytes") };
    let labels: Vec<u8> = whole.y.iter().map(|&label| label as u8).collect();
    let expected = Expected { samples, sha256: whole.sha256().leak() };
    let files = [
        (format!("{split}-images-idx3-ubyte"), idx::write(&[samples, 28, 28], pixels)),
        (format!("{split}-labels-idx1-ubyte"), idx::write(&[samples], &labels)),
    ];
    (files, expected)
}

impl Scene {
    fn new() -> Scene {
        let (train_files, train) = split_files("train", 300, 1);
        let (test_files, test) = split_files("t10k", 50, 2);
        Scene {
            known: Box::leak(Box::new(Known {
                name: "small",
                homes: &[],
                train,
                test,
                labels: [""; 10],
            })),
            files: train_files.into_iter().chain(test_files).collect(),
            cache: tempdir().unwrap(),
        }
    }

    /// A server that has all files, plain.
    fn server(&self) -> Server {
        let files = self.files.clone().into_iter();
        Server::start(files.map(|(name, bytes)| (name, Answer::Whole(bytes))))
    }

    fn load(&self, mirror: &str) -> Result<Pair> {
        self.load_with(mirror, false)
    }

    fn load_with(&self, mirror: &str, offline: bool) -> Result<Pair> {
        let places = Places { cache: self.cache.path().to_owned(), offline };
        load(self.known, Some(mirror), &places, &mut |_| {})
    }

    fn folder(&self) -> PathBuf {
        self.cache.path().join("datasets/small")
    }

    fn images(&self) -> Vec<u8> {
        self.files[FILES[0]].clone()
    }
}

#[test]
fn files_are_fetched_once_checked_and_cached() {
    let scene = Scene::new();
    let server = scene.server();
    let (train, test) = scene.load(&server.url).unwrap();
    assert_eq!((train.len(), test.unwrap().len()), (300, 50));
    assert!(server.requests().contains(&"train-images-idx3-ubyte 0".to_owned()));
    scene.load(&server.url).unwrap();
    scene.load_with("http://127.0.0.1:1/", true).unwrap();
    assert_eq!(server.requests(), [""; 0]);
    let left: Vec<_> = fs::read_dir(scene.folder()).unwrap().collect();
    assert_eq!(left.len(), 5, "four files and the lock");
}

#[test]
fn a_cut_download_goes_on_where_it_was() {
    let scene = Scene::new();
    let server = scene.server();
    // A process that was killed left the beginning.
    fs::create_dir_all(scene.folder()).unwrap();
    fs::write(scene.folder().join("train-images-idx3-ubyte.part"), &scene.images()[..1000])
        .unwrap();
    let mut first = None;
    let places = Places { cache: scene.cache.path().to_owned(), offline: false };
    let mut watch = |progress: Progress<'_>| {
        if let Progress::Fetching { file: "train-images-idx3-ubyte", done, total } = progress {
            first.get_or_insert((done, total));
        }
    };
    load(scene.known, Some(&server.url), &places, &mut watch).unwrap();
    assert_eq!(first, Some((1000, Some(scene.images().len() as u64))));
    assert!(server.requests().contains(&"train-images-idx3-ubyte 1000".to_owned()));
}

#[test]
fn connections_that_break_are_taken_up_again() {
    let scene = Scene::new();
    let server = scene.server();
    server.set(FILES[0], Answer::Cut(scene.images(), 50_000));
    scene.load(&server.url).unwrap();
    assert_eq!(server.count(FILES[0]), scene.images().len().div_ceil(50_000));
}

#[test]
fn a_server_without_ranges_will_do() {
    let scene = Scene::new();
    let server = scene.server();
    server.set(FILES[0], Answer::NoRanges(scene.images()));
    fs::create_dir_all(scene.folder()).unwrap();
    fs::write(scene.folder().join("train-images-idx3-ubyte.part"), &scene.images()[..1000])
        .unwrap();
    scene.load(&server.url).unwrap();
}

#[test]
fn leftovers_of_something_else_are_thrown_away() {
    let scene = Scene::new();
    let server = scene.server();
    fs::create_dir_all(scene.folder()).unwrap();
    // Longer than the file, wrong in the middle, and a finished file that is wrong.
    fs::write(scene.folder().join("train-images-idx3-ubyte.part"), vec![1; 1 << 20]).unwrap();
    fs::write(scene.folder().join("train-labels-idx1-ubyte.part"), [9; 100]).unwrap();
    fs::write(scene.folder().join("t10k-labels-idx1-ubyte"), b"garbage").unwrap();
    scene.load(&server.url).unwrap();
}

#[test]
fn what_was_downloaded_stays_when_the_server_is_away() {
    let scene = Scene::new();
    fs::create_dir_all(scene.folder()).unwrap();
    let part = scene.folder().join("train-images-idx3-ubyte.gz.part");
    fs::write(&part, [0; 1000]).unwrap();
    scene.load("http://127.0.0.1:1/").unwrap_err();
    assert_eq!(fs::metadata(part).unwrap().len(), 1000);
}

#[test]
fn wrong_samples_are_never_accepted() {
    let scene = Scene::new();
    let server = scene.server();
    let mut wrong = scene.images();
    wrong[5000] ^= 1;
    server.set(FILES[0], Answer::Whole(wrong));
    let error = scene.load(&server.url).unwrap_err().to_string();
    assert!(error.contains("does not hold the 300 training samples of small"), "{error}");
    assert!(error.contains("set `data.mirror`"), "{error}");
    assert!(!scene.folder().join(FILES[0]).exists());
    // The same server, mended.
    server.set(FILES[0], Answer::Whole(scene.images()));
    scene.load(&server.url).unwrap();
}

#[test]
fn what_cannot_be_had_says_how_to_get_it() {
    let scene = Scene::new();
    let hint = "or use `mnist-sample`, which needs no download";
    let offline = scene.load_with("http://127.0.0.1:1/", true).unwrap_err().to_string();
    assert!(offline.contains("fetching is switched off") && offline.contains(hint), "{offline}");

    let server = scene.server();
    server.files.lock().unwrap().remove(FILES[3]);
    let absent = scene.load(&server.url).unwrap_err().to_string();
    assert!(absent.contains("t10k-labels-idx1-ubyte does not exist"), "{absent}");
    assert_eq!(server.count(FILES[3]), 1);

    server.set(FILES[3], Answer::Busy);
    let busy = scene.load(&server.url).unwrap_err().to_string();
    assert!(busy.contains("503") && busy.contains(hint), "{busy}");

    let refused = Scene::new().load("http://127.0.0.1:1/x").unwrap_err().to_string();
    assert!(refused.contains("http://127.0.0.1:1/x") && refused.contains(hint), "{refused}");
}

#[test]
fn the_second_home_is_tried_when_the_first_fails() {
    let scene = Scene::new();
    let server = scene.server();
    let known = Known {
        name: "small",
        homes: vec!["http://127.0.0.1:1/gone", server.url.clone().leak()].leak(),
        train: split_files("train", 300, 1).1,
        test: split_files("t10k", 50, 2).1,
        labels: [""; 10],
    };
    let places = Places { cache: scene.cache.path().to_owned(), offline: false };
    load(&known, None, &places, &mut |_| {}).unwrap();
}

#[test]
fn a_folder_is_read_where_it_lies() {
    let scene = Scene::new();
    let mirror = tempdir().unwrap();
    let path = mirror.path().display().to_string();
    let error = scene.load(&path).unwrap_err().to_string();
    assert!(error.contains("has no train-images-idx3-ubyte (or .gz)"), "{error}");
    for (name, bytes) in &scene.files {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        fs::write(mirror.path().join(format!("{name}.gz")), gzip.finish().unwrap()).unwrap();
    }
    scene.load_with(&path, true).unwrap();
    scene.load_with(&format!("file://{path}"), true).unwrap();
    assert!(!scene.folder().exists());
}

#[test]
fn two_at_once_fetch_once() {
    let scene = Arc::new(Scene::new());
    let server = scene.server();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (scene, url) = (Arc::clone(&scene), server.url.clone());
            thread::spawn(move || scene.load(&url).map(|_| ()))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
    assert_eq!(server.count(FILES[0]), 1);
}
