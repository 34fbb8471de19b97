//! A process that hosts every rank sums as all others do.

use collective::{Broken, Group};

use crate::numbers::{Brought, bits, notes, sum};

#[tokio::test]
async fn sums_are_canonical() {
    for world in 1..=9 {
        let mut group = Group::alone(world, 3_000);
        assert_eq!(group.ranks(), (0..world).collect::<Vec<_>>());
        assert_eq!((group.world(), group.me(), group.link()), (world, 0, "none"));
        for (round, len) in [3_000, 1, 0, 17].into_iter().enumerate() {
            let brought = Brought::new(round, group.ranks(), len);
            let summed = group.all_reduce(&brought.parts()).await.unwrap();
            assert_eq!(bits(summed.values), bits(&sum(round, world, len)));
            assert_eq!(summed.notes, notes(round, world));
        }
        assert_eq!(group.gather(&notes(3, world)).await.unwrap(), notes(3, world));
        group.barrier().await.unwrap();
        group.broadcast(0, &mut [1.0, 2.0]).await.unwrap();
        assert_eq!(group.slot(0).len(), 3_000);
        assert_eq!(group.bytes_sent(), 0);
    }
}

#[tokio::test]
async fn misuse_is_told() {
    let mut group = Group::alone(2, 10);
    let brought = Brought::new(0, &[0, 1], 11);
    let broken = group.all_reduce(&brought.parts()).await.err().unwrap();
    assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
}
