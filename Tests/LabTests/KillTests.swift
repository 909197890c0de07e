import Foundation
import Testing

/// The receiver is killed at one step after the other between the first byte and the end of the hook, and started again.
/// The kernel's tracer kills it: at the first, second, third call of a system call, and so on, in any thread.
///
/// `SoakTests` stop it at each call that changes the disk. With TEST_ALL these tests do the same with a handler.
@Suite("A receiver that is killed", .serialized, .timeLimit(.minutes(5)))
struct KillTests {
    /// Maximum number of calls of one kind between start and delivery.
    private static let maximumSteps = 200
    /// The calls that start programs, wait for them, or write to a pipe or a socket too.
    private static let otherCalls = ["execve,vfork,clone,clone3", "wait4,waitid", "write"]
    /// The calls that `disk-steps` covers.
    private static let diskCalls = ["renameat2", "fsync", "fdatasync", "pwrite64", "unlink,unlinkat,rmdir"]
    private static let isWhole = ProcessInfo.processInfo.environment["TEST_ALL"] != nil

    @Test(
        "delivers the item in the Inbox after its restart, whichever call it was killed at",
        arguments: isWhole ? diskCalls + otherCalls : otherCalls)
    func killedAnywhere(calls: String) async throws {
        try await withTemporaryFolder { folder in
            let template = folder + "/template"
            let out = folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            try writeScript(
                "#!/bin/sh\necho begun >> '\(out)/record'\necho ended >> '\(out)/record'\n", to: folder + "/run.sh")
            let first = Host.loopback(template)
            let added = try await first.run(arguments: [
                "handlers", "add", "--name", "Photos", "--type", "public.image", "--run", folder + "/run.sh",
                "--writable", out,
            ])
            try #require(added.exit == 0, "\(added.errors)")
            // Identity and journal are made first, so that the test kills a receiver that has run before.
            try await first.withReceiver { _ in }
            try png.write(to: URL(fileURLWithPath: folder + "/photo.png"))
            var kills = 0
            for step in 1...Self.maximumSteps {
                let home = "\(folder)/\(step)"
                try FileManager.default.copyItem(atPath: template, toPath: home)
                try? FileManager.default.removeItem(atPath: out + "/record")
                let wasKilled = try await receive(at: home, photo: folder + "/photo.png", killing: calls, step)
                guard wasKilled else {
                    #expect(kills > 0, "no step was found at which it could be killed")
                    print("\(calls): killed \(kills) times")
                    return
                }
                kills += 1
                try await checkAfterRestart(home, out, folder + "/photo.png", "killed at \(calls) number \(step)")
                try FileManager.default.removeItem(atPath: home)
            }
            Issue.record("there are more than \(Self.maximumSteps) steps of \(calls)")
        }
    }

    /// Sends a photo to a receiver that is killed at a step.
    /// - Returns: whether it came to this step, or a process of its handler did: the tracer counts the calls of each
    ///   process, so it may end every call of the handler and never the receiver.
    private func receive(at home: String, photo: String, killing calls: String, _ step: Int) async throws -> Bool {
        var host = Host.loopback(home)
        // -D: the receiver stays our child, and the tracer is detached.
        host.prefix = [
            "/usr/bin/strace", "-D", "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
            "inject=\(calls):signal=KILL:when=\(step)",
        ]
        do {
            let (wasNotOpened, exit) = try await host.withReceiver { running in
                let sent = try await Host.loopback(home + "-study")
                    .run(arguments: ["send", photo, "--wait", "opened", "--timeout", "2", "--to", running.address])
                return sent.exit == 16
            }
            return wasNotOpened || exit == 128 + Int(SIGKILL)
        } catch is EventLog.Ended {
            // It was killed before it was ready.
            return true
        }
    }

    /// The photo is in the Inbox, or it can be sent again. After that it is there exactly once in either case.
    private func checkAfterRestart(_ home: String, _ out: String, _ photo: String, _ when: Comment) async throws {
        try await Host.loopback(home).withReceiver { running in
            #expect(try running.staged() == [], when)
            #expect(try running.names().isEmpty || running.kept().isEmpty, when)
            let again = try await Host.loopback(home + "-study")
                .run(arguments: ["send", photo, "--to", running.address])
            #expect(again.exit == 0, when)
            #expect(try running.names() == ["photo.png"], when)
            #expect(try running.kept() == [], when)
            let record = { (try? String(contentsOfFile: out + "/record", encoding: .utf8)) ?? "" }
            if !record().contains("ended") { _ = try await running.log.first("opened") }
            #expect(record().contains("ended"), when)
            let shown = try await Host.loopback(home).run(arguments: ["inbox", "show", "photo.png"])
            #expect(shown.exit == 0, when)
        }
    }
}
