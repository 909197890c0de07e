import Foundation
import TestSupport
import Testing

@testable import Sending

@Suite("The remembered peers")
struct RememberedPeersTests {
    private let folder = TemporaryFolder()

    private var peers: RememberedPeers { RememberedPeers(path: folder / "state/remembered-peers.json") }

    private func code(_ body: () throws(RememberedPeerError) -> Void) -> RememberedPeerError.Code? {
        do throws(RememberedPeerError) { try body() } catch { return error.code }
        return nil
    }

    @Test(
        "an address has a port, a zone, brackets, or none of them",
        arguments: [
            ("10.1.2.3", "10.1.2.3:9238"), ("10.1.2.3:80", "10.1.2.3:80"), ("nas.lan", "nas.lan:9238"),
            ("nas.lan.", "nas.lan.:9238"), ("my_nas-2.lan:80", "my_nas-2.lan:80"),
            ("[fd00::1]:80", "[fd00::1]:80"), ("fe80::1%eth0", "[fe80::1%eth0]:9238"),
        ])
    func addresses(text: String, address: String) throws {
        #expect(try RememberedPeer(name: "lab7", address: text).addressText == address)
    }

    @Test(
        "hostile names and addresses are refused",
        arguments: [
            ("lab7", ""), ("lab7", "10.1.2.3:0"), ("lab7", "10.1.2.3:65536"), ("lab7", "a/b"), ("lab7", "a b"),
            ("lab7", "a\u{1B}[2J"), ("lab7", "fe80::1%../x"), ("lab7", "[::1"),
            ("lab7", String(repeating: "a", count: 256)), ("lab7", "a..b"), ("lab7", ".a"), ("lab7", "a..:80"),
            ("lab7", "-a.lan"), ("lab7", "300.1.1.1"), ("lab7", "nas.7"), ("lab7", "a-.lan"), ("lab7", "."),
            ("lab7", String(repeating: "a", count: 64) + ".lan"),
            ("", "10.1.2.3"), ("a:1", "10.1.2.3"), ("10.1.2.4", "10.1.2.3"), ("a\nb", "10.1.2.3"), ("../x", "10.1.2.3"),
            ("everyone", "10.1.2.3"), (String(repeating: "a", count: 64), "10.1.2.3"), ("\u{202E}x", "10.1.2.3"),
        ])
    func refused(name: String, address: String) {
        #expect(
            code { () throws(RememberedPeerError) in _ = try RememberedPeer(name: name, address: address) } == .unfit)
    }

    @Test("are read back in order, found without regard to case, replaced by name, and forgotten")
    func roundTrip() throws {
        #expect(try peers.all() == [])
        let (first, second) = (
            try RememberedPeer(name: "Lab 7", address: "10.1.2.3"),
            try RememberedPeer(name: "lab8", address: "10.1.2.4")
        )
        #expect(try peers.remember(first) == nil)
        #expect(try peers.remember(second) == nil)
        #expect(try peers.all() == [first, second])
        #expect(try peers.peer(named: "LAB 7") == first)
        #expect(try peers.peer(named: "a/b") == nil)
        let moved = try RememberedPeer(name: "LAB 7", address: "10.9.9.9")
        #expect(try peers.remember(moved) == first)
        #expect(try peers.all().map(\.host) == ["10.9.9.9", "10.1.2.4"])
        #expect(try peers.forget("lab 7") == moved)
        #expect(code { () throws(RememberedPeerError) in try peers.forget("lab 7") } == .unknown)
        #expect(try peers.all() == [second])
        let mode = try FileManager.default.attributesOfItem(atPath: peers.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("are at most 256")
    func full() throws {
        for number in 0..<RememberedPeers.maximumCount {
            try peers.remember(RememberedPeer(name: "p\(number)", address: "10.1.2.3"))
        }
        let more = try RememberedPeer(name: "more", address: "10.1.2.3")
        #expect(code { () throws(RememberedPeerError) in try peers.remember(more) } == .full)
        // One that is known can still change.
        try peers.remember(RememberedPeer(name: "p0", address: "10.1.2.4"))
        #expect(try peers.all().count == RememberedPeers.maximumCount)
    }

    @Test(
        "a damaged file is reported and stays as it is",
        arguments: [
            "", "{", #"{"version":2,"peers":[]}"#, #"{"version":1,"peers":[{"name":"a","host":"b/c","port":1}]}"#,
            #"{"version":1,"peers":[{"name":"a","host":"b","port":1},{"name":"A","host":"c","port":1}]}"#,
        ])
    func damaged(text: String) throws {
        try FileManager.default.createDirectory(atPath: folder / "state", withIntermediateDirectories: true)
        try text.write(toFile: peers.path, atomically: false, encoding: .utf8)
        #expect(code { () throws(RememberedPeerError) in _ = try peers.all() } == .damaged)
        let peer = try RememberedPeer(name: "a", address: "10.1.2.3")
        #expect(code { () throws(RememberedPeerError) in try peers.remember(peer) } == .damaged)
        #expect(try String(contentsOfFile: peers.path, encoding: .utf8) == text)
    }

    @Test("changes at the same time lose none of them")
    func together() async throws {
        let peers = self.peers
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask { try peers.remember(RememberedPeer(name: "p\(number)", address: "10.1.2.3")) }
            }
            try await group.waitForAll()
        }
        #expect(try peers.all().count == 16)
    }
}
