import Testing

/// Groups of datagrams, on hosts of a lab.
@Suite("Datagrams to a group", .enabled(if: Lab.isPossible, Lab.excuse), .timeLimit(.minutes(2)))
struct MulticastGroupTests {
    private typealias Source = Probe.Report.Address

    private func join(
        _ lab: Lab, _ host: String, denied: String = "none", _ interfaces: String = "eth0,eth1"
    ) async throws -> Probe {
        let probe = try Probe(lab, host, "--denied", denied)
        try await probe.tell("join 53317")
        #expect(try await probe.hears("joined").key == interfaces)
        return probe
    }

    /// Says a text again and again while `body` runs: datagrams get lost as long as a bridge does not forward to a new
    /// link.
    private func saying<Result: Sendable>(
        _ text: String, _ probe: Probe, while body: () async throws -> Result
    ) async throws -> Result {
        let voice = Task {
            while !Task.isCancelled {
                try await probe.tell("say \(text)")
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        defer { voice.cancel() }
        return try await body()
    }

    /// The different addresses from which a probe hears a text, until there are so many.
    private func sources(_ count: Int, _ text: String, _ probe: Probe) async throws -> Set<Source> {
        var sources: Set<Source> = []
        while sources.count < count {
            sources.formUnion(try await probe.hears("heard") { $0.key == text }.addresses ?? [])
        }
        return sources
    }

    @Test("a datagram goes out on every interface by both families, and is heard there and at home")
    func everywhere() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none", options: ["--links", "eth0,eth1"]) { lab in
            let kitchen = try await join(lab, "kitchen")
            let study = try await join(lab, "study")
            let neighbour = try await join(lab, "kitchen")
            for probe in [study, neighbour, kitchen] {
                let heard = try await saying("hello", kitchen) { try await sources(4, "hello", probe) }
                let ipv4 = heard.filter { $0.host.hasPrefix("192.168.") }
                #expect(Set(ipv4.map { "\($0.host) \($0.interface)" }) == ["192.168.77.1 eth0", "192.168.78.1 eth1"])
                let ipv6 = heard.filter { $0.host.hasPrefix("fe80::") }
                #expect(Set(ipv6.map(\.interface)) == ["eth0", "eth1"])
                #expect(ipv6.allSatisfy { $0.scope != 0 } && ipv4.allSatisfy { $0.scope == 0 })
                #expect(heard.allSatisfy { $0.port == 53317 })
            }
            try await kitchen.hears("said") { $0.key == "4" }
        }
    }

    @Test("a denied interface is neither heard nor used")
    func denied() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none", options: ["--links", "eth0,eth1"]) { lab in
            let kitchen = try await join(lab, "kitchen")
            let study = try await join(lab, "study", denied: "eth1", "eth0")
            // It goes out on both.
            _ = try await saying("one", kitchen) { try await sources(4, "one", kitchen) }
            // After the host has heard the second text by both families, nothing of the first can come.
            var heard: [Probe.Report] = []
            try await saying("two", kitchen) {
                while Set(heard.filter { $0.key == "two" }.flatMap(\.hosts)).count < 2 {
                    heard.append(try await study.hears("heard"))
                }
            }
            #expect(Set(heard.flatMap(\.interfaces)) == ["eth0"])
            try await study.tell("say three")
            #expect(try await study.hears("said").key == "2")
        }
    }

    @Test("datagrams that are too large are dropped, and a flood does not stop those of another address")
    func limits() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none") { lab in
            let kitchen = try await join(lab, "kitchen", "eth0")
            let study = try await join(lab, "study", "eth0")
            // The link is there.
            _ = try await saying("ready", kitchen) { try await sources(2, "ready", study) }
            try await kitchen.tell("shout 5 5000")
            try await kitchen.tell("shout 1 4096")
            #expect(try await study.hears("heard") { $0.key != "ready" }.key?.count == 4_096)
            try await kitchen.tell("shout 5000 10")
            try await saying("hello", study) { _ = try await study.hears("heard") { $0.key == "hello" } }
        }
    }

    @Test("an interface that comes and goes is joined again, and its new address is reported")
    func changes() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none", options: ["--links", "eth0,eth1"]) { lab in
            let kitchen = try await join(lab, "kitchen")
            let study = try await join(lab, "study")
            try await lab.run("study", "ip", "link", "set", "eth0", "down")
            try await study.hears("standing") { $0.key == "eth1" }
            try await lab.run("study", "ip", "link", "set", "eth0", "up")
            try await study.hears("newAddress")
            try await saying("again", kitchen) {
                _ = try await study.hears("heard") { $0.key == "again" && $0.interfaces == ["eth0"] }
            }
        }
    }

    @Test("without any interface there is a reason, and the group is joined when one comes")
    func nothing() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none") { lab in
            let kitchen = try await join(lab, "kitchen", "eth0")
            for link in ["lo", "eth0"] { try await lab.run("study", "ip", "link", "set", link, "down") }
            let study = try await join(lab, "study", "")
            let reason = try await study.hears("standing").cause
            #expect(reason == "no interface that can multicast is up")
            try await lab.run("study", "ip", "link", "set", "lo", "up")
            try await study.hears("standing") { $0.key == "lo" && $0.cause == nil }
            try await study.tell("say alone")
            #expect(try await study.hears("heard").hosts == ["127.0.0.1"])
            try await lab.run("study", "ip", "link", "set", "eth0", "up")
            try await study.hears("standing") { $0.key == "eth0" }
            try await saying("hello", kitchen) {
                _ = try await study.hears("heard") { $0.key == "hello" && $0.hosts == ["192.168.77.1"] }
            }
        }
    }
}
