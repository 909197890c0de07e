package import Contacts
import Sharing

/// A peer that is asked at an address, under a name of the user's: for machines that discovery does not reach.
///
/// The name leads to the address, and not to a key: any key may answer there, unless a contact has the same name.
package struct RememberedPeer: Hashable, Sendable {
    package let name: ContactName
    /// An IP address or host name. A link-local address has its zone: `fe80::1%eth0`.
    package let host: String
    package let port: UInt16

    /// Reads the words of a command line.
    ///
    /// - Parameter address: as `PeerReference` reads it; a host without a port has the usual one.
    /// - Throws: `RememberedPeerError` `unfit`.
    package init(name: String, address: String) throws(RememberedPeerError) {
        let reference: PeerReference
        do throws(PeerReference.FormatError) {
            reference = try PeerReference(address)
        } catch {
            throw RememberedPeerError(.unfit, error.description)
        }
        switch reference {
        case .address(let host, let port): try self.init(name: name, host: host, port: port)
        case .name(let host): try self.init(name: name, host: host, port: PeerReference.defaultPort)
        }
    }

    /// - Throws: `RememberedPeerError` `unfit` for a name that `--to` would not find, or an address that is none.
    package init(name: String, host: String, port: UInt16) throws(RememberedPeerError) {
        do throws(ContactError) {
            self.name = try ContactName(name)
            // The same rules as for the addresses of contacts.
            _ = try KnownAddress(host: host, port: port, lastGood: WallTime(milliseconds: 0))
        } catch {
            throw RememberedPeerError(.unfit, error.description)
        }
        guard case .name? = try? PeerReference(name) else {
            throw RememberedPeerError(
                .unfit, "\"\(ShownText.line(name, limit: 64))\" cannot be the name of a peer: it reads as an address")
        }
        guard PeerReference.isHost(host) else {
            throw RememberedPeerError(
                .unfit,
                "\"\(ShownText.line(host, limit: 64))\" is neither an IP address nor a name of DNS: "
                    + "each of its parts between dots has 1 to 63 letters, digits, - and _")
        }
        (self.host, self.port) = (host, port)
    }

    /// As `--to` takes it.
    package var addressText: String { PeerReference.address(host: host, port: port).description }
}

/// Why the remembered peers could not be read or changed.
package struct RememberedPeerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// A name or an address that cannot be used.
        case unfit
        /// No remembered peer has this name.
        case unknown
        /// `RememberedPeers.maximumCount` is reached.
        case full
        /// The file is invalid, and was left as it is.
        case damaged
        /// The disk could not be read or written.
        case storage
    }

    package let code: Code
    /// One line, not escaped.
    package let description: String

    init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}
