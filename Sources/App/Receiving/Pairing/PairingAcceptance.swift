import Contacts
import Control
import Executors
import Lines
import Logging
import Pairing
import SecureTransport
import Sending
import Sharing
import Streams
import Synchronization

/// Pairing mode of a receiver, as its user sees it: a command opens it, follows it and answers for the user; connections
/// come and go.
///
/// One command at a time has it. It ends by itself: see `PairingGate`, and when the command is not heard of any more.
final class PairingAcceptance: Sendable {
    let desk: PairingGate
    /// The name that this peer gives itself.
    var ownName: String { naming() }
    private let naming: @Sendable () -> String
    /// Threads that may derive keys and wait for the disk.
    let blocking: BlockingExecutor
    private let contacts: ContactBook
    let permits: TransferPermits
    private let logger: Logger
    private let state = Mutex(State())
    private let askers = CodeAskers()

    /// How long a command may be silent.
    private static let timeout: Duration = .seconds(30)
    /// How long `follow` waits for news at most.
    private static let longestWait: Duration = .seconds(4)

    private struct State {
        var opening: Opening?
        /// The standing has changed, or a time is over.
        let news = Broadcast<Void>(buffer: .bufferingNewest(1))

        /// Changes the standing and tells those who follow it.
        mutating func change(_ body: (inout PairingProgress) -> Void) {
            guard opening != nil else { return }
            if var standing = opening?.standing {
                body(&standing)
                standing.revision += 1
                opening?.standing = standing
            }
            news.send(())
        }
    }

    private struct Opening {
        let method: PairingMethod
        let name: ContactName?
        /// How many machines may prove to know a spoken code.
        let people: Int
        /// How long each of them is a contact then: seconds; nil for none.
        let remembering: Double?
        let until: ContinuousClock.Instant
        var heard: ContinuousClock.Instant
        var standing: PairingProgress
        /// The connection of the running pairing, and the name that its peer gives itself.
        var responder: PairingResponder?
        var calledItself: String?
        /// The machines that have proved to know a spoken code, and are still connected.
        var guests: [Guest] = []

        var isOver: Bool { [.paired, .met, .failed].contains(standing.phase) }
        var isByCode: Bool { method.purpose != .contact }
        var isAbandoned: Bool { heard + PairingAcceptance.timeout < .now }
    }

    private struct Guest {
        let responder: PairingResponder
        let transfer: TransferID
        /// Whether it has said that the transfer can begin.
        var hasMet = false
    }

    init(
        own: PeerID, name: @escaping @autoclosure @Sendable () -> String, contacts: ContactBook,
        permits: TransferPermits = TransferPermits(), blocking: BlockingExecutor, logger: Logger
    ) {
        self.permits = permits
        desk = PairingGate(own: own)
        naming = name
        self.contacts = contacts
        self.blocking = blocking
        self.logger = logger
    }

    /// Whether strangers may come: then they may know who this is.
    var isOpen: Bool {
        let isHeard = state.withLock { state in state.opening.map { !$0.isAbandoned && !$0.isByCode } ?? false }
        return isHeard && desk.standing(now: .now).openUntil != nil
    }

    /// Whether a spoken code is shown, or a peer that has typed it is still connected.
    var showsCode: Bool {
        state.withLock { state in
            guard let opening = state.opening, opening.isByCode, !opening.isAbandoned else { return false }
            return !opening.isOver || opening.responder != nil || !opening.guests.isEmpty
        }
    }

    /// The purpose of the pairing that would begin now.
    var purpose: PairingPurpose { state.withLock { $0.opening?.method.purpose } ?? .contact }

    func changes() -> AsyncStream<Void> { state.withLock { $0.news.watch() } }

    /// Whether a peer may come, or has come and is not known here yet: a code is spent before that.
    private var isExpecting: Bool {
        let standing = desk.standing(now: .now)
        return standing.openUntil != nil || standing.underWay != nil
    }

    // MARK: The command

    /// - Throws: `PairingEndError` with the reason for the user.
    func open(_ wanted: PairingOpening) throws(PairingEndError) -> PairingProgress {
        let isTaken = state.withLock { state in state.opening.map { !$0.isOver && !$0.isAbandoned } ?? false }
        guard !isTaken else { throw PairingEndError(.failed, "another command has opened pairing mode") }
        let name: ContactName?
        do {
            name = try wanted.name.map { text throws(ContactError) in try ContactName(text) }
        } catch {
            throw PairingEndError(.failed, error.description)
        }
        let code = Self.code(wanted)
        let method = code.map { PairingMethod.code($0) } ?? .compare
        let people = min(max(wanted.people ?? 1, 1), PairingOpening.peopleLimit)
        let now = ContinuousClock.now
        let seconds = wanted.seconds.isFinite ? min(max(wanted.seconds, 1), 600) : 600
        let until = now + .seconds(seconds)
        do throws(PairingError) {
            try desk.open(method, until: until, runs: people, now: now)
        } catch {
            throw PairingEndError(error)
        }
        var standing = PairingProgress(ticket: Int.random(in: 1...(1 << 52)))
        state.withLock { state in
            state.opening = Opening(
                method: method, name: name, people: people, remembering: wanted.remembering, until: until, heard: now,
                standing: standing)
            state.news.send(())
        }
        standing.code = code?.text
        if method.purpose != .contact { standing.shownKey = try? askers.identity(isPinned: true).peerID.short }
        return standing
    }

    private static func code(_ wanted: PairingOpening) -> PairingCode? {
        switch wanted.method {
        case .compare: return nil
        case .code: return .random()
        case .send, .receive:
            let words = min(max(wanted.words ?? 2, SpokenCode.wordCounts.lowerBound), SpokenCode.wordCounts.upperBound)
            return PairingCode(.random(words: words), shownBySender: wanted.method == .send)
        }
    }

    /// - Returns: nil for a ticket of another time.
    func follow(_ ticket: Int, seen: Int) async -> PairingProgress? {
        expire()
        let news = state.withLock { state -> AsyncStream<Void>? in
            guard state.opening?.standing.ticket == ticket else { return nil }
            state.opening?.heard = .now
            guard state.opening?.standing.revision == seen, state.news.watcherCount < 32 else { return nil }
            return state.news.watch()
        }
        if let news {
            let limit = Task { [wait = newsWait] in
                do { try await Task.sleep(for: wait) } catch { return }
                state.withLock { $0.news.send(()) }
            }
            for await _ in news { break }
            limit.cancel()
            expire()
        }
        return state.withLock { state in
            state.opening.flatMap { $0.standing.ticket == ticket ? $0.standing : nil }
        }
    }

    /// How long `follow` waits: that time is over is news, too.
    private var newsWait: Duration {
        let now = ContinuousClock.now
        guard let until = desk.standing(now: now).openUntil else { return Self.longestWait }
        return min(Self.longestWait, now.duration(to: until))
    }

    /// No peer has come in time, or none is admitted any more.
    private func expire() {
        let isExpecting = self.isExpecting
        state.withLock { state in
            guard let opening = state.opening, opening.standing.phase == .waiting, !isExpecting else { return }
            let end =
                opening.until <= .now
                ? PairingEndError.nobodyCame : PairingEndError(.declined, "pairing mode was closed")
            state.change { standing in (standing.phase, standing.failure) = (.failed, end) }
        }
    }

    /// - Throws: `PairingEndError` if there is nothing to answer.
    func answer(_ ticket: Int, isSame: Bool) throws(PairingEndError) {
        let responder = state.withLock { state -> PairingResponder? in
            guard let opening = state.opening, opening.standing.ticket == ticket else { return nil }
            guard opening.standing.phase == .comparing else { return nil }
            if isSame { state.change { $0.phase = .confirmed } }
            return opening.responder
        }
        guard let responder else { throw PairingEndError(.failed, "there is nothing to compare") }
        do throws(PairingError) {
            try responder.confirm(isSame)
        } catch {
            throw PairingEndError(error)
        }
    }

    /// Ends pairing mode, and the pairing that is under way.
    func close(_ ticket: Int) {
        let (isCurrent, responder) = state.withLock { state -> (Bool, PairingResponder?) in
            guard let opening = state.opening, opening.standing.ticket == ticket else { return (false, nil) }
            if !opening.isOver { state.change { ($0.phase, $0.failure) = (.failed, .givenUp) } }
            return (true, opening.responder)
        }
        guard isCurrent else { return }
        desk.close()
        // If there is something to refuse, the other side's user gets a no instead of a fault.
        try? responder?.confirm(false)
        responder?.end()
        state.withLock { $0.news.send(()) }
    }

    // MARK: Connections

    /// Whether a peer may begin. No peer may if the command is gone, and a blocked peer never may.
    func admits(_ peer: PeerID) -> Bool {
        let isAbandoned = state.withLock { $0.opening?.isAbandoned ?? true }
        if isAbandoned {
            desk.close()
            return false
        }
        guard let standing = try? contacts.snapshot().relation(of: peer) else { return true }
        if case .blocked = standing { return false }
        return true
    }

    func began(_ responder: PairingResponder, callingItself name: String?) {
        let peer = line(responder.peer, callingItself: name)
        logger.notice("pairing", metadata: ["peer": "\(responder.peer.short)"])
        state.withLock { state in
            state.opening?.responder = responder
            state.opening?.calledItself = name
            let address = responder.addressText
            state.change { ($0.phase, $0.peer, $0.address) = (.trying, peer, address) }
        }
    }

    /// A peer was not admitted, which can have spent a code.
    func turnedAway(_ responder: PairingResponder, _ fault: PairingError) {
        settle(PairingEndError(fault), by: responder) { $0.standing.phase == .waiting }
    }

    func show(_ string: ShortString, _ responder: PairingResponder) {
        state.withLock { state in
            guard state.opening?.responder === responder else { return }
            let comparison = CompareLine(digits: string.digits, words: string.words)
            state.change { ($0.phase, $0.comparison) = (.comparing, comparison) }
        }
    }

    /// The opening for which a peer has come; nil if it has been given up.
    private func opening(_ responder: PairingResponder) -> Opening? {
        state.withLock { state in state.opening?.responder === responder ? state.opening : nil }
    }

    /// Stores a peer that was verified, or waits until it says that the transfer can begin.
    /// - Returns: whether that worked.
    func verified(_ responder: PairingResponder) -> Bool {
        guard let opening = opening(responder) else { return false }
        guard opening.isByCode else { return store(responder, opening) }
        let isExpecting = self.isExpecting
        state.withLock { state in
            state.opening?.guests.append(Guest(responder: responder, transfer: TransferID()))
            state.opening?.responder = nil
            if isExpecting { state.change { ($0.phase, $0.peer, $0.address) = (.waiting, nil, nil) } }
        }
        return true
    }

    /// The transfer that a peer may take, once it has proved to know the code.
    func transfer(for responder: PairingResponder) -> TransferID? {
        state.withLock { state in
            guard case .send? = state.opening?.method.purpose else { return nil }
            return state.opening?.guests.first { $0.responder === responder }?.transfer
        }
    }

    /// A peer that has proved to know the code says that the transfer can begin.
    /// - Returns: the answer; nil if it cannot.
    func met(_ responder: PairingResponder, _ letter: PairingLetter) -> PairingLetter? {
        let known = state.withLock { state -> (Opening, TransferID)? in
            guard let opening = state.opening, !opening.isOver,
                let place = opening.guests.firstIndex(where: { $0.responder === responder && !$0.hasMet })
            else { return nil }
            let transfer: TransferID? =
                switch opening.method.purpose {
                case .send: letter.port == nil ? nil : opening.guests[place].transfer
                case .receive: letter.transfer
                case .contact: nil
                }
            guard let transfer else { return nil }
            state.opening?.guests[place].hasMet = true
            return (opening, transfer)
        }
        guard let (opening, transfer) = known else { return nil }
        if case .receive = opening.method.purpose { permits.give(transfer, from: responder.peer, at: .now) }
        logger.notice("a spoken code was right", metadata: ["peer": "\(responder.peer.short)"])
        let peer = line(responder.peer, callingItself: letter.name)
        let paired = letter.remembers ? remember(responder.peer, callingItself: letter.name, opening) : nil
        let met = CodeGuest(
            peer, transfer: "\(transfer)", address: responder.address?.hostText, port: letter.port.map { Int($0) },
            paired: paired)
        state.withLock { state in
            state.change { standing in
                standing.guests.append(met)
                if standing.guests.count == opening.people { standing.phase = .met }
            }
        }
        return .ready(.responder, name: ownName, remembers: paired != nil)
    }

    /// Makes a contact for a time, if the user of this side wants that.
    private func remember(_ peer: PeerID, callingItself name: String?, _ opening: Opening) -> PairedLine? {
        guard let seconds = opening.remembering else { return nil }
        do {
            let contact = try PairedContact.remember(peer, in: contacts, calledItself: name, for: .seconds(seconds))
            return PairedLine(contact.id, contact: contact.name.text, until: contact.ends)
        } catch {
            logger.error("a machine could not be remembered", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    private func line(_ peer: PeerID, callingItself name: String?) -> PairingPeerLine {
        let introduction = try? contacts.snapshot().introduction(of: peer, callingItself: name ?? "")
        return PairingPeerLine(
            peer, named: introduction?.name ?? PeerName.fit(name ?? ""),
            isContact: introduction?.isContact ?? false, warning: introduction?.warning)
    }

    /// The connection of a peer is gone, or its time is over. A peer that has proved to know the code, and leaves before
    /// it says that the transfer can begin, may be one that guesses: its code is spent.
    func left(_ responder: PairingResponder) {
        let isLost = state.withLock { state -> Bool in
            guard let opening = state.opening else { return false }
            if opening.responder === responder, opening.isOver { state.opening?.responder = nil }
            guard let place = opening.guests.firstIndex(where: { $0.responder === responder }) else {
                state.news.send(())
                return false
            }
            state.opening?.guests.remove(at: place)
            let isLost = !opening.guests[place].hasMet && !opening.isOver
            state.change { standing in
                guard isLost else { return }
                standing.address = responder.addressText
                (standing.phase, standing.failure) = (
                    .failed, PairingEndError(.lost, "it knew the code, and left before the transfer began")
                )
            }
            return isLost
        }
        if isLost { desk.close() }
    }

    private func store(_ responder: PairingResponder, _ opening: Opening) -> Bool {
        do {
            let contact = try PairedContact.store(
                responder.peer, in: contacts, wanted: opening.name, calledItself: opening.calledItself,
                Verification.Method(opening.method))
            logger.notice("paired", metadata: ["peer": "\(responder.peer.short)"])
            let paired = PairedLine(contact.id, contact: contact.name.text)
            state.withLock { $0.change { ($0.phase, $0.paired, $0.failure) = (.paired, paired, nil) } }
            return true
        } catch {
            logger.error("a verified contact could not be stored", metadata: ["reason": "\(error)"])
            state.withLock { $0.change { ($0.phase, $0.failure) = (.failed, PairingEndError(error)) } }
            return false
        }
    }

    /// A pairing ended without a verified peer.
    func ended(_ responder: PairingResponder, _ end: PairingEndError) {
        guard settle(end, by: responder, where: { $0.responder === responder }) else { return }
        logger.notice("pairing ended", metadata: ["peer": "\(responder.peer.short)", "reason": "\(end.reason)"])
    }

    /// Stores how the pairing ended. If other peers may still come, the standing is again that none has come.
    /// - Returns: whether the standing has changed.
    @discardableResult
    private func settle(
        _ end: PairingEndError, by responder: PairingResponder, where isMeant: (Opening) -> Bool
    ) -> Bool {
        let isExpecting = self.isExpecting
        return state.withLock { state in
            guard let opening = state.opening, !opening.isOver, isMeant(opening) else { return false }
            if isExpecting {
                guard opening.responder != nil else { return false }
                state.opening?.responder = nil
                state.change { ($0.phase, $0.peer) = (.waiting, nil) }
            } else {
                let address = responder.addressText
                state.change { ($0.phase, $0.failure, $0.address) = (.failed, end, address) }
            }
            return true
        }
    }
}

// MARK: - Nameplates

extension PairingAcceptance {
    /// Whether a code of this nameplate is shown and not spent; nil if it has been asked too often.
    func shows(nameplate: Int, to asker: String?) -> Bool? {
        guard askers.mayAsk(asker, at: .now) else { return nil }
        guard purpose.nameplate == nameplate, showsCode else { return false }
        return desk.standing(now: .now).openUntil != nil
    }

    func identityForAskers() throws -> Identity { try askers.identity() }
}
