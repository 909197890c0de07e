/// Questions to the link besides Avahi's own.
///
/// A machine that asks names the answers that it knows already, and gets none of them for the next 0.7 s. Responders tell
/// machines apart by the address (Avahi 0.8). Two programs of one machine that begin to look at nearly the same time repeat
/// their questions after the same pauses: the later one may never hear what the earlier one knows. avahi-daemon asks for all
/// programs. Without it each browse also asks at random times.
extension AvahiDirectory {
    /// Pauses before these questions, one after the other, in seconds.
    private static let pauses = [1.2...2.5, 2.0...4.0, 4.0...8.0, 8.0...16.0]

    /// Multicast DNS: RFC 6762, section 3.
    private static let (groups, port): ([[UInt8]], UInt16) = (
        [[224, 0, 0, 251], [0xFF, 0x02] + [UInt8](repeating: 0, count: 13) + [0xFB]], 5_353
    )

    /// Asks at random times. The questions end with the session of the browse.
    func keepAsking(_ browse: ActiveBrowse) {
        guard backend == .embedded else { return }
        browse.session.asking = Task { [weak self, type = browse.type] in
            for pause in Self.pauses {
                try? await Task.sleep(for: .seconds(Double.random(in: pause)))
                guard !Task.isCancelled else { return }
                await self?.ask(type)
            }
        }
    }

    private func ask(_ type: String) {
        guard let snapshot = network?.snapshot else { return }
        let allowed = Set(snapshot.usableInterfaces.filter { !denied.contains($0.name) }.map(\.index))
        for group in Self.groups {
            let own = snapshot.addresses.filter { allowed.contains($0.interface) && $0.bytes.count == group.count }
            let addresses = Dictionary(own.map { ($0.interface, $0.bytes) }) { one, _ in one }
            guard !addresses.isEmpty, let socket = try? MulticastSocket(group: group, port: Self.port) else { continue }
            _ = socket.join(exactly: addresses)
            _ = socket.send(Self.question(type))
        }
    }

    /// A question for all instances of a type (RFC 1035, section 4.1).
    /// - Parameter type: like `_name._tcp`.
    static func question(_ type: String) -> [UInt8] {
        let labels = (type.split(separator: ".") + ["local"]).flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        // One question without anything else; for PTR, in the class IN.
        return [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + labels + [0, 0, 12, 0, 1]
    }
}
