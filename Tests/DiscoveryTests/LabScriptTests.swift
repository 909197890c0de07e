import Foundation
import Testing

/// Checks the features of `Scripts/lab` that tests of every module use.
@Suite("The lab", .enabled(if: Lab.isPossible, Lab.excuse), .timeLimit(.minutes(3)))
struct LabScriptTests {
    @Test("each host has its own name, addresses and /run, and reaches the others")
    func hosts() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none") { lab in
            #expect(try await lab.run("kitchen", "hostname") == "kitchen\n")
            try await lab.run("kitchen", "touch", "/run/only-here")
            #expect(try await lab.run("study", "sh", "-c", "test ! -e /run/only-here && echo apart") == "apart\n")
            let addresses = try await lab.run("study", "ip", "-brief", "address", "show", "dev", "eth0")
            for address in ["192.168.77.2/24", "fd77:6166:74::2/64", "fe80::"] { #expect(addresses.contains(address)) }
            let route = try await lab.run("kitchen", "ip", "route", "get", "192.168.77.2")
            #expect(route.contains("dev eth0"))
            #expect(try await lab.run("kitchen", "ip", "-brief", "link").contains("LOWER_UP"))
        }
    }

    @Test("a command is run in the folder it was given in, and its exit code is passed on")
    func exitCode() async throws {
        try await Lab.with(hosts: "kitchen", avahi: "none") { lab in
            let folder = FileManager.default.currentDirectoryPath
            #expect(try await lab.run("kitchen", "pwd") == folder + "\n")
            let status = try await Lab.status(of: ["run", lab.name, "kitchen", "sh", "-c", "exit 37"])
            #expect(status == 37)
            #expect(try await Lab.status(of: ["run", lab.name, "nobody", "true"]) == 66)
            #expect(try await Lab.status(of: ["up", lab.name, "--hosts", "kitchen"]) == 64)
        }
    }

    @Test("a signal reaches the command")
    func signals() async throws {
        try await Lab.with(hosts: "kitchen", avahi: "none") { lab in
            let child = try Child(
                Lab.scriptPath, ["run", lab.name, "kitchen", "sh", "-c", "echo ready; exec sleep 1000"])
            for await line in child.lines where line == "ready" { break }
            kill(child.pid, SIGTERM)
            #expect(try await child.exitCode() == 128 + SIGTERM)
        }
    }

    @Test("nothing of a lab is seen among the machine's own interfaces, and nothing is left of it")
    func isolation() async throws {
        let before = NetworkNames.all()
        var spaces: [String] = []
        try await Lab.with(hosts: "kitchen,study", avahi: "all", options: ["--links", "eth0,eth1"]) { lab in
            #expect(NetworkNames.all() == before)
            spaces = try FileManager.default.contentsOfDirectory(atPath: "/run/netns").filter {
                $0.hasPrefix("waft-lab.\(lab.name).")
            }
            #expect(spaces.count == 3)
            // Not even a process in its own session.
            try await lab.run("kitchen", "sh", "-c", "setsid sleep 1000 </dev/null >/dev/null 2>&1 &")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: "/run/netns")
        #expect(Set(left).isDisjoint(with: spaces))
    }

    @Test("a lab can be taken down twice, or without having been set up")
    func downTwice() async throws {
        try await Lab.with(hosts: "kitchen", avahi: "none") { lab in
            try await lab.script(["down", lab.name])
            try await lab.script(["down", lab.name])
        }
    }

    @Test("a link can lose some of its packets, or be slowed down")
    func impairments() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none") { lab in
            try await lab.script(["drop", lab.name, "study", "30"])
            #expect(try await lab.run("study", "iptables", "-S", "INPUT").contains("--mode random --probability 0."))
            try await lab.script(["drop", lab.name, "study", "0"])
            #expect(try await lab.run("study", "iptables", "-S", "INPUT") == "-P INPUT ACCEPT\n")
            try await lab.script(["rate", lab.name, "study", "10mbit"])
            #expect(try await lab.run("study", "tc", "qdisc", "show", "dev", "eth0").contains("rate 10Mbit"))
            try await lab.script(["rate", lab.name, "study", "off"])
            #expect(try await !lab.run("study", "tc", "qdisc", "show", "dev", "eth0").contains("tbf"))
            try await lab.script(["link", lab.name, "study", "down"])
            #expect(try await lab.run("study", "cat", "/sys/class/net/eth0/carrier") == "0\n")
            try await lab.script(["link", lab.name, "study", "up"])
            #expect(try await lab.run("study", "cat", "/sys/class/net/eth0/carrier") == "1\n")
        }
    }
}

/// The interfaces of the network namespace that the tests run in.
private enum NetworkNames {
    static func all() -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: "/sys/class/net")) ?? [])
    }
}
