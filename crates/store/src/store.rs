//! A folder of immutable things, here or behind a URL.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::executor::block_on;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{GetResultPayload, ObjectStore, ObjectStoreExt, PutMode};

use crate::http::Http;
use crate::publish::create_folder;
use crate::{Reader, Remote, Result, StoreError};

/// Where things are published and found, by paths such as `checkpoints/000200/weights`. Cheap to
/// clone. What is put is there whole or not at all, and survives a crash once the call returns.
#[derive(Clone, Debug)]
pub struct Store {
    /// As the user wrote it, for messages.
    place: Arc<str>,
    backend: Backend,
}

#[derive(Clone, Debug)]
enum Backend {
    Local(Arc<LocalFileSystem>),
    Http(Arc<Http>),
    Remote(Arc<dyn Remote>),
}

/// What can be written and listed, too.
enum Writable<'a> {
    Local(&'a LocalFileSystem),
    Remote(&'a dyn Remote),
}

/// One thing in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path inside the store.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Store {
    /// The store in a folder on this machine, which is made if it is not there.
    pub fn local(folder: impl AsRef<Path>) -> Result<Store> {
        let folder = folder.as_ref();
        create_folder(folder)
            .map_err(|error| StoreError::io(error, "the folder", &folder.display().to_string()))?;
        Store::open(folder)
    }

    /// The store a user names: a folder that exists, `file://` and such a folder, or an `http(s)://`
    /// address, which can be read only.
    pub fn url(url: &str) -> Result<Store> {
        let bad = |problem: &str| StoreError::BadUrl { url: url.into(), problem: problem.into() };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Store::open(Path::new(url));
        };
        match scheme {
            "file" => {
                let path = rest.strip_prefix("localhost").unwrap_or(rest);
                if !path.starts_with('/') {
                    return Err(bad("write the whole path, as in file:///data/mnist"));
                }
                let path = percent_encoding::percent_decode_str(path).decode_utf8();
                let path = path.map_err(|_| bad("its escapes are not UTF-8"))?;
                Store::open(Path::new(path.as_ref()))
            }
            "http" | "https" if rest.contains(['?', '#']) => {
                Err(bad("it is the address of a folder, without ? and #"))
            }
            "http" | "https" => {
                Ok(Store { place: url.into(), backend: Backend::Http(Arc::new(Http::new(url))) })
            }
            _ => Err(bad("this version knows folders, file://, http:// and https://")),
        }
    }

    /// The store that a folder on another machine is. `place` says where, for messages.
    pub fn remote(place: &str, remote: Arc<dyn Remote>) -> Store {
        Store { place: place.into(), backend: Backend::Remote(remote) }
    }

    /// Reads a thing whole, if it is not larger than `limit` bytes.
    pub fn get(&self, path: &str, limit: u64) -> Result<Bytes> {
        let too_large =
            || StoreError::TooLarge { path: path.into(), place: self.place.to_string(), limit };
        let reader = self.reader(path, 0)?;
        let size = reader.size().unwrap_or(0);
        if size > limit {
            return Err(too_large());
        }
        // One byte more than announced, so that reading ends without growing the buffer.
        let mut bytes = Vec::with_capacity(size as usize + 1);
        let mut bounded = reader.take(limit.saturating_add(1));
        let read = bounded.read_to_end(&mut bytes);
        read.map_err(|error| self.io(error, path))?;
        if bytes.len() as u64 > limit {
            return Err(too_large());
        }
        Ok(bytes.into())
    }

    /// Reads a part of a thing. It is an error if the thing ends before the part does.
    pub fn get_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        let len = range.end.saturating_sub(range.start);
        let mut bytes = Vec::new();
        let mut part = self.reader(path, range.start)?.take(len);
        let read = part.read_to_end(&mut bytes);
        read.map_err(|error| self.io(error, path))?;
        if (bytes.len() as u64) < len {
            let problem = format!("it ends before byte {}", range.end);
            let short = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, problem);
            return Err(self.io(short, path));
        }
        Ok(bytes.into())
    }

    /// A stream of a thing's bytes from `offset` on, to read what does not fit into memory or to go
    /// on where an earlier read ended.
    pub fn reader(&self, path: &str, offset: u64) -> Result<Reader> {
        let checked = check(path)?;
        let local = match &self.backend {
            Backend::Http(http) => return http.reader(path, offset, &self.place),
            Backend::Remote(remote) => {
                let found = remote.get(path, offset).map_err(|error| self.io(error, path))?;
                return Ok(Reader::remote(found));
            }
            Backend::Local(local) => local,
        };
        let found = block_on(local.get(&checked)).map_err(|error| self.error(error, path))?;
        let size = found.meta.size;
        let GetResultPayload::File(file, _) = found.payload else {
            unreachable!("the local store answers with an open file");
        };
        Reader::local(file, size, offset).map_err(|error| self.io(error, path))
    }

    /// Publishes a thing, in place of what may have this name. Only names that point at others may
    /// be replaced; for all else there is [`put_new`](Store::put_new).
    pub fn put(&self, path: &str, bytes: impl Into<Bytes>) -> Result<()> {
        self.put_with(path, bytes.into(), false)
    }

    /// Publishes a thing under a name that nothing has. Of several that try at once one succeeds,
    /// and the others learn that it [already exists](StoreError::AlreadyExists).
    pub fn put_new(&self, path: &str, bytes: impl Into<Bytes>) -> Result<()> {
        self.put_with(path, bytes.into(), true)
    }

    /// Everything below a folder of the store, at any depth, in the order of paths. `""` is the whole
    /// store. What was left unfinished by a crash is not shown.
    pub fn list(&self, prefix: &str) -> Result<Vec<Entry>> {
        let prefix = prefix.trim_end_matches('/');
        let folder = if prefix.is_empty() { None } else { Some(check(prefix)?) };
        let mut entries: Vec<Entry> = match self.writable("listing")? {
            Writable::Remote(remote) => remote.list(prefix).map_err(|e| self.io(e, prefix))?,
            Writable::Local(local) => {
                let found = block_on(local.list(folder.as_ref()).try_collect::<Vec<_>>());
                let found = found.map_err(|error| self.error(error, prefix))?.into_iter();
                found
                    .map(|meta| Entry { path: meta.location.to_string(), size: meta.size })
                    .collect()
            }
        };
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// Removes a thing. Removing what is not there is an error.
    pub fn delete(&self, path: &str) -> Result<()> {
        let checked = check(path)?;
        match self.writable("removing")? {
            Writable::Remote(remote) => remote.delete(path).map_err(|error| self.io(error, path)),
            Writable::Local(local) => {
                block_on(local.delete(&checked)).map_err(|error| self.error(error, path))
            }
        }
    }

    /// The size of a thing in bytes.
    pub fn size(&self, path: &str) -> Result<u64> {
        let checked = check(path)?;
        match &self.backend {
            Backend::Http(http) => http.size(path, &self.place),
            Backend::Remote(remote) => remote.size(path).map_err(|error| self.io(error, path)),
            Backend::Local(local) => block_on(local.head(&checked))
                .map(|meta| meta.size)
                .map_err(|error| self.error(error, path)),
        }
    }

    /// Whether a thing is there.
    pub fn exists(&self, path: &str) -> Result<bool> {
        match self.size(path) {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The store's address, as it was given.
    pub fn place(&self) -> &str {
        &self.place
    }

    fn open(folder: &Path) -> Result<Store> {
        let place: Arc<str> = folder.display().to_string().into();
        if !folder.is_dir() {
            return Err(StoreError::BadUrl {
                url: place.to_string(),
                problem: "there is no such folder".into(),
            });
        }
        let local = LocalFileSystem::new_with_prefix(folder)
            .map_err(|error| StoreError::object(error, "the folder", &place))?
            .with_fsync(true)
            .with_automatic_cleanup(true);
        Ok(Store { place, backend: Backend::Local(Arc::new(local)) })
    }

    fn put_with(&self, path: &str, bytes: Bytes, new: bool) -> Result<()> {
        let checked = check(path)?;
        let local = match self.writable("writing")? {
            Writable::Remote(remote) => {
                return remote.put(path, bytes, new).map_err(|error| self.io(error, path));
            }
            Writable::Local(local) => local,
        };
        let mode = if new { PutMode::Create } else { PutMode::Overwrite };
        block_on(local.put_opts(&checked, bytes.into(), mode.into()))
            .map(drop)
            .map_err(|error| self.error(error, path))
    }

    fn writable(&self, doing: &'static str) -> Result<Writable<'_>> {
        match &self.backend {
            Backend::Local(local) => Ok(Writable::Local(local)),
            Backend::Remote(remote) => Ok(Writable::Remote(&**remote)),
            Backend::Http(_) => Err(StoreError::ReadOnly { place: self.place.to_string(), doing }),
        }
    }

    fn error(&self, error: object_store::Error, path: &str) -> StoreError {
        StoreError::object(error, path, &self.place)
    }

    fn io(&self, error: std::io::Error, path: &str) -> StoreError {
        StoreError::io(error, path, &self.place)
    }
}

/// Takes only paths that mean the same thing everywhere: relative, without `.` and `..`.
fn check(path: &str) -> Result<ObjectPath> {
    let bad = |problem: &str| StoreError::BadPath { path: path.into(), problem: problem.into() };
    if path.is_empty() {
        return Err(bad("it is empty"));
    }
    if path.len() > MAX_PATH {
        return Err(bad("it is too long"));
    }
    if path.starts_with('/') || PathBuf::from(path).is_absolute() {
        return Err(bad("it is not relative"));
    }
    for part in path.split('/') {
        match part {
            "" | "." | ".." => return Err(bad("an empty part, `.` or `..` is not allowed in it")),
            _ if part.ends_with('#') || is_temporary(part) => {
                return Err(bad("# and a number at the end mark unfinished files"));
            }
            _ => {}
        }
    }
    ObjectPath::parse(path).map_err(|error| bad(&error.to_string()))
}

/// Names that `object_store` gives to files it has not finished.
pub(crate) fn is_temporary(part: &str) -> bool {
    part.rsplit_once('#')
        .is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Longer paths are refused before any file system is asked.
const MAX_PATH: usize = 1024;
