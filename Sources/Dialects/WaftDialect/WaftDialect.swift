import Foundation
import NIOCore
package import Sharing

/// The constants of the protocol that both sides share.
package enum WaftDialect {
    /// The ALPN name (Protocol, section 2).
    package static let alpn = "waft/1"
    /// The ALPN name of questions for a nameplate, to which both sides show keys that tell nothing (Protocol, section 2.2).
    package static let codeALPN = "waft-code/1"
    /// The DNS-SD service type.
    package static let serviceType = "_waft._tcp"
    /// The whole TXT record.
    package static let txt = ["v": "1"]
    /// The port of `--to HOST` without a port: W, A, F, T on a telephone's keys.
    package static let defaultPort: UInt16 = 9_238

    /// The protocol to which a connection switches for contents.
    static let contentsProtocol = "waft-contents/1"
    static let keptType = "application/waft-kept"

    enum Resource: Equatable {
        case card
        case offers
        case contents(TransferID)
        case receipt(TransferID, answered: Bool)
        case kept(TransferID)
        case pairing
        case nameplate(Int)
        /// A member's connection with the sender of its group.
        case group(GroupID)
        /// A link of a group.
        case relay(GroupID)

        var path: String {
            switch self {
            case .card: "/waft/1/card"
            case .offers: "/waft/1/offers"
            case .contents(let id): "/waft/1/transfers/\(id)/contents"
            case .kept(let id): "/waft/1/transfers/\(id)/kept"
            case .receipt(let id, let answered):
                "/waft/1/transfers/\(id)/receipt" + (answered ? "?wait=opened" : "")
            case .pairing: "/waft/1/pairing"
            case .nameplate(let number): "/waft/1/codes/\(number)"
            case .group(let id): "/waft/1/groups/\(id)"
            case .relay(let id): "/waft/1/groups/\(id)/relay"
            }
        }

        /// - Returns: nil for an unknown path.
        init?(path uri: String) {
            guard uri.utf8.count <= 256 else { return nil }
            let parts = uri.split(separator: "?", maxSplits: 1)
            let query = parts.count > 1 ? parts[1].split(separator: "&") : []
            let names = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
            guard names.starts(with: ["", "waft", "1"]) else { return nil }
            let rest = names.dropFirst(3)
            switch (rest.first, rest.count) {
            case ("card", 1): self = .card
            case ("offers", 1): self = .offers
            case ("pairing", 1): self = .pairing
            case ("codes", 2):
                guard let number = UInt8(rest.last ?? "") else { return nil }
                self = .nameplate(Int(number))
            case ("groups", 2):
                guard let id = GroupID(String(rest[rest.startIndex + 1])) else { return nil }
                self = .group(id)
            case ("groups", 3):
                guard let id = GroupID(String(rest[rest.startIndex + 1])), rest.last == "relay" else { return nil }
                self = .relay(id)
            case ("transfers", 3):
                guard let id = TransferID(String(rest[rest.startIndex + 1])) else { return nil }
                switch rest.last {
                case "contents": self = .contents(id)
                case "kept": self = .kept(id)
                case "receipt": self = .receipt(id, answered: query.contains("wait=opened"))
                default: return nil
                }
            default: return nil
            }
        }
    }

    static func encode(_ message: some Encodable) throws -> ByteBuffer {
        ByteBuffer(bytes: try encoder().encode(message))
    }

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// - Throws: `TransferError.protocolViolation` in one line, without foreign text.
    static func decode<Message: MessageReading>(
        _ type: Message.Type,
        from body: ByteBuffer
    ) throws(TransferError) -> Message {
        let message = try parse(type, from: body)
        guard message.v == 1 else { throw .malformed("a message of another version") }
        return message
    }

    /// Parses one JSON document of at most `Limits.messageBytes`.
    /// - Throws: the same errors as `decode`.
    static func parse<Value: Decodable>(_ type: Value.Type, from body: ByteBuffer) throws(TransferError) -> Value {
        guard body.readableBytes <= Limits.messageBytes else { throw .outOfBounds }
        try JSONBounds.check(body)
        do {
            return try body.withUnsafeReadableBytes { bytes in
                // Without a copy: the decoder keeps no reference to the bytes.
                let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                let data = start.map { Data(bytesNoCopy: $0, count: bytes.count, deallocator: .none) }
                return try JSONDecoder().decode(type, from: data ?? Data())
            }
        } catch {
            throw .notTheJSON
        }
    }
}

extension Dialect {
    /// Waft's own: keys are proved, interrupted transfers resume, and each item gets a receipt.
    package static let waft = Dialect(
        name: "waft", title: "Waft", proof: .always, givesReceipts: true, resumes: true)
}
