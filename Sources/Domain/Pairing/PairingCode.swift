internal import Secrets

/// A code that is shown on one side and typed on the other, for one try. To make a contact it has nine decimal digits, which
/// are 29.9 bits; for one transfer it is a `SpokenCode`.
///
/// The last copy is wiped when it is released; texts are not.
package struct PairingCode: Sendable {
    /// Digits in a code that makes a contact.
    package static let digitCount = 9

    /// The digits, or the normal form of a spoken code, ASCII.
    let secret: SecretBytes
    package let purpose: PairingPurpose

    private init(digits: SecretBytes) {
        (secret, purpose) = (digits, .contact)
    }

    /// - Parameter isSender: whether the side that shows the code sends.
    package init(_ spoken: SpokenCode, shownBySender isSender: Bool) {
        secret = SecretBytes(Array(spoken.text.utf8))
        purpose = isSender ? .send(nameplate: spoken.nameplate) : .receive(nameplate: spoken.nameplate)
    }

    /// A new code from the kernel's generator; each of the 10^9 codes is equally likely.
    package static func random() -> PairingCode {
        var generator = SystemRandomNumberGenerator()
        return PairingCode(
            digits: SecretBytes(count: digitCount) { room in
                for index in room.indices {
                    room[index] = UInt8(ascii: "0") + UInt8.random(in: 0...9, using: &generator)
                }
            })
    }

    /// Reads a code as users type it: spaces and hyphens between the digits do not matter.
    ///
    /// - Returns: nil unless there are exactly `digitCount` ASCII digits and no other characters.
    package init?(text: String) {
        var digits = text.utf8.prefix(64).filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        defer { for index in digits.indices { digits[index] = 0 } }
        guard
            text.utf8.count <= 64, digits.count == Self.digitCount,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self.init(digits: SecretBytes(digits))
    }

    /// The code for display: `123-456-789`, or `7-pumpkin-sausage`.
    package var text: String {
        var text = ""
        secret.withBytes { characters in
            for (index, character) in characters.enumerated() {
                if purpose == .contact, index > 0, index.isMultiple(of: 3) { text += "-" }
                text.unicodeScalars.append(Unicode.Scalar(character))
            }
        }
        return text
    }
}
