//! Rights that the driver lacks and can do without, after a fashion: what is lost by that is said in its
//! log, once for each.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use kube::runtime::watcher;

/// The HTTP status of what one may not do.
const FORBIDDEN: u16 = 403;

/// What was said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials(Arc<Mutex<BTreeSet<&'static str>>>);

impl Denials {
    /// Says what is lost, if it is for want of a right. Whether it is.
    pub(crate) fn take(&self, lost: &'static str, error: &kube::Error) -> bool {
        match error {
            kube::Error::Api(status) if status.code == FORBIDDEN => self.say(lost, &status.message),
            _ => false,
        }
    }

    /// The same for what a watch fails with.
    pub(crate) fn take_watch(&self, lost: &'static str, error: &watcher::Error) {
        use watcher::Error::{InitialListFailed, WatchError, WatchFailed, WatchStartFailed};
        match error {
            InitialListFailed(error) | WatchStartFailed(error) | WatchFailed(error) => {
                self.take(lost, error);
            }
            WatchError(status) if status.code == FORBIDDEN => {
                self.say(lost, &status.message);
            }
            _ => {}
        }
    }

    fn say(&self, lost: &'static str, message: &str) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.insert(lost) {
            // The driver's log is where people look, and nobody may be looking.
            let _ = writeln!(std::io::stderr().lock(), "{lost}: {message}");
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn answer(code: u16) -> kube::Error {
        kube::Error::Api(Box::new(Status { code, message: "no".into(), ..Status::default() }))
    }

    #[test]
    fn only_what_is_forbidden_is_said_and_once() {
        let denials = Denials::default();
        assert!(!denials.take("a is lost", &answer(404)));
        assert!(denials.0.lock().unwrap().is_empty());
        assert!(denials.take("a is lost", &answer(403)) && denials.take("a is lost", &answer(403)));
        denials.take_watch("b is lost", &watcher::Error::WatchStartFailed(answer(403)));
        denials.take_watch("c is lost", &watcher::Error::WatchStartFailed(answer(500)));
        assert_eq!(*denials.0.lock().unwrap(), BTreeSet::from(["a is lost", "b is lost"]));
    }
}
