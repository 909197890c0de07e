/// An answer to a ``LinkQuestion``. Hostile: bounded and well-formed, no more. Pure.
enum LinkAnswer {
    /// Records that are read: those of some services of one machine.
    private static let maximumRecords = 64

    /// The services that an answer tells of as a whole: PTR, SRV, TXT and an address (RFC 6763, 12.1).
    ///
    /// - Parameters:
    ///   - message: a whole datagram.
    ///   - id: of the question; an answer to another one says nothing.
    ///   - type: such as `_waft._tcp`.
    ///   - interface: that on which it came.
    ///   - ownAddresses: the addresses of this machine; a service at one of them is local.
    static func services(
        in message: [UInt8], to id: UInt16, _ type: String, on interface: NetworkInterface, ownAddresses: Set<[UInt8]>
    ) -> [DiscoveredService] {
        // The bit that makes it an answer (RFC 1035, 4.1.1).
        guard message.count > 12, UInt16(message[0]) << 8 | UInt16(message[1]) == id, message[2] & 0x80 != 0 else {
            return []
        }
        let all = [false, true].flatMap { DomainQuery.all(in: message, isAdditional: $0, limit: maximumRecords) }
        func records(_ type: DomainQuery.RecordType, of name: String) -> [DomainQuery.Record] {
            all.filter { $0.type == type && $0.record.name.lowercased() == name.lowercased() }.map(\.record)
        }
        let suffix = ".\(type).local"
        return Set(records(.ptr, of: "\(type).local").map(\.target)).sorted().compactMap { name in
            // The name of an instance is one label. One with escapes is left to the responder.
            guard name.hasSuffix(suffix), !name.contains("\\"), case let instance = name.dropLast(suffix.count),
                !instance.isEmpty, !instance.contains("."), let place = records(.srv, of: name).first,
                let data = records(.txt, of: name).first?.data, let txt = AvahiValues.txtRecord(data)
            else { return nil }
            let found =
                records(.a, of: place.target).filter { $0.data.count == 4 }
                + records(.aaaa, of: place.target).filter { $0.data.count == 16 }
            let addresses = found.compactMap { record in
                LocalLink.text(record.data).flatMap {
                    ServiceAddress(bytes: record.data, host: $0, interface: interface, port: place.port)
                }
            }
            guard !addresses.isEmpty else { return nil }
            return DiscoveredService(
                instance: String(instance), hostName: place.target, addresses: addresses.sorted(), txt: txt,
                isLocal: found.contains { ownAddresses.contains($0.data) })
        }
    }
}
