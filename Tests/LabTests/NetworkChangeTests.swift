import Foundation
import Subprocess
import SystemPackage
import Testing

/// A receiver that runs untouched while the network below it changes.
@Suite(
    "When the network changes", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct NetworkChangeTests {
    private func address(_ lab: Lab, _ host: String, _ words: [String]) async throws {
        try await lab.call(["run", lab.name, host, "ip", "address"] + words)
    }

    /// Sends until it succeeds: to find the peer again may take a while, and must happen without help.
    private func sendUntilItComes(_ lab: Lab, _ running: RunningReceiver, _ what: String) async throws {
        let before = await running.log.count("stored")
        let study = lab.host("study")
        // A new file each time: an item that is there already is not sent again.
        try what.write(toFile: lab.folder + "/a", atomically: false, encoding: .utf8)
        while try await study.run(arguments: ["send", "a", "--to", "kitchen"], in: lab.folder).exit != 0 {}
        // The receiver writes its line after the answer that ends the sender.
        try await running.log.wait(for: before + 1, of: "stored")
        #expect(await running.log.count("stored") == before + 1, "\(what)")
    }

    @Test(
        "a receiver is found again after the cable was out, its address has changed, and it has moved to another network",
        arguments: ["all", "none"])
    func addresses(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            try await lab.host("kitchen").withReceiver { running in
                try await sendUntilItComes(lab, running, "at first")
                try await lab.call(["link", lab.name, "kitchen", "down"])
                let outcome = try await lab.host("study").run(
                    arguments: ["send", "a", "--to", "kitchen", "--timeout", "2"], in: lab.folder)
                #expect([10, 11, 15].contains(outcome.exit), "\(outcome.exit) \(outcome.errors)")
                try await lab.call(["link", lab.name, "kitchen", "up"])
                try await sendUntilItComes(lab, running, "after the cable was out")
                try await address(lab, "kitchen", ["flush", "dev", "eth0", "scope", "global"])
                try await address(lab, "kitchen", ["add", "192.168.77.99/24", "dev", "eth0"])
                try await sendUntilItComes(lab, running, "after another address")
                try await address(lab, "kitchen", ["flush", "dev", "eth0", "scope", "global"])
                for (host, number) in [("kitchen", 1), ("study", 2)] {
                    try await address(lab, host, ["add", "10.9.8.\(number)/24", "dev", "eth0"])
                }
                try await sendUntilItComes(lab, running, "after another network")
            }
        }
    }

    @Test("guests get no address of a page while the cable is out, and get it when the cable is in")
    func page() async throws {
        try await Lab.with(avahi: "none") { lab in
            try await lab.call(["link", lab.name, "kitchen", "down"])
            let end = try await lab.host("kitchen").atTerminal(["web"], in: lab.folder) { terminal in
                try await terminal.transcript.says(
                    "No other machine can reach this page now: this machine is in no network")
                try await terminal.transcript.says("On this machine open  https://127.0.0.1:")
                try await lab.call(["link", lab.name, "kitchen", "up"])
                try await terminal.transcript.says("Guests scan the code, or open  https://192.168.77.")
                try await terminal.type("\u{3}")
            }
            #expect(end.exit == 0, "\(end.text)")
        }
    }

    @Test("a receiver is found again after avahi-daemon was restarted, killed, and started again")
    func avahi() async throws {
        try await Lab.with(avahi: "kitchen") { lab in
            try await lab.host("kitchen").withReceiver { running in
                try await sendUntilItComes(lab, running, "at first")
                for what in ["restart", "kill", "start"] {
                    try await lab.call(["avahi", lab.name, "kitchen", what])
                    try await sendUntilItComes(lab, running, "after \(what)")
                }
            }
        }
    }
}
