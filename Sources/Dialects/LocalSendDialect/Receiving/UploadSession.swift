import Digests
import Secrets
package import Sharing
import Streams
import Synchronization

/// A session that the receiver has ended.
package struct EndedSession: Sendable {
    package let id: String
    /// The sender as it describes itself, and as it is connected.
    package let sender: LocalSendDevice
    package let visitor: Visitor

    init(_ session: UploadSession) { (id, sender, visitor) = (session.id, session.sender, session.visitor) }
}

/// An accepted offer while its files come.
///
/// Each file is a request of its own, on any connection. The files go into the Inbox one after the other: a request waits,
/// unread, while the one before it writes.
final class UploadSession: Sendable {
    /// A file that may come.
    struct Ticket: Sendable {
        var id: String
        var place: OfferedFiles.Member
    }

    /// Why a request for a file is refused.
    enum Refusal: Error {
        /// The token is wrong, or of no more use.
        case unknown
        /// The same file is being sent.
        case busy
    }

    private struct File {
        let token: [UInt8]
        var isComing = false
        var hasCome = false
        var attempts = 0
    }

    private struct State {
        var files: [String: File] = [:]
        /// Ends the requests that are open, by their numbers.
        var requests: [Int: @Sendable () -> Void] = [:]
        var nextRequest = 0
        var lastActive = ContinuousClock.now
        /// Why nothing more is taken.
        var fault: TransferError?
    }

    let id = UploadSession.secret()
    let offer: Offer
    let sender: LocalSendDevice
    let visitor: Visitor
    private let places: [String: OfferedFiles.Member]
    private let state: Mutex<State>
    private let turns = Turnstile()
    private let contents: ScatteredContents

    /// - Parameter accepted: the ids of the accepted files.
    init(_ asked: AskedFiles, accepted: [String], from visitor: Visitor, _ transfer: sending IncomingTransfer) {
        (offer, sender, places, self.visitor) = (asked.offer, asked.sender, asked.places, visitor)
        var files: [String: File] = [:]
        for id in accepted { files[id] = File(token: Array(Self.secret().utf8)) }
        state = Mutex(State(files: files))
        var counts: [Int: Int] = [:]
        for id in accepted { if let place = asked.places[id] { counts[place.item, default: 0] += 1 } }
        contents = ScatteredContents(transfer, filesLeft: counts)
    }

    /// 32 hexadecimal digits: identifiers go into queries as they are.
    private static func secret() -> String { TransferID().text }

    /// The answer to the sender: a token for each accepted file.
    var answer: LocalSendSession {
        LocalSendSession(
            sessionId: id,
            files: state.withLock { $0.files.mapValues { String(decoding: $0.token, as: UTF8.self) } })
    }

    /// Whether a visitor may speak about this session: the same key where one was proved, and the same address.
    func belongs(to other: Visitor) -> Bool {
        guard visitor.address == other.address else { return false }
        return visitor.peer.unprovenBy != nil || visitor.peer == other.peer
    }

    /// How long the session has waited for a request; nil while there is one.
    func idle(at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { $0.requests.isEmpty ? now - $0.lastActive : nil }
    }

    // MARK: Files

    /// Takes one file.
    /// - Parameters:
    ///   - interrupt: ends the request.
    ///   - next: the next bytes, nil at their end. Called in this file's turn only.
    /// - Returns: whether it was the last file.
    /// - Throws: `Refusal`, `TransferError`.
    func take<Bytes>(
        _ id: String, token: String, interrupt: @escaping @Sendable () -> Void, next: () async throws -> Bytes?,
        write: (Bytes, (UnsafeRawBufferPointer) throws(TransferError) -> Void) throws(TransferError) -> Void
    ) async throws -> Bool {
        guard let place = places[id] else { throw Refusal.unknown }
        let number = try enter(id, token, interrupt)
        var hasCome = false
        defer { leave(id, number, hasCome: hasCome) }
        try await turns.pass {
            if let fault = state.withLock({ $0.fault }) { throw fault }
            try await contents.take(place, next: next, write: write)
        }
        hasCome = true
        return state.withLock { state in
            state.files[id]?.hasCome = true
            // The end of the session does not cut off the answer.
            state.requests[number] = nil
            return state.files.values.allSatisfy(\.hasCome)
        }
    }

    private func enter(
        _ id: String, _ token: String, _ interrupt: @escaping @Sendable () -> Void
    ) throws(Refusal) -> Int {
        try state.withLock { state throws(Refusal) in
            guard let file = state.files[id], KeyDerivation.areEqual(file.token, Array(token.utf8)), !file.hasCome,
                file.attempts < LocalSendLimits.attempts, state.fault == nil
            else { throw .unknown }
            guard !file.isComing else { throw .busy }
            state.files[id]?.isComing = true
            state.files[id]?.attempts += 1
            state.nextRequest += 1
            state.requests[state.nextRequest] = interrupt
            return state.nextRequest
        }
    }

    private func leave(_ id: String, _ number: Int, hasCome: Bool) {
        state.withLock { state in
            state.files[id]?.isComing = false
            state.requests[number] = nil
            state.lastActive = .now
        }
    }

    // MARK: The end

    /// Takes nothing more, and ends the requests that are open.
    func stop(_ fault: TransferError) {
        let interrupts = state.withLock { state in
            state.fault = state.fault ?? fault
            return Array(state.requests.values)
        }
        for interrupt in interrupts { interrupt() }
    }

    /// Closes the transfer, when no request writes any more. Once.
    func close(_ fault: TransferError, into reception: Reception) async {
        stop(fault)
        try? await turns.pass { _ = contents.close(fault, into: reception) }
    }
}

extension ScatteredContents {
    /// Takes one file. Called in the turnstile of its session only.
    fileprivate func take<Bytes>(
        _ place: OfferedFiles.Member, next: () async throws -> Bytes?,
        write: (Bytes, (UnsafeRawBufferPointer) throws(TransferError) -> Void) throws(TransferError) -> Void
    ) async throws {
        try begin(place)
        do {
            while let bytes = try await next() {
                try write(bytes) { (raw) throws(TransferError) in try self.write(raw) }
            }
            try endFile(place)
        } catch {
            let fault = error as? TransferError ?? TransferError(.interrupted, "the connection broke off")
            try drop(fault)
            throw fault
        }
        try endItem(place)
    }
}
