import Groups
import NIOHTTP1
import Sharing

/// The requests that begin the connections of a group (Protocol, section 9.2).
enum GroupRequest {
    /// The protocol of a member's connection with the sender.
    static let controlProtocol = "waft-group/1"
    /// The protocol of a link.
    static let linkProtocol = "waft-relay/1"

    /// The field with the bytes of the stream, in decimal.
    static let streamField = "waft-stream"
    /// The field with the token, in hexadecimal. No log has it.
    static let tokenField = "waft-token"

    /// - Throws: `protocolViolation` unless the head has one field with the bytes of a stream.
    static func stream(in headers: HTTPHeaders) throws(TransferError) -> BlockedStream {
        let text = headers[streamField]
        guard text.count == 1, text[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bytes = UInt64(text[0]),
            let stream = BlockedStream(bytes: bytes)
        else { throw GroupFrame.malformed("a group without a stream") }
        return stream
    }

    /// - Throws: `protocolViolation` unless the head has one field with a token.
    static func token(in headers: HTTPHeaders) throws(TransferError) -> Token {
        let text = headers[tokenField]
        guard text.count == 1, let token = Token(hex: text[0]) else {
            throw GroupFrame.malformed("a link without a token")
        }
        return token
    }
}

extension Token {
    /// 32 lower-case hexadecimal digits.
    var hex: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// - Returns: nil unless `text` is 32 lower-case hexadecimal digits.
    init?(hex text: String) {
        guard let text = GroupID(text)?.text, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
