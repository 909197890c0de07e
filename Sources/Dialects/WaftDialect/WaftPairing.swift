import Foundation
import NIOCore
import Sharing

/// One message of a pairing as the dialect bears it (Protocol, section 3.5).
package struct PairingLetter: Sendable, Hashable {
    /// What Pairing says: JSON of at most `byteLimit` bytes. Whether it makes sense is for pairing to find out.
    package var message: [UInt8]
    /// What the sender calls itself, fit to be shown; it decides nothing. Nil where it does not tell.
    package var name: String?

    package init(message: [UInt8], name: String? = nil) {
        self.message = message
        self.name = name
    }

    /// Bytes of a message, its name included (Pairing, section 3).
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

    /// The message with the name as one more field of it, where there is room for one.
    var body: ByteBuffer {
        guard let name, message.starts(with: #"{""#.utf8), let text = try? JSONEncoder().encode(name) else {
            return ByteBuffer(bytes: message)
        }
        let named = Array(#"{"name":"#.utf8) + text + [UInt8(ascii: ",")] + message.dropFirst()
        return ByteBuffer(bytes: named.count <= Self.byteLimit ? named : message)
    }
}

/// What answers the pairing messages of one connection, one after the other.
///
/// It is cancelled when the client leaves while it waits. It bears its own refusals: to the dialect each answer is good.
package typealias PairingPort = @Sendable (PairingLetter) async -> PairingLetter
