//! A store on another machine: what goes over the line comes back, and so do the other side's errors.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use store::{Entry, Remote, Store, StoreError};

/// The other side, in memory.
#[derive(Debug, Default)]
struct Shelf {
    things: Mutex<BTreeMap<String, Bytes>>,
    /// Whether the line is torn.
    torn: bool,
}

impl Shelf {
    fn look<T>(
        &self,
        see: impl FnOnce(&mut BTreeMap<String, Bytes>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.torn {
            return Err(io::Error::new(io::ErrorKind::ConnectionReset, "the line is torn"));
        }
        see(&mut self.things.lock().expect("nobody panics while holding it"))
    }
}

fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Remote for Shelf {
    fn get(&self, path: &str, offset: u64) -> io::Result<(u64, Box<dyn Read + Send>)> {
        let bytes = self.look(|things| things.get(path).cloned().ok_or_else(absent))?;
        let (size, offset) =
            (bytes.len(), usize::try_from(offset).expect("no thing here is that long"));
        if offset > size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((size as u64, Box::new(io::Cursor::new(bytes.slice(offset..)))))
    }

    fn put(&self, path: &str, bytes: Bytes, new: bool) -> io::Result<()> {
        self.look(|things| {
            if path.starts_with("full") {
                return Err(io::ErrorKind::StorageFull.into());
            }
            if path.starts_with("closed") {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            if new && things.contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            things.insert(path.to_owned(), bytes);
            Ok(())
        })
    }

    fn list(&self, prefix: &str) -> io::Result<Vec<Entry>> {
        let below = |path: &str| prefix.is_empty() || path.starts_with(&format!("{prefix}/"));
        let entry = |(path, bytes): (&String, &Bytes)| {
            below(path).then(|| Entry { path: path.clone(), size: bytes.len() as u64 })
        };
        // In no order that anybody may rely on.
        self.look(|things| Ok(things.iter().rev().filter_map(entry).collect()))
    }

    fn delete(&self, path: &str) -> io::Result<()> {
        self.look(|things| things.remove(path).map(drop).ok_or_else(absent))
    }

    fn size(&self, path: &str) -> io::Result<u64> {
        self.look(|things| things.get(path).map(|bytes| bytes.len() as u64).ok_or_else(absent))
    }
}

fn store() -> Store {
    Store::remote("the driver's folder", Arc::new(Shelf::default()))
}

#[test]
fn what_is_put_is_got() {
    let store = store();
    assert_eq!(store.place(), "the driver's folder");
    store.put("a/b.bin", &b"one"[..]).unwrap();
    store.put("a/b.bin", &b"second"[..]).unwrap();
    assert_eq!(store.get("a/b.bin", 6).unwrap(), &b"second"[..]);
    assert_eq!(store.get_range("a/b.bin", 1..4).unwrap(), &b"eco"[..]);
    assert_eq!(store.size("a/b.bin").unwrap(), 6);
    assert!(store.exists("a/b.bin").unwrap() && !store.exists("a/c").unwrap());
    let mut reader = store.reader("a/b.bin", 4).unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), reader.size()), ("nd", Some(6)));
}

#[test]
fn a_clone_is_the_same_store() {
    let store = store();
    store.clone().put("a", &b"1"[..]).unwrap();
    assert_eq!(store.get("a", 1).unwrap(), &b"1"[..]);
}

#[test]
fn things_are_listed_in_order_and_removed() {
    let store = store();
    for path in ["b", "a/2", "a/1/x", "ab/3"] {
        store.put(path, path.to_owned()).unwrap();
    }
    let paths = |prefix: &str| -> Vec<String> {
        store.list(prefix).unwrap().into_iter().map(|entry| entry.path).collect()
    };
    assert_eq!(paths(""), ["a/1/x", "a/2", "ab/3", "b"]);
    assert_eq!(paths("a/"), ["a/1/x", "a/2"]);
    assert_eq!(paths("a"), paths("a/"));
    assert!(paths("nothing").is_empty());
    assert_eq!(store.list("b").unwrap(), []);
    assert_eq!(store.list("a/1").unwrap(), [Entry { path: "a/1/x".into(), size: 5 }]);
    store.delete("a/2").unwrap();
    assert_eq!(paths("a"), ["a/1/x"]);
    assert!(matches!(store.delete("a/2"), Err(StoreError::NotFound { .. })));
}

#[test]
fn a_name_is_given_once() {
    let store = store();
    store.put_new("m", &b"first"[..]).unwrap();
    let again = store.put_new("m", &b"other"[..]).unwrap_err();
    assert_eq!(
        again.to_string(),
        "m already exists in the driver's folder; published things are never replaced"
    );
    assert_eq!(store.get("m", 10).unwrap(), &b"first"[..]);
}

#[test]
fn errors_of_the_other_side_say_what_to_do() {
    let store = store();
    let missing = store.get("n", 10).unwrap_err().to_string();
    assert_eq!(missing, "n does not exist in the driver's folder");
    assert!(matches!(store.size("n"), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.reader("n", 0), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.put("full", "x"), Err(StoreError::Full { .. })));
    assert!(matches!(store.put_new("closed", "x"), Err(StoreError::Denied { .. })));
    store.put("m", &b"first"[..]).unwrap();
    assert!(matches!(store.get("m", 4), Err(StoreError::TooLarge { limit: 4, .. })));
    assert!(store.get_range("m", 3..6).is_err());
    assert!(store.reader("m", 6).is_err());
}

#[test]
fn a_torn_line_is_not_an_absent_thing() {
    let torn = Store::remote("far away", Arc::new(Shelf { torn: true, ..Shelf::default() }));
    for error in [
        torn.get("a", 10).map(drop),
        torn.put("a", "x"),
        torn.list("").map(drop),
        torn.delete("a"),
        torn.exists("a").map(drop),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::Io { .. }), "{error}");
        assert!(error.to_string().ends_with("in far away: the line is torn"), "{error}");
    }
}

#[test]
fn paths_stay_inside() {
    let shelf = Arc::new(Shelf::default());
    let store = Store::remote("far away", shelf.clone());
    for path in ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/", "x#1"] {
        let bad = |result: Result<(), StoreError>| {
            assert!(matches!(result, Err(StoreError::BadPath { .. })), "`{path}`");
        };
        bad(store.put(path, "x"));
        bad(store.put_new(path, "x"));
        bad(store.get(path, 1).map(drop));
        bad(store.size(path).map(drop));
        bad(store.delete(path));
    }
    assert!(shelf.things.lock().unwrap().is_empty(), "the other side was not even asked");
}
