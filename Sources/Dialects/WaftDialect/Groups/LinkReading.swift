import Groups
import NIOCore
import SecureTransport

/// The receiving end of a link, on the thread of its stream: writes reports, and reads blocks.
struct LinkReading {
    let membership: GroupMembership
    let stream: SecureStream
    let link: Epoch
    /// The blocks that the first report names.
    let first: Int
    let nudge: Nudge

    /// Reads blocks until the link is over, and closes the stream.
    func run() {
        defer { stream.close(lingering: .zero) }
        do {
            try read()
        } catch {
            membership.closed(link)
        }
    }

    /// - Throws: `SecureStreamError`, and `TransferError` for a malformed frame.
    private func read() throws {
        var decoder = GroupDecoder(BlockReading(membership.stream, from: first))
        var block = first
        var (heard, words) = (ByteBuffer(), ByteBuffer())
        while var turn = membership.turn(of: link, block: block) {
            words.writeBuffer(&turn.reports)
            if turn.mayRead, heard.readableBytes > 0 {
                if let next = try decoder.next(&heard) {
                    block = next.number + 1
                    membership.take(next, of: link)
                }
                if heard.readableBytes == 0 { heard = ByteBuffer() }
                continue
            }
            // A previous that always has something to say would leave no turn to the reports.
            let isReading = turn.mayRead && words.readableBytes == 0
            if let bytes = try stream.turn(&words, until: .distantFuture, isReading: isReading, nudge: nudge) {
                heard = bytes
            } else if words.readableBytes == 0 {
                words.clear()
            }
        }
    }
}
