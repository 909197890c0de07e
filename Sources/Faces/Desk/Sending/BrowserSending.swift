import Foundation
import Lines
import NIOCore
import Operations
import Sharing
import Synchronization
import WebPages

/// Items of a browser on their way to a peer, a group or an activity. Each goes through, and is stored nowhere; for a group
/// it is copied into the outbox until the end.
final class BrowserSending: Sendable {
    /// Items of one sending.
    static let items = 1_000

    struct Wanted: Decodable, Sendable {
        struct Item: Decodable, Sendable {
            var name: String
            var size: UInt64?
            /// `file`, or `tree` for a folder, whose bytes are a tar archive.
            var kind: String?
            /// Of a folder: its files and folders, itself included.
            var entries: UInt64?
        }

        /// The peer: its id, its name, or an address.
        var to: String?
        /// A group of contacts, without its mark: each member gets the items.
        var group: String?
        /// Those of the group that get the items, by their ids; nil for all.
        var members: [String]?
        /// Whether a code is shown, and the machine that proves to know it is the peer.
        var byCode: Bool?
        /// Whether the items wait in the outbox for a peer that is away.
        var queue: Bool?
        /// As `--wait` of `waft send`.
        var wait: String?
        /// The activity of the share sheet that gets the items, if no peer does.
        var activity: String?
        /// Files and folders of this machine: absolute paths.
        var paths: [String]?
        var text: String?
        var url: String?
        /// Of the browser; they come after the others.
        var items: [Item]
        var subject: String?

        /// All that goes to the peer, the group or the activity.
        var count: Int { (paths?.count ?? 0) + [text, url].compactMap(\.self).count + items.count }
    }

    private struct Course {
        /// Bytes that are asked for, by the numbers of their items, until they come.
        var asked: [Int: any HandedBytes] = [:]
        /// All that were asked for.
        var all: [any HandedBytes] = []
        var work: Task<WaftExit, any Error>?
        /// Whether a peer has proved to know the code.
        var isMet = false
    }

    /// The time in which a sending that is cancelled can take leave of the peer.
    private static let goodbye: Duration = .seconds(3)
    /// Between two lines about the progress.
    private static let pause: Duration = .milliseconds(100)

    let name = WebSecret.make()
    private let wanted: Wanted
    private let host: DeskServer.Host
    private let cancellation = Cancellation()
    private let course = Mutex(Course())

    init(_ wanted: Wanted, _ host: DeskServer.Host) { (self.wanted, self.host) = (wanted, host) }

    /// Ends the sending, as Ctrl-C does.
    func cancel() {
        cancellation.request()
        let (bytes, work, isMet) = course.withLock { ($0.all, $0.work, $0.isMet) }
        for item in bytes { item.finish(isWhole: false) }
        // A code is taken back at once, as there is no peer yet.
        if wanted.byCode == true, !isMet { work?.cancel() }
        Task {
            try? await Task.sleep(for: Self.goodbye)
            work?.cancel()
        }
    }

    /// The bytes of an item that are asked for; nil if they are not, or another request brings them.
    func take(_ number: Int) -> (any HandedBytes)? { course.withLock { $0.asked.removeValue(forKey: number) } }

    /// The bytes of an item are to come.
    private struct WantedLine: DeskLine {
        var event = "wanted"
        var item: Int
    }

    /// Some sendings read what their browsers bring, and hold a thread until it comes.
    private static let executor = Waft.makeExecutor(threads: BrowserSendings.maximum)

    /// Offers the items, and follows the sending to its end. If the task is cancelled, so is the sending.
    /// - Throws: `WaftError`.
    func run(_ lines: DeskLines) async throws -> WaftExit {
        let (said, feed) = AsyncStream<ByteBuffer>.makeStream()
        let work = Task(executorPreference: Self.executor) { [self] in
            defer { feed.finish() }
            let sources = try sources { number in
                if let line = try? WantedLine(item: number).bytes { feed.yield(line) }
            }
            return try await send(sources) {
                feed.yield(ByteBuffer(string: $0.json + "\n"))
            } raw: {
                feed.yield(ByteBuffer(bytes: $0))
            }
        }
        course.withLock { $0.work = work }
        return try await withTaskCancellationHandler {
            for await line in said {
                guard (try? await lines.add(Array(line.readableBytesView))) != nil else {
                    cancel()
                    break
                }
            }
            return try await work.value
        } onCancel: {
            cancel()
        }
    }

    /// Activities that the window has elsewhere: it shows peers and their outbox, and opens received items.
    private static let excluded = [Activity.airdrop.type, Activity.queue.type, Activity.openIn.type]

    /// Lists the activities that can take the items.
    /// - Throws: `WaftError` `ineligible` if there are none.
    func listActivities(_ lines: DeskLines) async throws -> WaftExit {
        let items = ShareItems(try sources { _ in }, paths: wanted.paths ?? [], subject: nil)
        let activities = try host.strict().activities(excluding: Self.excluded)
        let possible = await activities.lines(for: items)
        for line in possible { try await lines.add(line) }
        guard possible.contains(where: { $0.reason == nil }) else {
            throw WaftError(.ineligible, "\(items.title): nothing can be done with it here")
        }
        return .done
    }

    /// - Parameter isWanted: called when the bytes of an item are to come.
    private func sources(_ isWanted: @escaping @Sendable (Int) -> Void) throws(WaftError) -> [any ItemSource] {
        var sources = SendSources(
            paths: wanted.paths ?? [], texts: wanted.text.map { [$0] } ?? [], urls: wanted.url.map { [$0] } ?? [])
        sources.canLeaveOut = false
        sources.handed = wanted.items.enumerated().map { number, item in
            HandedItem(
                name: item.name, isFolder: item.kind == "tree", size: item.size, entries: item.entries
            ) { [self] bytes in
                course.withLock { course in
                    course.asked[number] = bytes
                    course.all.append(bytes)
                }
                if cancellation.isRequested { bytes.finish(isWhole: false) }
                isWanted(number)
            }
        }
        return try sources.make()
    }

    /// - Parameters:
    ///   - show: for a line.
    ///   - raw: for lines of a program, in any pieces.
    private func send(
        _ sources: [any ItemSource], _ show: @escaping @Sendable (any Line) -> Void,
        raw: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(WaftError) -> WaftExit {
        if let activity = wanted.activity { return try await share(sources, activity, show, raw) }
        let waft = try host.strict()
        let options = try waft.sendOptions(subject: wanted.subject, isAwaited: wanted.wait == "opened")
        let group = try wanted.group.map { name throws(WaftError) in try waft.contacts.recipients(["@" + name]) }
        let peers = group?.filter { wanted.members?.contains($0) ?? true } ?? [wanted.to ?? ""]
        guard !peers.isEmpty else { throw WaftError(.inputMissing, "none of these is in the group") }
        if wanted.queue == true {
            let items = QueuedItems(
                sources, paths: wanted.paths ?? [], texts: wanted.text.map { [$0] } ?? [],
                urls: wanted.url.map { [$0] } ?? [], isSnapshot: false, days: nil)
            for job in try await waft.outbox.add(items, to: peers, options, cancellation: cancellation) { show(job) }
            show(DoneLine(exit: .done))
            return .done
        }
        // A browser hands its bytes over once.
        let items =
            peers.count > 1 ? try RepeatableItems(sources, of: waft, cancellation: cancellation) : nil
        defer { withExtendedLifetime(items) {} }
        let sources = items?.sources ?? sources
        let last = Mutex<[String: ContinuousClock.Instant]>([:])
        let previews = try waft.previews(of: sources)
        let send: @Sendable ([String], SendOptions) async throws(WaftError) -> WaftExit = {
            [cancellation] peers, options throws(WaftError) in
            try await waft.send(
                sources, to: peers, options, previews: previews, cancellation: cancellation
            ) { step, peer in
                if step.isProgress {
                    let isDue = last.withLock { last in
                        if let before = last[peer], before.duration(to: .now) < Self.pause { return false }
                        last[peer] = .now
                        return true
                    }
                    guard isDue else { return }
                }
                for line in step.lines { show(line) }
            }
        }
        let exit =
            wanted.byCode == true
            ? try await waft.codes.send(
                Codes.Showing(words: nil, for: .seconds(Codes.longest)), options,
                { [self] step in
                    if case .met = step { course.withLock { $0.isMet = true } }
                    step.line.map(show)
                }, send: { peer, options throws(WaftError) in try await send([peer], options) })
            : try await send(peers, options)
        show(DoneLine(exit: exit))
        return exit
    }

    private func share(
        _ sources: [any ItemSource], _ type: String, _ show: @escaping @Sendable (any Line) -> Void,
        _ raw: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(WaftError) -> WaftExit {
        let paths = wanted.paths ?? []
        let items = ShareItems(sources, paths: paths, subject: wanted.subject)
        let activities = try host.strict().activities(excluding: Self.excluded)
        let activity = try activities.activity(type)
        var completion = CompletedLine()
        completion.activity = activity.type
        try await activities.check(activity, items)
        if activity.kind == .preview { _ = await host.program.run(["preview", "--json", "--"] + paths, take: raw) }
        completion.returnedItems = try await activities.perform(activity, items).returnedItems
        show(completion)
        return .done
    }
}
