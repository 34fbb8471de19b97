//! The server: it listens, takes connections, and ends without losing an answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use engine::Isa;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

use crate::app::App;
use crate::guard::{Guard, Token};
use crate::limits::{Gather, Limits};
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::routes::router;
use crate::served::Served;
use crate::worker::Work;

/// How a model is served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What whoever asks must know.
    pub token: Option<Token>,
    /// Bounds.
    pub limits: Limits,
    /// How requests are put together.
    pub gather: Gather,
    /// Processors that compute.
    pub processors: usize,
    /// What they compute with.
    pub isa: Isa,
}

/// What a running server is told.
pub enum Order {
    /// Serve this from now on.
    Swap(Box<Served>),
    /// Answer what was asked, and end.
    End,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
}

/// Bytes of a request's head, at most.
const HEAD: usize = 64 << 10;

/// How long is waited after a connection could not be taken.
const RETRY: Duration = Duration::from_millis(50);

impl Server {
    /// Gets ready to serve whoever calls. Nothing is answered before [`run`](Server::run).
    pub fn new(
        listener: TcpListener,
        settings: Settings,
        served: Served,
    ) -> std::io::Result<Server> {
        let Settings { token, limits, gather, processors, isa } = settings;
        let queue = Queue::new(limits.queue);
        let work = Arc::new(Work { queue, metrics: Metrics::new(), gather, limits, isa });
        for number in 0..processors.max(1) {
            let work = work.clone();
            thread::Builder::new().name(format!("model-{number}")).spawn(move || work.run())?;
        }
        let app = Arc::new(App::new(served, work, Guard::new(token)));
        Ok(Server { listener, app })
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The page's address; with a token, one that is good once.
    pub fn link(&self, host: &str) -> std::io::Result<String> {
        let port = self.address()?.port();
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        Ok(match self.app.guard.asks_for_a_token() {
            true => format!("http://{host}:{port}/?token={}", self.app.guard.link().reveal()),
            false => format!("http://{host}:{port}/"),
        })
    }

    /// Serves until it is told to end, or nobody is left who could tell it. All that was asked before is answered then,
    /// if it takes no longer than the limit; true if so.
    pub async fn run(self, mut orders: mpsc::Receiver<Order>) -> bool {
        let Server { listener, app } = self;
        let limits = app.work.limits;
        let connections = Arc::new(Semaphore::new(limits.connections));
        let graceful = GracefulShutdown::new();
        let service = TowerToHyperService::new(router(app.clone()));
        loop {
            let taken = tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Swap(served)) => {
                        app.swap(*served);
                        continue;
                    }
                    Some(Order::End) | None => break,
                },
                taken = accept(&listener, &connections) => taken,
            };
            let Some((stream, permit)) = taken else { continue };
            // Answers are small, and each is wanted at once.
            drop(stream.set_nodelay(true));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.head)
                .max_buf_size(HEAD)
                .serve_connection(TokioIo::new(stream), service.clone());
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                // How a client goes away is its own affair.
                drop(connection.await);
                drop(permit);
            });
        }
        app.drain();
        drop(listener);
        let drained = tokio::time::timeout(limits.drain, graceful.shutdown()).await.is_ok();
        app.work.queue.close();
        drained
    }
}

/// The next connection, when there is room for it.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = connections.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(_) => {
            // Out of files, as a rule: some will be closed.
            tokio::time::sleep(RETRY).await;
            None
        }
    }
}
