import Contacts
import Logging
import NIOCore
import SecureTransport
import Sharing

extension ContactBook {
    /// Notes where a contact was reached: the next time it is looked for there as well.
    func note(_ address: SocketAddress?, of peer: PeerID, _ logger: Logger) {
        guard let address, let port = address.port, let host = DialAddress(of: address)?.host else { return }
        note(host, UInt16(clamping: port), of: peer, logger)
    }

    /// Notes where a contact says that it can be reached. It has proved its key on a connection from this host.
    func note(_ host: String, _ port: UInt16, of peer: PeerID, _ logger: Logger) {
        // A link-local address means nothing without an interface, which may be another one tomorrow.
        guard !host.lowercased().hasPrefix("fe80:"),
            let known = try? KnownAddress(host: host, port: port, lastGood: .now)
        else { return }
        do {
            try remember(known, of: peer)
        } catch {
            logger.warning("where a contact was reached cannot be noted", metadata: ["reason": "\(error)"])
        }
    }
}
