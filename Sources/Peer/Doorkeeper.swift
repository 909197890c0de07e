import Contacts
import Foundation
import HandlerCatalog
import Logging
import Sharing
import Synchronization

/// Who sees this receiver, who may offer, and who is taken without a question: contacts, visibility and rules, as they
/// are now.
final class Doorkeeper: Sendable {
    let gate: OfferGate
    private let book: ContactBook
    private let chosen: @Sendable () -> Visibility
    private let file: VisibilityFile?
    private let logger: Logger
    /// Those who want to hear that the visibility may have changed.
    private let listeners = Mutex<[Int: AsyncStream<Void>.Continuation]>([:])

    /// - Parameter fixed: what holds while this receiver runs, whatever is chosen elsewhere; nil for what is chosen.
    init(_ home: Home, _ settings: Settings, fixed: Visibility?, catalog: CatalogWatch, logger: Logger) {
        let book = home.contactBook()
        let file = fixed == nil ? VisibilityFile(path: home.visibilityPath) : nil
        let chosen: @Sendable () -> Visibility = { fixed ?? file?.visibility ?? .contacts }
        self.book = book
        self.file = file
        self.chosen = chosen
        self.logger = logger
        let (policy, rule) = (settings.policy, ReceiverRule(settings.accept))
        gate = OfferGate(
            book: book,
            policy: { policy },
            setting: {
                PolicySetting(
                    at: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)),
                    registry: catalog.current.registry,
                    visibility: chosen(),
                    receiver: rule
                )
            }
        )
        do {
            try file?.restart()
        } catch {
            logger.error("the visibility cannot be read; contacts only", metadata: ["reason": "\(error)"])
        }
    }

    var visibility: Visibility { chosen() }

    /// When a visibility for a time ends, and what comes then.
    var nextVisibility: VisibilityFile.State.Next? { (try? file?.state())?.next }

    /// Whether a peer is told who we are.
    func shows(itselfTo peer: PeerID) -> Bool {
        switch visibility {
        case .everyone: return true
        case .off: return false
        case .contacts:
            // Who cannot be known is a stranger.
            guard let snapshot = try? book.snapshot() else { return false }
            if case .contact = snapshot.standing(of: peer) { return true }
            return false
        }
    }

    /// What the user calls a peer; nil for a stranger.
    func contactName(of peer: PeerID) -> String? {
        guard let snapshot = try? book.snapshot() else { return nil }
        return snapshot[peer]?.name.text
    }

    /// Tells the user of rules that hold for nobody: a name that was misspelled, or has changed.
    func sayUnknownContacts(_ policy: Policy) {
        guard let snapshot = try? book.snapshot() else { return }
        for (rule, name) in policy.unknownContacts(in: snapshot) {
            logger.warning(
                "a rule names a contact that is not there", metadata: ["rule": "\(rule)", "contact": "\(name)"])
        }
    }

    /// Declines all that a peer will offer from now on.
    /// - Throws: `ContactError` where that cannot be written down.
    func block(_ peer: PeerID, callingItself name: String) throws(ContactError) {
        let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        try book.block(peer, callingItself: name, at: now)
    }

    /// Somebody has chosen another visibility: look again.
    func lookAgain() {
        for listener in listeners.withLock({ Array($0.values) }) { listener.yield() }
    }

    /// Waits until the visibility is as wanted, or the task is cancelled.
    func wait(until wanted: @Sendable (Visibility) -> Bool) async {
        let (changes, feed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = listeners.withLock { listeners in
            let number = (listeners.keys.max() ?? 0) + 1
            listeners[number] = feed
            return number
        }
        defer { listeners.withLock { $0[number] = nil } }
        while !Task.isCancelled, !wanted(visibility) {
            let timer = (try? file?.state())?.next.map { next in
                Task {
                    try? await Task.sleep(for: next.remaining)
                    feed.yield()
                }
            }
            for await _ in changes { break }
            timer?.cancel()
            settle()
        }
    }

    /// Writes down that a time has ended, so that it does not begin anew after a restart.
    private func settle() {
        do {
            try file?.settle()
        } catch {
            logger.error("the end of a visibility cannot be written down", metadata: ["reason": "\(error)"])
        }
    }
}

extension ReceiverRule {
    init(_ rule: AcceptRule) {
        self = ReceiverRule(rawValue: rule.rawValue) ?? .ask
    }
}
