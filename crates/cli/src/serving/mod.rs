//! A model behind HTTP with its page: what `serve` shows, and what a run ends with.

mod follow;
pub(crate) mod link;
mod listen;
mod note;
mod results;
mod source;
mod token;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use serve::{Combine, Gather, Limits, Server, Settings};
use store::RunDir;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::output;
use listen::Place;
use source::Source;

/// A page that is wanted.
pub(crate) struct Page {
    /// Runs, model files, ensembles, or folders of model files.
    pub(crate) models: Vec<String>,
    /// The name or address to listen at.
    pub(crate) host: String,
    /// The port, where somebody said.
    pub(crate) port: Option<u16>,
    /// Where the token is that whoever asks must know.
    pub(crate) token_file: Option<PathBuf>,
    /// Faces to compare with.
    pub(crate) gallery: Option<PathBuf>,
    /// Pictures to try it with.
    pub(crate) examples: Option<PathBuf>,
    /// How several models answer together.
    pub(crate) combine: Combine,
    /// How requests are put together.
    pub(crate) gather: Gather,
    /// Requests that may wait.
    pub(crate) queue: usize,
    /// Where it is noted that it is shown, of a run.
    pub(crate) note: Option<PathBuf>,
}

impl Page {
    /// What a run file asks for, of models that are named later.
    pub(crate) fn asked(serve: &spec::Serve) -> Page {
        Page {
            models: vec![],
            host: serve.host.clone(),
            port: serve.port,
            token_file: serve.token_file.as_ref().map(PathBuf::from),
            gallery: serve.gallery.as_ref().map(PathBuf::from),
            examples: serve.examples.as_ref().map(PathBuf::from),
            combine: match serve.combine {
                spec::Together::Mean => Combine::Mean,
                spec::Together::Vote => Combine::Vote,
            },
            gather: Gather { batch: serve.batch, moment: serve.wait.get() },
            queue: serve.queue,
            note: None,
        }
    }

    /// The same of one model.
    pub(crate) fn of(self, model: &Path) -> Page {
        Page { models: vec![model.display().to_string()], ..self }
    }

    /// The same as the page of a run, which whoever opens the run finds.
    pub(crate) fn of_run(self, run: &RunDir) -> Page {
        Page { note: Some(run.page()), ..self }
    }

    /// Refuses what could not be shown: better before hours of training than after.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let place = self.place()?;
        place.is_free().or_usage()?;
        self.token(&place)?;
        let folders = [
            (&self.gallery, "the gallery", "with a folder of pictures for each person"),
            (&self.examples, "the folder of examples", "with pictures to try the model with"),
        ];
        for (folder, what, remedy) in folders {
            if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
                let shown = folder.display();
                return Err(anyhow!("{what} {shown} is no folder; name one {remedy}")).or_usage();
            }
        }
        Ok(())
    }

    /// Shows it until somebody asks to end. `ready` is told where it is, and says whether anybody wants it.
    pub(crate) fn show(self, env: &Env, ready: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        let place = self.place()?;
        let token = self.token(&place)?;
        let settings = Settings {
            token,
            limits: Limits { queue: self.queue.max(1), ..Limits::default() },
            gather: Gather { batch: self.gather.batch.max(1), ..self.gather },
            processors: env.threads,
            isa: env.isa(),
        };
        let source = Source {
            names: self.models,
            combine: self.combine,
            batch: self.gather.batch,
            gallery: self.gallery,
            examples: self.examples,
            env: env.clone(),
        };
        let version = source.version();
        let served = source.load()?;
        let here = Builder::new_multi_thread()
            .worker_threads(env.threads.clamp(1, 4))
            .thread_name("http")
            .enable_all()
            .build()
            .context("cannot start a thread")?;
        let listener = here.block_on(place.listen())?;
        let name = served.about().name.clone();
        let server = Server::new(listener, settings, served)?;
        // Whoever reads the address can end it.
        let orders = follow::start(source, version)?;
        let link = server.link(&place.shown())?;
        if !ready(&link) {
            return Ok(());
        }
        let note = self
            .note
            .map(|note| note::Written::new(&note, server.address()?, self.token_file.as_deref()));
        let _note = note.transpose()?;
        output::talk(&format!("serving {name} at {link}"));
        if !here.block_on(server.run(orders)) {
            output::talk("some answers took too long and were given up");
        }
        here.shutdown_background();
        Ok(())
    }

    fn place(&self) -> Result<Place, Failure> {
        Place::find(&self.host, self.port).or_usage()
    }

    /// The token that is asked for; beyond this machine there must be one.
    fn token(&self, place: &Place) -> Result<Option<serve::Token>, Failure> {
        match &self.token_file {
            Some(file) => token::read(file).map(Some).or_usage(),
            None if place.is_private() => Ok(None),
            None => {
                let host = &self.host;
                Err(anyhow!(
                    "`{host}` lets others ask, and these need a token; name a file for it with --token-file, or \
                     `token_file` in a run file, which is made where there is none"
                ))
                .or_usage()
            }
        }
    }
}

/// A link to the page of a run, if it is shown on this machine.
pub(crate) fn shown(run: &RunDir) -> Option<String> {
    note::follow(&run.page())
}

/// Listens on this machine alone.
pub(crate) async fn listen_here(port: Option<u16>) -> Result<TcpListener, Failure> {
    Ok(Place::find("127.0.0.1", port).or_usage()?.listen().await?)
}

/// How requests are put together, as a command line says it.
pub(crate) fn gather(batch: usize, wait: u64) -> Gather {
    Gather { batch, moment: Duration::from_millis(wait) }
}
