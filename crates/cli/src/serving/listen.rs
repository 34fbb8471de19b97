//! Where a page is: an address of this machine, and a port that is free.

use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Context, Result, bail};
use tokio::net::TcpListener;

use crate::output;

/// A place to listen at.
pub(super) struct Place {
    host: String,
    address: SocketAddr,
    /// Whether somebody wants this port and no other.
    chosen: bool,
}

impl Place {
    /// The place that a name and a port mean.
    pub(super) fn find(host: &str, port: Option<u16>) -> Result<Place> {
        let found = (host, port.unwrap_or(spec::Serve::PORT)).to_socket_addrs();
        let Some(address) = found.ok().and_then(|mut all| all.next()) else {
            bail!("`{host}` is no address to listen at; try 127.0.0.1");
        };
        Ok(Place { host: host.to_owned(), address, chosen: port.is_some() })
    }

    /// Whether only this machine reaches it.
    pub(super) fn is_private(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// The name that a person on this machine reaches it by.
    pub(super) fn shown(&self) -> String {
        match self.host.as_str() {
            "0.0.0.0" => "127.0.0.1".into(),
            "::" => "::1".into(),
            other => other.into(),
        }
    }

    /// Refuses a port that was chosen and is taken.
    pub(super) fn is_free(&self) -> Result<()> {
        match std::net::TcpListener::bind(self.address) {
            Err(error) if self.chosen || error.kind() != ErrorKind::AddrInUse => {
                Err(self.refused(error))
            }
            _ => Ok(()),
        }
    }

    /// Listens there, or at another port if nobody chose this one and it is taken.
    pub(super) async fn listen(&self) -> Result<TcpListener> {
        match TcpListener::bind(self.address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && !self.chosen => {
                output::talk(&format!("port {} is taken; another is used", self.address.port()));
                let any = SocketAddr::new(self.address.ip(), 0);
                TcpListener::bind(any).await.with_context(|| format!("cannot listen at {any}"))
            }
            Err(error) => Err(self.refused(error)),
            Ok(listener) => Ok(listener),
        }
    }

    fn refused(&self, error: std::io::Error) -> anyhow::Error {
        let address = self.address;
        let remedy = match error.kind() {
            ErrorKind::AddrInUse => "; choose another port, or leave it out",
            ErrorKind::PermissionDenied => "; choose a port from 1024",
            _ => "",
        };
        anyhow::anyhow!("cannot listen at {address}: {error}{remedy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: SocketAddr, chosen: bool) -> Place {
        Place { host: "127.0.0.1".into(), address, chosen }
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_refused_only_where_somebody_chose_it() {
        let held = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let taken = held.local_addr().expect("it has an address");
        for refused in [
            place(taken, true).is_free().expect_err("it is taken"),
            place(taken, true).listen().await.expect_err("it is taken"),
        ] {
            let error = refused.to_string();
            assert!(
                error.contains(&taken.to_string()) && error.contains("choose another"),
                "{error}"
            );
        }
        place(taken, false).is_free().expect("another will do");
        let other = place(taken, false).listen().await.expect("another is found");
        let other = other.local_addr().expect("it has an address");
        assert!(other.ip() == taken.ip() && other.port() != taken.port());
    }

    #[test]
    fn others_are_let_in_by_addresses_that_are_not_this_machines_own() {
        let private = |host: &str| Place::find(host, None).expect("it is an address").is_private();
        assert!(private("localhost") && private("127.0.0.1") && !private("0.0.0.0"));
        let error = Place::find("no such host", None).err().expect("there is none").to_string();
        assert!(error.contains("`no such host`") && error.contains("127.0.0.1"), "{error}");
        assert_eq!(Place::find("0.0.0.0", Some(1)).expect("it is one").shown(), "127.0.0.1");
    }
}
