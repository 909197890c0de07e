import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1

extension LocalSendClient {
    /// Asks whether files may be sent, and waits until somebody has decided. Closing the connection withdraws the question.
    ///
    /// - Parameters:
    ///   - question: as a plan has made it.
    ///   - pin: of the receiver; nil for none.
    /// - Throws: `HTTPError`; `silence` if there is no answer in time.
    func ask(_ question: ByteBuffer, pin: String?, timeout: Duration) async throws -> LocalSendAnswer {
        var path = LocalSendDialect.prefix + "prepare-upload"
        if let pin { path += Self.query(("pin", pin)) }
        let answer = try await http.exchange(.POST, path, body: question, timeout: timeout)
        switch answer.status.code {
        case 204: return .nothingToSend
        case 200..<300:
            let body = Data(answer.body.readableBytesView)
            guard let session = try? JSONDecoder().decode(LocalSendSession.self, from: body), session.isUsable else {
                throw HTTPError.malformed("the answer to the question is not LocalSend's")
            }
            return .accepted(session)
        default: return .refused(LocalSendRefusal(answer))
        }
    }

    /// Ends a session, or withdraws this side's question.
    /// - Parameter session: nil for a question without an answer.
    /// - Throws: `HTTPError`.
    package func cancel(_ session: String?, timeout: Duration) async throws {
        let query = session.map { Self.query(("sessionId", $0)) } ?? ""
        _ = try await http.exchange(
            .POST, LocalSendDialect.prefix + "cancel" + query, body: ByteBuffer(), timeout: timeout)
    }

    /// Foreign identifiers can have any characters.
    static func query(_ parameters: (String, String)...) -> String {
        let pairs = parameters.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")
        }
        return "?" + pairs.joined(separator: "&")
    }

    /// RFC 3986, section 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension LocalSendSession {
    /// Tokens of receivers are short, but some are longer than this side's own identifiers.
    private static let tokenBytes = 1_024

    fileprivate var isUsable: Bool {
        (1...Self.tokenBytes).contains(sessionId.utf8.count)
            && files.values.allSatisfy { $0.utf8.count <= Self.tokenBytes }
    }
}
