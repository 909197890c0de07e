/// A JSON object with the fields of several groups.
protocol FieldGroups: Encodable {
    var groups: [any Encodable] { get }
}

extension FieldGroups {
    func encode(to encoder: any Encoder) throws {
        for group in groups { try group.encode(to: encoder) }
    }
}
