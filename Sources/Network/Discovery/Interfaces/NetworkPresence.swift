internal import Glibc

/// Whether this machine is in any network.
package enum NetworkPresence {
    /// Whether an interface that is up, with its cable or its radio, has an address that others can reach.
    ///
    /// - Parameter patterns: interfaces that lead to no other machine.
    package static func isAny(besides patterns: InterfacePatterns) -> Bool {
        // A machine that cannot be asked is taken for one in a network.
        interfaces.map { $0.contains { !patterns.contains($0) } } ?? true
    }

    /// The names of the interfaces but loopback that are up, with their cable or their radio, and have an address; nil if
    /// the kernel does not answer.
    package static var interfaces: Set<String>? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var names: Set<String> = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let family = entry.ifa_addr?.pointee.sa_family, [AF_INET, AF_INET6].contains(Int32(family)),
                has(entry.ifa_flags, IFF_UP), has(entry.ifa_flags, IFF_RUNNING), !has(entry.ifa_flags, IFF_LOOPBACK),
                let name = String(validatingCString: entry.ifa_name)
            else { continue }
            names.insert(name)
        }
        return names
    }

    private static func has(_ flags: UInt32, _ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
}
