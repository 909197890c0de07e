import ContentCheck
import Digests
import Foundation
import GRDB
import Journal
import Sharing
import TestSupport
import UniformTypes

/// Facts that differ for different numbers.
func sampleFacts(_ number: Int) -> ArrivalFacts {
    ArrivalFacts(
        transfer: transfer(number), itemNumber: number, itemsInOffer: number + 1,
        item: OfferedItem(
            kind: ItemKind.allCases[number % ItemKind.allCases.count], name: safe("item-\(number).txt"),
            type: uniform("public.data"), size: number.isMultiple(of: 2) ? UInt64(number) : nil,
            entries: number % ItemKind.allCases.count == 1 ? nil : 1),
        size: UInt64(number), digest: Digest.of(.xxh3_128, Array("\(number)".utf8)), peer: .sample(UInt8(number % 256)),
        senderName: "a test", annotation: number.isMultiple(of: 3) ? [:] : ["note": "number \(number)"],
        dialect: number.isMultiple(of: 2) ? .keyed : .keyless)
}

private func transfer(_ number: Int) -> TransferID {
    let digits = String(number, radix: 16)
    guard let id = TransferID(String(repeating: "0", count: 32 - digits.count) + digits) else {
        preconditionFailure("\(number) makes no number of a transfer")
    }
    return id
}

func sampleArrival(_ number: Int, isDelivered: Bool = true) -> IntendedArrival {
    IntendedArrival(facts: sampleFacts(number), identity: nil, isDelivered: isDelivered)
}

/// An arrival that `journal-probe` accepts as complete: all its facts follow from the name.
func wholeArrival(_ name: String) -> IntendedArrival {
    var facts = sampleFacts(0)
    facts.itemsInOffer = 1
    facts.item = OfferedItem(kind: .file, name: safe(name), type: uniform("public.plain-text"), size: nil)
    facts.size = UInt64(name.utf8.count)
    facts.digest = Digest.of(.sha256, Array(name.utf8))
    facts.peer = .sample(7)
    facts.senderName = "sender of " + name
    facts.annotation = ["note": String(repeating: name, count: 600)]
    facts.content = ContentVerdict(.consistent, nil, "content of " + name)
    return IntendedArrival(facts: facts, identity: nil, isDelivered: true)
}

func stored(_ name: String) -> StoredItem { StoredItem(name: safe(name), path: "/Inbox/" + name) }

func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

extension Journal {
    /// Records arrivals that are in the Inbox; their names are their positions here.
    @discardableResult
    func arrive(_ count: Int, isDelivered: Bool = true) throws -> [ArrivalNumber] {
        let numbers = try intend((0..<count).map { sampleArrival($0, isDelivered: isDelivered) })
        try settle(numbers.enumerated().map { (number: $1, stored: stored("n\($0)")) })
        return numbers
    }
}

extension Journal {
    /// The number of arrivals that are not settled, read from the file.
    static func unsettledCount(_ folder: String) throws -> Int? {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: folder + "/journal.sqlite", configuration: configuration).read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM arrivals WHERE stored_name IS NULL")
        }
    }
}

/// Changes a journal's file through another connection, without any rules.
func tamper(_ folder: String, _ sql: String, arguments: StatementArguments = []) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(10)
    let queue = try DatabaseQueue(path: folder + "/journal.sqlite", configuration: configuration)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: arguments) }
}

/// SQLite's report on the integrity of a journal; empty if it is sound.
func unsoundness(_ folder: String) throws -> [String] {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(10)
    return try DatabaseQueue(path: folder + "/journal.sqlite", configuration: configuration).read { database in
        let rows = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").map(\.description)
        return try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" } + rows
    }
}

/// The line of the fault that `body` throws; nil if it throws none.
func fault(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
}

/// The contents of a file.
func contents(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

extension Journal {
    convenience init(
        folder: String, now: (@Sendable () -> WallTime)? = nil,
        unreadable: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) throws(JournalError) {
        try self.init(folder: folder, dialects: .samples, now: now, unreadable: unreadable)
    }

    static func openingOrReplacing(folder: String, damaged: (String) -> Void) throws(JournalError) -> Journal {
        try openingOrReplacing(folder: folder, dialects: .samples, damaged: damaged)
    }
}

extension JournalReader {
    init(folder: String, unreadable: @escaping @Sendable (JournalError) -> Void = { _ in }) {
        self.init(folder: folder, dialects: .samples, unreadable: unreadable)
    }
}
