extension UInt8 {
    /// The lower-case form of an ASCII letter, any other byte as it is. Nothing here depends on a locale.
    var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }

    var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension String {
    /// Whether it starts with `prefix`, which is lower-case ASCII, in any case.
    func hasPrefix(caseInsensitive prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { prefix in
            utf8.prefix(prefix.count).lazy.map(\.asciiLowercased).elementsEqual(prefix)
        }
    }
}
