//! One list of checks for every link.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alone;
mod checks;
mod meeting;
mod numbers;

use meeting::Place;

/// One test for each check, for one link.
macro_rules! conformance {
    ($link:ident, $place:expr, [$($check:ident),* $(,)?]) => {
        mod $link {
            use super::*;

            $(
                #[test]
                fn $check() {
                    checks::$check($place);
                }
            )*
        }
    };
}

/// The checks that hold for every link, and those given besides.
macro_rules! every_check {
    ($link:ident, $place:expr $(, $more:ident)*) => {
        conformance!($link, $place, [
            sums_are_canonical,
            any_length_will_do,
            slots_hold_values,
            many_rounds,
            broadcast_reaches_everyone,
            pass_concerns_two,
            superseded_ends_waits,
            generations_follow,
            disagreement_is_refused,
            misuse_is_told,
            a_group_knows_itself,
            the_late_harm_nobody,
            the_lost_are_missed,
            who_hosts_nothing_may_go
            $(, $more)*
        ]);
    };
}

every_check!(memory, Place::Memory);
every_check!(tcp, Place::Tcp, sums_wait_for_those_who_compute, copies_wait_for_those_who_compute);
every_check!(tls, Place::Tls, sums_wait_for_those_who_compute, copies_wait_for_those_who_compute);
every_check!(shm, Place::Shm);
every_check!(throttled, Place::Throttled);
