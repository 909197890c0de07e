internal import UniformTypes

extension UniformType {
    /// A type of the system's table, by its identifier. Not for identifiers from elsewhere: a malformed one ends the
    /// program. The tests hold every use of it against the table.
    static func known(_ identifier: StaticString) -> UniformType {
        guard let type = UniformType("\(identifier)") else { preconditionFailure("\(identifier) is no identifier") }
        return type
    }
}
