import Foundation
import Outbox
import Sharing

/// The document for the outbox hook about a finished job: version 1; fields may be added.
struct OutboxFacts: Sendable {
    private struct Document: Encodable {
        struct Item: Encodable {
            var name: String
            var kind: String
            var type: String
            var origin: String
            /// Absent if the item was not stored.
            var stored: String?
            var size: UInt64?
            var digest: String?
            var reason: String?
        }

        var v = 1
        var call = "outbox"
        var job: Int
        /// `done` or `failed`.
        var state: String
        /// What `--to` said.
        var to: String
        var peer: String?
        var peerName: String?
        var transfer: String
        var attempts: Int
        var items: [Item]
        var code: String?
        var reason: String?
    }

    private let record: OutboxStore.Record

    init(_ record: OutboxStore.Record) {
        self.record = record
    }

    /// One line of JSON, with its newline.
    var document: [UInt8] {
        let (job, standing) = (record.job, record.standing)
        let items = job.items.enumerated().map { number, item in
            let outcome = standing.outcomes[number]
            return Document.Item(
                name: item.name, kind: item.kind.rawValue, type: item.type, origin: item.origin,
                stored: outcome?.stored, size: outcome?.size ?? item.size, digest: outcome?.digest,
                reason: outcome?.failure?.reason)
        }
        let document = Document(
            job: record.number.value, state: standing.state.rawValue, to: job.destination.text,
            peer: (job.destination.key ?? standing.peer)?.text, peerName: standing.peerName,
            transfer: standing.transfer, attempts: standing.attempts, items: items,
            code: standing.failure?.code.rawValue, reason: standing.failure?.reason)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // There is nothing in it that cannot be encoded.
        return ((try? encoder.encode(document)).map { [UInt8]($0) } ?? []) + [UInt8(ascii: "\n")]
    }

    var environment: [String: String] {
        var variables = [
            "WAFT_JOB": "\(record.number)", "WAFT_JOB_STATE": record.standing.state.rawValue,
            "WAFT_JOB_TO": record.job.destination.text, "WAFT_TRANSFER": record.standing.transfer,
        ]
        variables["WAFT_PEER_ID"] = (record.job.destination.key ?? record.standing.peer)?.text
        variables["WAFT_PEER_NAME"] = record.standing.peerName
        return variables
    }
}
