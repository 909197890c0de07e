import CLinuxShims
import ContentCheck
import Digests
import Foundation
import Sharing
import Subprocess
import SystemPackage
import UniformTypes

/// What a hook is told of one arrival: the hook contract's arguments, environment and document.
struct HookCall {
    /// The `file:` URL of the item in the Inbox.
    let url: String
    let environment: [Environment.Key: String?]
    private let facts: Facts

    /// The document on the hook's standard input.
    private struct Facts: Encodable {
        struct Peer: Encodable {
            var id: String
            var name: String
        }

        var v = 1
        var url: String
        var file: String
        var type: String
        var name: String
        var kind: String
        var size: UInt64
        var digest: String
        var sourceApplication: String
        var peer: Peer
        var transfer: String
        var item: Int
        var attempt: Int
        var annotation: [String: String]
        /// `consistent`, `unverified` or `mislabelled`; absent where it was not looked into.
        var content: String?
    }

    /// What sent the item, as far as anybody can know: the dialect carries no other application's name.
    private static let sourceApplication = "waft"

    init(_ arrival: Arrival, attempt: Int) {
        url = URL(fileURLWithPath: arrival.stored.path, isDirectory: arrival.item.kind == .tree).absoluteString
        facts = Facts(
            url: url,
            file: arrival.stored.path,
            type: arrival.type.identifier,
            name: arrival.stored.name.text,
            kind: arrival.item.kind.rawValue,
            size: arrival.size,
            digest: arrival.digest.description,
            sourceApplication: Self.sourceApplication,
            peer: Facts.Peer(id: arrival.peer.text, name: arrival.senderName),
            transfer: arrival.transfer.text,
            item: arrival.itemNumber,
            attempt: attempt,
            annotation: arrival.annotation,
            content: arrival.content?.outcome.rawValue
        )
        environment = [
            "WAFT_URL": facts.url,
            "WAFT_FILE": facts.file,
            "WAFT_TYPE": facts.type,
            "WAFT_NAME": facts.name,
            "WAFT_SIZE": String(facts.size),
            "WAFT_DIGEST": facts.digest,
            "WAFT_SOURCE_APPLICATION": facts.sourceApplication,
            "WAFT_PEER_ID": facts.peer.id,
            "WAFT_PEER_NAME": facts.peer.name,
            "WAFT_TRANSFER": facts.transfer,
            "WAFT_ATTEMPT": String(attempt),
        ]
    }

    /// The document in an anonymous file, at its beginning; the caller owns the descriptor.
    func document() throws -> FileDescriptor {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(facts) + [UInt8(ascii: "\n")]
        let raw = CLinuxShims_memory_file("waft-hook")
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        let file = FileDescriptor(rawValue: raw)
        do {
            try file.writeAll(bytes)
            try file.seek(offset: 0, from: .start)
            return file
        } catch {
            try? file.close()
            throw error
        }
    }
}
