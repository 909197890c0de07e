/// A value in a property list.
package enum PropertyList: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    /// Also holds an integer that does not fit into 64 bits with a sign.
    case real(Double)
    case boolean(Bool)
    /// A date is recognised, but not kept.
    case date
    case data([UInt8])
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A value that only the binary form has, such as a null or a UID. It is recognised, but not kept.
    case other

    /// The name of this kind of value in a message.
    package var kind: String {
        switch self {
        case .string: "text"
        case .integer, .real: "a number"
        case .boolean: "true or false"
        case .date: "a date"
        case .data: "data"
        case .array: "a list"
        case .dictionary: "a dictionary"
        case .other: "a value of an unknown kind"
        }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var data: [UInt8]? {
        if case .data(let bytes) = self { bytes } else { nil }
    }

    package var array: [PropertyList]? {
        if case .array(let values) = self { values } else { nil }
    }

    package var dictionary: [String: PropertyList]? {
        if case .dictionary(let values) = self { values } else { nil }
    }

    /// A truth value, also in the form of an integer: some programs write one.
    package var truth: Bool? {
        switch self {
        case .boolean(let truth): truth
        case .integer(let number): number != 0
        default: nil
        }
    }

    /// An integer that is not negative.
    package var unsigned: UInt64? {
        if case .integer(let number) = self { UInt64(exactly: number) } else { nil }
    }
}
