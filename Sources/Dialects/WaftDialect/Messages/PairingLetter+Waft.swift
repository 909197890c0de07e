import Foundation
import NIOCore
package import Pairing
import Sharing

/// A letter is the body of a request or answer (Protocol, section 3.5).
extension PairingLetter {
    /// The fields beside those of the message.
    private struct Fields: Codable {
        var name: String?
        var transfer: String?
        var port: Int?
        var remember: Bool?
    }

    init(_ body: ByteBuffer) {
        self.init(message: Array(body.readableBytesView))
        guard (try? JSONBounds.check(body)) != nil,
            let found = try? JSONDecoder().decode(Fields.self, from: Data(message))
        else { return }
        name = found.name.map { PeerName.fit($0) }
        transfer = found.transfer.flatMap { TransferID($0) }
        port = found.port.flatMap { UInt16(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
        remembers = found.remember ?? false
    }

    /// The message, with the other fields if there is room.
    var body: ByteBuffer {
        let fields = Fields(
            name: name, transfer: transfer.map { "\($0)" }, port: port.map { Int($0) }, remember: remembers ? true : nil
        )
        guard message.starts(with: #"{""#.utf8), let text = try? WaftDialect.encoder().encode(fields), text.count > 2
        else { return ByteBuffer(bytes: message) }
        let whole = Array(text.dropLast()) + [UInt8(ascii: ",")] + message.dropFirst()
        return ByteBuffer(bytes: whole.count <= Self.byteLimit ? whole : message)
    }
}

/// Answers the pairing messages of one connection, one at a time.
///
/// Cancelled if the client leaves while it waits. Its answer may be a refusal; the dialect treats all answers alike.
package typealias PairingPort = @Sendable (PairingLetter) async -> PairingLetter
