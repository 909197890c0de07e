import Foundation
import Subprocess
import SystemPackage
import Testing

/// Each cause of trouble is made on hosts of a lab, and the doctor must name it.
@Suite(
    "The doctor", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct DoctorTests {
    private struct Check: Decodable, Hashable {
        var name: String
        var result: String
        var reason: String
        var hint: String?
    }

    private struct Diagnosis {
        var exit: Int
        var checks: [Check]

        /// Whether a line of this check has this result, and its reason these words.
        func has(_ name: String, _ result: String, _ words: String) -> Bool {
            checks.contains { $0.name == name && $0.result == result && $0.reason.contains(words) }
        }

        /// Names of the checks with a problem.
        var problems: Set<String> { Set(checks.filter { $0.result == "problem" }.map(\.name)) }
    }

    private func examine(_ host: Host, _ words: [String] = [], in folder: String? = nil) async throws -> Diagnosis {
        let outcome = try await host.run(Programs.waft, ["doctor", "--json"] + words, in: folder)
        let checks = outcome.output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Check.self, from: Data($0.utf8))
        }
        #expect(checks.allSatisfy { ($0.hint == nil) == ($0.result == "ok") }, "\(checks)")
        let hasProblem = checks.contains { $0.result == "problem" }
        #expect(outcome.exit == (hasProblem ? 1 : 0), "\(outcome.errors)")
        return Diagnosis(exit: outcome.exit, checks: checks)
    }

    private func expect(_ diagnosis: Diagnosis, _ name: String, _ result: String, _ words: String) {
        #expect(diagnosis.has(name, result, words), "\(name) \(result) \(words): \(diagnosis.checks)")
    }

    private func shell(_ host: Host, _ script: String) async throws {
        let outcome = try await host.run("/bin/sh", ["-ec", script])
        try #require(outcome.exit == 0, "\(script): \(outcome.errors)")
    }

    @Test("names nothing on healthy machines that reach each other")
    func healthy() async throws {
        try await Lab.with(avahi: "all") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let here = try await examine(kitchen)
                #expect(here.problems == [], "\(here.checks)")
                expect(here, "receiver", "ok", "port \(running.port)")
                expect(here, "port", "ok", "\(running.port) answers at ")
                expect(here, "network", "ok", "eth0")
                expect(
                    here, "responder", "ok", "avahi-daemon; by itself it tells the network the host name kitchen.local")
                expect(here, "mdns", "ok", "eth0")
                let there = try await examine(study, ["--peer", "kitchen"])
                #expect(there.problems == [], "\(there.checks)")
                expect(there, "peer", "ok", "kitchen")
                expect(there, "receiver", "warning", "no receiver is running")
                expect(there, "visibility", "warning", "there is none")
                let people = try await study.run(arguments: ["doctor", "--peer", "192.168.77.1:\(running.port)"])
                #expect(people.exit == 0, "\(people.output)")
                #expect(people.output.contains("ok       peer: kitchen ("), "\(people.output)")
                #expect(people.output.contains("\n         start one: waftd"), "\(people.output)")
            }
        }
    }

    @Test(
        "names a peer that does not run, a taken port, another responder, blocked mDNS, a filtered port, two receivers")
    func network() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let bare = try await examine(kitchen, ["--peer", "192.168.77.2"])
            expect(bare, "responder", "ok", "avahi-daemon does not answer")
            expect(bare, "notifications", "ok", "no desktop here")
            expect(bare, "peer", "problem", "connection refused")
            #expect(bare.problems == ["peer"])

            var fixed = kitchen
            fixed.environment["WAFT_PORT"] = "9238"
            let script = """
                import socket, sys
                tcp = socket.create_server(("", 9238))
                udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                udp.bind(("", 5353))
                print("open", flush=True)
                sys.stdin.read()
                """
            try await kitchen.withProgram("/usr/bin/python3", ["-c", script]) { [fixed] squatter in
                try await squatter.transcript.says("open")
                let taken = try await examine(fixed)
                expect(taken, "port", "problem", "9238 is taken by python3")
                expect(taken, "responder", "warning", "another responder has UDP port 5353: python3")
                expect(taken, "mdns", "problem", "has the port alone")
                expect(try await examine(kitchen), "port", "warning", "9238 is taken by python3")
            }

            try await lab.call(["link", lab.name, "kitchen", "down"])
            expect(try await examine(kitchen), "network", "problem", "no carrier on eth0")
            try await lab.call(["link", lab.name, "kitchen", "up"])

            var skipping = kitchen
            skipping.environment["WAFT_SKIP_INTERFACES"] = "eth*"
            expect(try await examine(skipping), "network", "problem", "skipInterfaces (eth*) leaves out eth0")

            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let peer = ["--peer", "192.168.77.1:\(running.port)"]
                expect(try await examine(study, peer), "peer", "warning", "does not show itself")
                // A second receiver, with another home.
                var other = kitchen
                other.home = lab.folder + "/other"
                try await other.withReceiver { second in
                    let two = try await examine(kitchen)
                    expect(two, "receiver", "problem", "2 receivers run on this machine")
                    expect(two, "receiver", "problem", "process \(second.process) (WAFT_HOME=\(lab.folder)/other)")
                }
                try await shell(kitchen, "iptables -w -A INPUT -p udp --dport 5353 -j DROP")
                try await shell(kitchen, "iptables -w -A INPUT -p tcp --dport \(running.port) -j DROP")
                try await shell(kitchen, "ip6tables -w -A INPUT -p tcp --dport \(running.port) -j DROP")
                async let here = examine(kitchen)
                async let there = examine(study, peer)
                expect(try await here, "mdns", "problem", "mDNS is blocked on eth0")
                expect(try await here, "port", "problem", "\(running.port) is filtered")
                expect(try await there, "peer", "problem", "no answer")
            }
        }
    }

    @Test("names a wrong WAFT_HOME, a wrong clock, a full disk, an Inbox that is unmounted or read-only, invisibility")
    func machine() async throws {
        try await Lab.with(avahi: "none") { lab in
            let kitchen = lab.host("kitchen")
            var host = kitchen
            host.home = "home"
            expect(try await examine(host, in: lab.folder), "home", "problem", "each working directory")
            try await shell(kitchen, "echo x >'\(lab.folder)/file'; mkdir '\(lab.folder)/foreign'")
            try await shell(kitchen, "chown 12345 '\(lab.folder)/foreign'")
            host.home = lab.folder + "/file"
            expect(try await examine(host), "home", "problem", "not a folder")
            host.home = lab.folder + "/foreign"
            expect(try await examine(host), "home", "problem", "belongs to another user (uid 12345)")
            var wrong = kitchen
            wrong.environment["WAFT_PORT"] = "x"
            expect(try await examine(wrong), "settings", "problem", "WAFT_PORT")

            let clocks = try await MovedClocks(in: lab.folder)
            clocks.set(-40 * 365 * 86_400)
            expect(try await examine(clocks.on(kitchen)), "clock", "problem", "was built after that")

            let hidden = try await kitchen.run(arguments: ["visible", "off"])
            #expect(hidden.exit == 0, "\(hidden.errors)")
            expect(try await examine(kitchen), "visibility", "problem", "no machine can see this one")

            // The receiver learns its Inbox; then another file system is in its place. Mounts stay in the lab.
            try await kitchen.withReceiver { _ in }
            let inbox = kitchen.home + "/Documents/Inbox"
            try await shell(kitchen, "mount -t tmpfs -o size=4m,mode=0700 tmpfs '\(inbox)'")
            expect(try await examine(kitchen), "inbox", "problem", "is its disk mounted?")
            let adopted = try await kitchen.run(arguments: ["inbox", "adopt"])
            #expect(adopted.exit == 0, "\(adopted.errors)")
            try await shell(kitchen, "head -c 4M /dev/zero >'\(inbox)/big' || true")
            expect(try await examine(kitchen), "disk", "problem", "the disk of the Inbox (\(inbox)) is full")
            try await shell(kitchen, "mount -o remount,ro '\(inbox)'")
            expect(try await examine(kitchen), "inbox", "problem", "Read-only file system")
        }
    }
}
