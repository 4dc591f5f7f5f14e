//! The allowed addresses of requests, and a resolver that returns no others.
//!
//! A connection uses the checked address, so a name cannot change in between.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Which addresses are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// For addresses that callers write.
    PublicOnly,
    /// For registered registries: they may be in a private network, but not at the metadata addresses of clouds.
    NotLinkLocal,
    Any,
}

impl Reach {
    pub(super) fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::PublicOnly => is_public(address),
            Self::NotLinkLocal => !is_link_local(address),
            Self::Any => true,
        }
    }
}

/// The resolver of the system, without forbidden addresses.
pub(super) struct Guard<L> {
    reach: Reach,
    lookup: Arc<L>,
}

#[derive(Debug, thiserror::Error)]
#[error("{host} is a private address ({address})")]
pub(super) struct PrivateAddress {
    pub host: String,
    pub address: IpAddr,
}

/// The present addresses of a name.
pub(super) trait Lookup: Send + Sync + 'static {
    fn lookup(&self, host: &str) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;
}

pub(super) struct System;

impl Lookup for System {
    async fn lookup(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.collect())
    }
}

impl<L> Guard<L> {
    pub fn new(reach: Reach, lookup: L) -> Self {
        let lookup = Arc::new(lookup);
        Self { reach, lookup }
    }
}

impl<L: Lookup> Resolve for Guard<L> {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, lookup) = (self.reach, self.lookup.clone());
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = lookup.lookup(&host).await?;
            match found.iter().find(|address| !reach.allows(address.ip())) {
                Some(refused) => Err(PrivateAddress {
                    host,
                    address: refused.ip(),
                }
                .into()),
                None => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// Metadata addresses of clouds outside of the link-local range: Azure, Alibaba, Oracle.
const OF_CLOUDS: [Ipv4Addr; 3] = [
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// Metadata addresses of clouds: 169.254.0.0/16, fe80::/10, AWS's fd00:ec2::/32, and a few of others.
fn is_link_local(address: IpAddr) -> bool {
    let is_link_local_v4 =
        |address: Ipv4Addr| address.is_link_local() || OF_CLOUDS.contains(&address);
    match address {
        IpAddr::V4(address) => is_link_local_v4(address),
        IpAddr::V6(address) => {
            let [a, b, ..] = address.segments();
            a & 0xffc0 == 0xfe80
                || (a, b) == (0xfd00, 0xec2)
                || carried(address).is_some_and(is_link_local_v4)
        }
    }
}

/// The IPv4 address in an IPv6 address: mapped (::ffff:a.b.c.d), in its old form (::a.b.c.d), translated
/// (64:ff9b::a.b.c.d) or tunnelled (2002:ab:cd::).
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// Whether an address belongs to the public internet (IANA's special-purpose registries).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast();
    // This network; carriers' shared addresses; protocol assignments; benchmarks; reserved, with broadcast.
    let reserved = a == 0
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && b & 0xfe == 18)
        || a >= 240;
    !special && !reserved && !OF_CLOUDS.contains(&address)
}

/// Only global unicast (2000::/3), without embedded IPv4 addresses that are not public, protocol assignments
/// (2001::/23) and documentation.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_mapped = address.to_ipv4_mapped().is_some();
    let is_global = a & 0xe000 == 0x2000;
    let is_special = a == 0x2001 && (b < 0x200 || b == 0xdb8) || a == 0x3fff && b < 0x1000;
    match carried(address) {
        Some(carried) => (is_mapped || is_global) && is_public_v4(carried),
        None => is_global && !is_special,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn addresses_inside_of_networks_are_not_public() {
        for private in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "fec0::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:db8::1",
            "2001::1",
            "2001:10::1",
            "3fff::1",
            "::10.0.0.1",
            "::1.1.1.1",
            "::ffff:169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "140.82.121.6",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "2002:101:101::1",
            "2001:200::1",
            "100.128.0.1",
            "172.32.0.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn a_registered_registry_may_be_inside_but_not_where_secrets_are_given_out() {
        for (address, allowed) in [
            ("10.0.0.1", true),
            ("127.0.0.1", true),
            ("fd12::1", true),
            ("1.1.1.1", true),
            ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("::169.254.169.254", false),
            ("64:ff9b::169.254.169.254", false),
            ("2002:a9fe:a9fe::1", false),
            ("168.63.129.16", false),
            ("::ffff:100.100.100.200", false),
            ("100.100.100.201", true),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(Reach::NotLinkLocal.allows(address), allowed, "{address}");
        }
    }

    /// A resolver whose answers differ each time.
    struct Rebinding {
        answers: Mutex<Vec<&'static [&'static str]>>,
    }

    impl Lookup for Rebinding {
        async fn lookup(&self, _: &str) -> io::Result<Vec<SocketAddr>> {
            let answer = self.answers.lock().unwrap().pop().unwrap();
            let address = |ip: &&str| SocketAddr::new(ip.parse().unwrap(), 0);
            Ok(answer.iter().map(address).collect())
        }
    }

    async fn ask(answers: &[&'static [&'static str]], port: u16) -> Result<(), reqwest::Error> {
        let answers = Mutex::new(answers.iter().rev().copied().collect());
        let guard = Guard::new(Reach::NotLinkLocal, Rebinding { answers });
        let client = common::client::http::builder().no_proxy();
        let client = client.dns_resolver(Arc::new(guard)).build().unwrap();
        let asked = client.get(format!("http://rebinding.example:{port}/"));
        asked.send().await.map(|_| ())
    }

    /// Closes each connection without an answer. Returns its port.
    fn server() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
                while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
                stream.write_all(answer).unwrap();
            }
        });
        port
    }

    #[tokio::test]
    async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
        let port = server();
        // A second lookup would return the metadata address of a cloud.
        let answers: [&[&str]; 2] = [&["127.0.0.1"], &["169.254.169.254"]];
        ask(&answers, port).await.unwrap();
        for refused in [&["169.254.169.254"][..], &["127.0.0.1", "fe80::1"]] {
            let error = ask(&[refused], port).await.unwrap_err();
            assert!(error.is_connect(), "{error}");
        }
    }
}
