import Contacts
import Endpoints
import Glibc
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import Sending

@Suite("A search for a peer by name", .timeLimit(.minutes(1)))
struct PeerFinderTests {
    private let old = DialAddress(host: "192.0.2.1", port: 8_770)
    private let new = DialAddress(host: "192.0.2.2", port: 8_770)

    private func peer(_ dialect: Dialect, _ seed: UInt8, _ addresses: [DialAddress]) -> FoundPeer {
        let id = dialect.provesKeys ? PeerID.sample(seed) : .unproven(dialect, seed: [seed])
        var target = PeerTarget(
            dialect, addresses: addresses, announcement: .init(instance: "instance-\(seed)", facts: [:]))
        target.name = "Mac"
        return FoundPeer(id: id, card: Card(name: "Mac", device: "x"), target: target)
    }

    private func find(_ peers: FoundPeer...) async throws -> PeerTarget {
        let finder = PeerFinder(endpoints: [ScriptedEndpoint(dialect: .keyless, peers: peers)], searches: true)
        return try await finder.resolve(.name("mac"), within: .seconds(20))
    }

    private func find(_ name: String, _ peers: FoundPeer...) async throws -> PeerTarget {
        let finder = PeerFinder(endpoints: [ScriptedEndpoint(dialect: .keyed, peers: peers)], searches: true)
        return try await finder.resolve(.name(name), within: .seconds(20))
    }

    @Test("finds one peer without a key that was started again, while the record of its old instance is still there")
    func restarted() async throws {
        let target = try await find(peer(.keyless, 1, [old]), peer(.keyless, 2, [old]))
        #expect(target.announcement?.instance == "instance-2")
    }

    @Test("prefers a peer that proves a key to peers of the same name that prove none")
    func preference() async throws {
        let target = try await find(peer(.keyless, 1, [old]), peer(.keyed, 2, [new]))
        #expect(target.dialect == .keyed)
    }

    @Test("asks for the beginning of the id if several peers have the name")
    func ambiguous() async throws {
        let failure = await #expect(throws: SendError.self) {
            try await find(peer(.keyed, 1, [old]), peer(.keyed, 2, [new]))
        }
        #expect(failure?.description.hasPrefix("2 peers are called mac; ") == true)
    }

    @Test("asks whether a near name was meant: a contact's first, never one of a stranger that has a contact's name")
    func near() async throws {
        let folder = TemporaryFolder()
        let book = ContactBook(path: folder / "contacts.json")
        try book.allow(.sample(7), named: try ContactName("kitchen"), Verification(.keyID, at: .now))
        var impostor = peer(.keyed, 1, [old])
        impostor.card = Card(name: "kitchem", device: "x")
        var study = peer(.keyed, 2, [new])
        study.card = Card(name: "study", device: "x")
        let endpoint = ScriptedEndpoint(dialect: .keyed, peers: [impostor, study])
        let finder = PeerFinder(endpoints: [endpoint], contacts: book, searches: true)
        for (typed, meant) in [("kitchn", "kitchen"), ("stady", "study")] {
            let failure = await #expect(throws: SendError.self) {
                try await finder.resolve(.name(typed), within: .milliseconds(50))
            }
            #expect(failure?.description == "no machine named \(typed) was found; did you mean \(meant)?")
            #expect(
                failure?.advice.first
                    == "in view: \(PeerID.sample(1).short) (not your contact kitchen), study")
        }
    }

    @Test("finds a peer that a scan has shown, by name and id, and asks it anew")
    func scanned() async throws {
        let folder = TemporaryFolder()
        let scanned = ScannedPeers(path: folder / "scanned-peers.json")
        let endpoint = ScriptedEndpoint(dialect: .keyed, peers: [], scannable: peer(.keyed, 1, [old]))
        let finder = PeerFinder(endpoints: [endpoint], scanned: scanned, searches: true)
        await #expect(throws: SendError.self) {
            try await finder.resolve(.name("Mac"), within: .milliseconds(50))
        }
        var shown: [PeerID] = []
        for await event in finder.peers(for: .milliseconds(1), scanning: true) {
            if case .found(let peer) = event { shown.append(peer.id) }
        }
        #expect(Set(shown) == [.sample(1)])
        for name in ["Mac", PeerID.sample(1).short] {
            #expect(try await finder.resolve(.name(name), within: .seconds(20)).addresses == [old])
        }
        let late = WallTime(milliseconds: WallTime.now.milliseconds + 600_000)
        #expect(scanned.recent() == [old] && scanned.recent(now: late).isEmpty)
    }

    @Test("takes a name as Waft shows it, and asks if two peers are shown by the same name")
    func shown() async throws {
        var quoted = peer(.keyed, 1, [old])
        quoted.card = Card(name: #"Ask "q" <b>"#, device: "x")
        #expect(try await find("Ask _q_ <b>", quoted).addresses == [old])
        var plain = peer(.keyed, 2, [new])
        plain.card = Card(name: "Ask _q_ <b>", device: "x")
        #expect(try await find(#"ask "q" <b>"#, quoted, plain).addresses == [old])
        let failure = await #expect(throws: SendError.self) { try await find("Ask _q_ <b>", quoted, plain) }
        #expect(failure?.description.hasPrefix("2 peers are called Ask _q_ <b>; ") == true)
    }

    @Test("takes the shown form of a contact's name for the contact, and for no stranger of that name")
    func shownContact() async throws {
        let folder = TemporaryFolder()
        let book = ContactBook(path: folder / "contacts.json")
        try book.allow(.sample(7), named: try ContactName("👩\u{200D}👧"), Verification(.keyID, at: .now))
        var stranger = peer(.keyed, 1, [old])
        stranger.card = Card(name: #"👩\u{200D}👧"#, device: "x")
        var contact = peer(.keyed, 7, [new])
        contact.card = Card(name: "family", device: "x")
        let endpoint = ScriptedEndpoint(dialect: .keyed, peers: [stranger, contact])
        let finder = PeerFinder(endpoints: [endpoint], contacts: book, searches: true)
        let target = try await finder.resolve(.name(#"👩\u{200D}👧"#), within: .seconds(20))
        #expect(target.addresses == [new])
    }

    @Test("takes a whole id for its contact, which is looked for where it was last")
    func contactByID() async throws {
        let folder = TemporaryFolder()
        let book = ContactBook(path: folder / "contacts.json")
        try book.allow(.sample(7), named: try ContactName("attic"), Verification(.keyID, at: .now))
        let endpoint = ScriptedEndpoint(dialect: .keyed, peers: [])
        let finder = PeerFinder(endpoints: [endpoint], contacts: book, searches: false)
        let failure = await #expect(throws: SendError.self) {
            try await finder.resolve(.name(PeerID.sample(7).text), within: .seconds(20))
        }
        #expect(failure?.description == "attic (\(PeerID.sample(7).short)) was not found")
    }

    @Test("asks nobody else on the link if a contact answers where it was last")
    func contactAtItsAddress() async throws {
        let folder = TemporaryFolder()
        let book = ContactBook(path: folder / "contacts.json")
        try book.allow(.sample(7), named: try ContactName("attic"), Verification(.keyID, at: .now))
        try book.remember(KnownAddress(host: old.host, port: 8_770, lastGood: .now), of: .sample(7))
        // Its search would find the contact elsewhere, and at once.
        let endpoint = ScriptedEndpoint(dialect: .keyed, peers: [peer(.keyed, 7, [new])], probed: .expected)
        let finder = PeerFinder(endpoints: [endpoint], contacts: book, searches: true)
        let target = try await finder.resolve(.name("attic"), within: .seconds(20))
        #expect(target.addresses == [old])
    }

    @Test("waits for a second peer of the name until those in view have answered, and a while after a late first one")
    func settled() {
        let began = ContinuousClock.now
        func wait(_ found: Int) -> Duration {
            PeerFinder.settled(since: began, found: began + .milliseconds(found)) - began
        }
        #expect(wait(0) == .milliseconds(150) && wait(100) == .milliseconds(150) && wait(120) == .milliseconds(170))
        #expect(wait(1_000) == .milliseconds(1_150))
    }

    @Test("takes a host of that name if no peer has it, long before the search ends")
    func host() async throws {
        let finder = PeerFinder(endpoints: [ScriptedEndpoint(dialect: .keyed, peers: [])], searches: true)
        let target = try await finder.resolve(.name("localhost"), within: .seconds(600))
        #expect(target.addresses.map(\.host) == ["localhost"])
    }

    @Test("takes neither if a host and another machine in view have a name with a dot, and says how to name each")
    func nameOfHost() async throws {
        var stranger = peer(.keyed, 1, [old])
        stranger.card = Card(name: "backup.lan", device: "x")
        func target(_ name: String, _ known: [String]) async throws -> PeerTarget {
            let finder = PeerFinder(
                endpoints: [ScriptedEndpoint(dialect: .keyed, peers: [stranger])], searches: true,
                addressesOfHost: { $0 == "backup.lan" ? known : [] })
            return try await finder.resolve(.name(name), within: .seconds(20))
        }
        let failure = await #expect(throws: SendError.self) { try await target("backup.lan", ["198.51.100.7"]) }
        #expect(failure?.description == "backup.lan is a host, and another machine in view calls itself so")
        #expect(
            failure?.advice == [
                "the host: --to backup.lan:9238",
                "the other machine (192.0.2.1:8770): --to \(PeerID.sample(1).short)",
            ])
        #expect(try await target("backup.lan", []).addresses == [old])
        #expect(try await target(PeerID.sample(1).short, ["198.51.100.7"]).addresses == [old])
        let slow = PeerFinder(
            endpoints: [ScriptedEndpoint(dialect: .keyed, peers: [stranger])], searches: true,
            addressesOfHost: { _ in
                sleep(2)
                return ["198.51.100.7"]
            })
        await #expect(throws: SendError.self) { try await slow.resolve(.name("backup.lan"), within: .seconds(20)) }
        // It is the host itself, which is reached at no address that DNS does not have.
        stranger.target.addresses = [new, old]
        #expect(try await target("backup.lan", [old.host]).addresses == [old])
    }

    @Test("asks for another dialect at a port where the first one is not spoken")
    func otherDialect() async throws {
        let foreign = ScriptedEndpoint(dialect: .keyed, peers: [], fault: .otherProgram)
        let other = ScriptedEndpoint(dialect: .keyless, peers: [], scannable: peer(.keyless, 2, [old]))
        let finder = PeerFinder(endpoints: [foreign, other], searches: false)
        #expect(try await finder.meet(host: "192.0.2.1", port: 8_770, within: .seconds(20)).dialect == .keyless)
        await #expect(throws: MeetingError.self) {
            try await finder.meet(host: "192.0.2.1", port: 9_238, within: .seconds(20))
        }
    }

    @Test("that is in vain says first what a dialect knows about its peers")
    func absent() async throws {
        var endpoint = ScriptedEndpoint(dialect: .keyed, peers: [])
        endpoint.absenceAdvice = ["open the window"]
        let finder = PeerFinder(endpoints: [endpoint], searches: true, addressesOfHost: { _ in [] })
        let failure = await #expect(throws: SendError.self) {
            _ = try await finder.resolve(.name("phone"), within: .milliseconds(50))
        }
        #expect(failure?.advice.first == "open the window" && failure?.advice.count == 4, "\(failure?.advice ?? [])")
    }

    @Test("passes over peers with another key than the expected one")
    func expected() async throws {
        let peers = [peer(.keyed, 1, [old]), peer(.keyed, 2, [new])]
        let finder = PeerFinder(endpoints: [ScriptedEndpoint(dialect: .keyed, peers: peers)], searches: true)
        let target = try await finder.resolve(.name("Mac"), expecting: .sample(2), within: .seconds(20))
        #expect(target.expected == .sample(2) && target.addresses == [new])
    }
}

/// An endpoint whose search finds the given peers.
private struct ScriptedEndpoint: Endpoint {
    let dialect: Dialect
    let peers: [FoundPeer]
    /// Found by a scan, and asked at its address; not found by a search.
    var scannable: FoundPeer?
    var absenceAdvice: [String] = []
    /// The answer at any address.
    var probed = ProbeResult.nothing
    /// Why nobody is met.
    var fault = MeetingError.Kind.unreachable

    func candidate(host: String, port: UInt16?) -> PeerTarget? {
        PeerTarget(dialect, addresses: [DialAddress(host: host, port: Int(port ?? 1))])
    }

    func scan(_ found: AsyncStream<PeerEvent>.Continuation) async {
        if let scannable { found.yield(.found(scannable)) }
    }

    func target(host: String, port: UInt16) -> PeerTarget? {
        dialect == .keyless ? nil : candidate(host: host, port: port)
    }

    func meet(_ target: PeerTarget, within limit: Duration) async throws(MeetingError) -> FoundPeer {
        guard let scannable else { throw MeetingError(fault, "nobody is there") }
        return scannable
    }

    func probe(_ target: PeerTarget, within limit: Duration) async -> ProbeResult { probed }

    func listen(_ host: ReceivingHost) async throws {}

    func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async {
        for peer in peers { found.yield(.found(peer)) }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
    }

    func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        throw SendError(.unreachable, "nothing is sent here")
    }
}
