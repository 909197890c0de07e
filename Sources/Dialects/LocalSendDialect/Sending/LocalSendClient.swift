import Foundation
package import HTTPChannel
import NIOCore
import NIOHTTP1

/// The sender's side of LocalSend, on one connection. One task uses it.
package struct LocalSendClient {
    let http: HTTPClient

    package init(_ http: HTTPClient) { self.http = http }

    /// Asks a device for its description.
    /// - Parameter fingerprint: this side's, by which a device recognises itself.
    /// - Returns: nil for a program that is not LocalSend, and a device that does not show itself.
    /// - Throws: `HTTPError` if the connection breaks.
    package func inform(asking fingerprint: String, within timeout: Duration) async throws -> LocalSendDevice? {
        let path = LocalSendDialect.prefix + "info?fingerprint=" + fingerprint
        return device(try await http.exchange(.GET, path, timeout: timeout))
    }

    /// Tells a device about this one.
    /// - Returns: as `inform`.
    /// - Throws: as `inform`.
    @discardableResult
    package func register(_ own: LocalSendDevice, within timeout: Duration) async throws -> LocalSendDevice? {
        let body = ByteBuffer(bytes: own.message())
        let path = LocalSendDialect.prefix + "register"
        return device(try await http.exchange(.POST, path, body: body, timeout: timeout))
    }

    private func device(_ answer: HTTPAnswer) -> LocalSendDevice? {
        answer.status == .ok ? LocalSendDevice(message: answer.body.readableBytesView) : nil
    }
}
