/// Names of network interfaces that discovery does not use, as shell patterns: `*` stands for any characters, `?` for
/// one.
package struct InterfacePatterns: Sendable, Hashable {
    /// Bridges and far ends of containers and virtual machines: an announcement there reaches no other machine, but
    /// every container of this one.
    package static let virtual = InterfacePatterns(["docker*", "br-*", "virbr*", "veth*"])
    /// No interface at all.
    package static let none = InterfacePatterns([])

    package var patterns: [String]

    package init(_ patterns: [String]) {
        self.patterns = patterns
    }

    package func contains(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return patterns.contains { Self.matches(Array($0.utf8), name) }
    }

    /// Greedy matching with one point of return: linear in practice, at worst pattern × name.
    private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
        var (at, here) = (0, 0)
        var (star, resume) = (-1, 0)
        while here < name.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                (star, resume) = (at, here)
                at += 1
            } else if at < pattern.count, pattern[at] == UInt8(ascii: "?") || pattern[at] == name[here] {
                (at, here) = (at + 1, here + 1)
            } else if star >= 0 {
                resume += 1
                (at, here) = (star + 1, resume)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
