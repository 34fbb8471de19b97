//! Who may talk: those who know the run's secret, over connections that nobody else can read.
//!
//! Each process has a certificate. Its fingerprint travels with its address; who connects checks it,
//! and the secret proves the rest.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use crate::{Identity, Secret};

/// The right to talk to the processes of one run. A clone is the same right.
#[derive(Clone)]
pub struct Access {
    rights: Arc<Rights>,
}

struct Rights {
    secret: Secret,
    identity: Option<Identity>,
}

impl Access {
    /// Encrypted connections, with a fresh certificate for this process.
    pub fn secure(secret: Secret) -> Access {
        Access::known(secret, Identity::fresh())
    }

    /// Encrypted connections, with a certificate that others may know already.
    pub fn known(secret: Secret, identity: Identity) -> Access {
        Access { rights: Arc::new(Rights { secret, identity: Some(identity) }) }
    }

    /// Connections that anybody on the way can read: for tests, simulations and measurements. The
    /// secret must be proved all the same.
    pub fn plain(secret: Secret) -> Access {
        Access { rights: Arc::new(Rights { secret, identity: None }) }
    }

    /// The SHA-256 of this process' certificate in hexadecimal, empty where connections are plain.
    pub fn fingerprint(&self) -> &str {
        self.rights.identity.as_ref().map_or("", Identity::fingerprint)
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.rights.secret
    }

    pub(crate) fn acceptor(&self) -> Option<&TlsAcceptor> {
        self.rights.identity.as_ref().map(|identity| &identity.acceptor)
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("fingerprint", &self.fingerprint()).finish_non_exhaustive()
    }
}
