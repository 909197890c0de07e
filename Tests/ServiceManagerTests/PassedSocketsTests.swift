import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ServiceManager

@Suite("Sockets that the service manager passes", .timeLimit(.minutes(1)))
struct PassedSocketsTests {
    private let expected: [String: PassedSockets.Kind] = ["waft": .tcp, "airdrop": .tcp, "control": .local]
    private let folder = TemporaryFolder()

    @Test("those with the right names, families and kinds are taken, and are closed at the start of another program")
    func taken() {
        let passed = passed([tcp(), tcp(AF_INET6), local("control")], "waft:airdrop:control")
        #expect(passed.sockets.warnings == [])
        for (place, name) in ["waft", "airdrop", "control"].enumerated() {
            let descriptor = passed.first + Int32(place)
            #expect(passed.sockets[name] == descriptor)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
        #expect(passed.sockets["other"] == nil)
    }

    @Test("an unknown, a doubled and a wrong one is closed with a warning, and the others are taken")
    func wrong() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        close(ends[1])
        let passed = passed(
            [
                tcp(), tcp(), tcp(), local("a"), tcp(), datagram(), socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0),
                ends[0],
            ],
            "other:waft:waft:airdrop:control:control:airdrop:airdrop")
        let reasons = [
            "other": "its name is none of airdrop, control, waft", "waft": "another one has its name",
            "airdrop": "it is not of the Internet", "control": "it is not one of this machine",
        ]
        for (name, reason) in reasons {
            #expect(
                passed.sockets.warnings.contains { $0.contains("socket \(name) (") && $0.contains(reason) },
                "\(passed.sockets.warnings)")
        }
        #expect(passed.sockets.warnings.contains { $0.hasSuffix("it does not listen") })
        #expect(passed.sockets.warnings.contains { $0.hasSuffix("it is no socket") })
        #expect(passed.sockets.warnings.count == 7)
        #expect(passed.sockets["waft"] == passed.first + 1)
        #expect((passed.sockets["airdrop"], passed.sockets["control"]) == (nil, nil))
        for place in 0..<8 where place != 1 { #expect(fcntl(passed.first + Int32(place), F_GETFD) == -1) }
    }

    @Test("a datagram socket is no stream")
    func datagrams() {
        let passed = passed([datagram()], "waft")
        #expect(passed.sockets.warnings.count == 1)
        #expect(passed.sockets.warnings.first?.hasSuffix("it is no stream") == true)
    }

    @Test("sockets without names, or with more or fewer names than sockets, are unknown")
    func nameless() {
        for names in [nil, "", "waft:waft", "waft:airdrop:control"] {
            let passed = passed([tcp()], names)
            #expect(passed.sockets.warnings.count == 1, "\(names ?? "-")")
            #expect(passed.sockets["waft"] == nil)
        }
    }

    @Test("sockets for another process are not touched")
    func others() {
        let passed = passed([tcp()], "waft", process: getpid() + 1)
        #expect(passed.sockets.warnings == [] && passed.sockets["waft"] == nil)
        #expect(fcntl(passed.first, F_GETFD) == 0)
        close(passed.first)
    }

    @Test(
        "a number of sockets that is none, or too large, is a warning", arguments: ["", "0", "-1", "x", "2147483648"])
    func numbers(text: String) {
        let environment = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": text, "LISTEN_FDNAMES": "waft"]
        let sockets = PassedSockets(environment: environment, expected: expected, first: 900)
        #expect(sockets.warnings.count == 1)
    }

    @Test("of more than sixteen sockets the first sixteen are looked at")
    func crowd() {
        let passed = passed((0..<17).map { _ in tcp() }, "waft" + String(repeating: ":x", count: 16))
        #expect(passed.sockets["waft"] != nil)
        #expect(passed.sockets.warnings.count == 16)
        #expect(passed.sockets.warnings.last == "17 sockets were passed, and at most 16 are taken")
        close(passed.first + 16)
    }

    // MARK: Passing

    private static let next = Mutex<Int32>(300)

    /// Passes descriptors at numbers that no other test uses.
    private func passed(
        _ descriptors: [Int32], _ names: String?, process: Int32 = getpid()
    ) -> (sockets: PassedSockets, first: Int32) {
        let count = Int32(descriptors.count)
        let first = Self.next.withLock { next in
            defer { next += count }
            return next
        }
        for (place, descriptor) in descriptors.enumerated() {
            dup2(descriptor, first + Int32(place))
            close(descriptor)
        }
        var environment = ["LISTEN_PID": "\(process)", "LISTEN_FDS": "\(count)"]
        environment["LISTEN_FDNAMES"] = names
        return (PassedSockets(environment: environment, expected: expected, first: first), first)
    }

    private func tcp(_ family: Int32 = AF_INET) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        // Without an address the kernel chooses a port.
        listen(descriptor, 1)
        return descriptor
    }

    private func datagram() -> Int32 { socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }

    private func local(_ name: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (folder / name).utf8) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        listen(descriptor, 1)
        return descriptor
    }
}
