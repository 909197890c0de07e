import Digests
import Sharing
import TestSupport
import Testing
import UniformTypes

/// The actions of a sender, as data, so that all can be tried in every state.
enum SenderEvent: Hashable, Sendable, CustomStringConvertible {
    case beginItem(Int)
    case beginFile(path: String?, size: UInt64?)
    case receive(Int)
    case endFile
    case entry
    case folderClosed
    case endItem
    case abandonItem(Int)
    case presentItem(Int)
    case setAsideItem
    case dropFile
    case dropEntry
    case finish

    func apply(to order: inout ItemAssembly) throws(TransferError) {
        switch self {
        case .beginItem(let number): try order.beginItem(number)
        case .beginFile(let path, let size):
            let entry = FileEntry(
                path: path.flatMap { try? SafeRelativePath($0) }, executable: false, modified: nil, size: size)
            try order.beginFile(entry)
        case .receive(let count): try order.receive(count)
        case .endFile: try order.endFile()
        case .entry: try order.entry()
        case .folderClosed: try order.folderClosed()
        case .endItem: _ = try order.endItem()
        case .abandonItem(let number): try order.abandonItem(number)
        case .presentItem(let number): try order.presentItem(number)
        case .setAsideItem: try order.setAsideItem()
        case .dropFile: try order.dropFile()
        case .dropEntry: try order.dropEntry()
        case .finish: try order.finish()
        }
    }

    var description: String {
        switch self {
        case .beginItem(let number): "beginItem(\(number))"
        case .beginFile(let path, let size): "beginFile(\(path ?? "-"), \(size.map(String.init) ?? "?"))"
        case .receive(let count): "receive(\(count))"
        case .endFile: "endFile"
        case .entry: "entry"
        case .folderClosed: "folderClosed"
        case .endItem: "endItem"
        case .abandonItem(let number): "abandonItem(\(number))"
        case .presentItem(let number): "presentItem(\(number))"
        case .setAsideItem: "setAsideItem"
        case .dropFile: "dropFile"
        case .dropEntry: "dropEntry"
        case .finish: "finish"
        }
    }
}

private func file(_ size: UInt64?) -> OfferedItem {
    OfferedItem(kind: .file, name: safe("file"), type: uniform("public.data"), size: size)
}

private func tree(_ size: UInt64?, entries: UInt64?) -> OfferedItem {
    OfferedItem(kind: .tree, name: safe("tree"), type: uniform("public.folder"), size: size, entries: entries)
}

/// - Returns: the fault of the first event that was refused, nil when all were taken.
private func run(
    _ events: [SenderEvent],
    on items: [OfferedItem],
    accepting accepted: [Bool]? = nil,
    binding: OfferBinding = .exact
) -> TransferError? {
    let answers = (accepted ?? items.map { _ in true }).map { $0 ? ItemVerdict.accepted : ItemVerdict(.declined) }
    var order = ItemAssembly(items: items, verdict: Verdict(items: answers), binding: binding)
    for event in events {
        do throws(TransferError) {
            try event.apply(to: &order)
        } catch {
            return error
        }
    }
    return nil
}

@Suite("The order of contents")
struct ItemAssemblyTests {
    @Test("where offers are announcements items come in any order, each once, and all of them")
    func announcedOrder() {
        func whole(_ number: Int) -> [SenderEvent] {
            [.beginItem(number), .beginFile(path: nil, size: 1), .receive(1), .endFile, .endItem]
        }
        let items = [file(1), file(1), file(1)]
        #expect(run(whole(2) + whole(0) + whole(1) + [.finish], on: items, binding: .announced) == nil)
        #expect(run(whole(2) + whole(0) + [.finish], on: items, binding: .announced)?.code == .sizeMismatch)
        #expect(run(whole(2) + whole(2), on: items, binding: .announced)?.code == .protocolViolation)
        #expect(run(whole(3), on: items, binding: .announced)?.code == .protocolViolation)
        #expect(
            run(whole(1), on: items, accepting: [true, false, true], binding: .announced)?.code == .notAccepted)
        #expect(
            run(whole(2) + whole(0) + [.finish], on: items, accepting: [true, false, true], binding: .announced) == nil)
        #expect(run(whole(2), on: items)?.code == .protocolViolation)
    }

    @Test("an announced size is a maximum, and an offered size is exact")
    func announcedSizes() {
        let short: [SenderEvent] = [
            .beginItem(0), .beginFile(path: nil, size: 4), .receive(4), .endFile, .endItem, .finish,
        ]
        #expect(run(short, on: [file(5)], binding: .announced) == nil)
        #expect(run(short, on: [file(5)])?.code == .sizeMismatch)
        #expect(run(short, on: [file(3)], binding: .announced)?.code == .sizeMismatch)
        let long: [SenderEvent] = [.beginItem(0), .beginFile(path: nil, size: nil), .receive(6)]
        #expect(run(long, on: [file(5)], binding: .announced)?.code == .sizeMismatch)
    }

    @Test("a tree of unknown entry count takes all entries, and is no file")
    func uncounted() {
        let events: [SenderEvent] =
            [.beginItem(0)] + Array(repeating: .entry, count: 1_000) + [
                .folderClosed, .folderClosed, .endItem, .finish,
            ]
        #expect(run(events, on: [tree(nil, entries: nil)], binding: .announced) == nil)
        #expect(run(events, on: [tree(nil, entries: nil)]) == nil)
        #expect(run(events, on: [tree(nil, entries: 1_000)])?.code == .sizeMismatch)
        #expect(run([.beginItem(0), .entry], on: [file(nil)], binding: .announced)?.code == .protocolViolation)
    }

    @Test("a file in pieces, a tree, an abandoned item and an item of unknown size are a legal transfer")
    func everythingLegal() {
        let items = [file(5), tree(7, entries: 4), file(3), file(nil), file(9)]
        let fault = run(
            [
                .beginItem(0), .beginFile(path: nil, size: 5), .receive(2), .receive(3), .endFile, .endItem,
                .beginItem(1), .entry, .beginFile(path: "a/b", size: 7), .receive(7), .endFile, .folderClosed, .entry,
                .folderClosed, .endItem,
                .abandonItem(2),
                .beginItem(3), .beginFile(path: nil, size: nil), .receive(1_000), .endFile, .endItem,
                .beginItem(4), .beginFile(path: nil, size: 9), .receive(4), .abandonItem(4),
                .finish,
            ], on: items)
        #expect(fault == nil)
    }

    @Test("an empty file is ended without contents")
    func emptyFile() {
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: 0), .endFile, .endItem, .finish], on: [file(0)]) == nil)
    }

    @Test("an empty tree has nothing in it but its own folder")
    func emptyTree() {
        #expect(run([.beginItem(0), .folderClosed, .endItem, .finish], on: [tree(0, entries: 1)]) == nil)
    }

    @Test("a transfer of which nothing was accepted has nothing but its end")
    func nothingAccepted() {
        #expect(run([.finish], on: [file(1)], accepting: [false]) == nil)
    }

    /// States, each by the events that lead there, on an offer of a file of 5 bytes and a tree of 5 bytes.
    enum Place: String, CaseIterable, Sendable {
        case betweenItems, inFileItem, inTree, inFile, inFileOfTree, finished

        var way: [SenderEvent] {
            switch self {
            case .betweenItems: []
            case .inFileItem: [.beginItem(0)]
            case .inTree: [.abandonItem(0), .beginItem(1)]
            case .inFile: [.beginItem(0), .beginFile(path: nil, size: 5), .receive(1)]
            case .inFileOfTree: [.abandonItem(0), .beginItem(1), .beginFile(path: "f", size: 5), .receive(1)]
            case .finished: [.abandonItem(0), .abandonItem(1), .finish]
            }
        }

        /// The events that are taken here; all others of `events` are refused.
        var legal: Set<SenderEvent> {
            switch self {
            case .betweenItems: [.beginItem(0), .abandonItem(0), .presentItem(0)]
            case .inFileItem: [.beginFile(path: nil, size: 5), .abandonItem(0)]
            case .inTree: [.beginFile(path: "p", size: 5), .entry, .folderClosed, .abandonItem(1)]
            case .inFile: [.receive(1), .abandonItem(0)]
            case .inFileOfTree: [.receive(1), .abandonItem(1)]
            case .finished: []
            }
        }
    }

    static let events: [SenderEvent] = [
        .beginItem(0), .beginItem(1), .beginItem(2), .beginItem(-1), .beginItem(.max),
        .beginFile(path: nil, size: 5), .beginFile(path: "p", size: 5), .receive(1), .receive(6), .endFile, .entry,
        .folderClosed, .endItem, .abandonItem(0), .abandonItem(1), .abandonItem(2), .abandonItem(-1), .finish,
        .presentItem(0), .presentItem(1), .setAsideItem, .dropFile, .dropEntry,
    ]

    @Test("each event is taken where it is legal and refused everywhere else", arguments: Place.allCases, events)
    func everyEventInEveryState(place: Place, event: SenderEvent) {
        let fault = run(place.way + [event], on: [file(5), tree(5, entries: 2)])
        #expect((fault == nil) == place.legal.contains(event), "\(fault?.message ?? "taken")")
    }

    /// States where files are requests of their own, on an offer of a file of 5 bytes and a tree of 5 bytes.
    enum ScatteredPlace: String, CaseIterable, Sendable {
        case awaited, begun, fileOpen, setAside, whole, abandoned, finished

        var way: [SenderEvent] {
            switch self {
            case .awaited: []
            case .begun: [.beginItem(1)]
            case .fileOpen: Self.begun.way + [.beginFile(path: "f", size: 5), .receive(1)]
            case .setAside: Self.begun.way + [.setAsideItem]
            case .whole: Self.begun.way + [.beginFile(path: "f", size: 5), .receive(5), .endFile, .endItem]
            case .abandoned: Self.fileOpen.way + [.abandonItem(1)]
            case .finished: [.finish]
            }
        }

        var legal: Set<SenderEvent> {
            switch self {
            case .awaited, .abandoned: [.beginItem(0), .beginItem(1), .abandonItem(0), .abandonItem(1), .finish]
            case .begun: [.beginFile(path: "p", size: 5), .entry, .folderClosed, .abandonItem(1), .setAsideItem]
            case .fileOpen: [.receive(1), .abandonItem(1), .dropFile]
            case .setAside: [.beginItem(0), .beginItem(1), .abandonItem(0), .abandonItem(1)]
            case .whole: [.beginItem(0), .abandonItem(0), .finish]
            case .finished: []
            }
        }
    }

    @Test(
        "where files are requests of their own, each event is taken where it is legal and refused everywhere else",
        arguments: ScatteredPlace.allCases, events)
    func everyScatteredEvent(place: ScatteredPlace, event: SenderEvent) {
        let fault = run(place.way + [event], on: [file(5), tree(5, entries: 2)], binding: .scattered)
        #expect((fault == nil) == place.legal.contains(event), "\(fault?.message ?? "taken")")
    }

    @Test("a file or folder that was dropped counts no more, and may come again")
    func dropped() {
        let file: [SenderEvent] = [.beginFile(path: "f", size: 5), .receive(5)]
        let begun: [SenderEvent] = [.beginItem(0), .entry, .dropEntry, .entry] + file + [.dropFile]
        let events = begun + [.setAsideItem, .beginItem(0)] + file + [.endFile, .endItem, .finish]
        #expect(run(events, on: [tree(5, entries: 3)], binding: .scattered) == nil)
    }

    @Test("a quota bounds bytes and entries, kept bytes of a file included")
    func quota() throws {
        let (none, kept): (UInt64, UInt64) = (0, 3)
        for offset in [none, kept] {
            var order = ItemAssembly(
                items: [file(nil), file(nil)], verdict: Verdict(items: [.accepted, .accepted]),
                bound: ContentsBound(bytes: 2 * Limits.entryBytes + 4))
            for number in 0..<2 {
                try order.beginItem(number)
                var entry = FileEntry(path: nil, executable: false, modified: nil, size: 3)
                entry.offset = offset
                guard number == 0 else {
                    let fault = refusal { () throws(TransferError) in
                        try order.beginFile(entry)
                        try order.receive(3)
                    }
                    #expect(fault?.code == .noRoom)
                    #expect(order.receivedBytes == 3)
                    break
                }
                try order.beginFile(entry)
                try order.receive(Int(3 - offset))
                try order.endFile()
                try order.endItem()
            }
        }
    }

    private func refusal(_ body: () throws(TransferError) -> Void) -> TransferError? {
        do throws(TransferError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("a refusal names the rule that was broken")
    func codes() {
        #expect(run([.beginItem(0)], on: [file(1)], accepting: [false])?.code == .notAccepted)
        #expect(run([.abandonItem(0)], on: [file(1)], accepting: [false])?.code == .notAccepted)
        #expect(run([.receive(1)], on: [file(1)])?.code == .protocolViolation)
        #expect(run([.beginItem(0), .beginFile(path: nil, size: 2)], on: [file(1)])?.code == .sizeMismatch)
        #expect(run([.finish], on: [file(1)])?.code == .sizeMismatch)
    }

    @Test("an item comes once")
    func twice() {
        let once: [SenderEvent] = [.beginItem(0), .beginFile(path: nil, size: 1), .receive(1), .endFile, .endItem]
        #expect(run(once + [.beginItem(0)], on: [file(1), file(1)])?.code == .protocolViolation)
        #expect(run([.abandonItem(0), .abandonItem(0)], on: [file(1)])?.code == .protocolViolation)
        #expect(run([.abandonItem(0), .beginItem(0)], on: [file(1)])?.code == .protocolViolation)
    }

    @Test("items do not go back in the order of the offer, nor are accepted ones left out")
    func backwards() {
        let items = [file(1), file(1)]
        #expect(run([.abandonItem(0), .abandonItem(1), .beginItem(0)], on: items)?.code == .protocolViolation)
        #expect(run([.beginItem(1)], on: items)?.code == .protocolViolation)
        #expect(run([.abandonItem(1)], on: items)?.code == .protocolViolation)
        #expect(run([.abandonItem(1), .finish], on: items, accepting: [false, true]) == nil)
    }

    @Test("the contents do not end before every accepted item has come")
    func tooFewItems() {
        #expect(run([.abandonItem(0), .finish], on: [file(1), file(1)])?.code == .sizeMismatch)
        #expect(run([.abandonItem(0), .finish], on: [file(1), file(1)], accepting: [true, false]) == nil)
    }

    @Test("a file does not end before its bytes have come, nor an item before its files have")
    func tooLittle() {
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: 5), .receive(4), .endFile], on: [file(5)])?.code
                == .sizeMismatch)
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: 4), .receive(4), .endFile, .endItem], on: [file(5)])?.code
                == .sizeMismatch)
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: nil), .receive(4), .endFile, .endItem], on: [file(5)])?.code
                == .sizeMismatch)
        #expect(run([.beginItem(0), .endItem], on: [file(0)])?.code == .sizeMismatch)
        #expect(run([.beginItem(0), .entry, .endItem], on: [tree(0, entries: 3)])?.code == .sizeMismatch)
    }

    @Test("nothing is taken beyond the offer")
    func tooMuch() {
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: 5), .receive(6)], on: [file(5)])?.code == .sizeMismatch)
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: nil), .receive(6)], on: [file(5)])?.code == .sizeMismatch)
        let first: [SenderEvent] = [.beginItem(0), .beginFile(path: "a", size: 4), .receive(4), .endFile]
        #expect(run(first + [.beginFile(path: "b", size: 2)], on: [tree(5, entries: 9)])?.code == .sizeMismatch)
        #expect(run(first + [.entry], on: [tree(5, entries: 2)])?.code == .sizeMismatch)
        #expect(run(first + [.beginFile(path: "b", size: 1)], on: [tree(5, entries: 2)])?.code == .sizeMismatch)
        let file0: [SenderEvent] = [.beginItem(0), .beginFile(path: nil, size: 0), .endFile]
        #expect(run(file0 + [.beginFile(path: nil, size: 0)], on: [file(0)])?.code == .sizeMismatch)
    }

    @Test("an item without an offered size is bounded all the same", arguments: [Limits.itemBytes + 1, 1 << 63, .max])
    func hostileSizes(size: UInt64) {
        #expect(run([.beginItem(0), .beginFile(path: nil, size: size)], on: [file(nil)])?.code == .sizeMismatch)
        #expect(run([.beginItem(0), .beginFile(path: nil, size: size)], on: [file(5)])?.code == .sizeMismatch)
        #expect(
            run([.beginItem(0), .beginFile(path: "p", size: size)], on: [tree(nil, entries: 9)])?.code == .sizeMismatch)
    }

    @Test("contents of unknown size end at the limit of an item, without overflow")
    func endlessContents() {
        let huge = Int(Limits.itemBytes)
        let begin: [SenderEvent] = [.beginItem(0), .beginFile(path: nil, size: nil)]
        #expect(run(begin + [.receive(huge)], on: [file(nil)]) == nil)
        #expect(run(begin + [.receive(huge), .receive(1)], on: [file(nil)])?.code == .sizeMismatch)
        #expect(run(begin + [.receive(.max)], on: [file(nil)])?.code == .sizeMismatch)
    }

    @Test("folders are not closed more often than there can be folders")
    func endlessClosings() {
        let closings = Array(repeating: SenderEvent.folderClosed, count: 3)
        #expect(run([.beginItem(0)] + closings, on: [tree(0, entries: 3)]) == nil)
        #expect(run([.beginItem(0)] + closings + [.folderClosed], on: [tree(0, entries: 3)])?.code == .sizeMismatch)
    }

    @Test("files of a tree have a path, an item that is a file has none")
    func paths() {
        #expect(run([.beginItem(0), .beginFile(path: "p", size: 1)], on: [file(1)])?.code == .protocolViolation)
        #expect(
            run([.beginItem(0), .beginFile(path: nil, size: 1)], on: [tree(1, entries: 2)])?.code == .protocolViolation)
    }

    @Test("the current item is known from its beginning to its end")
    func currentItem() throws {
        var order = ItemAssembly(items: [file(0), file(0)], verdict: Verdict(items: [.accepted, .accepted]))
        let entry = FileEntry(path: nil, executable: false, modified: nil, size: 0)
        #expect(order.currentItem == nil)
        try order.abandonItem(0)
        #expect(order.currentItem == nil)
        try order.beginItem(1)
        #expect(order.currentItem == 1)
        try order.beginFile(entry)
        #expect(order.currentItem == 1)
        try order.endFile()
        let (number, bytes, entries) = try order.endItem()
        #expect((number, bytes, entries) == (1, 0, 1))
        #expect(order.currentItem == nil)
        try order.finish()
        #expect(order.currentItem == nil)
    }

    /// Plays random events, mostly such as fit, against a count kept by the test itself.
    @Test(
        "no order of events takes more than was offered, or anything that was not accepted",
        arguments: 0..<400 as Range<UInt64>)
    func randomOrders(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        let sizes: [UInt64?] = [nil, 0, 1, 5, 1 << 40, Limits.itemBytes]
        let items = (0..<Int.random(in: 1...4, using: &dice)).map { _ -> OfferedItem in
            let size = sizes.randomElement(using: &dice) ?? nil
            return Bool.random(using: &dice) ? file(size) : tree(size, entries: .random(in: 1...4, using: &dice))
        }
        let accepted = items.map { _ in Int.random(in: 0..<4, using: &dice) > 0 }
        let answers = accepted.map { $0 ? ItemVerdict.accepted : ItemVerdict(.declined) }
        var order = ItemAssembly(items: items, verdict: Verdict(items: answers))
        var model = SenderModel(items: items)
        for _ in 0..<200 {
            let event = model.likelyEvent(using: &dice)
            do throws(TransferError) {
                try event.apply(to: &order)
            } catch {
                break
            }
            model.took(event)
            #expect(order.currentItem == model.current, "seed \(seed)")
            if let current = model.current {
                #expect(accepted[current], "seed \(seed)")
                #expect(model.bytes[current] <= items[current].size ?? Limits.itemBytes, "seed \(seed)")
                #expect(model.entries[current] <= items[current].entries ?? 0, "seed \(seed)")
            }
            if event == .finish {
                #expect(model.over.isSuperset(of: accepted.indices.filter { accepted[$0] }), "seed \(seed)")
                for number in model.whole {
                    #expect(items[number].size == nil || items[number].size == model.bytes[number], "seed \(seed)")
                }
            }
        }
    }
}

/// The events that a test believes to have sent.
private struct SenderModel {
    let items: [OfferedItem]
    var current: Int?
    var next = 0
    var inFile = false
    var bytes: [UInt64]
    var entries: [UInt64]
    var whole: Set<Int> = []
    var over: Set<Int> = []

    init(items: [OfferedItem]) {
        self.items = items
        bytes = Array(repeating: 0, count: items.count)
        entries = Array(repeating: 0, count: items.count)
    }

    /// Something that may fit here; now and then something that does not.
    func likelyEvent(using dice: inout SeededNumbers) -> SenderEvent {
        let sizes: [UInt64?] = [nil, 0, 1, 2, 5, 1 << 40, .max]
        let counts = [0, 1, 2, 5, 1 << 40, Int(Limits.itemBytes), Int.max]
        let path = Bool.random(using: &dice) ? "p" : nil
        let anything: [SenderEvent] = [
            .beginItem(.random(in: -1...5, using: &dice)), .abandonItem(.random(in: -1...5, using: &dice)),
            .beginFile(path: path, size: sizes.randomElement(using: &dice) ?? nil),
            .receive(counts.randomElement(using: &dice) ?? 0), .endFile, .entry, .folderClosed, .endItem, .finish,
        ]
        if Int.random(in: 0..<20, using: &dice) == 0 { return anything.randomElement(using: &dice) ?? .finish }
        guard let current else {
            return [.beginItem(next), .beginItem(next), .abandonItem(next), .finish].randomElement(using: &dice)
                ?? .finish
        }
        if inFile { return [.receive(1), .receive(0), .receive(4), .endFile].randomElement(using: &dice) ?? .endFile }
        if items[current].kind == .tree {
            return [
                .entry, .folderClosed, .beginFile(path: "p", size: nil), .beginFile(path: "p", size: 1), .endItem,
                .abandonItem(current),
            ].randomElement(using: &dice) ?? .endItem
        }
        return [.beginFile(path: nil, size: nil), .beginFile(path: nil, size: items[current].size), .endItem]
            .randomElement(using: &dice) ?? .endItem
    }

    mutating func took(_ event: SenderEvent) {
        switch event {
        case .beginItem(let number): (current, next) = (number, number + 1)
        case .beginFile:
            inFile = true
            if let current { entries[current] += 1 }
        case .receive(let count): if let current { bytes[current] += UInt64(count) }
        case .endFile: inFile = false
        case .entry: if let current { entries[current] += 1 }
        case .folderClosed, .finish, .presentItem, .setAsideItem, .dropFile, .dropEntry: break
        case .endItem:
            if let current { (whole, over) = (whole.union([current]), over.union([current])) }
            current = nil
        case .abandonItem(let number):
            (current, inFile, next) = (nil, false, max(next, number + 1))
            over.insert(number)
        }
    }
}
