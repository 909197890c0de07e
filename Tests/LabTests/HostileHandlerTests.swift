import Foundation
import Subprocess
import Testing

/// A sandboxed handler that a received file has taken over, at a real receiver.
@Suite("A hostile handler", .serialized, .timeLimit(.minutes(2)))
struct HostileHandlerTests {
    @Test(
        "it reads no secret, changes no mode, reaches no socket and no process, and does not outlive a killed receiver")
    func attacks() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/kitchen")
            let study = Host.loopback(folder + "/study")
            let out = folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            try #require(mkfifo(out + "/alive", 0o600) == 0)
            // Held open for reading, so that the handler need not wait for a reader.
            let alive = open(out + "/alive", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(alive) }
            let script = """
                #!/bin/sh
                home='\(host.home)' out='\(out)'
                try() { name=$1; shift; if "$@" > /dev/null 2>&1; then echo "$name" >> "$out/done"; fi; }
                warden=$PPID
                read -r _ _ _ waft _ < /proc/$warden/stat
                try identity cat "$home/state/identity.pem"
                try contacts cat "$home/state/contacts.json"
                try configuration ls "$home/config"
                try state ls "$home/state"
                try handlers ls "$home/handlers"
                try root cat "/proc/$waft/root$home/state/identity.pem"
                try environment cat "/proc/$waft/environ"
                try chmod chmod 0777 "$home/state"
                try touch touch -c "$WAFT_FILE"
                try mode chmod 0777 "$WAFT_FILE"
                try signal kill -0 "$waft"
                try warden kill -0 "$warden"
                try socket python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
                try network python3 -c 'import socket; socket.socket()'
                echo tried >> "$out/done"
                exec 9> "$out/alive"
                setsid sh -c 'trap "" TERM; sleep 86400' &
                exec sleep 86400
                """
            try writeScript(script, to: folder + "/hook.sh")
            let added = try await host.run(arguments: [
                "handlers", "add", "--name", "Hostile", "--run", folder + "/hook.sh", "--writable", out, "--type",
                "public.image",
            ])
            try #require(added.exit == 0, "\(added.errors)")
            try await host.withReceiver { running in
                try png.write(to: URL(fileURLWithPath: folder + "/a.png"))
                let sent = try await study.run(arguments: ["send", folder + "/a.png", "--to", running.address])
                try #require(sent.exit == 0, "\(sent.errors)")
                // Kill the receiver only after the handler has opened the pipe.
                while (try? String(contentsOfFile: out + "/done", encoding: .utf8))?.hasSuffix("tried\n") != true {
                    try await Task.sleep(for: .milliseconds(20))
                }
                while !Self.hasWriter(out + "/alive") { try await Task.sleep(for: .milliseconds(20)) }
                running.signal(.kill)
            }
            #expect(try String(contentsOfFile: out + "/done", encoding: .utf8) == "tried\n")
            // The pipe has no writer once all the handler's processes have ended.
            while Self.hasWriter(out + "/alive") { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    /// Whether any process but this one has the pipe open.
    private static func hasWriter(_ path: String) -> Bool {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.contains { process in
            guard let number = Int32(process), number != getpid() else { return false }
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
            return descriptors.contains { descriptor in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(descriptor)"))
                    == path
            }
        }
    }
}
