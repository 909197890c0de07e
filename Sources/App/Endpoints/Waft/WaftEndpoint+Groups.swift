import Groups
import HTTPChannel
import NIOPosix
import SecureTransport
import Sharing
import WaftDialect

extension WaftEndpoint {
    /// Dials the members of a group, each at the addresses of its place, which the caller has checked. The member must prove
    /// the key of the place before a byte of HTTP leaves.
    ///
    /// - Parameter scope: the interface on which link-local addresses are dialled, by its number; nil for none.
    func linkDialing(scope: UInt32?) -> LinkDialing {
        { next, group in
            let addresses = next.addresses.map { address in
                DialAddress(
                    host: address.text, port: Int(next.port), scopeID: address.isLinkLocal ? scope : nil)
            }
            let limit = GroupLimits().dial
            do {
                let target = PeerTarget(dialect, addresses: addresses).expecting(next.peer)
                let connection = try await dial(target, within: limit)
                return try await HTTPClient.converse(connection.output) { http in
                    try await WaftClient(http).beginLink(of: group, next.token, timeout: limit)
                }
            } catch {
                // The sender learns of it when the time for dialling is over: see `MemberLedger` and `SenderLedger`.
                return nil
            }
        }
    }
}
