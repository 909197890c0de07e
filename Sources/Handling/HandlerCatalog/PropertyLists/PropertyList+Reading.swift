import Foundation

extension PropertyList {
    /// Reads an XML or binary property list that is a dictionary, as every `Info.plist` is.
    ///
    /// Foundation reads XML and bounds its depth. It does not read the binary form here: it follows every reference, so
    /// that a file of 200 bytes takes hours, and some damaged files crash it. The old-style text form is refused:
    /// Foundation accepts almost any text as that form.
    /// - Throws: `PropertyListFault`.
    static func dictionary(from bytes: [UInt8]) throws(PropertyListFault) -> [String: PropertyList] {
        guard bytes.count <= CatalogLimits.documentBytes else { throw .tooLarge }
        let value = try bytes.starts(with: BinaryPropertyList.magic) ? BinaryPropertyList.read(bytes) : xml(bytes)
        guard case .dictionary(let dictionary) = value else { throw .notADictionary }
        return dictionary
    }

    private static func xml(_ bytes: [UInt8]) throws(PropertyListFault) -> PropertyList {
        let isUTF16 = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
        guard !isUTF16 else { throw .notUTF8 }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(byteOrderMark.count) : bytes[...]
        guard let start = text.firstIndex(where: { !" \t\r\n".utf8.contains($0) }), text[start] == UInt8(ascii: "<")
        else { throw .neitherForm }
        var document = Data(text[start...])
        guard String(validating: document, as: UTF8.self) != nil else { throw .notUTF8 }
        blankDeclaration(in: &document)
        let foreign: Any
        do {
            foreign = try PropertyListSerialization.propertyList(from: document, options: [], format: nil)
        } catch {
            throw .malformed(reason(error))
        }
        var allowance = PropertyListAllowance()
        return try PropertyList(foreign, depth: 0, &allowance)
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
    private init(_ foreign: Any, depth: Int, _ allowance: inout PropertyListAllowance) throws(PropertyListFault) {
        try allowance.takeValue(depth: depth)
        switch foreign {
        case let text as String:
            try allowance.takeText(bytes: text.utf8.count)
            self = .string(text)
        // Numbers that are 0 or 1 can be cast to Bool too.
        case let value as Bool where type(of: foreign) == Bool.self: self = .boolean(value)
        case let number as NSNumber: self = Self(number)
        case is Date: self = .date
        case is Data: self = .data
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
