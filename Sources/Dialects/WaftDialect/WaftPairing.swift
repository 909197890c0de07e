import Foundation
import NIOCore
import Sharing

/// One message of a pairing, as this dialect carries it (Protocol, section 3.5).
package struct PairingLetter: Sendable, Hashable {
    /// The message: JSON of at most `byteLimit` bytes. The Pairing module checks its meaning.
    package var message: [UInt8]
    /// The sender's own name, fit to show; it decides nothing. Nil if the sender gives none.
    package var name: String?

    package init(message: [UInt8], name: String? = nil) {
        self.message = message
        self.name = name
    }

    /// Maximum bytes of a message, including its name (Pairing, section 3).
    package static let byteLimit = 1_024

    private struct Name: Decodable {
        var name: String?
    }

    init(_ body: ByteBuffer) {
        message = Array(body.readableBytesView)
        guard (try? JSONBounds.check(body)) != nil,
            let found = try? JSONDecoder().decode(Name.self, from: Data(message))
        else { return }
        name = found.name.map { PeerName.fit($0) }
    }

    /// The message, with the name as another field if there is room.
    var body: ByteBuffer {
        guard let name, message.starts(with: #"{""#.utf8), let text = try? JSONEncoder().encode(name) else {
            return ByteBuffer(bytes: message)
        }
        let named = Array(#"{"name":"#.utf8) + text + [UInt8(ascii: ",")] + message.dropFirst()
        return ByteBuffer(bytes: named.count <= Self.byteLimit ? named : message)
    }
}

/// Answers the pairing messages of one connection, one at a time.
///
/// Cancelled if the client leaves while it waits. Its answer may be a refusal; the dialect treats all answers alike.
package typealias PairingPort = @Sendable (PairingLetter) async -> PairingLetter
