/// All known facts of one service instance, joined over interfaces and address families.
package struct DiscoveredService: Sendable, Hashable {
    /// Instance name: UTF-8 of at most 63 bytes, chosen by any machine on the link; found by
    /// ordinary DNS, the whole name of the service in presentation form. Escape it before showing it.
    package var instance: String
    /// The host name that the service claims, such as `kitchen.local`. Only a hint.
    package var hostName: String
    /// The addresses to try, the best first; never empty, at most ``DiscoveryLimits/addressesPerService``.
    package var addresses: [ServiceAddress]
    /// The TXT record: keys in lower case, of several equal keys the first, values that are not UTF-8 left out.
    package var txt: [String: String]
    /// Whether the service is at an address of this machine: announced by this program, another one, or another user's.
    package var isLocal: Bool

    package init(
        instance: String,
        hostName: String,
        addresses: [ServiceAddress],
        txt: [String: String],
        isLocal: Bool
    ) {
        self.instance = instance
        self.hostName = hostName
        self.addresses = addresses
        self.txt = txt
        self.isLocal = isLocal
    }
}
