import Glibc
package import Secrets

/// A secret in a message: visible ASCII characters.
///
/// It is wiped when its last reference is released. JSON coding needs copies of it: those of the reading side are wiped
/// too, and those that `ControlCoding` makes.
package struct SecretText: Codable, Sendable, Equatable {
    package let bytes: SecretBytes

    /// - Parameter bytes: visible ASCII characters and spaces, without quotes and backslashes.
    package init(_ bytes: SecretBytes) {
        self.bytes = bytes
    }

    /// A text that stands for any bytes.
    package init(encoding secret: SecretBytes) {
        bytes = SecretBytes(count: secret.count * 2) { room in
            secret.withBytes { bytes in
                for (place, byte) in bytes.enumerated() {
                    room[2 * place] = Self.digit(byte >> 4)
                    room[2 * place + 1] = Self.digit(byte & 15)
                }
            }
        }
    }

    /// The bytes for which a text stands; nil if it stands for none.
    package var decoded: SecretBytes? {
        bytes.withBytes { text in
            let values = text.allSatisfy { (0x61...0x70).contains($0) }
            guard values, text.count % 2 == 0 else { return nil }
            return SecretBytes(count: text.count / 2) { room in
                for place in room.indices { room[place] = (text[2 * place] - 0x61) << 4 | (text[2 * place + 1] - 0x61) }
            }
        }
    }

    /// `a` to `p`.
    private static func digit(_ value: UInt8) -> UInt8 { 0x61 + value }

    package static func == (one: Self, other: Self) -> Bool {
        one.bytes.withBytes { one in other.bytes.withBytes { one.elementsEqual($0) } }
    }

    package init(from decoder: any Decoder) throws {
        var text = try decoder.singleValueContainer().decode(String.self)
        bytes = text.withUTF8 { text in
            defer { text.wipe() }
            return SecretBytes(text)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        // The encoder keeps this copy until the message is whole.
        try container.encode(bytes.withBytes { String(decoding: $0, as: UTF8.self) })
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Overwrites the text of a string that has no other reference, and was made at run time.
    fileprivate func wipe() {
        guard let baseAddress, count > 15 else { return }
        explicit_bzero(UnsafeMutableRawPointer(mutating: baseAddress), count)
    }
}
