//! `trainyard predict`: the answers of a model or an ensemble, as its server would give them.

mod asking;
mod question;

use std::path::PathBuf;

use anyhow::anyhow;
use engine::Cpu;
use serve::{Answers, Combine, Served};

use crate::env::Env;
use crate::failure::Failure;
use crate::{find, gallery, output};
use asking::Asking;
use question::Question;

/// How many samples are computed at a time.
const BATCH: usize = 100;

/// Print a model's answers to pictures, texts or samples
///
/// Inputs are pictures (JPEG, PNG, GIF, BMP, Netpbm) or texts, whichever the model takes, and are prepared as in
/// training; a folder means all pictures in it, or all its .txt files. Samples that are prepared already are npz files
/// with `x`, or idx files of images: bytes are scaled as in training, floats are taken as they are. Without --json, each
/// one's most probable class and its probability. Of an ensemble, the class that most of its models vote for, the mean
/// of their probabilities, and the votes. Of a model for faces, the nearest people of the gallery and how far away they
/// are; without a gallery the embedding, scaled to length 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard predict mnist-sample seven.png
  trainyard predict pets photos/ --json
  trainyard predict imdb --text 'So good!' review.txt
  trainyard predict faces somebody.jpg --gallery people/
  trainyard predict final.safetensors d/0.npz")]
pub(crate) struct Args {
    /// A model file, an ensemble's folder, or a run
    model: String,
    /// Pictures, texts, files of samples, or folders of pictures or texts
    #[arg(required_unless_present = "text")]
    inputs: Vec<PathBuf>,
    /// A text itself; may be given several times
    #[arg(long)]
    text: Vec<String>,
    /// Of a model for faces: a folder with a folder of pictures for each person
    #[arg(long)]
    gallery: Option<PathBuf>,
    /// Print what POST /v1/predict answers, in input order: "predictions", "classes", "labels" and more; of npz and idx
    /// files alone {"predictions": [[…]]}, of an ensemble also its "votes" and "classes"
    #[arg(long)]
    json: bool,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (_, published) = find::model(&args.model, env)?;
    let mut served = Served::new(published, Combine::Vote, BATCH)?;
    if let Some(folder) = &args.gallery {
        served = gallery::add(served, folder, env)?;
    }
    let questions = question::all(&args.inputs, &args.text, served.about().kind)?;
    let mut asking = Asking::new(&served, Cpu::new(env.threads, env.isa()))?;
    asking.ask(&questions)?;
    let Asking { names, mut answers, .. } = asking;
    let finite = |row: &Vec<f32>| row.iter().all(|number| number.is_finite());
    if let Some(place) = answers.predictions.iter().position(|row| !finite(row)) {
        let name = &names[place];
        return Err(anyhow!("the model's answer to {name} is not a number").into());
    }
    if args.json {
        let arrays = |question: &Question| matches!(question, Question::Arrays(_));
        if questions.iter().any(arrays) {
            // Words are told of texts only, and a list of some would be read as one of all.
            answers.words.clear();
        }
        if questions.iter().all(arrays) {
            answers.labels.clear();
            // An ensemble's class need not be the one that is most probable; otherwise it goes without saying.
            if answers.votes.is_empty() {
                answers.classes.clear();
            }
        }
        return output::json(&answers);
    }
    for (place, name) in names.iter().enumerate() {
        output::print(&format!("{name}: {}", told(&served, &answers, place)));
    }
    Ok(())
}

/// One answer, for people.
fn told(served: &Served, answers: &Answers, place: usize) -> String {
    let row = &answers.predictions[place];
    if let Some(nearest) = answers.nearest.get(place) {
        let people = nearest.iter().map(|near| format!("{} ({:.4})", near.person, near.distance));
        return people.collect::<Vec<_>>().join(", ");
    }
    let Some(&class) = answers.classes.get(place) else {
        return row.iter().map(|number| format!("{number:.4}")).collect::<Vec<_>>().join(" ");
    };
    let probability = match row[..] {
        // One number is the second of two probabilities.
        [second] if class == 0 => 1.0 - second,
        [second] => second,
        _ => row[class],
    };
    let votes = answers.votes.get(place).map_or(String::new(), |votes| {
        format!(", {} of {} votes", votes[class], served.about().members)
    });
    format!("{} ({probability:.4}{votes})", answers.labels[place])
}
