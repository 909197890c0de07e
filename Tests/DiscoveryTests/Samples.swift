import Testing

@testable import Discovery

/// Values that tests are built from.
enum Sample {
    static let ethernet = NetworkInterface(index: 2, name: "eth0", isLoopback: false)
    static let wireless = NetworkInterface(index: 3, name: "wlan0", isLoopback: false)
    static let loopback = NetworkInterface(index: 1, name: "lo", isLoopback: true)

    static let v4: [UInt8] = [192, 168, 77, 1]
    static let uniqueLocal: [UInt8] = [0xfd, 0x77] + [UInt8](repeating: 0, count: 13) + [1]
    static let linkLocal: [UInt8] = [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    static let global: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]

    static func address(
        _ bytes: [UInt8],
        _ host: String = "address",
        on interface: NetworkInterface = ethernet,
        port: UInt16 = 4711
    ) throws -> ServiceAddress {
        try #require(ServiceAddress(bytes: bytes, host: host, interface: interface, port: port))
    }

    static func service(_ instance: String, port: UInt16 = 4711) throws -> DiscoveredService {
        DiscoveredService(
            instance: instance,
            hostName: "kitchen.local",
            addresses: [try address(v4, port: port)],
            txt: [:],
            isLocal: false
        )
    }

    static func sighting(
        _ instance: String = "abc",
        _ transport: Sighting.Transport = .ipv4,
        interface: UInt32 = ethernet.index
    ) -> Sighting {
        Sighting(interface: interface, transport: transport, instance: instance, type: "_waft._tcp", domain: "local")
    }

    static func resolution(_ bytes: [UInt8], host: String = "address", port: UInt16 = 4711) -> Resolution {
        Resolution(
            hostName: "kitchen.local",
            port: port,
            address: ResolvedAddress(bytes: bytes, host: host),
            txt: ["v": "1"]
        )
    }
}

/// Takes the events of a stream one by one.
final class Consumer {
    private var iterator: AsyncStream<BrowseEvent>.Iterator

    init(of stream: AsyncStream<BrowseEvent>) {
        iterator = stream.makeAsyncIterator()
    }

    func next() async -> BrowseEvent? {
        await iterator.next()
    }
}
