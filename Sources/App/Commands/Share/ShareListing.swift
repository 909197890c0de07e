import Lines

/// `waft share --list`: the peers and activities for some items.
struct ShareListing {
    /// The fields of a line of `--json`.
    struct Fields: Encodable {
        /// The type of the activity.
        var type: String
        var title: String
        var category: ActivityCategory
        /// The peer to which the items can be sent; absent for other activities.
        var peer: EventLine.Peer?
        /// Why it is not possible now; absent if it is.
        var reason: String?
    }

    let context: CommandContext
    let activities: ActivityList
    /// Whether activities are listed that are not possible.
    let all: Bool
    let json: Bool

    private static let looking: Duration = .seconds(3)

    /// - Throws: `CommandError` `ineligible` if nothing is possible.
    func show(_ items: ShareItems) async throws {
        let rows = try await rows(items)
        if json {
            for row in rows { EventLine.activity(row).print() }
        } else {
            for line in rows.map(line) { Console.shared.result(line) }
        }
        guard rows.contains(where: { $0.reason == nil }) else {
            throw CommandError(.ineligible, "\(TerminalText.escaped(items.title)): nothing can be done with it here")
        }
    }

    /// For people, escaped.
    func lines(_ items: ShareItems) async throws -> [String] { try await rows(items).map(line) }

    private func rows(_ items: ShareItems) async throws -> [Fields] {
        var fields: [Fields] = []
        if activities.hasPeers {
            for peer in try await SharePeers(context).found(within: Self.looking) {
                fields.append(
                    Fields(
                        type: ActivityType.airdrop, title: peer.person.title, category: .share,
                        peer: peer.person.fields))
            }
        }
        for row in await activities.rows(for: items) where all || row.obstacle == nil {
            fields.append(
                Fields(
                    type: row.activity.type, title: row.activity.title, category: row.activity.category,
                    reason: row.obstacle))
        }
        return fields
    }

    private func line(_ row: Fields) -> String {
        let reason = row.reason.map { "  not now: " + TerminalText.escaped($0) } ?? ""
        let type = TerminalText.escaped(row.type)
        let padding = String(repeating: " ", count: max(2, 28 - type.count))
        return "\(type)\(padding)\(TerminalText.escaped(row.title, limit: 200))\(reason)"
    }
}
