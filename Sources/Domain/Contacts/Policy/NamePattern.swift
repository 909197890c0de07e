/// A pattern of names: `*` matches any characters, `?` one, every other character itself without regard to case.
///
/// Matching takes one pass over the name, however many stars there are: the bits of one number are all places of the
/// pattern that the name can have reached.
package struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    /// The text as it was written.
    package let text: String

    /// For each character of the pattern except stars, the places where it occurs; the places of `?` are in `any`.
    private let places: [Character: UInt128]
    /// The same for ASCII, by byte: most names are ASCII, and an offer may have tens of thousands.
    private let plainPlaces: [UInt128]
    private let any: UInt128
    /// The places that have a star before them.
    private let stars: UInt128
    private let end: UInt128

    package var description: String { text }

    /// - Throws: `ContactError` `unfit` for a pattern that is empty or has more than `ContactBounds.patternCharacters`
    ///   characters besides stars.
    package init(_ text: String) throws(ContactError) {
        guard !text.isEmpty, text.utf8.prefix(ContactBounds.valueBytes + 1).count <= ContactBounds.valueBytes else {
            throw .unfit("a name pattern has 1 to \(ContactBounds.patternCharacters) characters")
        }
        var places: [Character: UInt128] = [:]
        var any: UInt128 = 0
        var stars: UInt128 = 0
        var place = 0
        for character in text.lowercased() {
            if character == "*" {
                stars |= 1 << UInt128(place)
                continue
            }
            guard place < ContactBounds.patternCharacters else {
                throw .unfit("\(text.quoted) has more than \(ContactBounds.patternCharacters) characters besides stars")
            }
            if character == "?" {
                any |= 1 << UInt128(place)
            } else {
                places[character, default: 0] |= 1 << UInt128(place)
            }
            place += 1
        }
        self.text = text
        self.places = places
        plainPlaces = (0..<128).map { byte in places[Character(Unicode.Scalar(UInt8(byte))), default: 0] | any }
        self.any = any
        self.stars = stars
        self.end = 1 << UInt128(place)
    }

    package func matches(_ name: String) -> Bool { matches(Name(name)) }

    /// A name prepared for comparison with many patterns.
    enum Name {
        case plain([UInt8])
        case other([Character])

        init(_ name: String) {
            let lowered = name.lowercased()
            // A line end of two bytes is one character.
            let isPlain = lowered.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\r") }
            self = isPlain ? .plain(Array(lowered.utf8)) : .other(Array(lowered))
        }
    }

    func matches(_ name: Name) -> Bool {
        switch name {
        case .plain(let bytes): matches(bytes) { plainPlaces[Int($0)] }
        case .other(let characters): matches(characters) { places[$0, default: 0] | any }
        }
    }

    private func matches<Element>(_ name: [Element], places: (Element) -> UInt128) -> Bool {
        var reached: UInt128 = 1
        for element in name {
            reached = ((reached & places(element)) << 1) | (reached & stars)
            if reached == 0 { return false }
        }
        return reached & end != 0
    }
}
