extension EventLine: FieldGroups {
    /// The fields that all lines have.
    private struct Head: Encodable {
        var v = 1
        var event: EventName
    }

    var groups: [any Encodable] {
        let (name, fields) = parts
        return [Head(event: name), fields]
    }

    var name: EventName { parts.name }

    private var parts: (name: EventName, fields: any Encodable) {
        switch self {
        case .failed(let fields): (.failed, fields)
        case .desk(let fields): (.desk, fields)
        }
    }
}
