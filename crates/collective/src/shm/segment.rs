//! Memory that several processes have mapped.
//!
//! It is a file without a name, which its maker passes to the others. Its size is sealed, so that
//! nobody can make it shorter under the others' feet.
//!
//! Words that processes signal with are atomics and always safe to touch. Floats are plain memory: who
//! may touch which when is for the caller to see to, and what it promises stands at each use.
#![expect(unsafe_code, reason = "memory that other processes write to")]

use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// What keeps the size as it is.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// A mapping of shared memory.
pub(super) struct Segment {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the memory is reached through atomics, or through floats whose users keep apart, whichever
// thread or process they are in.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// Makes memory of `size` zero bytes, to be mapped here and elsewhere.
pub(super) fn create(size: usize) -> io::Result<OwnedFd> {
    let file = memfd_create(c"trainyard", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, size as u64)?;
    fcntl_add_seals(&file, SEALS)?;
    Ok(file)
}

impl Segment {
    /// Maps memory that has this size, for good.
    pub(super) fn map(file: impl AsFd, size: usize) -> io::Result<Segment> {
        let found = fstat(&file)?.st_size;
        if u64::try_from(found) != Ok(size as u64) || !fcntl_get_seals(&file)?.contains(SEALS) {
            let problem = format!("shared memory of {found} bytes came where {size} were expected");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the system chooses.
        let start = unsafe { mmap(std::ptr::null_mut(), size, access, MapFlags::SHARED, file, 0)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Segment { start, size })
    }

    /// The word at an offset.
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: it lies in the mapping, is aligned, and everyone uses it as an atomic.
        unsafe { AtomicU32::from_ptr(self.pointer(at, 4).cast()) }
    }

    /// The long word at an offset.
    pub(super) fn long(&self, at: usize) -> &AtomicU64 {
        // SAFETY: it lies in the mapping, is aligned, and everyone uses it as an atomic.
        unsafe { AtomicU64::from_ptr(self.pointer(at, 8).cast()) }
    }

    /// Floats to read.
    ///
    /// # Safety
    /// Nobody writes to them meanwhile, or what is read is thrown away.
    pub(super) unsafe fn floats(&self, at: usize, len: usize) -> &[f32] {
        let start = self.pointer(at, len * 4).cast();
        // SAFETY: they lie in the mapping and are aligned; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(start, len) }
    }

    /// Floats to write.
    ///
    /// # Safety
    /// Nobody else touches them meanwhile, or what they read is thrown away.
    #[expect(clippy::mut_from_ref, reason = "the caller promises that it is alone")]
    pub(super) unsafe fn floats_mut(&self, at: usize, len: usize) -> &mut [f32] {
        let start = self.pointer(at, len * 4).cast();
        // SAFETY: they lie in the mapping and are aligned; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// The address of some bytes, which lie in the mapping and are aligned to words of their length.
    fn pointer(&self, at: usize, length: usize) -> *mut u8 {
        let end = at.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.size), "the place lies in the segment");
        assert!(at.is_multiple_of(8) || (length == 4 && at.is_multiple_of(4)), "it is aligned");
        // SAFETY: the place lies in the mapping.
        unsafe { self.start.as_ptr().add(at) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: every reference into the mapping borrows the segment or holds on to it.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.size) };
        debug_assert!(unmapped.is_ok(), "it was mapped with this size");
    }
}

/// Floats of a segment that one owner has to itself.
pub(super) struct Slot {
    segment: Arc<Segment>,
    at: usize,
    len: usize,
}

impl Slot {
    /// # Safety
    /// These floats are given out once. Others only read them, and only while the owner lends them
    /// out for reading; or what they read is thrown away.
    pub(super) unsafe fn new(segment: Arc<Segment>, at: usize, len: usize) -> Slot {
        Slot { segment, at, len }
    }
}

impl Deref for Slot {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: nobody else writes to a slot.
        unsafe { self.segment.floats(self.at, self.len) }
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: the owner does not lend it out, so nobody reads it who keeps what it read.
        unsafe { self.segment.floats_mut(self.at, self.len) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    #[test]
    fn two_mappings_are_the_same_memory() {
        let file = create(4096).unwrap();
        let (near, far) = (Segment::map(&file, 4096).unwrap(), Segment::map(&file, 4096).unwrap());
        near.word(4).store(7, SeqCst);
        assert_eq!(far.word(4).load(SeqCst), 7);
        near.long(64).store(u64::MAX, SeqCst);
        assert_eq!(far.long(64).load(SeqCst), u64::MAX);
    }

    #[test]
    fn the_size_is_checked_and_stays() {
        let file = create(4096).unwrap();
        assert!(Segment::map(&file, 8192).is_err());
        assert!(ftruncate(&file, 0).is_err());
        let unsealed = memfd_create(c"test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&unsealed, 4096).unwrap();
        assert!(Segment::map(&unsealed, 4096).is_err());
    }

    #[test]
    #[should_panic(expected = "the place lies in the segment")]
    fn nothing_lies_outside() {
        Segment::map(create(4096).unwrap(), 4096).unwrap().word(4096);
    }
}
