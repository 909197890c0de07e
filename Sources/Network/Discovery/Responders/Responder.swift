/// The common functions of the two Avahi libraries that a directory needs: avahi-client, which asks avahi-daemon over
/// D-Bus, and avahi-core, which is a responder itself.
///
/// All objects live on the thread of one ``AvahiLoop`` and are dropped there. An object keeps its responder alive, so
/// that Avahi frees children before parents. Events come by ``AvahiLoop/afterCallbacks(_:)``: never from within a call
/// to the responder, and never after the object was dropped.
protocol Responder: AnyObject {
    /// Announces a service on one interface, or on every one that the responder uses, for as long as the returned
    /// object lives. Returns nil if a program of this machine announces the same name there already.
    ///
    /// - Parameters:
    ///   - host: the name of the host that offers the service; nil for this machine's.
    ///   - interface: its index, or ``everyInterface``.
    func announce(
        _ service: ServiceDescription,
        at host: String?,
        on interface: UInt32,
        onEvent: @escaping (AnnouncementEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject?
    /// Announces an address under a host name other than this machine's, on the interface that has it, for as long as
    /// the returned object lives. Returns nil if the responder refuses.
    func announce(
        _ address: InterfaceAddress,
        of host: String,
        onEvent: @escaping (AnnouncementEvent) -> Void
    ) -> AvahiObject?
    func makeServiceBrowser(
        type: String,
        onEvent: @escaping (ServiceBrowserEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject
    func makeServiceResolver(
        _ sighting: Sighting,
        onEvent: @escaping (ServiceResolverEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject
    /// Responds to the state `.collision`.
    func chooseAnotherHostName()
    /// The machine's interfaces or addresses have changed.
    func networkChanged(to snapshot: NetworkSnapshot)
}

/// Stands for all interfaces; the kernel gives no interface this index.
let everyInterface: UInt32 = 0

/// The life of a responder.
enum ResponderState: Sendable, Hashable {
    /// avahi-daemon does not run (yet); the responder will notice its start.
    case connecting
    /// The host name is being probed. Announcements under an older name must be repeated.
    case registering
    /// The host name is established.
    case running
    /// The host name is taken. Announcements must be withdrawn until another name is found.
    case collision
    /// The responder will not come back: drop it.
    case failed(cause: String)

    /// Whether services can be announced and looked for.
    var isUsable: Bool { self == .registering || self == .running || self == .collision }
}

enum AnnouncementEvent: Sendable, Hashable {
    /// The name was probed and is announced.
    case established
    /// The name is taken on the link; the records have been withdrawn.
    case collision
    case failed(cause: String)
}

/// One announcement of an instance: on one interface, by one protocol.
struct Sighting: Sendable, Hashable {
    /// The protocol that carried the announcement (`AvahiProtocol`).
    enum Transport: Int32, Sendable, Hashable {
        case ipv4 = 0
        case ipv6 = 1
    }

    var interface: UInt32
    var transport: Transport
    var instance: String
    var type: String
    var domain: String
}

enum ServiceBrowserEvent: Sendable, Hashable {
    case appeared(Sighting)
    case disappeared(Sighting)
    case allForNow
    case failed(cause: String)
}

enum ServiceResolverEvent: Sendable, Hashable {
    /// Can come again, after a change.
    case resolved(Resolution)
    /// No answer in time, or the answer has expired. The resolver continues to listen.
    case unanswered
}

/// A resolver's result. Bounded, but not trusted.
struct Resolution: Sendable, Hashable {
    var hostName: String
    var port: UInt16
    /// Nil if the address is invalid.
    var address: ResolvedAddress?
    /// Nil if the record is larger than ``DiscoveryLimits/txtBytes``.
    var txt: [String: String]?
}

struct ResolvedAddress: Sendable, Hashable {
    /// In network order, 4 or 16.
    var bytes: [UInt8]
    var host: String
}
