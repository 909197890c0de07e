import Foundation
import Glibc
import Subprocess
import Testing

/// Sockets that `systemd-socket-activate` opens for a receiver.
@Suite(
    "A receiver with passed sockets", .serialized, .timeLimit(.minutes(2)),
    .enabled("systemd-socket-activate is not installed: Scripts/setup tests") {
        SystemdTools.arePresent
    })
struct SocketActivationTests {

    @Test("is started by a sender, uses the sockets, and says that they beat its port")
    func started() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try Self.makeRunFolder(kitchen)
            let (port, other) = (try freePort(), try freePort())
            let options = ["--port", "\(other)", "--accept", "everyone"]
            let words = Self.words(kitchen, [port: "waft", nil: "control"], options)
            let photo = folder + "/photo.txt"
            try "hello".write(toFile: photo, atomically: false, encoding: .utf8)
            try await kitchen.withProgram("/bin/sh", words, signal: .terminate) { running in
                try await running.transcript.says("Listening on", times: 2)
                let sent = try await study.run(arguments: ["send", photo, "--to", "127.0.0.1:\(port)"])
                #expect(sent.exit == 0, "\(sent.errors)")
                let status = try await kitchen.run(arguments: ["status"])
                #expect(status.output.contains("port             \(port)\n"), "\(status)")
                let line = "the socket of the service manager is used, not the port of the settings"
                try await running.transcript.says(line)
                // The port stays open while the receiver is off, but no sender has to wait.
                #expect(try await kitchen.run(arguments: ["visible", "off"]).exit == 0)
                let refused = try await study.run(
                    arguments: ["send", photo, "--timeout", "1", "--to", "127.0.0.1:\(port)"])
                #expect(refused.exit == 11, "\(refused)")
                #expect(try await kitchen.run(arguments: ["visible", "everyone"]).exit == 0)
                let again = try await study.run(arguments: ["send", photo, "--to", "127.0.0.1:\(port)"])
                #expect(again.exit == 0, "\(again.errors)")
            }
        }
    }

    @Test("closes a socket of an unknown name with a warning, and binds its own")
    func unknown() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let port = try freePort()
            let words = Self.words(kitchen, [port: "other"], ["--port", "0"])
            try await kitchen.withProgram("/bin/sh", words, signal: .terminate) { running in
                try await running.transcript.says("Listening on")
                Self.connectOnce(to: port)
                try await running.transcript.says(
                    "the passed socket other (descriptor 3) is closed: its name is none of")
                try await running.transcript.says("receiving")
                let status = try await kitchen.run(arguments: ["status"])
                #expect(status.exit == 0 && !status.output.contains("port             \(port)\n"), "\(status)")
            }
        }
    }

    /// The command line: sockets by their ports, or nil for the control socket, with their names.
    private static func words(_ host: Host, _ sockets: [Int?: String], _ arguments: [String]) -> [String] {
        let sorted = sockets.sorted { $0.value > $1.value }
        let listening = sorted.flatMap { ["-l", $0.key.map { "127.0.0.1:\($0)" } ?? host.home + "/run/control"] }
        let names = "--fdname=" + sorted.map(\.value).joined(separator: ":")
        // The control socket must be private from the beginning.
        return ["-c", "umask 077; exec \"$@\"", "sh", SystemdTools.socketActivate] + listening + [
            names, "-E", "WAFT_HOME=\(host.home)", "-E", "WAFT_DISCOVERY=off", "-E", "WAFT_NOTIFICATIONS=off",
            Programs.waftd,
        ] + arguments
    }

    /// The folder of the control socket, which must be private before the socket is made.
    private static func makeRunFolder(_ host: Host) throws {
        try FileManager.default.createDirectory(
            atPath: host.home + "/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for folder in [host.home, host.home + "/run"] { chmod(folder, 0o700) }
    }

    private static func connectOnce(to port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
