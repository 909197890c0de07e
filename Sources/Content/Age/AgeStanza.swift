/// One recipient's part of an age header: arguments, the first of which names its kind, and a body.
package struct AgeStanza: Sendable, Hashable {
    /// At least one; each is visible ASCII.
    package let arguments: [String]
    package let body: [UInt8]

    /// The first argument, such as `X25519`.
    package var kind: String { arguments[0] }

    static let x25519 = "X25519"
    static let scrypt = "scrypt"

    /// The lines of a header.
    var encoded: [UInt8] {
        var text = Array("-> \(arguments.joined(separator: " "))\n".utf8)
        let digits = Base64.text(body)
        for start in stride(from: 0, to: digits.count, by: AgeHeader.lineDigits) {
            text += digits[start..<min(start + AgeHeader.lineDigits, digits.count)]
            text.append(UInt8(ascii: "\n"))
        }
        // The last line is always shorter than the others.
        if digits.count.isMultiple(of: AgeHeader.lineDigits) { text.append(UInt8(ascii: "\n")) }
        return text
    }
}
