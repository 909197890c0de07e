import Foundation
import Subprocess
import SystemPackage
import Testing

/// Two hosts on two links with a router between them, which passes no multicast; the router is the name server.
@Suite(
    "Two hosts on two networks", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct UnicastDiscoveryTests {
    private func shell(_ host: Host, _ script: String) async throws {
        let outcome = try await host.run("/bin/sh", ["-ec", script])
        try #require(outcome.exit == 0, "\(script): \(outcome.errors)")
    }

    /// Kitchen is 192.168.77.1, study 192.168.78.3, and the router 192.168.77.2 and 192.168.78.2.
    private func route(_ lab: Lab) async throws {
        try await shell(lab.host("router"), "echo 1 >/proc/sys/net/ipv4/ip_forward")
        try await shell(lab.host("kitchen"), "ip link set eth1 down; ip route add default via 192.168.77.2")
        try await shell(lab.host("study"), "ip link set eth0 down; ip route add default via 192.168.78.2")
    }

    /// Gives a host another resolv.conf, which the machine and the other hosts do not see.
    private func resolve(_ lab: Lab, _ host: String, _ text: String) async throws {
        let path = lab.folder + "/resolv.conf"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try await shell(lab.host(host), "mount --bind '\(path)' /etc/resolv.conf")
    }

    private func records(port: Int) -> [String] {
        let name = "study._waft._tcp.example.org"
        return [
            "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--pid-file=", "--user=root",
            "--no-resolv", "--no-hosts", "--local=/example.org/", "--ptr-record=_waft._tcp.example.org,\(name)",
            "--srv-host=\(name),study.example.org,\(port)", "--txt-record=\(name),v=1",
            "--host-record=study.example.org,192.168.78.3",
        ]
    }

    @Test("find each other by the DNS of their site, by the resolver's search list or by searchDomains")
    func domains() async throws {
        try await Lab.with(avahi: "none", hosts: "kitchen,router,study", links: "eth0,eth1") { lab in
            try await route(lab)
            try await resolve(lab, "kitchen", "nameserver 192.168.77.2\nsearch example.org\n")
            let kitchen = lab.host("kitchen")
            try "x".write(toFile: lab.folder + "/a", atomically: false, encoding: .utf8)
            try await lab.host("study").withReceiver { running in
                let before = try await kitchen.run(arguments: ["peers", "--json", "--timeout", "1"])
                #expect(before.events.isEmpty, "\(before.output)")
                let server = lab.host("router")
                try await server.withProgram("/usr/sbin/dnsmasq", records(port: running.port), signal: .terminate) {
                    names in
                    try await names.transcript.says("started")
                    let found = try await kitchen.run(arguments: ["peers", "--json"])
                    #expect(found.events.map(\.id) == [running.id], "\(found.output) \(found.errors)")
                    #expect(found.output.contains(#"["192.168.78.3:\#(running.port)"]"#), "\(found.output)")
                    let sent = try await kitchen.run(arguments: ["send", "a", "--to", "study"], in: lab.folder)
                    #expect(sent.exit == 0, "\(sent.errors)")
                    #expect(try running.names() == ["a"])

                    try await resolve(lab, "kitchen", "nameserver 192.168.77.2\n")
                    let none = try await kitchen.run(arguments: ["peers", "--json", "--timeout", "1"])
                    #expect(none.events.isEmpty, "\(none.output)")
                    var asking = kitchen
                    asking.environment["WAFT_SEARCH_DOMAINS"] = "example.org"
                    asking.environment["WAFT_DISCOVERY"] = "off"
                    let asked = try await asking.run(arguments: ["peers", "--json"])
                    #expect(asked.events.map(\.id) == [running.id], "\(asked.output) \(asked.errors)")
                    let added = try await kitchen.run(
                        arguments: ["peers", "add", "lab7", "study.example.org:\(running.port)"])
                    #expect(added.exit == 0, "\(added.errors)")
                    let again = try await kitchen.run(arguments: ["send", "a", "--to", "lab7"], in: lab.folder)
                    #expect(again.exit == 0, "\(again.errors)")
                }
            }
        }
    }
}
