import Contacts
import Logging
import NIOCore
import SecureTransport
import Sharing

extension ContactBook {
    /// Notes where a contact was reached: the next time it is looked for there as well.
    func note(_ address: SocketAddress?, of peer: PeerID, _ logger: Logger) {
        guard let address, let port = address.port, let host = DialAddress(of: address)?.host,
            // Means nothing without an interface, which may be another one tomorrow.
            !host.lowercased().hasPrefix("fe80:"),
            let known = try? KnownAddress(host: host, port: UInt16(clamping: port), lastGood: .now)
        else { return }
        do {
            try remember(known, of: peer)
        } catch {
            logger.warning("where a contact was reached cannot be noted", metadata: ["reason": "\(error)"])
        }
    }
}
