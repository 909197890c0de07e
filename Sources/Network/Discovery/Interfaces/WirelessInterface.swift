private import Foundation
internal import Glibc

/// Which interfaces of this machine are wireless: on one channel, what a machine passes on costs the air twice.
package enum WirelessInterface {
    /// The interfaces that a test says are wireless: `WAFT_WIRELESS`, patterns with commas between them.
    private static let named = InterfacePatterns(
        (ProcessInfo.processInfo.environment["WAFT_WIRELESS"] ?? "").split(separator: ",").map(String.init))

    /// Whether an interface is wireless. Reads the kernel's folder of it.
    ///
    /// - Parameters:
    ///   - name: of an interface; the kernel allows no slash in it.
    ///   - folder: the kernel's folder of all interfaces.
    ///   - named: interfaces that are wireless in any case.
    package static func isWireless(
        _ name: String, in folder: String = "/sys/class/net", named: InterfacePatterns = named
    ) -> Bool {
        named.contains(name) || ["wireless", "phy80211"].contains { access("\(folder)/\(name)/\($0)", F_OK) == 0 }
    }

    /// Whether the interface with an own address is wireless; false if no interface has it.
    ///
    /// - Parameter address: of IPv4 or IPv6, with a scope or without.
    package static func has(address: String) -> Bool {
        guard let wanted = OwnNetworks.bytes(of: address) else { return false }
        let snapshot = NetworkSnapshot.current()
        return snapshot.addresses.contains { own in
            own.bytes == wanted && snapshot.interfaces[own.interface].map { isWireless($0.name) } == true
        }
    }
}
