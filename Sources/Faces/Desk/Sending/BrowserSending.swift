import Foundation
import ItemSources
import Lines
import NIOCore
import Operations
import Sharing
import Synchronization
import WebPages

/// Items of a browser on their way to a peer or an activity. Each goes through, and is stored nowhere.
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
        /// Whether the items wait in the outbox for a peer that is away.
        var queue: Bool?
        /// As `--wait` of `waft send`.
        var wait: String?
        /// The activity of the share sheet that gets the items, if no peer does.
        var activity: String?
        var items: [Item]
        var subject: String?
    }

    private struct Course {
        /// Bytes that are asked for, by the numbers of their items, until they come.
        var asked: [Int: HandedBytes] = [:]
        /// All that were asked for.
        var all: [HandedBytes] = []
        var work: Task<DeskProgram.End, Never>?
    }

    /// The time in which a sending that is cancelled can take leave of the peer.
    private static let goodbye: Duration = .seconds(3)
    /// Between two lines about the progress.
    private static let pause: Duration = .milliseconds(100)

    let name = WebSecret.make()
    private let wanted: Wanted
    private let currentWaft: @Sendable () throws(WaftError) -> Waft
    private let cancellation = Cancellation()
    private let course = Mutex(Course())

    /// - Parameter waft: the Waft with the settings as they are now. It throws for settings with faults.
    init(_ wanted: Wanted, _ waft: @escaping @Sendable () throws(WaftError) -> Waft) {
        (self.wanted, currentWaft) = (wanted, waft)
    }

    /// Ends the sending, as Ctrl-C does.
    func cancel() {
        cancellation.request()
        let (bytes, work) = course.withLock { ($0.all, $0.work) }
        for item in bytes { item.finish(isWhole: false) }
        Task {
            try? await Task.sleep(for: Self.goodbye)
            work?.cancel()
        }
    }

    /// The bytes of an item that are asked for; nil if they are not, or another request brings them.
    func take(_ number: Int) -> HandedBytes? { course.withLock { $0.asked.removeValue(forKey: number) } }

    /// Offers the items, and follows the sending to its end. If the task is cancelled, so is the sending.
    func run(_ lines: DeskLines) async -> DeskProgram.End {
        let (documents, feed) = AsyncStream<String>.makeStream()
        let work = Task { [self] in
            defer { feed.finish() }
            return await DeskProgram.End { () async throws(WaftError) in
                do throws(WaftError) {
                    let sources = try sources { feed.yield("{\"event\":\"wanted\",\"item\":\($0)}") }
                    return try await send(sources) { feed.yield($0.json) }
                } catch {
                    feed.yield(FailedLine(error.code, error.reason, hint: error.hint, others: error.others).json)
                    throw error
                }
            }
        }
        course.withLock { $0.work = work }
        return await withTaskCancellationHandler {
            for await document in documents {
                guard (try? await lines.add(Array((document + "\n").utf8))) != nil else {
                    cancel()
                    break
                }
            }
            return await work.value
        } onCancel: {
            cancel()
        }
    }

    /// Lists the activities that can take the items. Peers are none of them here.
    func listActivities(_ lines: DeskLines) async -> DeskProgram.End {
        await DeskProgram.End { () async throws(WaftError) in
            let items = ShareItems(try sources { _ in }, paths: [], subject: nil)
            let activities = try currentWaft().activities(excluding: [Activity.airdrop.type])
            let possible = await activities.lines(for: items)
            for line in possible { try? await lines.add(Array((line.json + "\n").utf8)) }
            guard possible.contains(where: { $0.reason == nil }) else {
                throw WaftError(.ineligible, "\(items.title): nothing can be done with it here")
            }
            return .done
        }
    }

    /// - Parameter isWanted: called when the bytes of an item are to come.
    private func sources(_ isWanted: @escaping @Sendable (Int) -> Void) throws(WaftError) -> [any ItemSource] {
        var sources: [any ItemSource] = []
        for (number, item) in wanted.items.enumerated() {
            do throws(SourceError) {
                sources.append(
                    try HandedSource(
                        name: item.name, kind: item.kind == "tree" ? .tree : .file, size: item.size,
                        entries: item.entries
                    ) { [self] bytes in
                        course.withLock { course in
                            course.asked[number] = bytes
                            course.all.append(bytes)
                        }
                        if cancellation.isRequested { bytes.finish(isWhole: false) }
                        isWanted(number)
                    })
            } catch {
                throw WaftError(error)
            }
        }
        return sources
    }

    private func send(
        _ sources: [any ItemSource], _ show: @escaping @Sendable (any Line) -> Void
    ) async throws(WaftError) -> WaftExit {
        if let activity = wanted.activity { return try await share(sources, activity, show) }
        let waft = try currentWaft()
        let options = try waft.sendOptions(subject: wanted.subject, isAwaited: wanted.wait == "opened")
        let peer = wanted.to ?? ""
        if wanted.queue == true {
            let items = QueuedItems(sources, paths: [], texts: [], urls: [], isSnapshot: false, days: nil)
            for job in try await waft.outbox.add(items, to: [peer], options, cancellation: cancellation) { show(job) }
            show(DoneLine(exit: .done))
            return .done
        }
        let last = Mutex(ContinuousClock.now - Self.pause)
        let exit = try await waft.send(sources, to: peer, options, cancellation: cancellation) { step, peer in
            if step.isProgress {
                let isDue = last.withLock { last in
                    guard last.duration(to: .now) >= Self.pause else { return false }
                    last = .now
                    return true
                }
                guard isDue else { return }
            }
            for line in step.lines(to: peer) { show(line) }
        }
        show(DoneLine(exit: exit))
        return exit
    }

    private func share(
        _ sources: [any ItemSource], _ type: String, _ show: @Sendable (any Line) -> Void
    ) async throws(WaftError) -> WaftExit {
        let items = ShareItems(sources, paths: [], subject: wanted.subject)
        let activities = try currentWaft().activities()
        let activity = try activities.activity(type)
        var completion = CompletedLine()
        completion.activity = activity.type
        try await activities.check(activity, items)
        completion.returnedItems = try await activities.perform(activity, items).returnedItems
        show(completion)
        return .done
    }
}
