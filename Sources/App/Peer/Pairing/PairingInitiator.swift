package import Contacts
package import Control
import HTTPChannel
import NIOCore
package import Pairing
import SecureTransport
package import Sharing
import WaftDialect

/// The question for the user who began a pairing.
package struct PairingQuestion: Sendable {
    package let peer: PeerID
    /// How the peer is shown.
    package let introduction: Introduction
    package let string: ShortString
}

/// Why a pairing that this side began came to nothing.
package struct PairingFailure: Error, Sendable {
    package enum Code: Sendable {
        case notFound
        case ambiguous
        /// It began, and ended as the other reasons do.
        case ended(PairingEnd.Code)
    }

    package let code: Code
    /// One line.
    package let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ end: PairingEnd) { self.init(.ended(end.code), end.reason) }
}

/// Begins a pairing: finds the peer, connects, goes through it with the user, and stores the contact.
package struct PairingInitiator: Sendable {
    private let network: PeerNetwork
    private let contacts: ContactBook
    private let ownName: String
    private let desk: PairingDesk

    package init(network: PeerNetwork, contacts: ContactBook, ownName: String) {
        self.network = network
        self.contacts = contacts
        self.ownName = ownName
        desk = PairingDesk(own: network.identity.peerID)
    }

    /// - Parameters:
    ///   - name: the name for the contact here; nil for the name that it gives itself.
    ///   - finding: how long to look for the peer.
    ///   - ask: whether both sides show the same; nil without an answer. Cancelled when the pairing ends meanwhile.
    ///   - confirmed: called when this user's yes is sent and the other user's is awaited.
    /// - Throws: `PairingFailure`.
    package func pair(
        with reference: PeerReference,
        _ method: PairingMethod,
        name: ContactName?,
        finding: Duration,
        ask: @escaping @Sendable (PairingQuestion) async -> Bool?,
        confirmed: @escaping @Sendable () -> Void
    ) async throws(PairingFailure) -> Contact {
        do {
            let target = try await network.resolve(reference, within: finding)
            let connection = try await network.connect(to: target, within: finding)
            let channel = connection.http.channelBelow
            return try await withTaskExecutorPreference(network.blocking) {
                try await HTTPClient.run(connection.http) { http in
                    let exporter = try await channel.eventLoop.submit {
                        try channel.tlsHandler().exportKeyingMaterial(
                            label: PairingSession.exporterLabel, context: [], length: PairingSession.exporterBytes)
                    }.get()
                    let (session, first) = try desk.initiate(
                        with: connection.peer, method, exporter: exporter, now: .now)
                    let conversation = PairingConversation(
                        client: WaftClient(http), session: session, channel: channel, contacts: contacts, name: name,
                        method: Verification.Method(method), ask: ask, confirmed: confirmed)
                    return try await conversation.run(PairingLetter(message: first, name: ownName))
                }
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> PairingFailure {
        switch error {
        case let failure as SendFailure:
            switch failure.code {
            case .notFound: PairingFailure(.notFound, failure.description)
            case .ambiguous: PairingFailure(.ambiguous, failure.description)
            case .cancelled: PairingFailure(PairingEnd.givenUp)
            default: PairingFailure(PairingEnd(.lost, failure.description))
            }
        case let end as PairingEnd: PairingFailure(end)
        case let fault as PairingFault: PairingFailure(PairingEnd(fault))
        case let error as ContactError: PairingFailure(PairingEnd(error))
        case let fault as TransferFault:
            PairingFailure(PairingEnd(.failed, "the peer does not pair: \(fault.message)"))
        case is CancellationError: PairingFailure(PairingEnd.givenUp)
        default: PairingFailure(PairingEnd(.lost, PairingEnd.lost.reason))
        }
    }
}

/// A pairing that this side began, on one connection. Used by one task.
struct PairingConversation {
    let client: WaftClient
    let session: PairingSession
    let channel: any Channel
    let contacts: ContactBook
    let name: ContactName?
    let method: Verification.Method
    let ask: @Sendable (PairingQuestion) async -> Bool?
    let confirmed: @Sendable () -> Void

    /// How long the other side may be silent. It sends signs of life while its user decides, until a deadline.
    private static let silence: Duration = .seconds(40)
    /// Timeout for sending the end to the other side.
    private static let farewell: Duration = .seconds(2)

    func run(_ first: PairingLetter) async throws -> Contact {
        let watch = Task { [session, channel] in
            while session.deadline > .now {
                do { try await Task.sleep(until: session.deadline, clock: .continuous) } catch { return }
            }
            session.cancel(now: .now)
            channel.close(promise: nil)
        }
        defer { watch.cancel() }
        do {
            return try await converse(first)
        } catch let fault as PairingFault {
            // Over for the other side as well; it may be gone.
            if fault.code != .refusedByPeer { await say(fault) }
            throw fault
        } catch {
            try Task.checkCancellation()
            // Why the connection was closed, if it was by this side.
            if error is HTTPFault, let fault = session.end() { throw fault }
            throw error
        }
    }

    private func converse(_ first: PairingLetter) async throws -> Contact {
        var letter = first
        var peerName: String?
        while true {
            let answer = try await client.pair(letter, patience: Self.silence, maximum: Limits.offerAnswer)
            peerName = peerName ?? answer.name
            var actions = try session.receive(answer.message, now: .now)
            if case .show(let string)? = actions.first {
                actions = try session.confirm(try await compare(string, peerName), now: .now)
                // A no has ended it: its fault is thrown, and bears the refusal.
                if session.shown == nil, let fault = session.end() { throw fault }
                confirmed()
            }
            switch actions.first {
            case .send(let bytes)?: letter = PairingLetter(message: bytes)
            case .verified(let id)?:
                return try PairedContact.store(id, in: contacts, wanted: name, calledItself: peerName, method)
            default: throw PairingEnd(.failed, "the pairing did not finish")
            }
        }
    }

    /// - Throws: `HTTPFault` when the connection broke off meanwhile, `CancellationError`.
    private func compare(_ string: ShortString, _ peerName: String?) async throws -> Bool {
        let introduction = try contacts.snapshot().introduction(of: session.peer, callingItself: peerName ?? "")
        let question = PairingQuestion(peer: session.peer, introduction: introduction, string: string)
        let answer = Task { [ask] in await ask(question) }
        channel.closeFuture.whenComplete { _ in answer.cancel() }
        let isSame = await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.cancel()
        }
        try Task.checkCancellation()
        guard let isSame else {
            if channel.isActive { throw PairingEnd.givenUp }
            throw HTTPFault.closed
        }
        return isSame
    }

    private func say(_ fault: PairingFault) async {
        _ = try? await client.pair(PairingLetter(message: fault.reply), patience: Self.farewell)
    }
}
