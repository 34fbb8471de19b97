//! Addresses to listen at, which others are told to call.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};

use anyhow::anyhow;

use crate::failure::Failure;

/// An address that was asked for, if others can call it.
pub(crate) fn check(listen: &str) -> Result<(), Failure> {
    let ip: Option<IpAddr> = listen.parse().ok().map(|address: SocketAddr| address.ip());
    match ip.filter(IpAddr::is_unspecified) {
        Some(ip) => Err(Failure::Usage(anyhow!(
            "--listen {listen}: {ip} stands for every address of this machine, and others need one \
             that they can call; name it, as in --listen 10.0.0.1:7070"
        ))),
        None => Ok(()),
    }
}

/// Where somebody at `address` reaches this machine, at any port: where it is asked for is where the
/// answer would come from.
pub(crate) fn reached_from(address: &str) -> Result<String, Failure> {
    let own = |there: SocketAddr| {
        let any = if there.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any)?;
        socket.connect(there)?;
        Ok::<_, std::io::Error>(SocketAddr::new(socket.local_addr()?.ip(), 0).to_string())
    };
    let resolved = address.to_socket_addrs().map(|mut addresses| addresses.next());
    match resolved.and_then(|there| there.map(own).transpose()) {
        Ok(Some(own)) => Ok(own),
        Ok(None) => Err(anyhow!("the driver's address {address} is nobody's").into()),
        Err(error) => Err(anyhow!("no way to the driver at {address}: {error}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stands_for_all_cannot_be_called() {
        for all in ["0.0.0.0:7070", "[::]:0"] {
            assert!(matches!(check(all), Err(Failure::Usage(_))), "{all}");
        }
        for one in ["127.0.0.1:0", "10.0.0.1:7070", "[::1]:0", "trainer:7070"] {
            assert!(check(one).is_ok(), "{one}");
        }
    }

    #[test]
    fn this_machine_is_reached_from_itself_by_number_and_by_name() {
        assert_eq!(reached_from("127.0.0.1:7070").ok().unwrap(), "127.0.0.1:0");
        assert!(
            ["127.0.0.1:0", "[::1]:0"].contains(&&*reached_from("localhost:7070").ok().unwrap())
        );
        assert!(reached_from("nobody.invalid:7070").is_err());
    }
}
