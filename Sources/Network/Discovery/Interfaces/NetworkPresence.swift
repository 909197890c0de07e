internal import Glibc

/// Whether this machine is in any network.
package enum NetworkPresence {
    /// Whether an interface that is up, with its cable or its radio, has an address that others can reach.
    ///
    /// - Parameter patterns: interfaces that lead to no other machine.
    package static func isAny(besides patterns: InterfacePatterns) -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        // A machine that cannot be asked is taken for one in a network.
        guard getifaddrs(&list) == 0 else { return true }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let family = entry.ifa_addr?.pointee.sa_family, [AF_INET, AF_INET6].contains(Int32(family)),
                has(entry.ifa_flags, IFF_UP), has(entry.ifa_flags, IFF_RUNNING), !has(entry.ifa_flags, IFF_LOOPBACK),
                let name = String(validatingCString: entry.ifa_name), !patterns.contains(name)
            else { continue }
            return true
        }
        return false
    }

    private static func has(_ flags: UInt32, _ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
}
