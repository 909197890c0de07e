import HTTPChannel
import SecureTransport
import Sharing

extension Visitor {
    /// The peer at the other end of a connection that a listener has accepted.
    init<Output>(of connection: SecureConnection<Output>) {
        let host = connection.remoteAddress.flatMap { DialAddress(of: $0)?.hostText }
        self.init(
            connection.peerID, at: connection.place?.address,
            origin: OfferOrigin(host: host, certificate: connection.certificateFingerprint?.text))
    }
}
