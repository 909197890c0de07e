import Foundation
import Lines
import Settings
import Sharing
import TestSupport
import Testing

@testable import Operations

@Suite("What a user can do with peers")
struct PeersTests {
    private let home: Kitchen

    init() throws { home = try Kitchen(jobs: 0) }

    @Test("an address is remembered under a name, replaced, and forgotten")
    func remembered() async throws {
        let peers = home.waft.peers
        let first = try peers.remember("lab7", at: "10.1.2.3")
        #expect(first.json == #"{"addresses":["10.1.2.3:9238"],"event":"remembered","name":"lab7","v":1}"#)
        #expect(first.former == nil)
        #expect(try peers.remember("lab7", at: "10.1.2.4:80").former == "10.1.2.3:9238")
        let removed = try peers.forget("lab7")
        #expect(removed.json == #"{"addresses":["10.1.2.4:80"],"event":"peerRemoved","name":"lab7","v":1}"#)
        let unknown = await failure { try peers.forget("lab7") }
        #expect(unknown?.code == .inputMissing && unknown?.hint == "see: waft peers")
        #expect(await failure { try peers.remember("lab7", at: "10.1.2.3:99999") }?.code == .usage)
        #expect(await failure { try peers.remember("a/b", at: "10.1.2.3") }?.code == .usage)
        try Data("{".utf8).write(to: URL(fileURLWithPath: home.home.rememberedPeersPath))
        #expect(await failure { try peers.forget("lab7") }?.code == .unexpected)
    }

    @Test("a remembered peer that does not answer is away, and a search without discovery says so")
    func search() async throws {
        var settings = Settings(hostName: "kitchen")
        settings.discovery = false
        let waft = Waft(home.home, LiveSettings(settings), logger: home.waft.logger)
        _ = try waft.peers.remember("lab7", at: "127.0.0.1:1")
        var lines: [String] = []
        for await news in try waft.peers.search(for: .milliseconds(300)) {
            switch news {
            case .away(let peer): lines.append("\(peer.name) \(peer.addresses)")
            case .trouble(let reason): lines.append(reason)
            case .found, .lost: Issue.record("there is no peer")
            }
        }
        #expect(
            lines.sorted() == ["discovery is off: peers are reached by address only", #"lab7 ["127.0.0.1:1"]"#])
    }

    @Test("a search cannot begin without a key")
    func damaged() async throws {
        try Data("{".utf8).write(to: URL(fileURLWithPath: home.home.state + "/identity.pem"))
        #expect(await failure { try home.waft.peers.search(for: .zero) }?.code == .unexpected)
    }
}
