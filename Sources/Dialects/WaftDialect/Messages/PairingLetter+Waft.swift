import Foundation
import NIOCore
package import Pairing
import Sharing

/// A letter is the body of a request or answer (Protocol, section 3.5).
extension PairingLetter {
    private struct Name: Decodable {
        var name: String?
    }

    init(_ body: ByteBuffer) {
        self.init(message: Array(body.readableBytesView))
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
