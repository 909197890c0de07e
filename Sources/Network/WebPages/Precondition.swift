package import NIOHTTP1

/// The answer to the conditions of a GET or HEAD (RFC 9110, section 13).
package enum Precondition: Sendable, Equatable {
    case holds
    /// The client has this state.
    case unchanged
    /// The client wants another state.
    case fails

    /// - Parameters:
    ///   - tag: the entity tag of the present state; a strong one.
    ///   - seconds: its time of change; nil if none is known.
    package init(_ headers: HTTPHeaders, tag: String, seconds: Int64?) {
        self = Self.fails(headers, tag, seconds) ? .fails : Self.hasState(headers, tag, seconds) ? .unchanged : .holds
    }

    private static func fails(_ headers: HTTPHeaders, _ tag: String, _ seconds: Int64?) -> Bool {
        let tags = headers[canonicalForm: "if-match"]
        guard tags.isEmpty else { return !tags.contains { $0 == "*" || $0 == tag } }
        guard let seconds, let limit = date("if-unmodified-since", headers) else { return false }
        return seconds > limit
    }

    private static func hasState(_ headers: HTTPHeaders, _ tag: String, _ seconds: Int64?) -> Bool {
        let tags = headers[canonicalForm: "if-none-match"]
        guard tags.isEmpty else { return tags.contains { $0 == "*" || $0 == tag || $0 == "W/" + tag } }
        guard let seconds, let limit = date("if-modified-since", headers) else { return false }
        return seconds <= limit
    }

    private static func date(_ name: String, _ headers: HTTPHeaders) -> Int64? {
        headers.first(name: name).flatMap(HTTPDate.seconds)
    }
}
