use std::fs;
use std::io::Read;

use store::{Store, StoreError, publish, publish_file};
use tempfile::tempdir;

#[test]
fn what_is_put_is_got() {
    let folder = tempdir().unwrap();
    let store = Store::local(folder.path().join("deep/down")).unwrap();
    store.put("a/b.bin", &b"one"[..]).unwrap();
    store.put("a/b.bin", &b"second"[..]).unwrap();
    assert_eq!(store.get("a/b.bin", 6).unwrap(), &b"second"[..]);
    assert_eq!(store.get_range("a/b.bin", 1..4).unwrap(), &b"eco"[..]);
    assert_eq!(store.size("a/b.bin").unwrap(), 6);
    assert!(store.exists("a/b.bin").unwrap() && !store.exists("a/c").unwrap());

    let mut rest = String::new();
    let mut reader = store.reader("a/b.bin", 4).unwrap();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), reader.size()), ("nd", Some(6)));

    store.put("a.txt", &b""[..]).unwrap();
    let paths = |prefix| -> Vec<String> {
        let entries = store.list(prefix).unwrap();
        entries.into_iter().map(|entry| entry.path).collect()
    };
    assert_eq!(paths(""), ["a.txt", "a/b.bin"]);
    assert_eq!(paths("a/"), ["a/b.bin"]);
    assert!(paths("nothing").is_empty());
    store.delete("a/b.bin").unwrap();
    assert_eq!(paths(""), ["a.txt"]);
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempdir().unwrap();
    let store = Store::local(folder.path()).unwrap();
    store.put_new("m", &b"first"[..]).unwrap();
    let again = store.put_new("m", &b"other"[..]).unwrap_err();
    assert!(matches!(again, StoreError::AlreadyExists { .. }), "{again}");
    assert_eq!(store.get("m", 10).unwrap(), &b"first"[..]);
    let missing = store.get("n", 10).unwrap_err();
    assert!(matches!(missing, StoreError::NotFound { .. }), "{missing}");
    let gone = store.delete("n").unwrap_err();
    assert!(matches!(gone, StoreError::NotFound { .. }), "{gone}");
    let large = store.get("m", 4).unwrap_err();
    assert!(matches!(large, StoreError::TooLarge { limit: 4, .. }));
    assert!(store.get_range("m", 3..6).is_err());
    assert!(store.reader("m", 6).is_err());
    assert!(store.get(".", 10).is_err());
}

#[test]
fn paths_stay_inside() {
    let folder = tempdir().unwrap();
    let store = Store::local(folder.path()).unwrap();
    let long = "x".repeat(2000);
    for path in
        ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/", "x#1", "x#", "a\0b", &long]
    {
        let error = store.put(path, &b"x"[..]).unwrap_err();
        assert!(matches!(error, StoreError::BadPath { .. }), "{path}: {error}");
        assert!(store.get(path, 1).is_err(), "{path}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_store_is_named_by_path_or_url() {
    let folder = tempdir().unwrap();
    let spaced = folder.path().join("my data");
    fs::create_dir(&spaced).unwrap();
    fs::write(spaced.join("x"), "hello").unwrap();
    let spaced = spaced.display().to_string();
    for url in [spaced.clone(), format!("file://{}", spaced.replace(' ', "%20"))] {
        let store = Store::url(&url).unwrap();
        assert_eq!(store.get("x", 9).unwrap(), &b"hello"[..], "{url}");
    }
    let nowhere = format!("{spaced}/nowhere");
    for url in [&nowhere, "s3://bucket/x", "file://relative", "http://h/?q=1"] {
        let error = Store::url(url).unwrap_err();
        assert!(matches!(error, StoreError::BadUrl { .. }), "{url}: {error}");
    }
    assert!(!fs::exists(nowhere).unwrap());
}

#[test]
fn of_many_that_put_a_new_thing_one_succeeds() {
    let folder = tempdir().unwrap();
    let store = Store::local(folder.path()).unwrap();
    let wins: Vec<u8> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8u8)
            .map(|number| {
                let store = store.clone();
                scope
                    .spawn(move || store.put_new("m", vec![number; 1000]).is_ok().then_some(number))
            })
            .collect();
        let ends = threads.into_iter().map(|thread| thread.join().unwrap());
        ends.flatten().collect()
    });
    let [winner] = wins[..] else {
        panic!("{wins:?} all won");
    };
    assert_eq!(store.get("m", 1000).unwrap(), vec![winner; 1000]);
}

#[test]
fn a_published_file_replaces_whole_or_not_at_all() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("new folder/a #1 % name");
    publish(&path, |out| out.write_all(b"old")).unwrap();
    let failed = publish(&path, |out| {
        out.write_all(&[0; 100_000])?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    assert!(matches!(failed, Err(StoreError::Full { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let download = folder.path().join("download.part");
    fs::write(&download, "fetched").unwrap();
    publish_file(&download, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"fetched");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    assert!(publish(folder.path(), |_| Ok(())).is_err());
}
