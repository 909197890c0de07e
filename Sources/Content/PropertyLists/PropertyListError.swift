/// Why bytes cannot be read as a property list.
package struct PropertyListError: Error, Hashable, CustomStringConvertible {
    private enum Code: Hashable {
        case tooLarge(PropertyListBounds)
        case neitherForm, notUTF8
        case malformed(String)
        case tooDeep(PropertyListBounds)
        case tooManyValues(PropertyListBounds)
        case notADictionary
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    package static func tooLarge(_ bounds: PropertyListBounds) -> PropertyListError { .init(.tooLarge(bounds)) }
    package static let neitherForm = PropertyListError(.neitherForm)
    package static let notUTF8 = PropertyListError(.notUTF8)
    package static func tooDeep(_ bounds: PropertyListBounds) -> PropertyListError { .init(.tooDeep(bounds)) }
    package static func tooManyValues(_ bounds: PropertyListBounds) -> PropertyListError {
        .init(.tooManyValues(bounds))
    }
    package static let notADictionary = PropertyListError(.notADictionary)
    /// - Parameter reason: the fault, as a sentence about the list.
    package static func malformed(_ reason: String) -> PropertyListError { .init(.malformed(reason)) }

    /// The rest of a sentence whose subject is the file. One line, which may quote the file.
    package var description: String {
        switch code {
        case .tooLarge(let bounds): "is larger than \(bounds.documentBytes >> 10) KiB"
        case .neitherForm: "is neither an XML nor a binary property list"
        case .notUTF8: "is not UTF-8 text; an XML property list must be"
        case .malformed(let reason): "is not a well-formed property list: \(reason)"
        case .tooDeep(let bounds): "has more than \(bounds.depth) lists and dictionaries within each other"
        case .tooManyValues(let bounds):
            "has more than \(bounds.values) values or \(bounds.textBytes >> 20) MiB of text, counting what is referred "
                + "to more than once"
        case .notADictionary: "is not a dictionary of keys"
        }
    }
}
