import Contacts
import Control
import Endpoints
import HandlerCatalog
import Lines
import Logging
import Settings
import Sharing
import Streams
import Synchronization

/// Decides which peers see this receiver, which may offer, and which offers need no question, by the current contacts,
/// visibility and rules.
final class VisibilityController: VisibilityReading {
    let gate: OfferGate
    private let book: ContactBook
    private let file: VisibilityFile
    private let start: StartVisibility
    private let guests: CodeGuests
    private let logger: Logger
    /// The visibility may have changed.
    private let changes = Broadcast<Void>(buffer: .bufferingNewest(1))

    /// - Parameters:
    ///   - visibility: overrides the stored visibility until the user chooses another; nil uses the stored one.
    ///   - dayAmount: as in `OfferGate.init`.
    ///   - guests: come by spoken codes.
    init(
        _ home: Home, _ settings: LiveSettings, startingAs visibility: Visibility?, catalog: CatalogWatch,
        dayAmount: @escaping @Sendable (Offer, PeerID, WallTime) -> UInt64?, guests: CodeGuests, logger: Logger
    ) {
        self.guests = guests
        let book = home.contactBook(logger)
        let file = VisibilityFile(path: home.visibilityPath)
        do {
            try file.restart()
        } catch {
            logger.error("the visibility cannot be read; contacts only", metadata: ["reason": "\(error)"])
        }
        let start = StartVisibility(visibility, over: file)
        (self.book, self.file, self.start, self.logger) = (book, file, start, logger)
        gate = OfferGate(
            book: book,
            policy: { settings.current.policy },
            setting: {
                PolicySetting(
                    at: .now,
                    registry: catalog.current.registry,
                    visibility: start.current ?? file.visibility,
                    receiver: ReceiverRule(settings.current.accept)
                )
            },
            dayAmount: dayAmount,
            permits: guests.permits
        )
    }

    var visibility: Visibility { start.current ?? file.visibility }
    var isListening: Bool { visibility != .off || guests.mayCome }
    var isFound: Bool { visibility != .off || guests.areAwaited }

    /// Looks again when guests begin or cease to be awaited, until the task is cancelled.
    func followGuests() async {
        let last = Mutex([guests.mayCome, guests.areAwaited])
        await guests.follow { [self] in
            let now = [guests.mayCome, guests.areAwaited]
            let isNew = last.withLock { last in
                defer { last = now }
                return last != now
            }
            if isNew, visibility == .off { lookAgain() }
        }
    }

    /// The stored visibility if the receiver was started with one that overrides it; nil otherwise.
    var overriddenVisibility: Visibility? { start.current == nil ? nil : file.visibility }

    /// When a temporary visibility ends, and the next visibility.
    var nextVisibility: VisibilityFile.State.Next? { start.current == nil ? (try? file.state())?.next : nil }

    /// Shows that the user has chosen again, even if the visibility is the same.
    var choiceMark: UInt32? { try? file.mark() }

    /// Whether this receiver tells a peer its name.
    func shows(itselfTo peer: PeerID) -> Bool {
        // It has proved to know a code, and has heard the name then.
        if guests.permits.covers(from: peer, at: .now) { return true }
        switch visibility {
        case .everyone: return true
        case .off: return false
        case .contacts:
            return knows(peer)
        }
    }

    /// Whether a peer is a contact, which has resources reserved from strangers. If the contacts cannot be read, every
    /// peer is a stranger.
    func knows(_ peer: PeerID) -> Bool {
        guard let snapshot = try? book.snapshot() else { return false }
        if case .contact = snapshot.relation(of: peer) { return true }
        return false
    }

    var contacts: Set<PeerID> {
        guard let snapshot = try? book.snapshot() else { return [] }
        return Set(snapshot.contacts.lazy.filter { !$0.isBlocked }.map(\.id))
    }

    /// The user's name for a peer; nil for a stranger.
    func contactName(of peer: PeerID) -> String? {
        guard let snapshot = try? book.snapshot() else { return nil }
        return snapshot[peer]?.name.text
    }

    func introduction(of peer: PeerID, callingItself name: String) -> Introduction {
        book.introduction(of: peer, callingItself: name)
    }

    /// Warns the user of rules that match no contact: a name that was misspelled, or has changed.
    func sayUnknownContacts(_ policy: Policy) {
        guard let snapshot = try? book.snapshot() else { return }
        for (rule, name) in policy.unknownContacts(in: snapshot) {
            logger.warning(
                "a rule names a contact that does not exist", metadata: ["rule": "\(rule)", "contact": "\(name)"])
        }
    }

    /// Declines all that a peer will offer from now on.
    /// - Throws: `ContactError` where that cannot be written down.
    func block(_ peer: PeerID, callingItself name: String) throws(ContactError) {
        try book.block(peer, callingItself: name, at: .now)
        lookAgain()
    }

    /// The visibility, the contacts or the settings may have changed: look again.
    func lookAgain() { changes.send(()) }

    /// The visibility now, as commands show it.
    var line: VisibilityLine {
        VisibilityLine(
            VisibilityFile.State(visibility: visibility, next: nextVisibility), over: overriddenVisibility, at: .now)
    }

    /// Waits until the visibility is as wanted, or the task is cancelled.
    func wait(until wanted: @Sendable (Visibility) -> Bool) async {
        await follow { !wanted(visibility) }
    }

    /// Calls the body now and after each change, until it returns false or the task is cancelled.
    func follow(_ goesOn: @Sendable () -> Bool) async {
        let news = changes.watch()
        while !Task.isCancelled, goesOn() {
            let timer = (try? file.state())?.next.map { next in
                Task {
                    do { try await Task.sleep(for: next.remaining) } catch { return }
                    lookAgain()
                }
            }
            for await _ in news { break }
            timer?.cancel()
            settle()
        }
    }

    /// Stores that a time has ended, so that it does not begin again after a restart.
    private func settle() {
        do {
            try file.settle()
        } catch {
            logger.error("the end of a visibility cannot be stored", metadata: ["reason": "\(error)"])
        }
    }
}

extension ReceiverRule {
    init(_ rule: AcceptRule) {
        self = ReceiverRule(rawValue: rule.rawValue) ?? .ask
    }
}
