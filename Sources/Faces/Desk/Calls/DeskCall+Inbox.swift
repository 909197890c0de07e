import Lines
import Operations
import Sharing

extension DeskCall {
    /// Items by their paths, or by their numbers.
    private struct Items: Decodable, Sendable {
        var items: [String]
    }

    private struct Taking: Decodable, Sendable {
        var items: [String]
        /// An absolute path.
        var folder: String
    }

    private struct Opening: Decodable, Sendable {
        var item: String
        /// Shows it in its folder, and opens nothing.
        var inFolder: Bool?
    }

    private struct Page: Decodable, Sendable {
        var limit: Int
        var before: Int64?
        var sent: Bool?
    }

    /// Arrivals whose facts the list of the Inbox has.
    private static let arrivals = 100_000

    static let inbox: [String: DeskCall] = [
        "history": .lines { (page: Page, waft) in
            let limit = min(max(page.limit, 1), arrivals)
            return page.sent == true
                ? waft.history.sent(latest: limit) : try waft.history.arrivals(latest: limit, before: page.before)
        },
        "inbox": DeskCall { (_: Nothing, desk) in try await list(desk) },
        "inbox/item": DeskCall { (one: ShownItem, desk) in try await one.show(desk) },
        "inbox/open": .lines { (one: Opening, waft) in
            await waft.inbox.followRenames()
            let (documents, item) = (waft.documents(), try waft.inbox.item(one.item))
            return one.inFolder == true
                ? [try await documents.showInFolder(documents.document(of: item, for: nil))]
                : [try await documents.openOnDesktop(documents.document(of: item))]
        },
        "inbox/open-in": .lines { (one: OpeningIn, waft) in try await one.lines(waft) },
        "inbox/remove": DeskCall { (wanted: Items, desk) in
            try await each(wanted.items, desk) { item, waft throws(WaftError) in
                try await waft.inbox.remove(item).map { $0 as any Line }
            }
        },
        "inbox/take": DeskCall { (wanted: Taking, desk) in
            try await each(wanted.items, desk) { item, waft throws(WaftError) in
                try await waft.inbox.take(item, to: wanted.folder).map { $0 as any Line }
            }
        },
        "inbox/retry": DeskCall { (wanted: Items, desk) in
            let waft = try desk.waft()
            await waft.inbox.followRenames()
            let items = try wanted.items.map(waft.inbox.item)
            return try await desk.showing { show in
                try await waft.inbox.retry(items) { step in
                    switch step {
                    case .begun(_, .success(let line)): show(line)
                    case .begun(let item, .failure(let failure)): show(failure.line(of: item.subject))
                    case .waiting: break
                    case .answered(let line, _): show(line)
                    }
                }
            }
        },
        "inbox/verify": DeskCall { (wanted: Items, desk) in
            let waft = try desk.waft()
            await waft.inbox.followRenames()
            return try await desk.showing { show in
                let verified = try waft.inbox.verify(wanted.items) { show($0.line) }
                show(verified)
                return verified.exit
            }
        },
    ]

    /// The items, those in folders too, then the facts that the journal has about them.
    private static func list(_ desk: DeskWork) async throws -> WaftExit {
        let waft = try desk.waft()
        await waft.inbox.followRenames()
        let entries = try waft.inbox.list()
        for entry in entries { try await desk.show(entry) }
        var there = Set(entries.compactMap(\.arrival))
        // A folder that is no item can have items in it, which only the list of arrivals has.
        if entries.contains(where: { $0.kind == ItemKind.tree.rawValue && $0.arrival == nil }) {
            let all = try ArrivalChoice(since: "3650d", waft)
            for entry in try waft.inbox.list(all) {
                if let arrival = entry.arrival, there.insert(arrival).inserted { try await desk.show(entry) }
            }
        }
        for line in try waft.history.arrivals(latest: arrivals) where there.contains(line.arrival) {
            try await desk.show(line)
        }
        return .done
    }

    /// Does something for each of some items. A failure in the result is that of its item; an error ends the call.
    private static func each(
        _ words: [String], _ desk: DeskWork,
        _ body: (ChosenItem, Waft) async throws(WaftError) -> Result<any Line, WaftError>
    ) async throws -> WaftExit {
        let waft = try desk.waft()
        await waft.inbox.followRenames()
        var first = WaftExit.done
        for item in try words.map(waft.inbox.item) {
            switch try await body(item, waft) {
            case .success(let line): try await desk.show(line)
            case .failure(let failure):
                try await desk.show(failure.line(of: item.subject))
                if first == .done { first = failure.code }
            }
        }
        return first
    }
}

/// An item that a window shows: what is in it, what is known of it, and what can be done with it.
private struct ShownItem: Decodable, Sendable {
    /// An absolute path.
    var item: String
    /// Whether Waft has stored it.
    var isReceived: Bool
    /// Whether its contents are locked.
    var isLocked: Bool

    private static let lines = "300"

    func show(_ desk: DeskWork) async throws -> WaftExit {
        if isReceived {
            let waft = try desk.waft()
            await waft.inbox.followRenames()
            try await desk.show(try waft.inbox.show(item))
            let documents = waft.documents()
            if !isLocked, let document = try? documents.document(of: waft.inbox.item(item)),
                let options = try? documents.options(for: document)
            {
                for line in options { try await desk.show(line) }
            }
        }
        if isLocked { return .done }
        return try await desk.apart(
            (isReceived ? ["inbox", "preview"] : ["preview"]) + ["--lines", Self.lines, "--json", "--", item])
    }
}

/// Opening an item, or a file of the Inbox that Waft did not store, in a program; without one, the programs.
private struct OpeningIn: Decodable, Sendable {
    /// An absolute path.
    var item: String
    var isReceived: Bool
    /// The place of the program in the list.
    var program: Int?

    func lines(_ waft: Waft) async throws -> [any Line] {
        let documents = waft.documents()
        if isReceived { await waft.inbox.followRenames() }
        let document =
            isReceived ? try documents.document(of: waft.inbox.item(item)) : try documents.file(item)
        let list = try documents.programs(for: document)
        guard !list.isEmpty else { throw list.nothing }
        guard let program else { return list.lines }
        return [try await documents.open(document, in: list.target("\(program)"))]
    }
}
