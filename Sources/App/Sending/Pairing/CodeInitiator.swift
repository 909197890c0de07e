package import Contacts
import Control
import Endpoints
import Lines
package import Pairing
import SecureTransport
package import Sharing
import Synchronization

/// Finds the machine that shows a spoken code, and proves to know the code.
package struct CodeInitiator: Sendable {
    /// A machine that has proved to know the code, too.
    package struct Meeting: Sendable {
        package let peer: PeerID
        /// As it was known before.
        package let introduction: Introduction
        /// The address of the connection; nil if unknown.
        package let place: PeerReference?
        /// It is a contact now, because both users wanted that.
        package let contact: Contact?

        init(_ introduction: Introduction, over connection: any PairingConnection, remembered: Contact?) {
            (peer, self.introduction, contact) = (connection.peer, introduction, remembered)
            place = connection.address.map { .address(host: $0.hostText, port: UInt16(clamping: $0.port)) }
        }
    }

    private let finder: PeerFinder
    private let contacts: ContactBook
    private let ownName: String
    private let failed: FailedCodes
    private let desk: PairingGate

    /// How a machine that shows a code is looked for.
    package struct Search: Sendable {
        /// Where it is; nil to look for it.
        package var place: PeerReference?
        /// The beginning of the key that it shows to those who ask; nil for any.
        package var key: String?
        /// How long it is looked for.
        package var time: Duration
        /// Whether a code that has failed here is tried again.
        package var triesAgain: Bool
        /// How long it is a contact afterwards, if its user wants that too; nil for not at all.
        package var remembering: Duration?

        package init(
            at place: PeerReference?, showing key: String?, within time: Duration, triesAgain: Bool,
            remembering: Duration?
        ) {
            (self.place, self.key, self.time) = (place, key, time)
            (self.triesAgain, self.remembering) = (triesAgain, remembering)
        }
    }

    /// - Parameters:
    ///   - own: the id of this peer.
    ///   - failed: the codes that are not taken again.
    package init(own: PeerID, finder: PeerFinder, contacts: ContactBook, ownName: String, failed: FailedCodes) {
        (self.finder, self.contacts, self.ownName, self.failed) = (finder, contacts, ownName, failed)
        desk = PairingGate(own: own)
    }

    /// Takes the transfer of the machine that shows a code.
    /// - Parameter permit: lets a transfer of a peer in, and returns the port at which it is taken.
    /// - Throws: `PairingStartError`, and the errors of `permit`.
    package func receive(
        _ code: SpokenCode, _ search: Search, permit: @escaping @Sendable (TransferID, PeerID) async throws -> UInt16
    ) async throws -> Meeting {
        try await meet(code, shownBySender: true, search) { conversation, first in
            let outcome = try await conversation.run(first)
            guard let transfer = outcome.transfer else {
                throw PairingEndError(.failed, "the other side names no transfer")
            }
            return try await begin(search, outcome, conversation.connection) { letter in
                letter.port = try await permit(transfer, outcome.peer)
            }
        }
    }

    /// Both sides have proved to know the code: says that the transfer can begin.
    private func begin(
        _ search: Search, _ outcome: PairingConversation.Outcome, _ connection: any PairingConnection,
        _ complete: (inout PairingLetter) async throws -> Void
    ) async throws -> Meeting {
        var letter = PairingLetter.ready(.initiator, name: ownName, remembers: search.remembering != nil)
        try await complete(&letter)
        let answer = try await connection.exchange(letter, silence: Self.silence, maximum: nil)
        guard answer.isReady(from: .responder) else {
            throw PairingEndError(.lost, "the other side does not begin")
        }
        let introduction = contacts.introduction(of: outcome.peer, callingItself: outcome.name)
        let time = answer.remembers ? search.remembering : nil
        let contact = try time.map { time throws(ContactError) in
            try PairedContact.remember(outcome.peer, in: contacts, calledItself: outcome.name, for: time)
        }
        return Meeting(introduction, over: connection, remembered: contact)
    }

    /// Lets the machine that shows a code take a transfer.
    /// - Throws: `PairingStartError`.
    package func send(
        _ transfer: TransferID, by code: SpokenCode, _ search: Search
    ) async throws(PairingStartError) -> Meeting {
        do {
            return try await meet(code, shownBySender: false, search) { conversation, first in
                let outcome = try await conversation.run(first)
                return try await begin(search, outcome, conversation.connection) { $0.transfer = transfer }
            }
        } catch {
            throw (error as? PairingStartError) ?? PairingInitiator.failure(error)
        }
    }

    /// How long the other side, which is a program, may take.
    private static let silence: Duration = .seconds(15)
    /// How long a machine may be busy with others that type the same code, and how often it is asked again.
    private static let patience: Duration = .seconds(30)
    private static let pause = 200...600

    private func meet(
        _ code: SpokenCode, shownBySender: Bool, _ search: Search,
        _ body: @escaping @Sendable (PairingConversation, PairingLetter) async throws -> sending Meeting
    ) async throws -> Meeting {
        guard let endpoint = finder.endpoints.lazy.compactMap({ $0 as? any CodeEndpoint }).first else {
            throw PairingStartError(.notFound, "codes are not spoken here")
        }
        guard search.triesAgain || !failed.contains(code) else {
            throw PairingStartError(
                PairingEndError(
                    .declined,
                    "this code has failed here before; ask for the new one, or try it all the same with --again"),
                .failedBefore)
        }
        let claim = try await claim(of: code.nameplate, search, by: endpoint)
        let typed = PairingMethod.code(PairingCode(code, shownBySender: shownBySender))
        let end = ContinuousClock.now + Self.patience
        while true {
            // Another machine that says to show the code gets no second look at it.
            let tried = Mutex(false)
            do {
                return try await endpoint.pair(with: claim.target, within: Self.silence) { connection in
                    // The name is for one that has proved to know the code.
                    let (session, first) = try desk.initiate(
                        with: connection.peer, typed, exporter: try await connection.exporter(typed.purpose), now: .now)
                    let conversation = PairingConversation(
                        connection: connection, session: session, contacts: contacts, ask: { _ in nil }, confirmed: {})
                    defer { tried.withLock { $0 = session.wasTried } }
                    return try await body(conversation, PairingLetter(message: first))
                }
            } catch {
                guard !tried.withLock({ $0 }) else {
                    failed.note(code)
                    try Task.checkCancellation()
                    throw PairingStartError(Self.unproved(error), .wrongWords)
                }
                switch error {
                case let fault as PairingError:
                    // It has seen no proof: a code for several people is typed at several machines at once.
                    if fault.refusal == .busy, ContinuousClock.now < end {
                        try await Task.sleep(for: .milliseconds(Int.random(in: Self.pause)))
                        continue
                    }
                    throw PairingStartError(Self.end(fault), fault.refusal == .closed ? .spent : nil)
                case let fault as ContactError: throw PairingStartError(PairingEndError(fault))
                case let fault as SendError: throw PairingInitiator.failure(fault)
                case is PairingConnectionError: throw PairingInitiator.failure(PairingConnectionError())
                default: throw error
                }
            }
        }
    }

    /// The other machine has seen the proof of this side, and has given none.
    private static func unproved(_ error: any Error) -> PairingEndError {
        if let fault = error as? PairingError, isWrong(fault) {
            return PairingEndError(
                .declined,
                "the words are wrong, or somebody is in between; the other machine shows another code now")
        }
        return PairingEndError(
            .declined,
            "the other machine did not prove to know the code: somebody may be guessing. Ask for a new code")
    }

    private static func isWrong(_ fault: PairingError) -> Bool {
        fault.code == .wrongCode || fault.refusal == .code
    }

    private static func end(_ fault: PairingError) -> PairingEndError {
        switch fault.refusal {
        case .closed:
            return PairingEndError(
                .declined, "that code is spent, its time is over, or it is one for the other direction")
        case .failed: return PairingEndError(.lost, "the other machine gave up: it failed there")
        default: return PairingEndError(fault)
        }
    }

    private func claim(
        of nameplate: Int, _ search: Search, by endpoint: any CodeEndpoint
    ) async throws -> CodeClaim {
        var claims: [CodeClaim]
        do {
            if let place = search.place {
                let target = try await finder.resolve(place, within: search.time)
                claims = try await endpoint.claim(of: nameplate, at: target, within: search.time).map { [$0] } ?? []
            } else {
                claims = try await endpoint.claims(of: nameplate, within: search.time)
            }
        } catch let fault as TransferError where fault.code == .stopping {
            throw PairingStartError(PairingEndError(.declined, fault.message), .askedTooOften)
        } catch let failure as SendError {
            throw PairingInitiator.failure(failure)
        } catch is CancellationError {
            throw PairingStartError(PairingEndError.givenUp)
        } catch {
            let place = search.place.map { " at \($0)" } ?? ""
            throw PairingStartError(.notFound, "the machine\(place) cannot be asked: \(error)")
        }
        if let key = search.key {
            let keys = claims.map(\.shownKey.short).joined(separator: " and ")
            claims.removeAll { !$0.shownKey.short.hasPrefix(key.lowercased()) }
            if claims.isEmpty, !keys.isEmpty {
                throw PairingStartError(.notFound, "no machine shows this code with the key \(key), but with \(keys)")
            }
        }
        try Task.checkCancellation()
        guard let claim = claims.first else {
            throw PairingStartError(.notFound, "no machine shows a code that begins with \(nameplate)")
        }
        guard claims.count == 1 else {
            let keys = claims.map(\.shownKey.short)
            throw PairingStartError(
                PairingEndError(
                    .declined,
                    "\(claims.count) machines say to show this code, as \(keys.joined(separator: " and ")): one of them may "
                        + "be false. The right one shows its own beside the code: --from KEY"), .claimed(keys: keys))
        }
        return claim
    }
}
