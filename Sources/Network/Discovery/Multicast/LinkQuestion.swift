internal import Streams

/// A question to the links whose answers come to this question alone: each responder sends its answer at once and to the
/// port that asked (RFC 6762, 5.1 and 6.7). Lives and is dropped on the loop's thread.
///
/// Avahi asks by multicast, 0.1 s later than it could, and responders do not repeat a multicast answer that they have
/// just given: a program that asks soon after another one would learn nothing for a second (RFC 6762, 6). A firewall may
/// drop these answers, so this question only goes beside those of the responder.
final class LinkQuestion {
    /// Multicast DNS: RFC 6762, section 3.
    static let (groups, port): ([[UInt8]], UInt16) = (
        [[224, 0, 0, 251], [0xFF, 0x02] + [UInt8](repeating: 0, count: 13) + [0xFB]], 5_353
    )

    private let type: String
    private let snapshot: NetworkSnapshot
    private let denied: InterfacePatterns
    private let found: (DiscoveredService) -> Void
    private let id = UInt16.random(in: 1...UInt16.max)
    private var sockets: [MulticastSocket] = []
    private var rate = RateWindow<[UInt8]>.ofDatagrams

    /// - Parameters:
    ///   - type: like `_name._tcp`.
    ///   - found: called for each service of each answer, on the loop's thread, until this question is dropped.
    init(
        _ type: String, _ snapshot: NetworkSnapshot, denied: InterfacePatterns, loop: AvahiLoop,
        found: @escaping (DiscoveredService) -> Void
    ) {
        (self.type, self.snapshot, self.denied, self.found) = (type, snapshot, denied, found)
        for group in Self.groups {
            let addresses = Self.places(in: snapshot, denied: denied, group)
            guard !addresses.isEmpty,
                let socket = try? MulticastSocket(group: group, port: Self.port, asks: true)
            else { continue }
            _ = socket.join(exactly: addresses)
            // Unowned: this question owns the socket and its watch.
            guard socket.watch(loop, { [unowned self, unowned socket] in take(from: socket) }),
                socket.send(Self.message(type, id: id)) > 0
            else { continue }
            sockets.append(socket)
        }
    }

    /// An own address on each interface that is asked, by its index.
    static func places(
        in snapshot: NetworkSnapshot, denied: InterfacePatterns, _ group: [UInt8]
    ) -> [UInt32: [UInt8]] {
        // Without any network, programs of this machine find each other by the responder alone.
        let links = snapshot.usableInterfaces.filter { !$0.isLoopback && !denied.contains($0.name) }
        let allowed = Set(links.map(\.index))
        let own = snapshot.addresses.filter { allowed.contains($0.interface) && $0.bytes.count == group.count }
        return Dictionary(own.map { ($0.interface, $0.bytes) }) { one, _ in one }
    }

    /// A question for all instances of a type (RFC 1035, section 4.1).
    /// - Parameters:
    ///   - type: like `_name._tcp`.
    ///   - id: 0 for a question by multicast (RFC 6762, 18.1).
    static func message(_ type: String, id: UInt16 = 0) -> [UInt8] {
        let labels = (type.split(separator: ".") + ["local"]).flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        // One question without anything else; for PTR, in the class IN.
        return [UInt8(id >> 8), UInt8(id & 0xFF), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + labels + [0, 0, 12, 0, 1]
    }

    private func take(from socket: MulticastSocket) {
        let own = OwnNetworks(snapshot, denied: denied)
        while let taken = socket.take() {
            // A responder answers from its own port (RFC 6762, 6.7). The rate comes after the address, as for a group.
            guard taken.isWhole, taken.port == Self.port, own.isOwnSubnet(taken.source),
                rate.pass(taken.source, at: .now), let interface = snapshot.interfaces[taken.interface]
            else { continue }
            LinkAnswer.services(
                in: socket.bytes(of: taken), to: id, type, on: interface, ownAddresses: snapshot.ownAddresses
            ).forEach(found)
        }
    }
}
