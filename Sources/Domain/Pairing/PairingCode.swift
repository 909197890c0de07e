/// The one-time code of a pairing without a screen: nine decimal digits, which are 29.9 bits.
///
/// It is worth one try, so a guess succeeds once in 10^9. It is wiped when the last copy goes; texts made of it are not.
package struct PairingCode: Sendable {
    /// Digits in a code.
    package static let digitCount = 9

    /// The digits, ASCII.
    let digits: SecretBytes

    private init(digits: SecretBytes) {
        self.digits = digits
    }

    /// A new code, by the kernel's generator; each of the 10^9 is equally likely.
    package static func random() -> PairingCode {
        var generator = SystemRandomNumberGenerator()
        return PairingCode(
            digits: SecretBytes(count: digitCount) { room in
                for index in room.indices {
                    room[index] = UInt8(ascii: "0") + UInt8.random(in: 0...9, using: &generator)
                }
            })
    }

    /// Reads a code as people type it: spaces and hyphens between the digits do not matter.
    ///
    /// - Returns: nil unless there are exactly `digitCount` ASCII digits and nothing else but these.
    package init?(text: String) {
        var digits = text.utf8.prefix(64).filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        defer { for index in digits.indices { digits[index] = 0 } }
        guard
            text.utf8.count <= 64, digits.count == Self.digitCount,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self.init(digits: SecretBytes(digits))
    }

    /// The code for people: `123-456-789`.
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
