/// A value in a property list, as far as an `Info.plist` needs it. Dates and data are recognised, but not kept.
enum PropertyList: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    /// Also holds an integer that does not fit into 64 bits with a sign.
    case real(Double)
    case boolean(Bool)
    case date
    case data
    case array([PropertyList])
    case dictionary([String: PropertyList])

    /// The name of this kind of value in a message.
    var kind: String {
        switch self {
        case .string: "text"
        case .integer, .real: "a number"
        case .boolean: "true or false"
        case .date: "a date"
        case .data: "data"
        case .array: "a list"
        case .dictionary: "a dictionary"
        }
    }
}

/// Why bytes cannot be read as a property list.
struct PropertyListFault: Error, Hashable, CustomStringConvertible {
    private enum Code: Hashable {
        case tooLarge, neitherForm, notUTF8
        case malformed(String)
        case tooDeep, tooManyValues, notADictionary
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    static let tooLarge = PropertyListFault(.tooLarge)
    static let neitherForm = PropertyListFault(.neitherForm)
    static let notUTF8 = PropertyListFault(.notUTF8)
    static let tooDeep = PropertyListFault(.tooDeep)
    static let tooManyValues = PropertyListFault(.tooManyValues)
    static let notADictionary = PropertyListFault(.notADictionary)
    static func malformed(_ reason: String) -> PropertyListFault { PropertyListFault(.malformed(reason)) }

    var description: String {
        switch code {
        case .tooLarge: "is larger than \(CatalogLimits.documentBytes >> 10) KiB"
        case .neitherForm: "is neither an XML nor a binary property list"
        case .notUTF8: "is not UTF-8 text; an XML property list must be"
        case .malformed(let reason): "is not a well-formed property list: \(reason)"
        case .tooDeep: "has more than \(CatalogLimits.propertyListDepth) lists and dictionaries within each other"
        case .tooManyValues:
            "has more than \(CatalogLimits.propertyListValues) values or \(CatalogLimits.propertyListTextBytes >> 20) MiB "
                + "of text, counting what is referred to more than once"
        case .notADictionary: "is not a dictionary of keys"
        }
    }
}

/// The values and texts that a property list may still contain: a small file can refer to one value very often.
struct PropertyListAllowance {
    private var values = CatalogLimits.propertyListValues
    private var textBytes = CatalogLimits.propertyListTextBytes

    /// - Parameter depth: the number of lists and dictionaries that contain the value.
    mutating func takeValue(depth: Int) throws(PropertyListFault) {
        guard depth <= CatalogLimits.propertyListDepth else { throw .tooDeep }
        guard values > 0 else { throw .tooManyValues }
        values -= 1
    }

    mutating func takeText(bytes: Int) throws(PropertyListFault) {
        guard bytes <= textBytes else { throw .tooManyValues }
        textBytes -= bytes
    }
}
