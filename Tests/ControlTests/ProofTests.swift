import Foundation
import HookSandbox
import NIOCore
import TestSupport
import Testing

@testable import Control

@Suite("Clients that the control socket answers", .timeLimit(.minutes(1)))
struct ProofTests {
    private static let status = "{\"message\":{\"status\":{}},\"v\":2}\n"

    @Test("a client that does not show the secret first gets no answer, and its requests are not executed")
    func wrong() async throws {
        let heard = Recorder<ControlRequest>()
        try await withServer { request in
            heard.record(request)
            return .done
        } _: { socket, _ in
            let digits = String(repeating: "0", count: 64) + "\n"
            for opening in ["", "\n", "0\n", digits, "proof\n" + (try proof(at: socket))] {
                let answer = try await bare(socket, proving: false) { inbound, outbound in
                    try? await outbound.write(ByteBuffer(string: opening + Self.status + Self.status))
                    var received = ""
                    for try await piece in inbound { received += String(buffer: piece) }
                    return received
                }
                #expect(answer.contains("\"denied\"") && answer.contains("secret"), "\(opening): \(answer)")
            }
            #expect(heard.all.isEmpty)
            try await expect(.done, to: .status, at: socket)
        }
    }

    @Test("the secret is another one at each start, for this user alone, and gone when the server has stopped")
    func secret() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        var seen: Set<String> = []
        for _ in 0..<3 {
            let server = try await ControlServer.bind(socket, on: group, logger: logger)
            let running = Task { await server.run { _ in .done } }
            var facts = stat()
            #expect(lstat(socket.secretPath, &facts) == 0 && facts.st_mode & 0o7777 == 0o600)
            #expect(try proof(at: socket).utf8.count == 65)
            seen.insert(try proof(at: socket))
            try await expect(.done, to: .status, at: socket)
            running.cancel()
            await running.value
        }
        #expect(seen.count == 3)
        #expect(folder.names == ["control.lock"])
    }

    @Test("a client that cannot read the secret says which file it is")
    func unreadable() async throws {
        try await withServer { socket, _ in
            rename(socket.secretPath, socket.secretPath + ".away")
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient.ask(.status, at: socket, on: group)
            }
            #expect(error?.code == .denied && error?.description.contains(socket.secretPath) == true)
        }
    }

    @Test("a client that shows nothing is soon disconnected, and takes no other client's place")
    func silent() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        let server = try await ControlServer.bind(
            socket, on: group, proofTimeout: .seconds(3), logger: logger)
        let running = Task { await server.run { _ in .done } }
        // There are more silent connections than places for commands.
        let served = try BareSocket(socket)
        served.write(Self.status)
        #expect(served.lines(1).count == 1)
        let silent = try (0..<40).map { _ in try BareSocket(socket, proving: false) }
        for client in silent { try await until { client.isClosed } }
        served.write(Self.status)
        #expect(served.lines(1).count == 1)
        running.cancel()
        await running.value
    }

    @Test(
        "a program that a launcher has started is refused, even if it has the secret, also after its parent has ended",
        arguments: ["python3 ask.py", "python3 -c 'import os; os.execvp(\"python3\", [\"python3\", \"ask.py\"])'"])
    func descendant(command: String) async throws {
        let heard = Recorder<ControlRequest>()
        try await withServer { request in
            heard.record(request)
            return .done
        } _: { socket, folder in
            folder.file("ask.py", Self.asking)
            // Each launcher has this first argument. The last command keeps the shell above the program that it starts.
            folder.file("__sandboxed", command + "\n:\n")
            let asking = Process()
            asking.executableURL = URL(fileURLWithPath: "/bin/sh")
            asking.arguments = ["__sandboxed"]
            asking.currentDirectoryURL = URL(fileURLWithPath: folder.path)
            let output = Pipe()
            asking.standardOutput = output
            try asking.run()
            let answer = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            asking.waitUntilExit()
            #expect(answer.contains("\"denied\"") && answer.contains("handler"), "\(answer)")
        }
        #expect(heard.all.isEmpty)
    }

    @Test("a program that the receiver itself has started is refused")
    func child() async throws {
        try await withServer { socket, folder in
            folder.file("ask.py", Self.asking)
            let asking = Process()
            asking.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            asking.arguments = ["python3", "ask.py"]
            asking.currentDirectoryURL = URL(fileURLWithPath: folder.path)
            let output = Pipe()
            asking.standardOutput = output
            try asking.run()
            let answer = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            asking.waitUntilExit()
            #expect(answer.contains("\"denied\"") && answer.contains("receiver"), "\(answer)")
        }
    }

    /// Asks for the status with the secret.
    private static let asking = """
        import socket
        s = socket.socket(socket.AF_UNIX)
        s.connect("control")
        s.sendall(open("control.secret", "rb").read() + b'\\n{"message":{"status":{}},"v":2}\\n')
        print(s.makefile().read())
        """
}

@Suite("The ancestors of a process")
struct ProcessDescentTests {
    @Test("of this test is the user's; of a process that has gone, or that cannot be seen, nothing is known")
    func own() {
        #expect(ProcessDescent.of(getpid()) == .user)
        #expect(ProcessDescent.of(getpid(), receiver: getppid()) == .receiver)
        #expect(ProcessDescent.of(getpid()) { false } == .unknown("it has ended"))
        for process: Int32 in [0, -1, .max] {
            guard case .unknown = ProcessDescent.of(process) else {
                Issue.record("\(process) is taken for somebody's")
                continue
            }
        }
    }
}
