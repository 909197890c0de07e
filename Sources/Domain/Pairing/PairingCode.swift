internal import Secrets

/// The one-time code of a pairing without a screen: nine decimal digits, which are 29.9 bits.
///
/// It allows one try, so a guess succeeds once in 10^9. The last copy is wiped when it is released; texts are not.
package struct PairingCode: Sendable {
    /// Digits in a code.
    package static let digitCount = 9

    /// The digits, ASCII.
    let digits: SecretBytes

    private init(digits: SecretBytes) {
        self.digits = digits
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

    /// The code for display: `123-456-789`.
    package var text: String {
        var text = ""
        digits.withBytes { digits in
            for (index, digit) in digits.enumerated() {
                if index > 0, index.isMultiple(of: 3) { text += "-" }
                text.unicodeScalars.append(Unicode.Scalar(digit))
            }
        }
        return text
    }
}
