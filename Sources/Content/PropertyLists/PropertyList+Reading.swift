import Foundation

extension PropertyList {
    /// Reads a binary property list.
    package init(binary bytes: [UInt8], within bounds: PropertyListBounds) throws(PropertyListError) {
        guard bytes.count <= bounds.documentBytes else { throw .tooLarge(bounds) }
        self = try BinaryPropertyList.read(bytes, within: bounds)
    }

    /// Reads an XML or binary property list that is a dictionary, as every `Info.plist` is.
    ///
    /// Foundation reads XML and bounds its depth. The old-style text form is refused: Foundation accepts almost any
    /// text as that form.
    package static func dictionary(
        from bytes: [UInt8], within bounds: PropertyListBounds
    ) throws(PropertyListError) -> [String: PropertyList] {
        guard bytes.count <= bounds.documentBytes else { throw .tooLarge(bounds) }
        let value =
            try isBinary(bytes) ? PropertyList(binary: bytes, within: bounds) : PropertyList(xml: bytes, within: bounds)
        guard case .dictionary(let dictionary) = value else { throw .notADictionary }
        return dictionary
    }

    /// Reads a `.strings` file: an XML or binary property list, or old-style text in UTF-8 or UTF-16. Values other than
    /// texts are left out.
    package static func strings(
        from bytes: [UInt8], within bounds: PropertyListBounds
    ) throws(PropertyListError) -> [String: String] {
        if isBinary(bytes) { return try dictionary(from: bytes, within: bounds).compactMapValues(\.string) }
        guard let text = try decoded(bytes) else { throw .malformed("it is neither UTF-8 nor UTF-16") }
        if text.first(where: { !$0.isWhitespace }) == "<" {
            return try dictionary(from: Array(text.utf8), within: bounds).compactMapValues(\.string)
        }
        return try StringsText.read(text)
    }

    private static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: BinaryPropertyList.magic) }

    /// Text in UTF-8, or in UTF-16 with a byte order mark.
    private static func decoded(_ bytes: [UInt8]) throws(PropertyListError) -> String? {
        let isBigEndian = bytes.starts(with: [0xFE, 0xFF] as [UInt8])
        guard isBigEndian || bytes.starts(with: [0xFF, 0xFE] as [UInt8]) else {
            let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF] as [UInt8])
            return String(validating: bytes.dropFirst(hasMark ? 3 : 0), as: UTF8.self)
        }
        guard bytes.count.isMultiple(of: 2) else { throw .malformed("it is cut short") }
        var units: [UInt16] = []
        for index in stride(from: 2, to: bytes.count, by: 2) {
            let (high, low) = isBigEndian ? (index, index + 1) : (index + 1, index)
            units.append(UInt16(bytes[high]) << 8 | UInt16(bytes[low]))
        }
        return String(validating: units, as: UTF16.self)
    }

    // MARK: XML

    private init(xml bytes: [UInt8], within bounds: PropertyListBounds) throws(PropertyListError) {
        let isUTF16 = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
        guard !isUTF16 else { throw .notUTF8 }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(byteOrderMark.count) : bytes[...]
        guard let start = text.firstIndex(where: { !" \t\r\n".utf8.contains($0) }), text[start] == UInt8(ascii: "<")
        else { throw .neitherForm }
        var document = Data(text[start...])
        guard String(validating: document, as: UTF8.self) != nil else { throw .notUTF8 }
        Self.blankDeclaration(in: &document)
        let foreign: Any
        do {
            foreign = try PropertyListSerialization.propertyList(from: document, options: [], format: nil)
        } catch {
            throw .malformed(Self.reason(error))
        }
        var allowance = PropertyListAllowance(bounds)
        try self.init(foreign, depth: 0, &allowance)
    }

    /// Replaces the XML declaration by blanks. Its encoding is ignored, because the text is UTF-8.
    private static func blankDeclaration(in document: inout Data) {
        guard document.starts(with: "<?xml".utf8), let end = document.firstRange(of: Data("?>".utf8)) else { return }
        for index in document.startIndex..<end.upperBound where document[index] != UInt8(ascii: "\n") {
            document[index] = UInt8(ascii: " ")
        }
    }

    /// Foundation's message, which names the line and may quote the file.
    private static func reason(_ error: any Error) -> String {
        let words = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? "it cannot be read"
        return words.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(200).description
    }

    /// - Parameter foreign: the value that Foundation read from XML.
    private init(_ foreign: Any, depth: Int, _ allowance: inout PropertyListAllowance) throws(PropertyListError) {
        try allowance.takeValue(depth: depth)
        switch foreign {
        case let text as String:
            try allowance.takeText(bytes: text.utf8.count)
            self = .string(text)
        // Numbers that are 0 or 1 can be cast to Bool too.
        case let value as Bool where type(of: foreign) == Bool.self: self = .boolean(value)
        case let number as NSNumber: self = Self(number)
        case is Date: self = .date
        case let data as Data:
            try allowance.takeText(bytes: data.count)
            self = .data(Array(data))
        case let elements as [Any]:
            var array: [PropertyList] = []
            for element in elements { array.append(try PropertyList(element, depth: depth + 1, &allowance)) }
            self = .array(array)
        case let entries as [String: Any]:
            var dictionary: [String: PropertyList] = [:]
            for (key, value) in entries {
                try allowance.takeText(bytes: key.utf8.count)
                dictionary[key] = try PropertyList(value, depth: depth + 1, &allowance)
            }
            self = .dictionary(dictionary)
        default: throw .malformed("it has a value of an unknown kind")
        }
    }

    private init(_ number: NSNumber) {
        let isReal = [CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f"))].contains(number.objCType.pointee)
        self =
            if !isReal, let integer = number as? Int64 { .integer(integer) } else { .real(number.doubleValue) }
    }
}
