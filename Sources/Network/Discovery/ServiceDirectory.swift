/// The port to multicast DNS service discovery (RFC 6762, RFC 6763): announcing services of this machine on its links
/// and finding those of others.
///
/// What every implementation promises, and the conformance tests hold it to:
/// - A directory that nobody uses costs nothing: connections, sockets and threads' work begin with the first
///   publication or browse and end with the last.
/// - What was once published stays published, and what is being browsed stays browsed, whatever happens to the
///   responder behind it, until the user of the directory ends it.
/// - Nothing found is believed: names, texts and addresses come from anybody on the link. They are bounded by
///   ``DiscoveryLimits`` and well-formed, no more.
/// - Interfaces whose names match the denied patterns are neither announced on nor believed.
package protocol ServiceDirectory: Sendable {
    /// Announces a service on every allowed interface, and returns once its name has been probed for and is announced.
    /// If the name is taken on a link an alternative one is used; ``Publication/instance`` tells which.
    ///
    /// - Throws: ``DiscoveryError``: `.invalidDescription`, `.responderUnavailable`, `.namesExhausted`,
    ///   `.publishingFailed`; `CancellationError` if the task was cancelled: then nothing is announced.
    func publish(_ service: ServiceDescription) async throws -> any Publication

    /// Looks for services of a type, such as `_waft._tcp`, until the returned stream is dropped or its consumer's task is
    /// cancelled. The stream is for one consumer.
    ///
    /// However slow the consumer is, at most one event for each instance waits for it: a newer one takes the place of
    /// the older, and a service that came and went unseen is never mentioned.
    func browse(type: String) -> AsyncStream<BrowseEvent>
}

/// A service that is being announced. Ending it is ``withdraw()``; dropping the last reference ends it too, some time
/// later.
package protocol Publication: Sendable {
    /// The instance name in force: the one asked for, or an alternative if that one was taken. It can change as long as
    /// the service is announced, because a link with a namesake can be joined later.
    var instance: String { get async }

    /// Stops announcing, and returns when the farewell has been handed to the network. A second call does nothing.
    func withdraw() async
}

/// A service of this machine that others should find.
package struct ServiceDescription: Sendable, Hashable {
    /// Service type: `_name._tcp` or `_name._udp` (RFC 6763, 4.1.2).
    package var type: String
    /// Instance name, 1 to 63 bytes of UTF-8 (RFC 6763, 4.1.1).
    package var instance: String
    /// The port it listens on, in host byte order.
    package var port: UInt16
    /// TXT record (RFC 6763, 6): keys of printable ASCII without `=`; `key=value` has at most 255 bytes.
    package var txt: [String: String]
    /// Whether the service gets a random host name of its own. Its IPv6 addresses are then the link-local ones, as on
    /// Apple's radio links, where an interface has any: a host name announces them only if there are no others.
    package var hasOwnHost = false

    package init(type: String, instance: String, port: UInt16, txt: [String: String] = [:]) {
        self.type = type
        self.instance = instance
        self.port = port
        self.txt = txt
    }
}

/// What a browse tells.
package enum BrowseEvent: Sendable, Hashable {
    /// A service was found, or what is known of it changed. It has at least one address.
    case updated(DiscoveredService)
    /// A service said farewell, expired, or has no address any more.
    case removed(instance: String)
    /// Everything that answered so far has been told; more can come at any time. It comes once after the start, and
    /// again after the responder was lost and found.
    case allForNow
    /// Nothing will be heard until the next event: the responder is gone or refuses. What was found stays as it is, and
    /// the directory keeps trying.
    case failed(DiscoveryError)
}
