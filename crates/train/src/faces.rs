//! How well embeddings tell people apart who were never trained on.
//!
//! One picture of each person, the first, is the gallery; all others are probes. **Top-1** is the share
//! of probes whose nearest picture in the gallery is of the same person. **Verification** asks of every
//! probe and every picture in the gallery whether both are of one person, which they are taken to be where
//! they are nearer than a threshold; the answers for one person and for two count half each, or "no"
//! would nearly always be right.
//!
//! Embeddings are scaled to length 1. The same is asked of the network before training, and of pixels
//! taken as embeddings (for top-1, as they are): what training was worth is what it adds to these.

use std::fmt;

use data::{Samples, View};
use engine::{Cpu, Program, Session, to_length_one};
use model::Published;
use serde::{Deserialize, Serialize};

use crate::{Error, input};

/// How well a model recognizes faces, and how well one can without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Faces {
    /// How many people there are; 0 where samples are triplets, which name nobody.
    pub people: usize,
    /// How many pictures were to be recognized; of triplets, how many there are.
    pub probes: usize,
    /// Pictures nearer than this are taken to be of one person.
    pub threshold: f32,
    /// The model.
    pub trained: Recognition,
    /// Its network before training.
    pub untrained: Recognition,
    /// Pixels as they are.
    pub pixels: Recognition,
}

/// How well people are recognized in one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recognition {
    /// The share of probes whose nearest picture in the gallery is of the same person; none where there is
    /// no gallery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_1: Option<f64>,
    /// The share of pairs that were told right at the threshold, pairs of one person and of two counting
    /// half each.
    pub verification: f64,
    /// The same at the threshold that is best for these pictures.
    pub best_verification: f64,
    /// That threshold.
    pub best_threshold: f32,
}

/// Recognizes the people of samples; none where the model answers with classes.
pub fn recognize(
    published: &Published,
    samples: &Samples,
    (batch, threshold): (usize, f32),
    cpu: Cpu,
) -> Result<Option<Faces>, Error> {
    let model = published.first();
    if !model.card.embedding {
        return Ok(None);
    }
    let pairs = Pairs::of(samples)?;
    let seed = model.card.trained.as_ref().map_or(0, |trained| trained.seed);
    let fresh = model.graph.initialize(seed);
    let scale = model.card.input.scale;
    let mut session = Session::new(Program::inference(&model.graph, batch)?, cpu);
    let mut ask = |weights: &[f32]| {
        session.weights_mut().copy_from_slice(weights);
        pairs.ask(&embeddings(&mut session, samples, (scale, batch)), threshold)
    };
    let (trained, untrained) = (ask(&model.weights), ask(&fresh));
    let pixels = pairs.ask_pixels(samples, threshold);
    let (people, probes) = (pairs.gallery.len(), pairs.probes.len());
    Ok(Some(Faces { people, probes, threshold, trained, untrained, pixels }))
}

fn embeddings(session: &mut Session, samples: &Samples, (scale, batch): (f32, usize)) -> Vec<f32> {
    let pictures = if samples.are_triplets() { 3 * samples.len() } else { samples.len() };
    let row = samples.x.len() / pictures.max(1);
    let mut all = Vec::with_capacity(pictures * session.program().outputs());
    for start in (0..pictures).step_by(batch) {
        let end = pictures.min(start + batch);
        let x = samples.x.view().slice(start * row..end * row);
        all.extend_from_slice(session.predict(input(x, scale), end - start));
    }
    to_length_one(&mut all, pictures);
    all
}

fn pixels(samples: &Samples) -> Vec<f32> {
    match samples.x.view() {
        View::U8(x) => x.iter().map(|&x| f32::from(x)).collect(),
        View::U16(x) => x.iter().map(|&x| f32::from(x)).collect(),
        View::U32(x) => x.iter().map(|&x| x as f32).collect(),
        View::F32(x) => x.to_vec(),
    }
}

/// Which pictures are compared with which.
struct Pairs {
    /// Pictures that stand for a person, and who that is.
    gallery: Vec<(usize, u32)>,
    /// Those to be recognized.
    probes: Vec<(usize, u32)>,
    /// Pictures in all.
    pictures: usize,
}

impl Pairs {
    fn of(samples: &Samples) -> Result<Pairs, Error> {
        if samples.are_triplets() {
            // The anchor is the probe of its own triplet, which has no gallery.
            let probes = (0..samples.len()).map(|triplet| (3 * triplet, 0)).collect();
            return Ok(Pairs { gallery: vec![], probes, pictures: 3 * samples.len() });
        }
        let mut seen = vec![false; samples.classes];
        let (gallery, probes): (Vec<_>, Vec<_>) = (0..samples.len())
            .map(|sample| (sample, samples.y[sample]))
            .partition(|&(_, person)| !std::mem::replace(&mut seen[person as usize], true));
        if gallery.len() < 2 || probes.is_empty() {
            return Err(Error::Orders(format!(
                "faces are recognized among two people or more, of whom some have several pictures, and \
                 here are {} of {}; hold more people out by `hold_out_people` in `data`",
                counted(samples.len(), "picture", "pictures"),
                counted(gallery.len(), "person", "people"),
            )));
        }
        Ok(Pairs { gallery, probes, pictures: samples.len() })
    }

    /// How well pixels do. What is nearest is asked of them as they are, which does better than if they
    /// had length 1; a threshold is for length 1.
    fn ask_pixels(&self, samples: &Samples, threshold: f32) -> Recognition {
        let mut all = pixels(samples);
        let top_1 = self.ask(&all, threshold).top_1;
        to_length_one(&mut all, self.pictures);
        Recognition { top_1, ..self.ask(&all, threshold) }
    }

    /// How well the embeddings of all pictures tell people apart.
    fn ask(&self, all: &[f32], threshold: f32) -> Recognition {
        let len = all.len() / self.pictures;
        let row = |picture: usize| &all[picture * len..][..len];
        let mut near = vec![];
        let mut apart = vec![];
        let mut found = 0;
        for &(probe, person) in &self.probes {
            if self.gallery.is_empty() {
                near.push(distance(row(probe), row(probe + 1)));
                apart.push(distance(row(probe), row(probe + 2)));
            }
            let mut best = (f32::INFINITY, None);
            for &(picture, other) in &self.gallery {
                let distance = distance(row(probe), row(picture));
                if other == person {
                    near.push(distance)
                } else {
                    apart.push(distance)
                }
                if distance < best.0 {
                    best = (distance, Some(other));
                }
            }
            found += usize::from(best.1 == Some(person));
        }
        let top_1 = (!self.gallery.is_empty()).then(|| found as f64 / self.probes.len() as f64);
        near.sort_by(f32::total_cmp);
        apart.sort_by(f32::total_cmp);
        let told = |threshold: f32| told(&near, &apart, threshold);
        // The best threshold lies just above a distance of two pictures of one person.
        let just_above = near.iter().map(|distance| distance.next_up());
        let (best_verification, best_threshold) = just_above
            .map(|threshold| (told(threshold), threshold))
            .fold((0.5, threshold), |best, next| if next.0 > best.0 { next } else { best });
        Recognition { top_1, verification: told(threshold), best_verification, best_threshold }
    }
}

/// The share of pairs told right, of one person and of two counting half each; both are sorted.
fn told(near: &[f32], apart: &[f32], threshold: f32) -> f64 {
    let below = |sorted: &[f32]| sorted.partition_point(|&distance| distance < threshold);
    let accepted = below(near) as f64 / near.len().max(1) as f64;
    let refused = (apart.len() - below(apart)) as f64 / apart.len().max(1) as f64;
    (accepted + refused) / 2.0
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b)).sqrt()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl fmt::Display for Faces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Faces { trained, untrained, pixels, threshold, .. } = self;
        if let Some(top_1) = trained.top_1 {
            let other = |way: &Recognition| way.top_1.unwrap_or_default();
            write!(
                f,
                "top-1 {top_1:.4} (untrained {:.4}, pixels {:.4}), ",
                other(untrained),
                other(pixels)
            )?;
        }
        write!(
            f,
            "verification {:.4} at {threshold} (untrained {:.4}, pixels {:.4})",
            trained.verification, untrained.verification, pixels.verification
        )
    }
}

#[cfg(test)]
mod tests {
    use data::Values;

    use super::*;

    fn people(x: &[f32], y: &[u32]) -> Samples {
        let classes = y.iter().max().map_or(0, |&last| last as usize + 1);
        let shape = vec![1, 1, 2];
        Samples { shape, x: Values::F32(x.to_vec()), y: y.to_vec(), classes }
    }

    #[test]
    fn the_first_picture_of_each_is_the_gallery() {
        // Two people in two directions; one probe of the second looks like the first.
        let x = [1.0, 0.0, 9.0, 0.5, 0.0, 2.0, 0.1, 7.0, 3.0, 0.2];
        let samples = people(&x, &[0, 0, 1, 1, 1]);
        let pairs = Pairs::of(&samples).unwrap();
        assert_eq!((&pairs.gallery[..], pairs.probes.len()), (&[(0, 0), (2, 1)][..], 3));
        let found = pairs.ask_pixels(&samples, 1.0);
        assert_eq!(found.top_1, Some(2.0 / 3.0));
        // Of one person two pairs of three are near, and of two people two of three apart.
        assert!((found.verification - 2.0 / 3.0).abs() < 1e-9, "{found:?}");
        assert!(found.best_verification >= found.verification);
        let at_best = pairs.ask_pixels(&samples, found.best_threshold);
        assert_eq!(at_best.verification, found.best_verification);
    }

    #[test]
    fn rows_have_length_one_and_nothing_stays_nothing() {
        let mut rows = [3.0, 4.0, 0.0, 0.0];
        to_length_one(&mut rows, 2);
        assert_eq!(rows, [0.6, 0.8, 0.0, 0.0]);
    }

    #[test]
    fn triplets_are_verified_without_a_gallery() {
        let x = [1.0, 0.0, 1.0, 0.1, 0.0, 1.0];
        let samples = Samples { shape: vec![3, 1, 1, 2], ..people(&x, &[0]) };
        let pairs = Pairs::of(&samples).unwrap();
        let found = pairs.ask_pixels(&samples, 1.0);
        assert_eq!((found.top_1, found.verification), (None, 1.0));
    }

    #[test]
    fn one_person_alone_cannot_be_told_from_others() {
        let alone = |y: &[u32]| {
            let samples = people(&vec![1.0; 2 * y.len()], y);
            Pairs::of(&samples).map(|_| ()).map_err(|error| error.to_string())
        };
        assert!(alone(&[0, 0, 0]).unwrap_err().contains("3 pictures of 1 person"));
        assert!(alone(&[0, 1, 2]).unwrap_err().contains("3 pictures of 3 people"));
        assert_eq!(alone(&[0, 1, 0]), Ok(()));
    }
}
