package import Groups
import HTTPChannel
import NIOCore
package import SecureTransport
package import Sharing

/// Dials a member at the addresses of a place, and begins the link with its token. Cancelling the task ends it.
///
/// - Returns: nil if the named peer did not prove its key, or did not take the token.
package typealias LinkDialing = @Sendable (_ next: Place.Next, _ group: GroupID) async -> SecureStream?

extension WaftClient {
    /// Begins a link of a group. The connection is used up.
    ///
    /// - Parameter timeout: how long the other side may wait for the place that names this one.
    /// - Returns: nil if the peer does not take the token.
    /// - Throws: `HTTPError` if the connection breaks.
    package func beginLink(of group: GroupID, _ token: Token, timeout: Duration) async throws -> SecureStream? {
        let answer = try await http.switchProtocols(
            WaftDialect.Resource.relay(group).path, to: GroupRequest.linkProtocol,
            fields: [GroupRequest.tokenField: token.hex], timeout: timeout)
        if case .switched(let stream) = answer { return stream }
        return nil
    }
}

extension WaftClient {
    /// Begins the control connection of a member that has accepted. The connection is used up, and so is the offer.
    ///
    /// - Returns: nil if the member refuses.
    /// - Throws: `HTTPError` if the connection breaks.
    func beginControl(
        of group: GroupID, _ size: BlockedStream, timeout: Duration
    ) async throws -> SecureStream? {
        let answer = try await http.switchProtocols(
            WaftDialect.Resource.group(group).path, to: GroupRequest.controlProtocol,
            fields: [GroupRequest.streamField: String(size.bytes)], timeout: timeout)
        if case .switched(let stream) = answer { return stream }
        return nil
    }
}

/// The dialling end of a link, on the thread of its stream: writes blocks, and hears reports.
struct LinkFeed {
    let stream: SecureStream
    /// Rung when there is a block to write.
    let nudge: Nudge
    /// Appends the frame of the next block, if one may be written now. It may block for the disk.
    let next: (inout ByteBuffer) throws -> Void
    let reported: (Report) -> Void

    /// Feeds the other side until the connection ends, or `interrupt` ends it. Closes the stream.
    ///
    /// - Throws: `SecureStreamError`, `TransferError` for a malformed report, and the errors of `next`.
    func run() throws {
        defer { stream.close(lingering: Limits.lingering) }
        var decoder = GroupDecoder(ReportReading())
        var frame = ByteBuffer()
        while true {
            if frame.readableBytes == 0 {
                frame.clear()
                try next(&frame)
            }
            guard var heard = try stream.turn(&frame, until: .distantFuture, nudge: nudge) else { continue }
            while let report = try decoder.next(&heard) { reported(report) }
        }
    }
}
