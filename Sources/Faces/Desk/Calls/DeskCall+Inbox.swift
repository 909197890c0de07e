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

    /// Opening an item, or a file of the Inbox that Waft did not store, in a program; without one, the programs.
    private struct OpeningIn: Decodable, Sendable {
        /// An absolute path.
        var item: String
        var isReceived: Bool
        /// The place of the program in the list.
        var program: Int?
    }

    private struct Page: Decodable, Sendable {
        var limit: Int
        var before: Int64?
        var sent: Bool?
    }

    /// Lines of a page, at most, and of one that is read for a list.
    private static let (longest, page) = (100_000, 1_000)

    static let inbox: [String: DeskCall] = [
        "history": .lines { (page: Page, waft) in
            let limit = min(max(page.limit, 1), longest)
            return page.sent == true
                ? waft.history.sent(latest: limit) : try waft.history.arrivals(latest: limit, before: page.before)
        },
        "inbox": DeskCall { (_: Nothing, desk) in try await list(desk) },
        "inbox/item": DeskCall { (one: ShownItem, desk) in try await one.show(desk) },
        // The contents are looked at before something opens them.
        "inbox/open": DeskCall { (one: Opening, desk) in
            try await desk.apart(
                ["inbox", "open", "--json"] + (one.inFolder == true ? ["--folder"] : []) + ["--", one.item])
        },
        "inbox/open-in": DeskCall { (one: OpeningIn, desk) in
            try await desk.apart(
                (one.isReceived ? ["inbox"] : []) + ["open-in", "--json", "--", one.item]
                    + (one.program.map { ["\($0)"] } ?? []))
        },
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
        try await desk.lines.add(entries)
        var there = Set(entries.compactMap(\.arrival))
        // A folder that is no item can have items in it, which only the list of arrivals has.
        if entries.contains(where: { $0.kind == ItemKind.tree.rawValue && $0.arrival == nil }) {
            let all = try ArrivalChoice(since: "3650d", waft)
            let inside = try waft.inbox.list(all).filter { $0.arrival.map { there.insert($0).inserted } == true }
            try await desk.lines.add(inside)
        }
        var before: Int64?
        // By pages: thousands of lines take memory.
        while !there.isEmpty {
            let page = try waft.history.arrivals(latest: page, before: before)
            try await desk.lines.add(page.filter { there.remove($0.arrival) != nil })
            guard let first = page.map(\.arrival).min() else { break }
            before = first
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

/// An item that a window shows: its contents, its facts, and the possible actions.
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
        }
        if isLocked { return .done }
        async let options = isReceived ? desk.apart(["inbox", "options", "--json", "--", item]) : .done
        let preview = try await desk.apart(
            (isReceived ? ["inbox", "preview"] : ["preview"]) + ["--lines", Self.lines, "--json", "--", item])
        _ = try await options
        return preview
    }
}
