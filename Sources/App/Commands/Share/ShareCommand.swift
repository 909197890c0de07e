import ArgumentParser
import Foundation
import Lines
import Settings
import Sharing

/// `waft share`: the sheet of peers and activities.
struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Share files, texts and URLs: choose a machine, or something else to do with them.",
        discussion: """
            Examples:
              waft share photo.jpg
              waft share photo.jpg --exclude-activity org.waft.activity.print
              waft share --text hello --activity org.waft.activity.copy

            Lists the machines nearby and the activities that can take all items, and asks on the terminal. Without a \
            terminal, give --activity or --to. The exit code is that of the activity; 130 if none is chosen.
            """
    )

    @Argument(
        help: ArgumentHelp("Files and folders; - is standard input.", valueName: "file"), completion: .file())
    var items: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A text to share; - for one from standard input. Repeatable.", valueName: "text"))
    var text: [String] = []

    @Option(name: .long, help: ArgumentHelp("A URL to share. Repeatable.", valueName: "url"))
    var url: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A program that makes an item when it is needed; see Item sources in the manual. Repeatable.",
            valueName: "program"), completion: .file())
    var source: [String] = []

    @Option(name: .long, help: ArgumentHelp("The subject of all that is shared, in a line.", valueName: "line"))
    var subject: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Leave out the activities of this type. Repeatable.", valueName: "type"))
    var excludeActivity: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Do this without asking; --list shows the types.", valueName: "type"))
    var activity: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Send to this peer without asking, as waft send --to.", valueName: "peer"),
        completion: .peers)
    var to: String?

    @OptionGroup var delivery: DeliveryOptions

    @Flag(name: .long, help: "Print the machines and activities, and do nothing. Exit code 13 if there are none.")
    var list = false

    @Flag(name: .long, help: "With --list: print also the activities that are not possible, and why.")
    var all = false

    @Flag(
        name: .long,
        help: "Ask in a window, by zenity, kdialog or a new terminal; without files, choose them there too.")
    var window = false

    @Flag(name: .long, help: "Ask in a window of the browser: waft desk, with the files and folders that are given.")
    var desk = false

    @Flag(name: .long, help: "Print one JSON document a line for each event.")
    var json = false

    func validate() throws {
        if all, !list { throw ValidationError("--all goes with --list.") }
        if list, activity != nil || to != nil {
            throw ValidationError("--list does nothing else: leave out --activity and --to.")
        }
        if window, json || list || activity != nil || to != nil {
            throw ValidationError("--window asks: leave out --list, --activity, --to and --json.")
        }
        if desk, window || json || list || activity != nil || to != nil || !excludeActivity.isEmpty {
            throw ValidationError("--desk asks: leave out all but the files.")
        }
        if desk, !(text + url + source).isEmpty || subject != nil {
            throw ValidationError("--desk takes files and folders. Texts and links are written in its window.")
        }
        if let activity, to != nil, ![ActivityType.airdrop, ActivityType.queue].contains(activity) {
            throw ValidationError("--to is for \(ActivityType.airdrop) and \(ActivityType.queue).")
        }
        let isSent = activity == nil || activity == ActivityType.airdrop
        if delivery.pin != nil || delivery.plain, list || window || !isSent {
            throw ValidationError("--pin and --plain are for \(ActivityType.airdrop).")
        }
    }

    mutating func run() async throws {
        if desk { return try await DeskCommand.open(items) }
        var completion = Completion()
        do {
            text = try SentTexts.read(text, items: items)
            let context = try CommandContext()
            let activities = try ActivityList(context, excluding: excludeActivity)
            if window {
                let exit = try await inWindow(activities, context)
                if exit != .done { throw exit.code }
                return
            }
            let shared = try ShareItems(paths: items, texts: text, urls: url, programs: source, subject: try line())
            if list {
                return try await ShareListing(context: context, activities: activities, all: all, json: json)
                    .show(shared)
            }
            try await share(shared, activities, context, &completion)
        } catch {
            guard json, !list, completion.take(error) else { throw error }
        }
        if json { EventLine.completed(completion.fields).print() }
        if completion.exit != .done { throw completion.exit.code }
    }

    private func share(
        _ items: ShareItems, _ activities: ActivityList, _ context: CommandContext, _ completion: inout Completion
    ) async throws {
        var scene = ShareScene(
            context: context, json: json, peer: to, delivery: delivery,
            spool: ShareSpool(in: context.home.run + "/share"))
        var type = activity ?? (to == nil ? nil : ActivityType.airdrop)
        if type == nil {
            switch try await chosen(items, activities, context) {
            case .peer(let peer): (type, scene.peer) = (ActivityType.airdrop, peer)
            case .activity(let chosen): type = chosen
            case .givenUp, .unclear, nil:
                throw CommandError(.interrupted, "nothing was chosen; nothing was shared")
            }
        }
        let activity = try activities.activity(type ?? "")
        completion.activity = activity.type
        let items = try items.asked(for: activity.type)
        if let obstacle = await activity.obstacle(items) {
            throw CommandError(
                .ineligible, TerminalText.escaped("\(items.title): \(activity.title): \(obstacle)", limit: 1_000))
        }
        completion.returnedItems = try await activity.perform(items, scene)
    }

    private func chosen(
        _ items: ShareItems, _ activities: ActivityList, _ context: CommandContext
    ) async throws -> ShareSheet.Answer? {
        let rows = await activities.rows(for: items).filter { $0.obstacle == nil }
        guard LineReader.hasTerminal else {
            let listing = ShareListing(context: context, activities: activities, all: false, json: false)
            throw CommandError(
                .usage, "--activity or --to is missing, and there is no terminal to ask at",
                others: try await listing.lines(items))
        }
        let sheet = ShareSheet(
            activities: rows.map { ($0.activity.type, $0.activity.title) }, takesPeers: activities.hasPeers)
        let choice = await SharePrompt(question: "Share with? ")
            .choose(from: sheet, items.lines, activities.hasPeers ? try SharePeers(context) : nil)
        guard case .row(let answer) = choice else { return nil }
        return answer
    }

    private func inWindow(_ activities: ActivityList, _ context: CommandContext) async throws -> WaftExit {
        var options = text.map { "--text=\($0)" } + url.map { "--url=\($0)" } + source.map { "--source=\($0)" }
        options += subject.map { ["--subject=\($0)"] } ?? []
        let hasItems = !(items + text + url + source).isEmpty
        let shared =
            hasItems
            ? try ShareItems(paths: items, texts: text, urls: url, programs: source, subject: try line()) : nil
        return try await ShareWindow(options: options, activities: activities, context: context)
            .run(shared, paths: items)
    }

    private func line() throws(CommandError) -> String? {
        guard let subject else { return nil }
        guard let line = Offer.subject(subject) else {
            throw CommandError(.usage, "--subject is one line of at most \(Offer.subjectBytes) bytes")
        }
        return line
    }
}
