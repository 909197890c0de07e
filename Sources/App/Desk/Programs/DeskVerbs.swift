/// The verbs of the command line that the pages may run.
enum DeskVerbs {
    /// Words of one call.
    static let words = 10_100
    /// Bytes of one call.
    static let bytes = 4 << 20

    private static let allowed: Set<String> = [
        "accept", "config", "contacts", "decline", "doctor", "handlers", "history", "inbox", "lock", "offers",
        "open-in", "outbox", "pair", "peers", "policy", "preview", "protection", "send", "service", "share", "status",
        "type",
        "visible",
    ]
    /// They ask a person at a terminal, or open something there.
    private static let refused: Set<[String]> = [
        ["config", "edit"], ["protection", "set-up"], ["protection", "passphrase"], ["protection", "export"],
    ]

    /// Why a call is refused, in one line; nil if it may run.
    static func refusal(_ words: [String]) -> String? {
        guard let verb = words.first, words.count <= Self.words else { return "a call has a verb" }
        guard allowed.contains(verb), !refused.contains(Array(words.prefix(2))) else {
            return "the desk does not run this verb"
        }
        guard words.allSatisfy({ !$0.utf8.contains(0) }) else { return "a word has no NUL in it" }
        return nil
    }
}

/// A call of a verb, as the pages ask for it.
struct VerbCall: Decodable {
    var words: [String]
    /// For standard input; nil for none.
    var input: String?
    /// Whether the window answers the verb while it runs: `POST /calls/CALL`.
    var answers: Bool?
}
