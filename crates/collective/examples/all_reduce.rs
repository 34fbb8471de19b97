//! How long one all-reduce takes: processes on this machine, over every link, beside a bare exchange
//! of the same bytes over a socket.
//!
//!     cargo run --release --package trainyard-collective --example all_reduce -- 1048576 104857600
//!
//! The numbers are bytes to be summed. The program starts itself as two processes (`--ranks N` for
//! more) and lets them take turns: each link a few times, round after round. Before every all-reduce
//! the values are written anew and all meet, which is not counted. Printed are the best and the median
//! of the times that the first process saw. `--json` prints one object for each size and link.
//!
//! `shm` has its values where a training step would put them, in the group's slots; `shm-copy` has
//! them elsewhere. `raw` is each of two processes sending and receiving, at the same time and in the
//! simplest way, as many bytes as an all-reduce sends.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement prints, or fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use collective::{Access, Contact, Group, Layout, Part, Port, Reach, Seat, Secret, Sockets};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

const LINKS: [&str; 5] = ["shm", "shm-copy", "tcp", "raw", "tls"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("child") => child(),
        _ => parent(&Settings::parse(&arguments)),
    }
}

struct Settings {
    sizes: Vec<usize>,
    ranks: usize,
    rounds: usize,
    links: Vec<String>,
    json: bool,
}

impl Settings {
    fn parse(arguments: &[String]) -> Settings {
        let links = LINKS.map(str::to_owned).to_vec();
        let mut settings = Settings { sizes: vec![], ranks: 2, rounds: 9, links, json: false };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().expect("a value follows").clone();
            match argument.as_str() {
                "--json" => settings.json = true,
                "--ranks" => settings.ranks = value().parse().expect("a number of processes"),
                "--rounds" => settings.rounds = value().parse().expect("a number of rounds"),
                "--links" => settings.links = value().split(',').map(str::to_owned).collect(),
                size => settings.sizes.push(size.parse().expect("a number of bytes")),
            }
        }
        if settings.sizes.is_empty() {
            settings.sizes = vec![1 << 20, 100 << 20];
        }
        if settings.ranks != 2 {
            settings.links.retain(|link| link != "raw");
        }
        settings
    }
}

/// What a child is told first.
#[derive(Serialize, Deserialize)]
struct Start {
    secret: String,
    me: usize,
    ranks: usize,
    len: usize,
}

/// What a child tells: where its ports are.
#[derive(Serialize, Deserialize)]
struct Ports {
    shm: Contact,
    tcp: Contact,
    tls: Contact,
    raw: String,
}

/// What a child is told after: how often to exchange how much over which link.
#[derive(Serialize, Deserialize)]
struct Order {
    link: String,
    len: usize,
    times: usize,
}

struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Process {
    fn start() -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("child").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Process { child, to, from: BufReader::new(from) }
    }

    fn tell(&mut self, message: &impl Serialize) {
        writeln!(self.to, "{}", serde_json::to_string(message).unwrap()).unwrap();
    }

    fn hear<T: for<'a> Deserialize<'a>>(&mut self) -> T {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn parent(settings: &Settings) {
    for &size in &settings.sizes {
        let len = size / size_of::<f32>();
        let mut processes: Vec<Process> = (0..settings.ranks).map(|_| Process::start()).collect();
        let secret = Secret::random().to_hex();
        for (me, process) in processes.iter_mut().enumerate() {
            process.tell(&Start { secret: secret.clone(), me, ranks: settings.ranks, len });
        }
        let ports: Vec<Ports> = processes.iter_mut().map(Process::hear).collect();
        processes.iter_mut().for_each(|process| process.tell(&ports));
        measure(settings, size, &mut processes);
        for Process { mut child, to, .. } in processes {
            drop(to);
            child.wait().unwrap();
        }
    }
}

/// The links take turns.
fn measure(settings: &Settings, size: usize, processes: &mut [Process]) {
    let len = size / size_of::<f32>();
    let times = ((64 << 20) / size.max(1)).clamp(3, 200);
    let mut seconds: Vec<Vec<f64>> = vec![vec![]; settings.links.len()];
    for round in 0..=settings.rounds {
        for (link, seconds) in settings.links.iter().zip(&mut seconds) {
            let order = Order { link: link.clone(), len, times };
            processes.iter_mut().for_each(|process| process.tell(&order));
            let took: Vec<Vec<f64>> = processes.iter_mut().map(Process::hear).collect();
            // The first round warms up.
            if round > 0 {
                seconds.extend(&took[0]);
            }
        }
    }
    for (link, mut seconds) in settings.links.iter().zip(seconds) {
        seconds.sort_by(f64::total_cmp);
        let (best, median) = (seconds[0], seconds[seconds.len() / 2]);
        if settings.json {
            let ranks = settings.ranks;
            let line = serde_json::json!({
                "link": link, "bytes": size, "ranks": ranks, "best": best, "median": median,
            });
            println!("{line}");
        } else {
            println!(
                "{size:>10} bytes {link:>8}  best {:>9.3} ms  median {:>9.3} ms",
                best * 1e3,
                median * 1e3
            );
        }
    }
}

/// A process that takes part.
struct Member {
    me: usize,
    shm: Group,
    slots: Vec<Box<dyn std::ops::DerefMut<Target = [f32]> + Send>>,
    tcp: Group,
    tls: Group,
    raw: Option<TcpStream>,
    values: Vec<f32>,
    received: Vec<u8>,
}

fn child() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let start: Start = hear().unwrap();
        stay_on_core(start.me);
        let mut member = join(&start).await;
        while let Some(order) = hear::<Order>() {
            let mut took = vec![];
            for _ in 0..order.times {
                took.push(member.exchange(&order.link, order.len).await);
            }
            println!("{}", serde_json::to_string(&took).unwrap());
        }
    });
}

fn hear<T: for<'a> Deserialize<'a>>() -> Option<T> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
}

/// Each process has a core to itself, as far as there are any.
fn stay_on_core(me: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).unwrap();
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    let mut own = CpuSet::new();
    own.set(cores[me % cores.len()]);
    sched_setaffinity(None, &own).unwrap();
}

async fn join(start: &Start) -> Member {
    let secret = || Secret::from_hex(&start.secret).unwrap();
    let open = |access: Access, reach: Reach| {
        Port::open(Arc::new(Sockets), "127.0.0.1:0", access, reach, Arc::new(|_: &str| ()))
    };
    let shm = open(Access::plain(secret()), Reach::Anywhere).await.unwrap();
    let tcp = open(Access::plain(secret()), Reach::Network).await.unwrap();
    let tls = open(Access::secure(secret()), Reach::Network).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ports = Ports {
        shm: shm.contact(),
        tcp: tcp.contact(),
        tls: tls.contact(),
        raw: listener.local_addr().unwrap().to_string(),
    };
    println!("{}", serde_json::to_string(&ports).unwrap());
    let all: Vec<Ports> = hear().unwrap();
    let mut shm = form(start, &shm, all.iter().map(|ports| &ports.shm)).await;
    Member {
        me: start.me,
        slots: vec![shm.slot(start.me)],
        shm,
        tcp: form(start, &tcp, all.iter().map(|ports| &ports.tcp)).await,
        tls: form(start, &tls, all.iter().map(|ports| &ports.tls)).await,
        raw: (start.ranks == 2).then(|| raw_connection(start.me, &listener, &all[0].raw)),
        values: vec![0.0; start.len],
        received: vec![0; start.len * 4],
    }
}

async fn form(start: &Start, port: &Port, contacts: impl Iterator<Item = &Contact>) -> Group {
    let seat = |(rank, contact): (usize, &Contact)| Seat {
        process: rank as u32,
        contact: contact.clone(),
        ranks: vec![rank],
    };
    let seats = contacts.enumerate().map(seat).collect();
    let layout = Layout { generation: 1, world: start.ranks, seats, me: start.me, len: start.len };
    port.form(layout, watch::channel(1).1).await.unwrap()
}

fn raw_connection(me: usize, listener: &TcpListener, to: &str) -> TcpStream {
    let stream = match me {
        0 => listener.accept().unwrap().0,
        _ => TcpStream::connect(to).unwrap(),
    };
    stream.set_nodelay(true).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

impl Member {
    /// One exchange, and how long it took.
    async fn exchange(&mut self, link: &str, len: usize) -> f64 {
        let value = (self.me + 1) as f32;
        let (group, values): (&mut Group, &mut [f32]) = match link {
            "shm" => (&mut self.shm, &mut self.slots[0][..len]),
            "shm-copy" => (&mut self.shm, &mut self.values[..len]),
            "tls" => (&mut self.tls, &mut self.values[..len]),
            _ => (&mut self.tcp, &mut self.values[..len]),
        };
        values.fill(value);
        group.barrier().await.unwrap();
        let start = Instant::now();
        if link == "raw" {
            let stream = self.raw.as_mut().expect("raw is for two");
            swap(stream, bytemuck::cast_slice(values), &mut self.received[..len * 4]);
            return start.elapsed().as_secs_f64();
        }
        let world = group.world() as f32;
        let sum = group.all_reduce(&[Part { values, note: [0; 64] }]).await.unwrap();
        let took = start.elapsed().as_secs_f64();
        let expected = world * (world + 1.0) / 2.0;
        assert!(sum.values.iter().all(|value| *value == expected), "the sum is right");
        took
    }
}

/// Sends and receives at the same time, in one thread.
fn swap(stream: &mut TcpStream, mut out: &[u8], mut into: &mut [u8]) {
    use rustix::event::{PollFd, PollFlags, poll};
    while !out.is_empty() || !into.is_empty() {
        let mut moved = false;
        if !out.is_empty()
            && let Ok(sent) = stream.write(out)
        {
            out = &out[sent..];
            moved = true;
        }
        if !into.is_empty()
            && let Ok(read) = stream.read(into)
        {
            into = &mut into[read..];
            moved = true;
        }
        if !moved {
            let wanted = match (out.is_empty(), into.is_empty()) {
                (false, false) => PollFlags::IN | PollFlags::OUT,
                (false, true) => PollFlags::OUT,
                _ => PollFlags::IN,
            };
            poll(&mut [PollFd::new(&*stream, wanted)], None).unwrap();
        }
    }
}
