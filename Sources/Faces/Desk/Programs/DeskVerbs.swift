import SystemCalls

/// The calls of the command line that a window may make. What runs a program is never set by a window alone: whoever takes
/// a window over would run programs as the user. The window shows the command instead.
enum DeskVerbs {
    /// Words of one call.
    static let words = 10_100
    /// Bytes of one call.
    static let bytes = 4 << 20
    /// Words and bytes of a command that is shown.
    private static let shown = (words: 50, bytes: 2_000)

    /// The verbs, their subverbs, and the options of each. The subverb of a verb without one is empty.
    private static let allowed: [String: [String: Set<String>]] = [
        "accept": ["": ["--items", "--to"]],
        "config": ["check": [], "list": ["--all"], "schema": [], "set": [], "unset": []],
        "contacts": [
            "": [], "allow": ["--from-offer", "--name"], "block": [], "forget": [], "list": [], "me": [], "rename": [],
            "set": [
                "--folder", "--for", "--items-at-most", "--policy", "--size-at-most", "--size-per-day", "--time",
                "--types",
            ], "unblock": [],
        ],
        "decline": ["": ["--block"]],
        "doctor": ["": []],
        "handlers": ["disable": [], "enable": [], "list": [], "show": [], "test": ["--type"]],
        "history": ["": ["--before", "--limit", "--sent"]],
        "inbox": [
            "list": ["--since"], "open": ["--folder"], "open-in": [], "options": [], "preview": ["--lines"],
            "remove": [], "retry": [], "show": [], "take": [], "verify": [],
        ],
        "lock": ["": []],
        "offers": ["": ["--watch"], "cancel": []],
        "open-in": ["": []],
        "outbox": ["": [], "cancel": [], "list": ["--all"], "remove": [], "retry": []],
        "pair": ["": ["--accept", "--answer-fd", "--code", "--name"]],
        "peers": ["": ["--watch"], "list": ["--watch"]],
        "preview": ["": ["--lines"]],
        "protection": ["status": []],
        "send": ["": ["--partial", "--queue", "--subject", "--text", "--to", "--url", "--wait"]],
        "service": ["status": []],
        "share": ["": ["--activity", "--exclude-activity", "--list", "--text", "--url"]],
        "status": ["": []],
        "visible": ["": ["--for"]],
    ]

    /// The settings that a window may change: those that name no program, give none a right, and let none run unasked.
    static let settings: Set<String> = [
        "accept", "clearQuota", "conflict", "dialects.airdrop.enabled", "dialects.airdrop.flags",
        "dialects.airdrop.modelName", "dialects.localsend.deviceModel", "dialects.localsend.enabled",
        "dialects.localsend.pin", "dialects.localsend.plain", "dialects.localsend.port", "discovery", "eligibility",
        "excludedActivities", "inhibitSleep", "lockAfter", "lockOnScreenSaver", "logLevel", "name", "notifications",
        "outboxQuota", "partialLifetime", "partialQuota", "port", "previews", "protection", "reserve", "searchDomains",
        "skipInterfaces", "strangerQuota", "web.certificate", "web.enabled", "web.key", "web.plain", "web.port",
    ]

    /// Why a call is refused, in one line; nil if it may run.
    static func refusal(_ words: [String]) -> String? {
        guard !words.isEmpty, words.count <= Self.words else { return "a call has a verb" }
        guard words.allSatisfy({ !$0.utf8.contains(0) }) else { return "a word has no NUL in it" }
        if isAllowed(words) { return nil }
        let command = (["waft"] + words.prefix(shown.words)).map(ShellWord.quoted).joined(separator: " ")
        guard words.count <= shown.words, command.utf8.count <= shown.bytes else {
            return "a window does not run this"
        }
        return "a window does not run this; type it in a terminal: \(command)"
    }

    /// Judges the words in the places where the parser takes them, and no other spelling of them.
    private static func isAllowed(_ words: [String]) -> Bool {
        guard let forms = allowed[words[0]] else { return false }
        let isGroup = forms.keys.contains { !$0.isEmpty }
        let name = isGroup ? words.dropFirst().first { !isOption($0) } ?? "" : ""
        // No option stands before the subverb.
        guard name.isEmpty || words[1] == name, let options = forms[name] else { return false }
        let rest = words.dropFirst(name.isEmpty ? 1 : 2)
        let given = rest.prefix { $0 != "--" }.filter(isOption)
        guard given.allSatisfy({ options.contains(String($0.prefix { $0 != "=" })) }) else { return false }
        // Without its subverb a verb has nothing but options.
        if isGroup, name.isEmpty { return given.count == rest.count }
        guard words[0] == "config", ["set", "unset"].contains(name) else { return true }
        return rest.first.map(settings.contains) ?? false
    }

    /// `-` alone is standard input.
    private static func isOption(_ word: String) -> Bool { word.hasPrefix("-") && word != "-" }
}

/// A call of a verb, as the pages ask for it.
struct VerbCall: Decodable {
    var words: [String]
    /// For standard input; nil for none.
    var input: String?
    /// Whether the window answers the verb while it runs: `POST /calls/CALL`.
    var answers: Bool?
}
