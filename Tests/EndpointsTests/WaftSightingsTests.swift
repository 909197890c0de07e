import Discovery
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import Endpoints

@Suite("The peers behind services")
final class WaftSightingsTests {
    private static let own = PeerID.sample(0)
    private static let kitchen = PeerID.sample(1)
    private static let interface = NetworkInterface(index: 2, name: "eth0", isLoopback: false)
    private static let card = Card(name: "Kitchen", device: "desktop")

    private var book = WaftSightings(own: own)

    private func service(_ instance: String, host: UInt8 = 1) throws -> DiscoveredService {
        let bytes = [192, 0, 2, host]
        let text = bytes.map(String.init).joined(separator: ".")
        let address = try #require(ServiceAddress(bytes: bytes, host: text, interface: Self.interface, port: 9_238))
        return DiscoveredService(
            instance: instance, hostName: "waft-1.local", addresses: [address], txt: ["v": "1"], isLocal: false)
    }

    /// The target at which a service is asked that comes into view.
    private func target(_ instance: String, host: UInt8 = 1) throws -> PeerTarget {
        let target = book.target(for: try service(instance, host: host))
        return try #require(target)
    }

    /// A service comes into view and is asked.
    private func see(
        _ instance: String, host: UInt8 = 1, _ id: PeerID = kitchen, card: Card? = card, isSure: Bool = true
    ) throws -> [PeerEvent] {
        answer(instance, try target(instance, host: host), id, card: card, isSure: isSure)
    }

    private func answer(
        _ instance: String, _ target: PeerTarget, _ id: PeerID = kitchen, card: Card? = card, isSure: Bool = true
    ) -> [PeerEvent] {
        let peer = FoundPeer(id: id, card: card, target: target.expecting(id))
        return book.enter(peer, target, instance, isSure: isSure, isOver: true)
    }

    private func words(_ events: [PeerEvent]) -> [String] {
        events.map { event in
            switch event {
            case .found(let peer):
                "found \(peer.card?.name ?? "nobody") at \(peer.target.addressTexts.joined(separator: " and "))"
            case .gone: "gone"
            case .away, .trouble: "?"
            }
        }
    }

    private func expect(_ events: [PeerEvent], _ words: [String]) { #expect(self.words(events) == words) }

    @Test("a peer under another name of its record is the same peer, and news only if something else has changed")
    func renewed() throws {
        expect(try see("a", card: nil), ["found nobody at 192.0.2.1:9238"])
        expect(try see("b"), ["found Kitchen at 192.0.2.1:9238"])
        expect(try see("c"), [])
        for instance in ["a", "b"] {
            let removed = book.remove(instance)
            #expect(words(removed.news) == [] && removed.leaving == nil)
        }
        expect(book.remove("c").news, ["gone"])
    }

    @Test("a peer whose record went is not gone while another service is asked for the first time")
    func returning() throws {
        _ = try see("a")
        let target = try target("b")
        let removed = book.remove("a")
        #expect(words(removed.news) == [] && removed.leaving == Self.kitchen)
        expect(answer("b", target), [])
        expect(book.leave(Self.kitchen), [])
        expect(book.remove("b").news, ["gone"])
        // One that does not come back is gone, once.
        _ = try see("c")
        _ = book.target(for: try service("d"))
        let leaving = book.remove("c").leaving
        #expect(leaving == Self.kitchen)
        expect(book.leave(Self.kitchen), ["gone"])
        expect(book.leave(Self.kitchen), [])
    }

    @Test("a peer has the addresses of its newest record first, and those of a record that goes no longer")
    func addresses() throws {
        _ = try see("a", host: 1)
        expect(try see("b", host: 2), ["found Kitchen at 192.0.2.2:9238 and 192.0.2.1:9238"])
        let later = book.due(atMost: 8)
        #expect(later.map(\.instance) == ["b"])
        expect(book.remove("a").news, ["found Kitchen at 192.0.2.2:9238"])
    }

    @Test("a peer that does not answer in time keeps its name, and one that refuses it loses it")
    func silent() throws {
        _ = try see("a")
        expect(try see("b", card: nil, isSure: false), [])
        expect(try see("c", card: nil), ["found nobody at 192.0.2.1:9238"])
    }

    @Test("another peer under a known record takes the place of the one that was there")
    func replaced() throws {
        let target = try target("a")
        _ = answer("a", target)
        expect(answer("a", target, PeerID.sample(2), card: nil), ["gone", "found nobody at 192.0.2.1:9238"])
    }

    @Test("peers are asked again in turn, the own one and those that are being asked never")
    func due() throws {
        for number in 1...3 { _ = try see("\(number)", host: UInt8(number), .sample(UInt8(number))) }
        _ = try see("own", host: 9, Self.own)
        _ = book.target(for: try service("fresh", host: 8))
        let first = book.due(atMost: 2)
        #expect(first.map(\.instance) == ["1", "2"])
        let second = book.due(atMost: 8)
        #expect(second.map(\.instance) == ["3"], "the first two have not answered yet")
        for (instance, target) in first { _ = answer(instance, target, .sample(UInt8(instance) ?? 0)) }
        let (third, none) = (book.due(atMost: 1), book.due(atMost: 0))
        #expect(third.map(\.instance) == ["1"] && none.isEmpty)
    }

    /// The next attempt to connect, with its answer.
    private func trial(_ answer: PortAnswer) -> [PeerEvent] {
        let targets = book.peersToTry(atMost: 1)
        return targets.flatMap { book.note(answer, of: $0) }
    }

    @Test("a peer whose port is closed is gone, once, and comes back when it answers again")
    func killed() throws {
        _ = try see("a")
        expect(trial(.open), [])
        expect(trial(.refused), ["gone"])
        expect(trial(.refused), [])
        // Its record lives on, and is asked again.
        let again = book.due(atMost: 8)
        #expect(again.map(\.instance) == ["a"])
        expect(answer("a", again[0].target), ["found Kitchen at 192.0.2.1:9238"])
        expect(trial(.refused), ["gone"])
        _ = book.target(for: try service("b"))
        #expect(words(book.remove("a").news) == [], "it has gone before")
    }

    @Test("a peer is gone that does not answer twice in a row; one that answers stays, however busy it is")
    func unanswered() throws {
        _ = try see("a")
        for answer in [.silent, .open, .silent, .unknown] as [PortAnswer] { expect(trial(answer), []) }
        expect(trial(.silent), ["gone"])
    }

    @Test("an attempt says nothing about a peer that has other addresses by then")
    func moved() throws {
        _ = try see("a", host: 1)
        let tried = book.peersToTry(atMost: 1)
        expect(try see("a", host: 2), ["found Kitchen at 192.0.2.2:9238"])
        expect(book.note(.refused, of: tried[0]), [])
        expect(trial(.refused), ["gone"])
    }

    @Test("peers are tried in turn, each once at a time, and so many at most")
    func trials() throws {
        for number in 1...3 { _ = try see("\(number)", host: UInt8(number), .sample(UInt8(number))) }
        let first = book.peersToTry(atMost: 2)
        let second = book.peersToTry(atMost: 2)
        #expect(first.count == 2 && second.count == 1)
        #expect(Set((first + second).compactMap(\.expected)).count == 3)
        for target in second + first { _ = book.note(.open, of: target) }
        let third = book.peersToTry(atMost: 1)
        #expect(third == [first[0]])
    }
}
