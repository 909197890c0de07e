/// The port to multicast DNS service discovery (RFC 6762, RFC 6763): announcing services of this machine on its links
/// and finding those of others.
///
/// Every implementation guarantees this, and the conformance tests check it:
/// - An unused directory costs nothing: connections, sockets and threads' work begin with the first publication or
///   browse and end with the last.
/// - A publication stays published and a browse stays active, even if the responder behind them fails, until the user
///   of the directory ends them.
/// - Results are not trusted: names, texts and addresses come from any machine on the link. They are bounded by
///   ``DiscoveryLimits`` and well-formed, no more.
/// - Interfaces whose names match the denied patterns are not announced on, and their results are ignored.
package protocol ServiceDirectory: Sendable {
    /// Announces a service on every allowed interface, and returns once its name has been probed and is announced. If
    /// the name is taken on a link, an alternative is used; ``Publication/instance`` returns it.
    ///
    /// - Throws: ``DiscoveryError``: `.invalidDescription`, `.responderUnavailable`, `.namesExhausted`,
    ///   `.publishingFailed`; `CancellationError` if the task was cancelled: then nothing is announced.
    func publish(_ service: ServiceDescription) async throws -> any Publication

    /// Looks for services of a type, such as `_waft._tcp`, until the returned stream is dropped or its consumer is
    /// cancelled. The stream is for one consumer.
    ///
    /// For a slow consumer, at most one event waits for each instance: a newer one replaces the older. A service that
    /// came and went before the consumer read it causes no event.
    func browse(type: String) -> AsyncStream<BrowseEvent>

    /// Leaves other interfaces out from now on. Publications and browses go on.
    func deny(_ interfaces: InterfacePatterns) async
}

/// A service that is being announced. ``withdraw()`` ends it; dropping the last reference ends it too, some time later.
package protocol Publication: Sendable {
    /// The instance name in use: the requested one, or an alternative if that one was taken. It can change while the
    /// service is announced, because the machine can later join a link with a namesake.
    var instance: String { get async }

    /// Stops announcing, and returns when the network has the farewell. A second call does nothing.
    func withdraw() async
}

/// A service of this machine that other machines should find.
package struct ServiceDescription: Sendable, Hashable {
    /// Service type: `_name._tcp` or `_name._udp` (RFC 6763, 4.1.2).
    package var type: String
    /// Instance name, 1 to 63 bytes of UTF-8 (RFC 6763, 4.1.1).
    package var instance: String
    /// The port that the service listens on, in host byte order.
    package var port: UInt16
    /// TXT record (RFC 6763, 6): keys of printable ASCII without `=`; `key=value` has at most 255 bytes.
    package var txt: [String: String]
    package var host = Host.machine

    /// The host name at which a service is.
    package enum Host: Sendable, Hashable {
        /// That of the responder: avahi-daemon tells the machine's, and the embedded responder a random one.
        case machine
        /// A random one of the service's own, with the addresses that the machine has elsewhere.
        case own
        /// The same, with the link-local addresses of IPv6, as on Apple's radio links, if an interface has any: another
        /// host name has them only if there are no others.
        case ownOnLink
    }

    package init(type: String, instance: String, port: UInt16, txt: [String: String] = [:]) {
        self.type = type
        self.instance = instance
        self.port = port
        self.txt = txt
    }
}

/// An event of a browse.
package enum BrowseEvent: Sendable, Hashable {
    /// A service was found, or its known facts changed. It has at least one address.
    case updated(DiscoveredService)
    /// A service announced its end, expired, or has no address any more.
    case removed(instance: String)
    /// Every service that has answered so far has been reported; more can come at any time. This event comes once after
    /// the start, and again after the responder was lost and found.
    case allForNow
    /// No events come until the next one: the responder is gone or refuses. Found services stay as they are, and the
    /// directory keeps trying.
    case failed(DiscoveryError)
}
