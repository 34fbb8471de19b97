//! Values from one process to others: a head, then the values, to everyone at once.

use std::future::poll_fn;
use std::io::IoSlice;
use std::task::{Context, Poll, ready};

use super::line::{HEAD_BYTES, Kind, Line};
use crate::Broken;

/// What one peer gets.
struct Delivery<'a> {
    line: &'a mut Line,
    head: [u8; HEAD_BYTES],
    /// How many bytes of head and values have gone.
    sent: usize,
    is_done: bool,
}

/// Sends `values` to all these peers.
pub(super) async fn send<'a>(
    lines: impl Iterator<Item = &'a mut Line>,
    kind: Kind,
    values: &[f32],
) -> Result<(), Broken> {
    let mut deliveries: Vec<Delivery<'a>> =
        lines.map(|line| Delivery::new(line, kind, values.len())).collect();
    poll_fn(|cx| {
        let mut all = true;
        for delivery in &mut deliveries {
            if !delivery.is_done {
                delivery.is_done = delivery.poll(cx, bytemuck::cast_slice(values))?.is_ready();
                all &= delivery.is_done;
            }
        }
        if all { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

impl<'a> Delivery<'a> {
    fn new(line: &'a mut Line, kind: Kind, len: usize) -> Delivery<'a> {
        let head = line.begin(kind, len);
        Delivery { line, head, sent: 0, is_done: false }
    }

    fn poll(&mut self, cx: &mut Context<'_>, values: &[u8]) -> Poll<Result<(), Broken>> {
        while self.sent < HEAD_BYTES + values.len() {
            let head = &self.head[self.sent.min(HEAD_BYTES)..];
            let values = &values[self.sent.saturating_sub(HEAD_BYTES)..];
            let slices = [IoSlice::new(head), IoSlice::new(values)];
            self.sent += ready!(self.line.poll_send(cx, &slices))?;
        }
        self.line.poll_flush(cx)
    }
}

/// Receives `values` from one peer, which must send just as many.
pub(super) async fn receive(line: &mut Line, kind: Kind, values: &mut [f32]) -> Result<(), Broken> {
    let len = values.len();
    line.begin(kind, len);
    let mut head = [0; HEAD_BYTES];
    fill(line, &mut head).await?;
    let theirs = line.check(&head, kind, usize::MAX)?;
    if theirs != len {
        let problem = format!("it sends {theirs} values where this process expects {len}");
        return Err(Broken::refused(line.process, problem));
    }
    fill(line, bytemuck::cast_slice_mut(values)).await
}

async fn fill(line: &mut Line, bytes: &mut [u8]) -> Result<(), Broken> {
    let mut at = 0;
    while at < bytes.len() {
        poll_fn(|cx| line.poll_fill(cx, bytes, &mut at)).await?;
    }
    Ok(())
}
