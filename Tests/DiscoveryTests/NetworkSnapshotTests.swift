import Glibc
import Testing

@testable import Discovery

@Suite("The machine's interfaces and addresses")
struct NetworkSnapshotTests {
    private func snapshot(_ addresses: [[UInt8]], on interface: NetworkInterface = Sample.ethernet) -> NetworkSnapshot {
        var snapshot = NetworkSnapshot()
        snapshot.addresses = Set(addresses.map { InterfaceAddress(interface: interface.index, bytes: $0) })
        return snapshot
    }

    @Test("addresses of one link are announced only where the family has no others")
    func linkLocal() {
        let all = snapshot([Sample.v4, [169, 254, 1, 1], Sample.linkLocal, Sample.uniqueLocal, Sample.global])
        #expect(
            Set(all.announcedAddresses(on: Sample.ethernet).map(\.bytes))
                == [Sample.v4, Sample.uniqueLocal, Sample.global]
        )
        let linkOnly = snapshot([Sample.v4, Sample.linkLocal])
        #expect(Set(linkOnly.announcedAddresses(on: Sample.ethernet).map(\.bytes)) == [Sample.v4, Sample.linkLocal])
        let nothingElse = snapshot([[169, 254, 1, 1]])
        #expect(nothingElse.announcedAddresses(on: Sample.ethernet).count == 1)
    }

    @Test("under the host name of one service the link-local addresses take the place of other ones of IPv6")
    func ownHost() {
        let all = snapshot([Sample.v4, [169, 254, 1, 1], Sample.linkLocal, Sample.uniqueLocal, Sample.global])
        #expect(Set(all.onLinkAddresses(on: Sample.ethernet).map(\.bytes)) == [Sample.v4, Sample.linkLocal])
        let without = snapshot([Sample.v4, Sample.global])
        #expect(Set(without.onLinkAddresses(on: Sample.ethernet).map(\.bytes)) == [Sample.v4, Sample.global])
        #expect(all.onLinkAddresses(on: Sample.loopback).isEmpty)
    }

    @Test("loopback addresses are announced on loopback alone, and others not on interfaces that do not have them")
    func loopback() {
        let loopback = snapshot([[127, 0, 0, 1]], on: Sample.loopback)
        #expect(loopback.announcedAddresses(on: Sample.loopback).count == 1)
        #expect(loopback.announcedAddresses(on: Sample.ethernet).isEmpty)
        #expect(snapshot([[127, 0, 0, 1]]).announcedAddresses(on: Sample.ethernet).isEmpty)
    }

    @Test("an interface without a carrier is not used, and known as one whose cable is out")
    func carrier() {
        let up = UInt32(IFF_UP | IFF_MULTICAST)
        var snapshot = NetworkSnapshot()
        snapshot.addInterface(2, "eth0", flags: up | UInt32(IFF_RUNNING))
        snapshot.addInterface(3, "eth1", flags: up)
        snapshot.addInterface(4, "eth2", flags: UInt32(IFF_MULTICAST))
        snapshot.addInterface(5, "tun0", flags: UInt32(IFF_UP | IFF_POINTOPOINT | IFF_MULTICAST))
        #expect(snapshot.usable == [2] && snapshot.unplugged == [3])
    }

    @Test("this machine has a loopback interface with its address")
    func current() throws {
        let current = NetworkSnapshot.current()
        let found = current.usableInterfaces.first { $0.isLoopback }
        let loopback = try #require(found)
        #expect(loopback.name == "lo")
        let address = InterfaceAddress(interface: loopback.index, bytes: [127, 0, 0, 1], prefixLength: 8)
        #expect(current.addresses.contains(address))
    }
}
