import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import SecureTransport

@Suite("A port that is asked whether anybody listens", .timeLimit(.minutes(1)))
struct PortAnswerTests {
    private func answer(_ hosts: String..., port: Int) async -> PortAnswer {
        await .of(hosts.map { DialAddress(host: $0, port: port) }, within: .seconds(30))
    }

    @Test("is open if a program listens, though it accepts nobody, and closed after it")
    func open() async throws {
        // A server that does not read accepts nothing; the kernel does.
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.autoRead, value: false).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        #expect(await answer("127.0.0.1", port: port) == .open)
        #expect(await answer("::1", "127.0.0.1", port: port) == .open, "the second address is tried too")
        try await server.close()
        #expect(await answer("127.0.0.1", port: port) == .refused)
    }

    @Test("is unknown without an address")
    func nowhere() async {
        #expect(await answer(port: 1) == .unknown)
        #expect(await answer("kitchen.lan", port: 1) == .unknown)
    }

    @Test("gets no byte, and the connection ends at once")
    func silent() async throws {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(server, place, size) == 0 && listen(server, 8) == 0 && getsockname(server, place, &size) == 0
            }
        }
        try #require(isOpen)
        #expect(await answer("127.0.0.1", port: Int(UInt16(bigEndian: address.sin_port))) == .open)
        let connection = accept(server, nil, nil)
        defer { close(connection) }
        var byte: UInt8 = 0
        #expect(read(connection, &byte, 1) == 0)
    }
}
