import Contacts
import Settings
package import Sharing
package import UniformTypes

/// The receiver, as an endpoint sees it.
package struct ReceivingHost: Sendable {
    /// Judges the offers and takes the contents.
    package var reception: Reception
    package var visibility: any VisibilityReading
    /// The name that this receiver gives itself.
    package var name: String { naming() }
    private let naming: @Sendable () -> String
    /// The types that are known now.
    package var registry: @Sendable () -> TypeRegistry
    /// Answers peers that want to pair; nil if pairing is not possible.
    package var pairing: (any PairingAnswering)?
    /// The page for guests that the user wants; nil if none is possible.
    package var pages: (any PageHosting)?
    /// Threads that may wait for the disk, for the connections of contacts and for those of strangers: strangers cannot
    /// occupy all threads.
    package var threads: @Sendable (_ isContact: Bool) -> any TaskExecutor
    /// Called when an entry of a transfer was left out or renamed: the entry as the sender calls it, and one clause.
    package var remarked: @Sendable (Offer, PeerID, _ entry: String, _ reason: String) -> Void
    /// Called when the contents of a transfer are passed on to another member of its group.
    package var passesOn: @Sendable (TransferID, _ next: PeerID) -> Void
    /// Called when the endpoint's status has changed.
    package var report: @Sendable (EndpointStatus) -> Void

    package init(
        reception: Reception, visibility: any VisibilityReading,
        name: @escaping @autoclosure @Sendable () -> String,
        registry: @escaping @Sendable () -> TypeRegistry = { .system }, pairing: (any PairingAnswering)? = nil,
        pages: (any PageHosting)? = nil,
        threads: @escaping @Sendable (_ isContact: Bool) -> any TaskExecutor,
        remarked: @escaping @Sendable (Offer, PeerID, _ entry: String, _ reason: String) -> Void = { _, _, _, _ in },
        passesOn: @escaping @Sendable (TransferID, _ next: PeerID) -> Void = { _, _ in },
        report: @escaping @Sendable (EndpointStatus) -> Void = { _ in }
    ) {
        (self.reception, self.visibility, naming, self.registry) = (reception, visibility, name, registry)
        (self.pairing, self.pages, self.threads) = (pairing, pages, threads)
        (self.remarked, self.passesOn, self.report) = (remarked, passesOn, report)
    }
}

/// The facts that a receiver shows of itself, and the peers that see them.
struct Presence: Hashable, Sendable {
    var card: Card
    var visibility: Visibility
    /// The contacts, to whom it may show more than to strangers.
    var contacts: Set<PeerID>
    /// Whether it shows itself to strangers because it wants to pair.
    var isPairing: Bool
}

extension ReceivingHost {
    var card: Card { Card(name: name, device: DeviceKind.own) }

    var presence: Presence {
        Presence(
            card: card, visibility: visibility.visibility, contacts: visibility.contacts,
            isPairing: pairing?.isOpen == true)
    }
}

/// The state of an endpoint's listener, for `waft status`.
package struct EndpointStatus: Sendable, Hashable {
    /// 0 while it is closed.
    package var port: Int
    /// For people: `published`, or the reason why peers do not find it.
    package var words: String
    /// Whether the listener is open; it may not be published yet.
    package var isReady: Bool

    package init(port: Int = 0, _ words: String, isReady: Bool = false) {
        (self.port, self.words, self.isReady) = (port, words, isReady)
    }
}
