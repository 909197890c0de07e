package import Contacts
package import Control
import Endpoints
package import Lines
package import Pairing
package import Sharing

/// The question for the user who began a pairing.
package struct PairingQuestion: Sendable {
    package let peer: PeerID
    /// How the peer is shown.
    package let introduction: Introduction
    package let string: ShortString
}

/// Why a pairing that this side began came to nothing.
package struct PairingStartError: Error, Sendable {
    package enum Code: Sendable {
        case notFound
        case ambiguous
        /// It began, and ended as the other reasons do.
        case ended(PairingEndError.Code)
    }

    package let code: Code
    /// One line.
    package let reason: String
    /// The fault of a spoken code; nil for all other reasons.
    package let fault: CodeFault?

    init(_ code: Code, _ reason: String, _ fault: CodeFault? = nil) {
        (self.code, self.reason, self.fault) = (code, reason, fault)
    }

    init(_ end: PairingEndError, _ fault: CodeFault? = nil) { self.init(.ended(end.code), end.reason, fault) }
}

/// Begins a pairing: finds the peer, connects, goes through it with the user, and stores the contact.
package struct PairingInitiator: Sendable {
    private let finder: PeerFinder
    private let contacts: ContactBook
    private let ownName: String
    private let desk: PairingGate

    /// - Parameter own: the id of this peer.
    package init(own: PeerID, finder: PeerFinder, contacts: ContactBook, ownName: String) {
        (self.finder, self.contacts, self.ownName) = (finder, contacts, ownName)
        desk = PairingGate(own: own)
    }

    /// - Parameters:
    ///   - name: the name for the contact here; nil for the name that it gives itself.
    ///   - finding: how long to look for the peer.
    ///   - ask: whether both sides show the same; nil without an answer. Cancelled when the pairing ends meanwhile.
    ///   - confirmed: called when this user's yes is sent and the other user's is awaited.
    /// - Throws: `PairingStartError`.
    package func pair(
        with reference: PeerReference,
        _ method: PairingMethod,
        name: ContactName?,
        finding: Duration,
        ask: @escaping @Sendable (PairingQuestion) async -> Bool?,
        confirmed: @escaping @Sendable () -> Void
    ) async throws(PairingStartError) -> Contact {
        do {
            let target = try await finder.resolve(reference, within: finding)
            guard let endpoint = finder.endpoint(for: target) as? any PairingEndpoint else {
                throw PairingEndError(.failed, "\(target.dialect.title) cannot pair")
            }
            return try await endpoint.pair(with: target, within: finding) { connection in
                let (session, first) = try desk.initiate(
                    with: connection.peer, method, exporter: try await connection.exporter(method.purpose), now: .now)
                let conversation = PairingConversation(
                    connection: connection, session: session, contacts: contacts, ask: ask, confirmed: confirmed)
                let outcome = try await conversation.run(PairingLetter(message: first, name: ownName))
                return try PairedContact.store(
                    outcome.peer, in: contacts, wanted: name, calledItself: outcome.name, Verification.Method(method))
            }
        } catch {
            throw Self.failure(error)
        }
    }

    static func failure(_ error: any Error) -> PairingStartError {
        switch error {
        case let failure as SendError:
            switch failure.code {
            case .notFound:
                PairingStartError(.notFound, ([failure.description] + failure.advice).joined(separator: "; "))
            case .ambiguous: PairingStartError(.ambiguous, failure.description)
            case .cancelled: PairingStartError(PairingEndError.givenUp)
            default: PairingStartError(PairingEndError(.lost, failure.description))
            }
        case let end as PairingEndError: PairingStartError(end)
        case let fault as PairingError: PairingStartError(PairingEndError(fault))
        case let error as ContactError: PairingStartError(PairingEndError(error))
        case let fault as TransferError:
            PairingStartError(PairingEndError(.failed, "the peer does not pair: \(fault.message)"))
        case is CancellationError: PairingStartError(PairingEndError.givenUp)
        default: PairingStartError(PairingEndError(.lost, PairingEndError.lost.reason))
        }
    }
}
