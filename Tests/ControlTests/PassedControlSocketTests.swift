import Foundation
import Glibc
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Control

@Suite("A control socket that the service manager has opened", .timeLimit(.minutes(1)))
struct PassedControlSocketTests {
    private let folder = TemporaryFolder()

    @Test("is used, and is still there for the next receiver when this one has ended")
    func used() async throws {
        let socket = try ControlSocket(folder: folder.path)
        let passed = Self.listening(socket.path, mode: 0o600)
        defer { close(passed) }
        for _ in 1...2 {
            let server = try await ControlServer.bind(socket, passed: passed, on: group, logger: logger)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await server.run { _ in .status(status) } }
                defer { tasks.cancelAll() }
                try await expect(.status(status), to: .status, at: socket)
            }
            #expect(folder.names.contains("control"))
        }
    }

    @Test("answers a command that was connected before the receiver has made its secret", arguments: [nil, "old\n"])
    func earlyCommand(secret: String?) async throws {
        let socket = try ControlSocket(folder: folder.path)
        let passed = Self.listening(socket.path, mode: 0o600)
        defer { close(passed) }
        try secret?.write(toFile: socket.secretPath, atomically: false, encoding: .utf8)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await expect(.status(status), to: .status, at: socket) }
            // The kernel has connected the command.
            var file = pollfd(fd: passed, events: Int16(POLLIN), revents: 0)
            while poll(&file, 1, 0) == 0 { await Task.yield() }
            let server = try await ControlServer.bind(socket, passed: passed, on: group, logger: logger)
            tasks.addTask { await server.run { _ in .status(status) } }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    @Test("is not used if others can reach it or its folder, or if commands look elsewhere", arguments: 0..<3)
    func unfit(number: Int) async throws {
        let socket = try ControlSocket(folder: folder.path)
        let path = number == 2 ? folder / "elsewhere" : socket.path
        let passed = Self.listening(path, mode: number == 0 ? 0o666 : 0o600)
        defer { close(passed) }
        if number == 1 { chmod(folder.path, 0o755) }
        #expect(PassedControlSocket(passed, for: socket).fault != nil)
        let server = try await ControlServer.bind(socket, passed: passed, on: group, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await server.run { _ in .status(status) } }
            defer { tasks.cancelAll() }
            var file = stat()
            #expect(lstat(socket.path, &file) == 0 && file.st_mode & 0o777 == 0o600)
            try await expect(.status(status), to: .status, at: socket)
        }
    }

    private static func listening(_ path: String, mode: mode_t) -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        listen(descriptor, 16)
        chmod(path, mode)
        return descriptor
    }
}
