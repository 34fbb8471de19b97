//! Pictures in folders of classes become pixels of one size.
//!
//! Files are read one after another and decoded by several threads; which thread decodes what makes no
//! difference, since each sample has its place from the start. What cannot be decoded is skipped.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use preprocess::{Form, Picture, Pixels};
use spec::{Data, Pair};

use crate::classes::{Classes, File};
use crate::error::{DataError, Result};
use crate::samples::{Samples, Values};
use crate::skipped::Skipped;
use crate::source::{Raw, Whole};
use crate::tree::Tree;

/// An image file of more bytes is not read.
const LARGEST: u64 = 64 << 20;

/// Samples are held in memory.
const MOST: usize = 256 << 30;

/// The share of files that may be skipped unless the run file says otherwise.
const SKIP_UP_TO: f64 = 0.05;

/// Decoders beyond these would wait for the one who reads.
const MOST_THREADS: usize = 16;

/// What decoding takes where pictures are not gigantic.
const WORKING: u64 = 64 << 20;

/// Pictures in folders of classes.
#[derive(Debug)]
pub(crate) struct Pictures {
    tree: Tree,
    classes: Classes,
    size: Option<Pair>,
    color: spec::Color,
    skip_up_to: f64,
}

/// A file on its way to a decoder: its place, and its bytes or why it has none.
type Parcel = (usize, Result<Vec<u8>, String>);

/// Whether a file is a picture by its name. Its first bytes say of what kind.
pub fn is_picture(path: &str) -> bool {
    const ENDS: [&str; 9] = ["jpg", "jpeg", "jpe", "png", "gif", "bmp", "pgm", "ppm", "pbm"];
    let end = path.rsplit_once('.').map(|(_, end)| end);
    end.is_some_and(|end| ENDS.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

impl Pictures {
    pub(crate) fn new(data: &Data, tree: Tree, mut classes: Classes) -> Result<Pictures> {
        if let Some(people) = data.hold_out_people {
            classes.hold_out(people, &data.from)?;
        }
        Ok(Pictures {
            tree,
            classes,
            size: data.image_size,
            color: data.color.unwrap_or_default(),
            skip_up_to: data.skip_up_to.unwrap_or(SKIP_UP_TO),
        })
    }

    /// What there is. Files that cannot be decoded are found when all are read, and counted here, but
    /// for empty ones.
    pub(crate) fn facts(&self) -> Result<Whole> {
        let classes = &self.classes;
        let count = |files: &[File]| {
            files.iter().filter(|file| self.tree.entries[file.entry].size > 0).count()
        };
        Ok(Whole {
            train: count(&classes.train),
            validation: count(&classes.validation),
            test: count(&classes.test),
            classes: classes.names.len(),
            labels: classes.names.clone(),
            shape: self.pixels()?.shape().to_vec(),
            width: 1,
            vocabulary: None,
            working: WORKING + 100 * self.tree.entries.len() as u64,
        })
    }

    /// Reads everything.
    pub(crate) fn load(&self) -> Result<Raw> {
        let pixels = self.pixels()?;
        let mut skipped = Skipped::default();
        let classes = &self.classes;
        let train = self.samples(&classes.train, pixels, &mut skipped)?;
        let validation = self.samples(&classes.validation, pixels, &mut skipped)?;
        let test = self.samples(&classes.test, pixels, &mut skipped)?;
        let place = self.tree.root().display().to_string();
        skipped.check(classes.files(), self.skip_up_to, &place)?;
        let some = |samples: Samples| (!samples.is_empty()).then_some(samples);
        Ok(Raw {
            train,
            validation: some(validation),
            test: some(test),
            labels: classes.names.clone(),
            form: Form::Pixels(pixels),
            skipped,
        })
    }

    /// What all samples become: of the size that is wanted, or else that of the first picture.
    fn pixels(&self) -> Result<Pixels> {
        let color = self.color;
        if let Some(Pair { height, width }) = self.size {
            return Ok(Pixels { height, width, color });
        }
        for file in &self.classes.train {
            let bytes = self.tree.read(file.entry, LARGEST).unwrap_or_default();
            if let Ok(Picture { height, width, .. }) = Picture::decode(&bytes) {
                return Ok(Pixels { height, width, color });
            }
        }
        Err(DataError::malformed("holds no picture that can be decoded").in_file(self.tree.root()))
    }

    /// Decodes files, in their order.
    fn samples(&self, files: &[File], pixels: Pixels, skipped: &mut Skipped) -> Result<Samples> {
        let row: usize = pixels.shape().iter().product();
        let bytes = row.checked_mul(files.len()).filter(|&bytes| bytes <= MOST);
        let bytes = bytes.ok_or_else(|| {
            DataError::malformed("is more than fits in memory; choose a smaller `data.image_size`")
                .in_file(self.tree.root())
        })?;
        let mut x = vec![0; bytes];
        let reasons =
            self.decode(files, pixels, x.chunks_mut(row.max(1)).map(Mutex::new).collect())?;
        let mut y = Vec::with_capacity(files.len());
        for (place, (file, reason)) in files.iter().zip(reasons).enumerate() {
            match reason {
                None => {
                    x.copy_within(place * row..(place + 1) * row, y.len() * row);
                    y.push(file.class);
                }
                Some(reason) => skipped.add(&self.tree.entries[file.entry].path, &reason),
            }
        }
        x.truncate(y.len() * row);
        let classes = Some(self.classes.names.len());
        Samples::new(pixels.shape().to_vec(), Values::U8(x), y, classes)
    }

    /// Fills the rows of files, and says of each why it could not be.
    fn decode(
        &self,
        files: &[File],
        pixels: Pixels,
        rows: Vec<Mutex<&mut [u8]>>,
    ) -> Result<Vec<Option<String>>> {
        let wanted: Vec<usize> = files.iter().map(|file| file.entry).collect();
        let reasons: Vec<Mutex<Option<String>>> = files.iter().map(|_| Mutex::new(None)).collect();
        // How many there are changes how long it takes, and nothing else.
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let (send, receive) = sync_channel::<Parcel>(2 * threads);
        let receive = Mutex::new(receive);
        let one = |(place, bytes): Parcel| {
            let made = bytes.and_then(|bytes| self.one(&bytes, pixels));
            match made {
                Ok(row) => locked(&rows[place]).copy_from_slice(&row),
                Err(reason) => *locked(&reasons[place]) = Some(reason),
            }
        };
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(parcel) = next(&receive) {
                        one(parcel);
                    }
                });
            }
            // Dropped at its end, so that the decoders end too.
            let send = send;
            self.tree.each(&wanted, LARGEST, &mut |place, bytes| {
                send.send((place, bytes))
                    .map_err(|_| DataError::Stopped("a decoder ended before its time".to_owned()))
            })
        })?;
        Ok(reasons.into_iter().map(|reason| reason.into_inner().ok().flatten()).collect())
    }

    fn one(&self, bytes: &[u8], pixels: Pixels) -> Result<Vec<u8>, String> {
        let picture = Picture::decode(bytes)?;
        let same = (picture.height, picture.width) == (pixels.height, pixels.width);
        match same || self.size.is_some() {
            true => Ok(pixels.fit(picture)),
            false => Err(format!(
                "it has {} by {} pixels, and the first one {} by {}; set `data.image_size`",
                picture.height, picture.width, pixels.height, pixels.width
            )),
        }
    }
}

fn next(receive: &Mutex<Receiver<Parcel>>) -> Option<Parcel> {
    locked(receive).recv().ok()
}

/// Nobody panics while holding one of these.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
