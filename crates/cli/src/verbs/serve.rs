//! `trainyard serve`: a model behind HTTP, with a page where people try it.

use std::path::PathBuf;

use serve::{Combine, Gather, Limits};

use crate::env::Env;
use crate::failure::Failure;
use crate::serving::{self, Page};

/// Serve a model with a web page
///
/// The page fits the model: a digit is drawn, a review written, pictures and faces are dropped. Programs ask
/// POST /v1/predict, as /openapi.json says. Several models answer together. What is served follows the names
/// that were given: a newer model of a run, or a file that was replaced, is served as soon as it is there, and
/// at once on SIGHUP. Only this machine can reach it, unless --host says otherwise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard serve mnist-sample
  trainyard serve my.h5 --port 9000
  trainyard serve models/ --combine mean
  trainyard serve faces --gallery people/
  trainyard serve pets --examples pets/test
  trainyard serve mnist-sample --host 0.0.0.0 --token-file token")]
pub(crate) struct Args {
    /// Runs, model files, ensembles, or folders of model files
    #[arg(required = true)]
    models: Vec<String>,
    /// The port [default: 8080, or any other if that is taken]
    #[arg(long)]
    port: Option<u16>,
    /// The address to listen at; any but this machine's own needs --token-file
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// A file with the token that whoever asks must know; it is made where there is none
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Of a model for faces: a folder with a folder of pictures for each person
    #[arg(long)]
    gallery: Option<PathBuf>,
    /// Of a model for pictures or faces: a folder of pictures that the page offers to whoever has none at hand
    #[arg(long)]
    examples: Option<PathBuf>,
    /// How several models answer together
    #[arg(long, value_enum, default_value_t = By::Vote)]
    combine: By,
    /// Samples that are computed at a time, at most
    #[arg(long, default_value_t = Gather::default().batch)]
    batch: usize,
    /// Milliseconds that a request waits for others to be computed with
    #[arg(long, default_value_t = 0)]
    wait: u64,
    /// Requests that may wait; further ones are told to come again
    #[arg(long, default_value_t = Limits::default().queue)]
    queue: usize,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum By {
    /// By the mean of all probabilities
    Mean,
    /// By vote
    Vote,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let page = Page {
        models: args.models.clone(),
        host: args.host.clone(),
        port: args.port,
        token_file: args.token_file.clone(),
        gallery: args.gallery.clone(),
        combine: match args.combine {
            By::Mean => Combine::Mean,
            By::Vote => Combine::Vote,
        },
        examples: args.examples.clone(),
        gather: serving::gather(args.batch, args.wait),
        queue: args.queue,
        note: None,
    };
    page.show(env, &|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_file_that_says_nothing_serves_as_the_verb_does() {
        let page = Page::asked(&spec::Serve::default());
        let (gather, limits) = (Gather::default(), Limits::default());
        assert_eq!((page.gather.batch, page.gather.moment), (gather.batch, gather.moment));
        assert_eq!((page.queue, page.combine), (limits.queue, Combine::default()));
        assert_eq!((page.host.as_str(), page.port), ("127.0.0.1", None));
    }

    #[test]
    fn the_folders_that_a_run_file_names_reach_the_page() {
        let [people, tries] = ["people", "tries"].map(|folder| Some(folder.to_owned()));
        let page =
            Page::asked(&spec::Serve { gallery: people, examples: tries, ..Default::default() });
        assert_eq!(page.gallery, Some(PathBuf::from("people")));
        assert_eq!(page.examples, Some(PathBuf::from("tries")));
    }
}
