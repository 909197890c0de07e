/// Something that can be done with shared items.
protocol Activity: Sendable {
    /// Its type, such as `org.waft.activity.copy`.
    var type: String { get }
    /// For people; one line, not escaped.
    var title: String { get }
    var category: ActivityCategory { get }
    /// Why it cannot be done with these items here: a clause, not escaped. Nil if it can be done.
    func obstacle(_ items: ShareItems) async -> String?
    /// Does it, and prints the result.
    /// - Returns: the absolute paths of items that it has made.
    /// - Throws: `CommandError`, or the exit code of a failure that was printed.
    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String]
}

/// The kind of an activity.
enum ActivityCategory: String, Encodable, CaseIterable {
    /// The items go to somebody.
    case share
    /// Something is done with them here.
    case action
}

/// The types of the activities that Waft brings.
enum ActivityType {
    static let prefix = "org.waft.activity."
    static let airdrop = prefix + "airdrop"
    static let queue = prefix + "queue"
    static let copy = prefix + "copy"
    static let print = prefix + "print"
    static let mail = prefix + "mail"
    static let saveImage = prefix + "save-image"
    static let openIn = prefix + "open-in"
    static let preview = prefix + "preview"
}

/// The means of an activity.
struct ShareScene {
    let context: CommandContext
    let json: Bool
    /// The peer that the user has named or chosen, as `--to` takes it.
    var peer: String?
    let delivery: DeliveryOptions
    /// Files that are made for the activity.
    let spool: ShareSpool

    /// Prints a result for people; not escaped.
    func say(_ text: String) {
        if !json { Console.shared.result(TerminalText.escaped(text, limit: 1_000)) }
    }
}
