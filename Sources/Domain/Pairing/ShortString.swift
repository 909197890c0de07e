/// The short authentication string, which two people compare in either form.
///
/// The two forms come from different bytes of one derivation. An intermediary cannot know it beforehand: the digits of
/// both sides are equal by chance once in 10^6, the words once in 2^24.
package struct ShortString: Hashable, Sendable {
    /// Six decimal digits, `042917`.
    package let digits: String
    /// Three words out of 256, to be spoken.
    package let words: [String]

    /// Bytes from which it is made.
    static let byteCount = 11

    /// - Parameter bytes: `byteCount` bytes, uniform.
    init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count == Self.byteCount, "a short string of another length")
        // 64 bits for 20: the digits are uniform except for one part in 2^44.
        var number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        var digits: [UInt8] = []
        for _ in 0..<6 {
            digits.insert(UInt8(ascii: "0") + UInt8(number % 10), at: 0)
            number /= 10
        }
        self.digits = String(decoding: digits, as: UTF8.self)
        words = bytes.dropFirst(8).map { String(WordList.words[Int($0)]) }
    }
}

extension ShortString: CustomStringConvertible {
    /// `042 917 amber donkey violin`
    package var description: String {
        "\(digits.prefix(3)) \(digits.suffix(3)) \(words.joined(separator: " "))"
    }
}
