import Endpoints
import Foundation
import Glibc
package import Settings
import Sharing
import UniformTypes

/// The transfers of this user and their outcomes: one JSON document a line, in a file to which several programs add.
///
/// Only people read it: no decision depends on it, and it is not synced. It keeps between `byteLimit` and twice as
/// much.
package struct SentLog: Sendable {
    /// Bytes of the file, after which it is put aside and a new one begun; the one put aside before goes.
    package static let byteLimit = 8 << 20
    /// Items of a transfer that are named; the rest is counted.
    package static let namedItems = 100

    /// One transfer. New fields can come.
    package struct Entry: Codable, Sendable, Equatable {
        package struct Item: Codable, Sendable, Equatable {
            package var name: String
            package var type: String
            /// Bytes of contents.
            package var size: UInt64?
            /// The name it got there.
            package var stored: String?
            package var digest: String?
            /// `stored`, `alreadyThere`, `taken` (without a receipt: the other side says that it has it), `notSent`, `failed`,
            /// `unread`, or the other side's answer.
            package var state: String
            package var reason: String?
            /// The handler's answer, as far as it was known at the end.
            package var handler: String?
        }

        package var v = 1
        /// The end, in milliseconds since 1970.
        package var time: Int64
        /// The receiver's key, and the name that it gave itself.
        /// The whole id of its key; nil for a peer that proved none.
        package var peer: String?
        package var name: String?
        package var transfer: String
        /// All items, how many of them are on the other side, and the first of them.
        package var count: Int
        package var arrived: Int
        package var items: [Item]
        /// Bytes of contents that were moved.
        package var moved: UInt64
        package var dialect: String
    }

    private let path: String

    package init(folder: String) {
        path = folder + "/sent.jsonl"
    }

    /// Adds a transfer. Errors are ignored, because the items are already sent.
    func note(_ report: SendReport) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(Entry(report)) else { return }
        line.append(UInt8(ascii: "\n"))
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        // A single call: lines of several programs are not mixed.
        _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        var status = stat()
        if fstat(file, &status) == 0, status.st_size > Self.byteLimit { rename(path, path + ".1") }
    }

    /// The latest transfers, the last one last; lines that are none are passed over.
    package func entries(latest count: Int) -> [Entry] {
        let decoder = JSONDecoder()
        var entries: [Entry] = []
        for path in [path, path + ".1"] where entries.count < count {
            guard let text = FileManager.default.contents(atPath: path) else { continue }
            let lines = text.split(separator: UInt8(ascii: "\n")).suffix(count - entries.count)
            entries = lines.compactMap { try? decoder.decode(Entry.self, from: $0) } + entries
        }
        return entries
    }
}

extension Home {
    /// The log of this user's transfers.
    package var sentLog: SentLog { SentLog(folder: state) }
}

extension SentLog.Entry {
    fileprivate init(_ report: SendReport) {
        time = WallTime.now.milliseconds
        peer = report.peer.provenText
        name = report.name
        transfer = report.offer.transfer.text
        count = report.offer.items.count
        arrived = report.storedItems
        items = zip(report.offer.items, report.items).prefix(SentLog.namedItems)
            .map { Item($0, $1, report.offer.dialect) }
        moved = report.movedBytes
        dialect = report.offer.dialect.name
    }
}

extension SentLog.Entry.Item {
    fileprivate init(_ offered: OfferedItem, _ outcome: SendResult.Item, _ dialect: Dialect) {
        (name, type, size) = (offered.name.text, offered.type.identifier, offered.size)
        switch outcome {
        case .notAccepted(let verdict):
            (state, reason) = (verdict.answer.rawValue, verdict.reason.isEmpty ? nil : verdict.reason)
        case .unread(let fault): (state, reason) = ("unread", fault.description)
        case .lost(let fault): (state, reason) = ("failed", fault.message)
        case .acknowledged(let receipt, _):
            if receipt.handler.state != .none { handler = receipt.handler.state.rawValue }
            switch receipt.outcome {
            case .stored(let name, let size, let digest):
                state = !dialect.givesReceipts ? "taken" : receipt.isAlready ? "alreadyThere" : "stored"
                (stored, self.size, self.digest) = (name, size, "\(digest)")
            case .failed(let fault): (state, reason) = ("failed", fault.message)
            case .notSent: state = "notSent"
            }
        }
    }
}
