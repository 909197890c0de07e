package import Contacts
import Control
package import Lines
package import Pairing
package import Sending
import Settings
import Sharing

extension Waft {
    /// Pairing with other machines.
    package var pairing: Pairings { Pairings(waft: self) }
}

/// Makes contacts of machines, once it is certain that no third party is in between.
package struct Pairings: Sendable {
    /// A step of a pairing.
    package enum Step: Sendable {
        /// The name that this machine gives itself.
        case open(PairingOpenLine, own: String)
        case peer(PairingPeerLine)
        case compare(CompareLine)
        /// This user's yes is sent, and the other user's is awaited.
        case confirmed
        /// The peer has left, and another one may come.
        case left
    }

    /// The user at this side.
    package struct User: Sendable {
        /// Shows a step.
        let sees: @Sendable (Step) -> Void
        /// Whether both sides show the same; nil without an answer. Cancelled when the pairing ends meanwhile.
        let says: @Sendable () async -> Bool?

        package init(sees: @escaping @Sendable (Step) -> Void, says: @escaping @Sendable () async -> Bool?) {
            (self.sees, self.says) = (sees, says)
        }
    }

    fileprivate let waft: Waft

    /// Seconds for which pairing mode is open at the most.
    private static let longest = 600.0

    // MARK: The words of a user

    /// - Throws: `WaftError` `usage`.
    package static func name(_ text: String) throws(WaftError) -> ContactName { try ContactName(user: text) }

    /// - Throws: `WaftError` `usage`.
    package static func peer(_ text: String) throws(WaftError) -> PeerReference { try PeerReference(typed: text) }

    /// - Throws: `WaftError` `usage`.
    package static func code(_ text: String) throws(WaftError) -> PairingCode {
        guard let code = PairingCode(text: text) else {
            throw WaftError(.usage, "a code has \(PairingCode.digitCount) digits, as 123-456-789")
        }
        return code
    }

    // MARK: This side begins

    /// Pairs with a peer that is in pairing mode.
    /// - Parameters:
    ///   - code: nil where people compare.
    ///   - name: for the contact here; nil for the name that the peer gives itself.
    ///   - time: how long to look for the peer.
    /// - Throws: `WaftError`: `peerNotFound`, `unreachable`, `declined`, `noAnswer`; `interrupted` if the task is cancelled.
    package func begin(
        with peer: PeerReference, code: PairingCode?, name: ContactName?, finding time: Duration, _ user: User
    ) async throws(WaftError) -> PairedLine {
        let finder = try waft.finder()
        let initiator = PairingInitiator(
            own: try waft.ownID(), finder: finder, contacts: waft.home.contactBook(), ownName: waft.settings.name)
        let result: Result<Contact, PairingStartError>
        do throws(PairingStartError) {
            result = .success(
                try await initiator.pair(
                    with: peer, code.map { .code($0) } ?? .compare, name: name, finding: time
                ) { question in
                    let shown = question.introduction
                    user.sees(
                        .peer(
                            PairingPeerLine(
                                question.peer, named: shown.name, isContact: shown.isContact, warning: shown.warning)))
                    user.sees(.compare(CompareLine(digits: question.string.digits, words: question.string.words)))
                    return await user.says()
                } confirmed: {
                    user.sees(.confirmed)
                })
        } catch {
            result = .failure(error)
        }
        guard !Task.isCancelled else { throw .givenUp }
        switch result {
        case .success(let contact):
            await waft.lookAgain()
            return PairedLine(contact.id, contact: contact.name.text)
        case .failure(let error): throw WaftError(error)
        }
    }

    // MARK: A peer begins

    /// Lets a peer pair with this machine: opens pairing mode of the running receiver, follows it and answers.
    /// - Parameters:
    ///   - byCode: whether this side shows a code; otherwise people compare.
    ///   - name: for the contact here; nil for the name that the peer gives itself.
    ///   - time: how long to wait for a peer; ten minutes at the most.
    /// - Throws: `WaftError`: `notRunning`, `declined`, `noAnswer`; `interrupted` if the task is cancelled.
    package func accept(
        byCode: Bool, name: ContactName?, for time: Duration, _ user: User
    ) async throws(WaftError) -> PairedLine {
        let seconds = min(time / .seconds(1), Self.longest)
        let opening = PairingOpening(method: byCode ? .code : .compare, seconds: seconds, name: name?.text)
        let opened: PairingProgress
        do throws(WaftError) {
            opened = try Self.standing(in: try await waft.receiver.ask(.pairing(.open(opening))))
        } catch {
            throw Task.isCancelled ? .givenUp : error
        }
        user.sees(.open(PairingOpenLine(seconds: seconds, code: opened.code), own: waft.settings.name))
        do throws(WaftError) {
            let line = try await follow(opened, user)
            await waft.lookAgain()
            return line
        } catch {
            guard Task.isCancelled else { throw error }
        }
        // Another task, which is not cancelled, still reaches the receiver.
        await Task { _ = try? await waft.receiver.ask(.pairing(.close(ticket: opened.ticket))) }.value
        throw .givenUp
    }

    private static func standing(in reply: ControlReply) throws(WaftError) -> PairingProgress {
        switch reply {
        case .pairing(let standing): return standing
        case .refused(let reason): throw .unpaired(.declined, reason)
        default: throw WaftError(.unexpected, "the receiver gave no answer")
        }
    }

    private func follow(_ opened: PairingProgress, _ user: User) async throws(WaftError) -> PairedLine {
        var standing = opened
        var asking: Task<Void, Never>?
        defer { asking?.cancel() }
        while !Task.isCancelled {
            let before = standing
            let reply: ControlReply
            do throws(WaftError) {
                reply = try await waft.receiver.ask(.pairing(.follow(ticket: opened.ticket, seen: before.revision)))
            } catch {
                throw .unpaired(.notRunning, "the receiver has ended")
            }
            standing = try Self.standing(in: reply)
            if let peer = standing.peer, before.peer != peer { user.sees(.peer(peer)) }
            if let comparison = standing.comparison, before.comparison == nil { user.sees(.compare(comparison)) }
            switch standing.phase {
            case .waiting: if before.peer != nil { user.sees(.left) }
            case .trying: break
            case .comparing: if asking == nil { asking = Task { await answer(opened.ticket, user) } }
            case .confirmed: if before.phase != .confirmed { user.sees(.confirmed) }
            case .paired:
                guard let paired = standing.paired else {
                    throw WaftError(.unexpected, "the receiver gave no answer")
                }
                return paired
            case .failed, .met:
                let end = standing.failure ?? PairingEndError(.failed, "the receiver does not say why")
                throw WaftError(end)
            }
        }
        throw .givenUp
    }

    /// The receiver's reply is not needed: `follow` shows the result.
    private func answer(_ ticket: Int, _ user: User) async {
        let isSame = await user.says()
        guard !Task.isCancelled else { return }
        let request = isSame.map { PairingRequest.answer(ticket: ticket, isSame: $0) } ?? .close(ticket: ticket)
        _ = try? await waft.receiver.ask(.pairing(request))
    }
}

extension PairingEndError {
    var exit: WaftExit {
        switch code {
        case .declined: .declined
        case .noAnswer: .noAnswer
        case .lost: .unreachable
        case .cancelled: .interrupted
        case .failed: .unexpected
        }
    }
}

extension WaftError {
    fileprivate static let givenUp = unpaired(.interrupted, "interrupted")

    fileprivate static func unpaired(_ code: WaftExit, _ reason: String) -> WaftError {
        WaftError(code, "not paired: \(reason)")
    }

    fileprivate init(_ end: PairingEndError) { self = .unpaired(end.exit, end.reason) }

    fileprivate init(_ failure: PairingStartError) {
        switch failure.code {
        case .notFound:
            // A peer that is visible to contacts only tells its name while it accepts a pairing.
            let isAdvised = failure.reason.contains("waft pair --accept")
            self = .unpaired(
                .peerNotFound, isAdvised ? failure.reason : "\(failure.reason); run there first: waft pair --accept")
        case .ambiguous: self = .unpaired(.usage, failure.reason)
        case .ended(let code): self.init(PairingEndError(code, failure.reason))
        }
    }
}
