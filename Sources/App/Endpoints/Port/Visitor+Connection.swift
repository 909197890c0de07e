import Discovery
import HTTPChannel
import NIOCore
import SecureTransport
import Sharing

extension Visitor {
    /// The peer at the other end of a connection that a listener has accepted.
    ///
    /// - Parameter asksForRadio: whether `OfferOrigin.isWireless` matters in its dialect.
    init<Output>(of connection: SecureConnection<Output>, asksForRadio: Bool = false) {
        let host = connection.remoteAddress.flatMap { DialAddress(of: $0)?.hostText }
        var origin = OfferOrigin(host: host, certificate: connection.certificateFingerprint?.text)
        if asksForRadio, let own = connection.channel.localAddress.flatMap({ DialAddress(of: $0)?.host }) {
            origin.isWireless = WirelessInterface.has(address: own)
        }
        self.init(connection.peerID, at: connection.place?.address, origin: origin)
    }
}
