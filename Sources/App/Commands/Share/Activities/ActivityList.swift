import Foundation
import HandlerCatalog
import Lines
import Settings

/// All activities that this machine has, in the order of the sheet.
struct ActivityList {
    let all: [any Activity]
    /// Types that are not offered.
    let excluded: Set<String>

    /// - Parameter excluded: the types that the user left out in this command.
    /// - Throws: `CommandError` `usage` for a type that there is not.
    init(_ context: CommandContext, excluding excluded: [String]) throws(CommandError) {
        let own: [any Activity] = [
            SendActivity(isQueued: false), SendActivity(isQueued: true), MailActivity(), CopyActivity(),
            PrintActivity(), SaveImageActivity(context: context), OpenInActivity(context: context), PreviewActivity(),
        ]
        var catalog = context.home.handlerCatalog(context.settings)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        let handlers = catalog.load()
        all =
            own
            + handlers.activities.map { bundle, activity in
                BundleActivity(context: context, bundle: bundle, activity: activity, registry: handlers.registry)
            }
        for type in excluded { try Self.check(type, all) }
        // A setting outlives the handler that it names.
        for type in context.settings.excludedActivities where !all.contains(where: { $0.type == type }) {
            Console.shared.note(
                "warning: excludedActivities: there is no activity \(TerminalText.escaped(type)) at the moment")
        }
        self.excluded = Set(excluded + context.settings.excludedActivities)
    }

    private static func check(_ type: String, _ all: [any Activity]) throws(CommandError) {
        guard !all.contains(where: { $0.type == type }) else { return }
        throw CommandError(
            .usage, "there is no activity \(TerminalText.escaped(type, limit: 200))",
            hint: "there are: \(TerminalText.escaped(all.map(\.type).joined(separator: ", "), limit: 4_000))")
    }

    /// Whether peers are offered.
    var hasPeers: Bool { !excluded.contains(ActivityType.airdrop) }

    /// - Parameter type: as the user wrote it.
    /// - Throws: `CommandError` `usage` if there is none, or it is excluded.
    func activity(_ type: String) throws(CommandError) -> any Activity {
        try Self.check(type, all)
        guard !excluded.contains(type), let activity = all.first(where: { $0.type == type }) else {
            throw CommandError(.usage, "\(TerminalText.escaped(type, limit: 200)) is excluded")
        }
        return activity
    }

    /// An activity, and why it is not possible now.
    struct Row {
        let activity: any Activity
        /// A clause, not escaped; nil if it is possible.
        let obstacle: String?
    }

    /// The activities for some items, except for sending, which the peers stand for.
    func rows(for items: ShareItems) async -> [Row] {
        var rows: [Row] = []
        for activity in all where activity.type != ActivityType.airdrop {
            let obstacle =
                excluded.contains(activity.type) ? "it is excluded" : await activity.obstacle(items)
            rows.append(Row(activity: activity, obstacle: obstacle))
        }
        return rows
    }
}
