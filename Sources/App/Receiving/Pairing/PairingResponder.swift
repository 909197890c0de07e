import Control
import Endpoints
import Pairing
import SecureTransport
import Sending
import Sharing
import Synchronization

/// The answering side of pairing on one connection, with at most one pairing that gets under way.
///
/// Every call may derive keys and write to the disk: `answer` does so on the threads for that.
final class PairingResponder: PairingResponding {
    /// Whose key the connection's handshake proved.
    let peer: PeerID
    /// From where it has come; nil if unknown.
    let address: DialAddress?
    var addressText: String { address?.hostText ?? "an unknown address" }
    private let acceptance: PairingAcceptance
    private let exporter: @Sendable (PairingPurpose) async throws -> [UInt8]
    private let state = Mutex(State())
    /// Answers to the request that waits for the user; ends with the pairing.
    private let answers: AsyncStream<[UInt8]>
    private let feed: AsyncStream<[UInt8]>.Continuation

    private struct State {
        var session: PairingSession?
        /// Ends the pairing at its deadline.
        var watch: Task<Void, Never>?
        /// The spoken code was right on both sides.
        var isProved = false
    }

    /// - Parameter exporter: returns the connection's export for `PairingPurpose.exporterLabel`.
    init(
        _ acceptance: PairingAcceptance, peer: PeerID, at address: DialAddress? = nil,
        exporter: @escaping @Sendable (PairingPurpose) async throws -> [UInt8]
    ) {
        self.acceptance = acceptance
        (self.peer, self.address) = (peer, address)
        self.exporter = exporter
        (answers, feed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Messages of the connection

    /// The answer to a message, which can wait for the user; cancelling the task gives the pairing up.
    func answer(_ letter: PairingLetter) async -> PairingLetter {
        if state.withLock({ $0.isProved }) {
            return await withTaskExecutorPreference(acceptance.blocking) { self.ready(letter) }
        }
        let bytes = await withTaskExecutorPreference(acceptance.blocking) { await self.reply(to: letter) }
        let (isUnderWay, isProved) = state.withLock { ($0.session != nil, $0.isProved) }
        // A stranger that is turned away does not hear the name, nor one that has a code to prove.
        let isNamed = isUnderWay && (isProved || acceptance.purpose == .contact)
        var answer = PairingLetter(message: bytes, name: isNamed ? acceptance.ownName : nil)
        if isProved { answer.transfer = acceptance.transfer(for: self) }
        return answer
    }

    /// Answers the peer that says that the transfer can begin. This may write to the disk.
    private func ready(_ letter: PairingLetter) -> PairingLetter {
        guard letter.isReady(from: .initiator), let answer = acceptance.met(self, letter) else {
            return PairingLetter(message: Self.failed)
        }
        return answer
    }

    private func reply(to letter: PairingLetter) async -> [UInt8] {
        guard let session = state.withLock(\.session) else { return await begin(letter) }
        do throws(PairingError) {
            return await perform(try session.receive(letter.message, now: .now), session)
        } catch {
            finish(session)
            return error.reply
        }
    }

    private func begin(_ letter: PairingLetter) async -> [UInt8] {
        guard let exported = try? await exporter(acceptance.purpose) else { return Self.failed }
        guard acceptance.admits(peer) else { return Self.closed }
        do throws(PairingError) {
            let (session, answer) = try acceptance.desk.respond(
                to: letter.message, from: peer, exporter: exported, now: .now)
            state.withLock { state in
                state.session = session
                state.watch = watch(session)
            }
            acceptance.began(self, callingItself: letter.name)
            return answer
        } catch {
            acceptance.turnedAway(self, error)
            return error.reply
        }
    }

    private func perform(_ actions: [PairingAction], _ session: PairingSession) async -> [UInt8] {
        if let answer = perform(actions) {
            if session.shown == nil { finish(session) }
            return answer
        }
        for await answer in answers { return answer }
        // The client has left, or the time is over.
        finish(session)
        return session.end()?.reply ?? Self.failed
    }

    /// - Returns: the message to send, if there is one yet.
    private func perform(_ actions: [PairingAction]) -> [UInt8]? {
        for action in actions {
            switch action {
            case .show(let string): acceptance.show(string, self)
            case .verified:
                guard acceptance.verified(self) else { return Self.failed }
                if acceptance.purpose != .contact { state.withLock { $0.isProved = true } }
            case .send(let bytes): return bytes
            }
        }
        return nil
    }

    /// The connection is gone.
    func end() {
        guard let session = state.withLock(\.session) else { return }
        finish(session)
        acceptance.left(self)
    }

    // MARK: The user's answer

    /// - Throws: `PairingError` if the question is over.
    func confirm(_ isSame: Bool) throws(PairingError) {
        guard let session = state.withLock(\.session) else { return }
        let actions = try session.confirm(isSame, now: .now)
        if let answer = perform(actions) { feed.yield(answer) }
        if session.shown == nil { finish(session) }
    }

    // MARK: The end

    /// Ends the pairing if it has not ended, and says how it did.
    private func finish(_ session: PairingSession) {
        let fault = session.end()
        state.withLock { state in
            // By a spoken code the peer has yet to say that the transfer can begin.
            if state.isProved { return }
            state.watch?.cancel()
            state.watch = nil
        }
        feed.finish()
        if let fault { acceptance.ended(self, PairingEndError(fault)) }
    }

    private func watch(_ session: PairingSession) -> Task<Void, Never> {
        Task { [weak self] in
            // It moves once.
            while session.deadline > .now {
                do { try await Task.sleep(until: session.deadline, clock: .continuous) } catch { return }
            }
            self?.end()
        }
    }

    /// Refusals that pairing itself knows nothing of (Pairing, section 3).
    private static let closed = refusal("closed")
    private static let failed = refusal("failed")

    private static func refusal(_ reason: String) -> [UInt8] {
        Array(#"{"reason":"\#(reason)","step":"refused","v":1}"#.utf8)
    }
}

extension PairingAcceptance: PairingAnswering {
    func responder(
        for peer: PeerID, at address: DialAddress?,
        exporter: @escaping @Sendable (PairingPurpose) async throws -> [UInt8]
    ) -> any PairingResponding {
        PairingResponder(self, peer: peer, at: address, exporter: exporter)
    }
}
