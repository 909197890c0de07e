import NIOCore
import Testing

@testable import SecureTransport

@Suite struct HappyEyeballsTests {
    private typealias Candidate = HappyEyeballs.Candidate

    private func candidate(_ host: String, port: Int = 1) throws -> Candidate {
        let source = DialAddress(host: host, port: port)
        return Candidate(address: try #require(source.literal), source: source)
    }

    /// The hosts that are connected to.
    private func hosts(_ actions: [HappyEyeballs.Action]) -> [String] {
        actions.compactMap { action in
            guard case .connect(_, let candidate) = action else { return nil }
            return candidate.source.host
        }
    }

    @Test("families take turns, beginning with that of the first address")
    func turns() throws {
        var eyeballs = HappyEyeballs(namesBeingResolved: 0, limit: 10)
        let all = try ["::1", "::2", "::3", "127.0.0.1", "127.0.0.2"].map { try candidate($0) }
        var order = hosts(eyeballs.start(all))
        for _ in 0..<4 { order += hosts(eyeballs.headStartElapsed()) }
        #expect(order == ["::1", "127.0.0.1", "::2", "127.0.0.2", "::3"])
        #expect(eyeballs.headStartElapsed().isEmpty)
    }

    @Test("a failure starts the next attempt at once, and the last one gives up")
    func failures() throws {
        var eyeballs = HappyEyeballs(namesBeingResolved: 0, limit: 10)
        #expect(hosts(eyeballs.start([try candidate("127.0.0.1"), try candidate("127.0.0.2")])) == ["127.0.0.1"])
        let next = eyeballs.failed(attempt: 0)
        #expect(hosts(next) == ["127.0.0.2"])
        #expect(next.last == .startHeadStart)
        #expect(eyeballs.failed(attempt: 1) == [.giveUp])
    }

    @Test("it does not give up while an attempt or a name is under way")
    func timeout() throws {
        var eyeballs = HappyEyeballs(namesBeingResolved: 1, limit: 10)
        _ = eyeballs.start([try candidate("127.0.0.1"), try candidate("127.0.0.2")])
        _ = eyeballs.headStartElapsed()
        #expect(eyeballs.failed(attempt: 0).isEmpty)
        #expect(eyeballs.failed(attempt: 1).isEmpty)
        #expect(hosts(eyeballs.resolved([try candidate("127.0.0.3")])) == ["127.0.0.3"])
        #expect(eyeballs.failed(attempt: 2) == [.giveUp])
    }

    @Test("a name that stands for nothing ends the wait for it")
    func emptyName() throws {
        var eyeballs = HappyEyeballs(namesBeingResolved: 2, limit: 10)
        #expect(eyeballs.start([]).isEmpty)
        #expect(eyeballs.resolved([]).isEmpty)
        #expect(eyeballs.resolved([]) == [.giveUp])
    }

    @Test("the addresses of a name wait for the head start of the attempt before them")
    func nameDuringHeadStart() throws {
        var eyeballs = HappyEyeballs(namesBeingResolved: 2, limit: 10)
        _ = eyeballs.start([try candidate("127.0.0.1")])
        #expect(eyeballs.resolved([try candidate("::1")]).isEmpty)
        #expect(hosts(eyeballs.headStartElapsed()) == ["::1"])
        #expect(eyeballs.headStartElapsed().isEmpty)
        #expect(hosts(eyeballs.resolved([try candidate("::2")])) == ["::2"])
    }

    @Test("an address is tried once, and no more of them than the limit")
    func limit() throws {
        var eyeballs = HappyEyeballs(namesBeingResolved: 1, limit: 2)
        let same = try candidate("127.0.0.1")
        #expect(hosts(eyeballs.start([same, same, try candidate("127.0.0.2"), try candidate("127.0.0.3")])).count == 1)
        #expect(hosts(eyeballs.failed(attempt: 0)) == ["127.0.0.2"])
        #expect(eyeballs.resolved([try candidate("127.0.0.4")]).isEmpty)
        #expect(eyeballs.failed(attempt: 1) == [.giveUp])
    }

    @Test("nothing to try is given up at once")
    func nothing() {
        var eyeballs = HappyEyeballs(namesBeingResolved: 0, limit: 2)
        #expect(eyeballs.start([]) == [.giveUp])
    }

    @Test("a link-local address keeps its interface")
    func scope() throws {
        let address = DialAddress(host: "fe80::1", port: 5, scopeID: 1)
        #expect(try #require(address.literal) == SocketAddress(ipAddress: "fe80::1%lo", port: 5))
        #expect(address.description == "[fe80::1%lo]:5")
        #expect(DialAddress(host: "fe80::1%lo", port: 5).literal == address.literal)
        #expect(DialAddress(host: "10.0.0.1", port: 5, scopeID: 1).literal?.ipAddress == "10.0.0.1")
        #expect(DialAddress(host: "kitchen", port: 5).literal == nil)
    }
}
