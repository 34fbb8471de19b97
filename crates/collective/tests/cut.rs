//! Wherever a connection breaks, a group ends with an error or with the right sum.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use collective::testing::Cut;
use collective::{Access, Broken, Layout, Memory, Net, Part, Port, Reach, Seat, Secret};
use futures::future::join_all;
use tokio::sync::watch;

const LEN: usize = 300;

/// A group of three over a network that breaks when a connection has carried so many bytes.
async fn sum(bytes: u64) -> Vec<Result<Vec<f32>, Broken>> {
    let net = Cut::new(Memory::new());
    net.after(bytes);
    let net: Arc<dyn Net> = Arc::new(net);
    let access = Access::plain(Secret::random());
    let open =
        || Port::open(Arc::clone(&net), "", access.clone(), Reach::Network, Arc::new(|_: &str| ()));
    let mut ports: Vec<Port> = vec![];
    for _ in 0..3 {
        ports.push(open().await.unwrap());
    }
    let seat = |(process, port): (u32, &Port)| Seat {
        process,
        contact: port.contact(),
        ranks: vec![process as usize],
    };
    let seats: Vec<Seat> = (0..).zip(&ports).map(seat).collect();
    let member = |(me, port): (usize, Port)| {
        let layout = Layout { generation: 1, world: 3, seats: seats.clone(), me, len: LEN };
        async move {
            let values: Vec<f32> = (0..LEN).map(|place| (place * (me + 1)) as f32).collect();
            let mut group = port.form(layout, watch::channel(1).1).await?;
            let sum = group.all_reduce(&[Part { values: &values, note: [7; 64] }]).await?;
            assert_eq!(sum.notes, [[7; 64]; 3]);
            Ok(sum.values.to_vec())
        }
    };
    join_all(ports.into_iter().enumerate().map(member)).await
}

#[tokio::test(start_paused = true)]
async fn no_cut_gives_a_wrong_sum_or_an_endless_wait() {
    let expected: Vec<f32> = (0..LEN).map(|place| (place * 6) as f32).collect();
    let (mut whole, mut broken) = (0, 0);
    for bytes in (0..3_000).step_by(7) {
        for outcome in sum(bytes).await {
            match outcome {
                Ok(values) => {
                    assert_eq!(values, expected);
                    whole += 1;
                }
                Err(Broken::Lost { .. } | Broken::Refused { .. }) => broken += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(whole > 100 && broken > 100, "{whole} whole, {broken} broken");
}
