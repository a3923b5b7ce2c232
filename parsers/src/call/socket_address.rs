//! Socket addresses, in the forms of all tracers.
//!
//! In:   {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}
//! Out:  127.0.0.1:80

use super::value::{string, unescape};
use crate::scan;
use memchr::{memchr, memmem};
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A socket address as `host:port`, `[v6]:port`, path or `@name`, into `out`; false if the argument is not one.
pub fn socket_address(arg: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    if !arg.starts_with(b"{") {
        return false;
    }
    let after = |key: &[u8]| memmem::find(arg, key).map(|at| &arg[at + key.len()..]);
    if let Some(path) = after(b"path=") {
        let (sign, quoted) = match path.strip_prefix(b"@") {
            Some(quoted) => (&b"@"[..], quoted),
            None => (&b""[..], path),
        };
        out.extend_from_slice(sign);
        unescape(string(quoted), out);
        // The length that the kernel reports includes the terminating zero.
        out.truncate(
            out.iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |at| at + 1),
        );
        return !out.is_empty();
    }
    let port = after(b"port=htons(")
        .or_else(|| after(b" /* htons("))
        .and_then(|text| memchr(b')', text).map(|end| &text[..end]));
    if let Some(host) = after(b"inet_addr(") {
        unescape(string(host), out);
    } else if let Some(host) = after(b"inet_pton(AF_INET6, ") {
        let host = string(host);
        // `::ffff:10.0.0.7` is the IPv4 address of a peer, at a socket for both families.
        match host
            .strip_prefix(b"::ffff:")
            .filter(|mapped| mapped.contains(&b'.'))
        {
            Some(mapped) => unescape(mapped, out),
            None => {
                out.push(b'[');
                unescape(host, out);
                out.push(b']');
            }
        }
    } else {
        return bare_address(arg, out) || raw_address(arg, out).is_some();
    }
    if let Some(port) = port {
        out.push(b':');
        out.extend_from_slice(port);
    }
    true
}

/// `{ AF_INET 127.0.0.1:80 }`, `{ AF_UNIX "/var/run/log" }`.
fn bare_address(arg: &[u8], out: &mut Vec<u8>) -> bool {
    let inner = scan::trim(
        arg.strip_prefix(b"{")
            .unwrap_or(arg)
            .strip_suffix(b"}")
            .unwrap_or(b""),
    );
    let Some(blank) = memchr(b' ', inner).filter(|_| inner.starts_with(b"AF_")) else {
        return false;
    };
    let address = scan::trim(&inner[blank..]);
    let quoted = address.starts_with(b"\"");
    unescape(if quoted { string(address) } else { address }, out);
    !out.is_empty()
}

/// `{sa_family=0x2, sin_port="\0P", sin_addr="\x7f\0\0\1"}`: port and host as bytes, of `strace -X raw`.
fn raw_address(arg: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let after = |key: &[u8]| memmem::find(arg, key).map(|at| &arg[at + key.len()..]);
    let mut bytes = |text: &[u8]| {
        out.clear();
        unescape(string(text), out);
        std::mem::take(out)
    };
    let [high, low] = bytes(after(b"_port=")?)[..] else {
        return None;
    };
    let port = u16::from_be_bytes([high, low]);
    match (after(b"sin_addr="), after(b"sin6_addr=")) {
        (Some(host), _) => {
            let host = <[u8; 4]>::try_from(bytes(host)).ok()?;
            write!(out, "{}:{port}", Ipv4Addr::from(host)).ok()
        }
        (None, Some(host)) => {
            let host = <[u8; 16]>::try_from(bytes(host)).ok()?;
            write!(out, "[{}]:{port}", Ipv6Addr::from(host)).ok()
        }
        (None, None) => None,
    }
}
