import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
package import Sharing

/// The answer to a question.
enum LocalSendAnswer {
    case accepted(LocalSendSession)
    /// Nothing is to be sent: a message has come with the question, or no file is wanted.
    case nothingToSend
    case refused(LocalSendRefusal)
}

/// An answer that is no success.
package struct LocalSendRefusal: Error, Sendable {
    package var status: Int
    /// The other side's words, not escaped, one line; may be empty.
    package var message: String

    private static let messageLength = 200

    init(_ answer: HTTPAnswer) {
        status = Int(answer.status.code)
        let body = Data(answer.body.readableBytesView.prefix(LocalSendLimits.deviceBytes))
        let words = try? JSONDecoder().decode(Words.self, from: body)
        let text = words?.message ?? words?.detail ?? ""
        message = String(text.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(Self.messageLength))
    }

    /// Some independent programs have another key.
    private struct Words: Decodable {
        var message: String?
        var detail: String?

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            message = try? keys.decode(String.self, forKey: .message)
            detail = try? keys.decode(String.self, forKey: .detail)
        }

        private enum CodingKeys: String, CodingKey { case message, detail }
    }

    /// Whether the receiver has too much to do, so that a later question may have another answer.
    package var isBusy: Bool { status == 409 || status == 503 }

    /// As the answer of the other side's user or rules to all items; nil for a refusal to talk.
    package var verdict: ItemVerdict? {
        switch status {
        case 403: ItemVerdict(.declined, reason: message)
        // The cause of a refusal is not said: it is a person's no, or nobody has answered.
        case 408: ItemVerdict(.expired, reason: message)
        case 507: ItemVerdict(.noRoom, reason: message)
        default: nil
        }
    }

    /// As the fault of one file.
    var fault: TransferError {
        let words =
            message.isEmpty
            ? "the other side answered with HTTP status \(status)" : "the other side says: \(message)"
        let code: TransferError.Code =
            switch status {
            case 401, 403: .notAccepted
            case 422: .digestMismatch
            case 503: .stopping
            case 507: .noRoom
            default: .storage
            }
        return TransferError(code, words)
    }
}
