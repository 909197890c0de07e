import Testing

@testable import Discovery

@Suite("Joining the answers about a service")
struct ServiceAssemblyTests {
    @Test("interfaces and families are joined into one service")
    func join() throws {
        let assembly = Assembly()
        let answers: [(Sighting, NetworkInterface, [UInt8])] = [
            (Sample.sighting("abc", .ipv4), Sample.ethernet, Sample.v4),
            (Sample.sighting("abc", .ipv6), Sample.ethernet, Sample.uniqueLocal),
            (Sample.sighting("abc", .ipv6, interface: 3), Sample.wireless, Sample.linkLocal),
        ]
        for (sighting, interface, bytes) in answers {
            #expect(assembly.add(sighting, interface: interface))
            assembly.resolve(sighting, Sample.resolution(bytes))
        }
        let service = try #require(assembly.service("abc", ownAddresses: []))
        #expect(
            service.addresses == [
                try Sample.address(Sample.uniqueLocal),
                try Sample.address(Sample.v4),
                try Sample.address(Sample.linkLocal, on: Sample.wireless),
            ]
        )
        #expect(service.hostName == "kitchen.local")
        #expect(service.txt == ["v": "1"])
        #expect(!service.isLocal)
    }

    @Test("the same address heard by two families counts once")
    func duplicate() throws {
        let assembly = Assembly()
        for transport in [Sighting.Transport.ipv4, .ipv6] {
            #expect(assembly.add(Sample.sighting("abc", transport), interface: Sample.ethernet))
            assembly.resolve(Sample.sighting("abc", transport), Sample.resolution(Sample.v4))
        }
        #expect(assembly.service("abc", ownAddresses: [])?.addresses.count == 1)
    }

    @Test("a service without an answer is not known, nor one whose answers are gone")
    func unresolved() {
        let assembly = Assembly()
        let sighting = Sample.sighting()
        #expect(assembly.add(sighting, interface: Sample.ethernet))
        #expect(assembly.service("abc", ownAddresses: []) == nil)
        assembly.resolve(sighting, Sample.resolution(Sample.v4))
        #expect(assembly.service("abc", ownAddresses: []) != nil)
        assembly.resolve(sighting, nil)
        #expect(assembly.service("abc", ownAddresses: []) == nil)
        assembly.resolve(sighting, Sample.resolution(Sample.v4))
        assembly.remove(sighting)
        #expect(assembly.service("abc", ownAddresses: []) == nil)
        #expect(!assembly.contains(sighting))
    }

    @Test("a service at one of this machine's addresses is local")
    func local() {
        let assembly = Assembly()
        #expect(assembly.add(Sample.sighting(), interface: Sample.ethernet))
        assembly.resolve(Sample.sighting(), Sample.resolution(Sample.v4))
        #expect(assembly.service("abc", ownAddresses: [Sample.v4])?.isLocal == true)
    }

    @Test("a service with too large a TXT record is not one")
    func largeTXT() {
        let assembly = Assembly()
        #expect(assembly.add(Sample.sighting(), interface: Sample.ethernet))
        var resolution = Sample.resolution(Sample.v4)
        resolution.txt = nil
        assembly.resolve(Sample.sighting(), resolution)
        #expect(assembly.service("abc", ownAddresses: []) == nil)
    }

    @Test("instances beyond the limit are refused, until others go")
    func instanceLimit() {
        let assembly = Assembly()
        for number in 0..<DiscoveryLimits.services {
            #expect(assembly.add(Sample.sighting("i\(number)"), interface: Sample.ethernet))
        }
        #expect(!assembly.add(Sample.sighting("one more"), interface: Sample.ethernet))
        #expect(assembly.add(Sample.sighting("i7", .ipv6), interface: Sample.ethernet))
        assembly.remove(Sample.sighting("i8"))
        #expect(assembly.add(Sample.sighting("one more"), interface: Sample.ethernet))
    }

    @Test("answers for one instance beyond the limit are refused")
    func addressLimit() {
        let assembly = Assembly()
        for number in 0..<DiscoveryLimits.addressesPerService {
            #expect(assembly.add(Sample.sighting(interface: UInt32(number)), interface: Sample.ethernet))
        }
        #expect(!assembly.add(Sample.sighting(interface: 1_000), interface: Sample.ethernet))
    }

    @Test("answers in all beyond the limit are refused")
    func sightingLimit() {
        let assembly = Assembly()
        var accepted = 0
        for instance in 0..<200 {
            for interface in 0..<60
            where
                assembly.add(Sample.sighting("i\(instance)", interface: UInt32(interface)), interface: Sample.ethernet)
            {
                accepted += 1
            }
        }
        #expect(accepted == DiscoveryLimits.sightings)
    }
}

/// The assembly as an object, because the macros of Testing cannot change values.
private final class Assembly {
    private var value = ServiceAssembly()

    func add(_ sighting: Sighting, interface: NetworkInterface) -> Bool { value.add(sighting, interface: interface) }
    func resolve(_ sighting: Sighting, _ resolution: Resolution?) { value.resolve(sighting, resolution) }
    func remove(_ sighting: Sighting) { value.remove(sighting) }
    func contains(_ sighting: Sighting) -> Bool { value.contains(sighting) }
    func service(_ instance: String, ownAddresses: Set<[UInt8]>) -> DiscoveredService? {
        value.service(instance, ownAddresses: ownAddresses)
    }
}
