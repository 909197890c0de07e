import HandlerCatalog
import Handlers
import Lines
import Settings
import Sharing
import UniformTypes

/// An activity that a handler brings.
struct BundleActivity: Activity {
    let context: CommandContext
    let bundle: HandlerBundle
    let activity: HandlerActivity
    let registry: TypeRegistry

    var type: String { activity.type }
    var title: String { "\(bundle.localized(activity.title) ?? activity.title) (\(bundle.shownName))" }

    var category: ActivityCategory {
        switch activity.category {
        case .share: .share
        case .action: .action
        }
    }

    func obstacle(_ items: ShareItems) async -> String? {
        let types = items.items.map(\.offered.type)
        if let other = types.first(where: { !activity.takes([$0], registry) }) {
            return "it takes \(activity.itemTypes.map(\.identifier).joined(separator: ", ")), and not \(other)"
        }
        guard activity.takes(types, registry) else {
            return activity.maximumItems == 1
                ? "it takes 1 item" : "it takes at most \(activity.maximumItems ?? 0) items"
        }
        guard activity.isAsked else { return nil }
        let paths = items.items.compactMap(\.path)
        guard let program = try? program(reading: paths) else { return "its handler cannot be started" }
        let facts = items.items.map { Self.facts($0, file: $0.path) }
        return await program.can(type, facts) ? nil : "its handler says that it cannot do it now"
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        let files = try items.files(in: scene.spool)
        let program = try program(reading: items.items.compactMap(\.path), copies: scene.spool.folder)
        let facts = zip(items.items, files).map { Self.facts($0, file: $1) }
        let cancellation = Cancellation()
        let end: ActivityProgram.End
        do {
            end = try await Interruption.watching(cancellation, goodbye: .zero) { [type] in
                try await program.perform(type, facts)
            }
        } catch is CancellationError {
            throw CommandError(.interrupted, "cancelled; the handler was ended")
        }
        if let remark = end.remark { Console.shared.note("waft: \(remark)") }
        guard end.outcome.answer == .yes else { throw refusal(items, end.outcome) }
        scene.say("\(items.title): \(activity.title): done")
        for path in end.returnedItems { scene.say("  \(path)") }
        return end.returnedItems
    }

    private func refusal(_ items: ShareItems, _ outcome: AttemptOutcome) -> CommandError {
        let words =
            switch outcome.answer {
            case .no: "said no"
            case .later: "does not do it now"
            default: "failed"
            }
        let reason = outcome.reason.isEmpty ? "" : ": \(outcome.reason)"
        return CommandError(
            .handlerSaidNo,
            TerminalText.escaped("\(items.title): \(bundle.shownName) \(words)\(reason)", limit: 1_000),
            others: outcome.standardError.split(whereSeparator: \.isNewline).suffix(Self.shownLines)
                .map { TerminalText.escaped(String($0)) })
    }

    private static let shownLines = 10

    private static func facts(_ item: ShareItems.Item, file: String?) -> SharedFacts {
        SharedFacts(
            file: file, name: item.offered.name.text, type: item.offered.type, kind: item.offered.kind,
            size: item.offered.size)
    }

    private func program(reading files: [String], copies: String? = nil) throws(CommandError) -> ActivityProgram {
        let settings = context.settings
        guard
            let program = HandlerProgram(
                bundle: bundle, defaultTimeLimit: settings.hookTimeout, requiresSandbox: settings.requiresSandbox)
        else { throw CommandError(.unexpected, "\(TerminalText.escaped(bundle.shownName)) has no program") }
        return ActivityProgram(program, runner: try context.handlerRunner(), files: files, copies: copies)
    }
}
