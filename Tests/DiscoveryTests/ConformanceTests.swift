import Foundation
import Testing

/// Checks the contract of `ServiceDirectory` on real directories: hosts of a lab, each with the named responder.
@Suite(
    "Directories keep their promises between hosts",
    .enabled(if: Lab.isPossible, Lab.excuse),
    .timeLimit(.minutes(5))
)
struct ConformanceTests {
    /// The kind of directory that a host uses.
    enum Via: String, Sendable {
        case daemon
        case embedded
    }

    /// The publisher runs on the host kitchen, the browser on the host study.
    struct Pair: Sendable, CustomTestStringConvertible {
        var publisher: Via
        var browser: Via

        var testDescription: String { "\(publisher.rawValue) → \(browser.rawValue)" }

        /// The hosts with avahi-daemon.
        var avahi: String {
            let hosts = (publisher == .daemon ? ["kitchen"] : []) + (browser == .daemon ? ["study"] : [])
            return hosts.isEmpty ? "none" : hosts.joined(separator: ",")
        }
    }

    static let pairs = [
        Pair(publisher: .daemon, browser: .daemon), Pair(publisher: .embedded, browser: .embedded),
        Pair(publisher: .daemon, browser: .embedded), Pair(publisher: .embedded, browser: .daemon),
    ]
    static let likes = pairs.filter { $0.publisher == $0.browser }

    /// A lab with a probe on the host kitchen and one on the host study.
    private func between(
        _ pair: Pair,
        options: [String] = [],
        prepare: (Lab) async throws -> Void = { _ in },
        _ body: (Lab, Probe, Probe) async throws -> Void
    ) async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: pair.avahi, options: options) { lab in
            try await prepare(lab)
            let kitchen = try Probe(lab, "kitchen", "--via", pair.publisher.rawValue)
            let study = try Probe(lab, "study", "--via", pair.browser.rawValue)
            try await body(lab, kitchen, study)
        }
    }

    @Test(
        "a published service is found with its addresses, port and TXT record, and a withdrawn one goes",
        arguments: pairs)
    func publishedAndWithdrawn(pair: Pair) async throws {
        try await between(pair) { lab, kitchen, study in
            #expect(try await kitchen.publish("abc", txt: "v=1 features=a=b") == "abc")
            try await study.tell("browse _waft._tcp")
            // Two families are one service; the better address comes first.
            let found = try await study.hears("updated") { $0.instance == "abc" && $0.hosts.count == 2 }
            #expect(found.hosts == ["fd77:6166:74::1", "192.168.77.1"])
            #expect(found.addresses?.allSatisfy { $0.port == 4711 && $0.interface == "eth0" && $0.scope == 0 } == true)
            #expect(found.txt == ["v": "1", "features": "a=b"])
            #expect(found.isLocal == false)
            #expect(found.hostName == "kitchen.local" || pair.publisher == .embedded)
            if pair.browser == .daemon {
                let browsed = try await lab.run("study", "avahi-browse", "--resolve", "--terminate", "-p", "_waft._tcp")
                #expect(browsed.contains("192.168.77.1;4711;"))
                #expect(browsed.contains("fd77:6166:74::1;4711;"))
                #expect(browsed.contains("\"v=1\""))
            }
            try await kitchen.withdraw("abc")
            try await study.hears("removed", "abc")
        }
    }

    @Test("a running search finds a service that is published later", arguments: pairs)
    func browsedFirst(pair: Pair) async throws {
        try await between(pair) { _, kitchen, study in
            try await study.tell("browse _waft._tcp")
            try await study.hears("allForNow")
            try await kitchen.publish("abc")
            try await study.hears("updated", "abc")
        }
    }

    @Test(
        "a program that asks right after another one hears of a service before the list counts as complete",
        arguments: pairs)
    func askedSoonAgain(pair: Pair) async throws {
        try await between(pair) { lab, kitchen, study in
            try await kitchen.publish("abc")
            for _ in 0..<3 {
                let probe = try Probe(lab, "study", "--via", pair.browser.rawValue)
                try await probe.tell("browse _waft._tcp")
                let first = try await probe.hears("updated", or: "allForNow")
                #expect(first.instance == "abc")
                await probe.end()
            }
        }
    }

    @Test("a host name of the embedded responder tells nothing of the host")
    func hostName() async throws {
        try await between(Pair(publisher: .embedded, browser: .embedded)) { _, kitchen, study in
            try await kitchen.publish("abc")
            try await study.tell("browse _waft._tcp")
            let found = try await study.hears("updated", "abc")
            #expect(try #require(found.hostName).wholeMatch(of: /waft-[0-9a-f]{16}\.local/) != nil)
        }
    }

    @Test("a name that is taken is replaced by another one, and both services are found", arguments: pairs)
    func collision(pair: Pair) async throws {
        try await between(pair) { _, kitchen, study in
            #expect(try await kitchen.publish("abc", port: 1111) == "abc")
            #expect(try await study.publish("abc", port: 2222) == "abc #2")
            for probe in [kitchen, study] {
                try await probe.tell("browse _waft._tcp")
                var left = ["abc": UInt16(1111), "abc #2": 2222]
                while !left.isEmpty {
                    let found = try await probe.hears("updated")
                    let instance = try #require(found.instance)
                    if let port = left.removeValue(forKey: instance) {
                        #expect(found.addresses?.first?.port == port)
                        // Each host marks only its own service as local.
                        let isOwn = (instance == "abc") == (probe === kitchen)
                        #expect(found.isLocal == isOwn)
                    }
                }
            }
        }
    }

    @Test("a name that is taken on the same host is replaced by another one", arguments: likes)
    func localCollision(pair: Pair) async throws {
        try await between(pair) { lab, kitchen, study in
            let neighbour = try Probe(lab, "kitchen", "--via", pair.publisher.rawValue)
            #expect(try await kitchen.publish("abc", port: 1111) == "abc")
            #expect(try await neighbour.publish("abc", port: 2222) == "abc #2")
            try await study.tell("browse _waft._tcp")
            try await study.hears("updated", all: ["abc", "abc #2"])
            try await neighbour.withdraw("abc")
            try await study.hears("removed", "abc #2")
            await neighbour.end()
        }
    }

    @Test("programs of one host find each other, and others find both", arguments: likes)
    func sameHost(pair: Pair) async throws {
        try await between(pair) { lab, kitchen, study in
            let neighbour = try Probe(lab, "kitchen", "--via", pair.publisher.rawValue)
            for probe in [kitchen, neighbour, study] { try await probe.tell("browse _waft._tcp") }
            try await kitchen.publish("abc")
            try await neighbour.publish("def")
            #expect(try await neighbour.hears("updated", "abc").isLocal == true)
            #expect(try await kitchen.hears("updated", "def").isLocal == true)
            try await study.hears("updated", all: ["abc", "def"])
            try await kitchen.withdraw("abc")
            for probe in [neighbour, study] { try await probe.hears("removed", "abc") }
            try await neighbour.withdraw("def")
            for probe in [kitchen, study] { try await probe.hears("removed", "def") }
            await neighbour.end()
        }
    }

    @Test("programs of a host without any network find each other on loopback", arguments: likes)
    func loopback(pair: Pair) async throws {
        let unplug = { (lab: Lab) in _ = try await lab.run("kitchen", "ip", "link", "set", "eth0", "down") }
        try await between(pair, prepare: unplug) { lab, kitchen, _ in
            let neighbour = try Probe(lab, "kitchen", "--via", pair.publisher.rawValue)
            try await kitchen.publish("abc")
            try await neighbour.tell("browse _waft._tcp")
            let found = try await neighbour.hears("updated", "abc")
            #expect(found.hosts == ["127.0.0.1"])
            #expect(found.interfaces == ["lo"] && found.isLocal == true)
            await neighbour.end()
        }
    }

    @Test("a link-local address keeps its interface", arguments: likes)
    func linkLocal(pair: Pair) async throws {
        let strip = { (lab: Lab) in
            for host in ["kitchen", "study"] {
                try await lab.run(host, "ip", "address", "flush", "dev", "eth0", "scope", "global")
            }
        }
        try await between(pair, prepare: strip) { lab, kitchen, study in
            let index = try await lab.run("study", "cat", "/sys/class/net/eth0/ifindex")
            try await kitchen.publish("abc")
            try await study.tell("browse _waft._tcp")
            let found = try await study.hears("updated", "abc")
            let address = try #require(found.addresses?.first)
            #expect(address.host.hasPrefix("fe80::"))
            #expect("\(address.scope)\n" == index)
        }
    }

    @Test(
        "a service at a host of its own on the link has link-local addresses, whatever other addresses there are",
        arguments: pairs)
    func ownHostOnLink(pair: Pair) async throws {
        try await between(pair) { lab, kitchen, study in
            try await kitchen.tell("publish-link abc _waft._tcp abc 4711")
            try await kitchen.hears("published") { $0.key == "abc" }
            try await kitchen.publish("def")
            try await study.tell("browse _waft._tcp")
            var found: [String: Probe.Report] = [:]
            while found.count < 2 {
                let report = try await study.hears("updated") { $0.hosts.count == 2 }
                if let instance = report.instance { found[instance] = report }
            }
            let own = try #require(found["abc"])
            #expect(own.hosts.first == "192.168.77.1" && own.hosts.last?.hasPrefix("fe80::") == true, "\(own.hosts)")
            #expect(try #require(own.hostName).wholeMatch(of: /waft-[0-9a-f]{16}\.local/) != nil)
            let machine = try #require(found["def"])
            #expect(machine.hosts == ["fd77:6166:74::1", "192.168.77.1"] && machine.hostName != own.hostName)
            try await kitchen.withdraw("abc")
            try await study.hears("removed", "abc")
        }
    }

    @Test(
        "the record of a service with its own host name points at a random name with all addresses, not at the machine",
        arguments: pairs)
    func ownHost(pair: Pair) async throws {
        try await between(pair) { _, kitchen, study in
            try await study.tell("browse _waft._tcp")
            var names: Set<String> = []
            for instance in ["abc", "def"] {
                try await kitchen.tell("publish-own \(instance) _waft._tcp \(instance) 4711")
                try await kitchen.hears("published") { $0.key == instance }
                let found = try await study.hears("updated") { $0.instance == instance && $0.hosts.count == 2 }
                #expect(found.hosts == ["fd77:6166:74::1", "192.168.77.1"])
                let name = try #require(found.hostName)
                #expect(name.wholeMatch(of: /waft-[0-9a-f]{16}\.local/) != nil)
                names.insert(name)
            }
            #expect(names.count == 2)
        }
    }

    @Test("nothing is announced on denied interfaces, and nothing received on them is believed", arguments: likes)
    func deniedInterfaces(pair: Pair) async throws {
        try await between(pair, options: ["--links", "eth0,docker0"]) { lab, kitchen, study in
            let openKitchen = try Probe(lab, "kitchen", "--via", pair.publisher.rawValue, "--denied", "none")
            let openStudy = try Probe(lab, "study", "--via", pair.browser.rawValue, "--denied", "none")
            try await kitchen.publish("strict")
            try await openKitchen.publish("open")
            // A browser without denied interfaces finds the strict publisher on one link only.
            try await openStudy.tell("browse _waft._tcp")
            var heard: [String: Set<String>] = [:]
            while heard["open"] != ["eth0", "docker0"] || heard["strict"] == nil {
                let found = try await openStudy.hears("updated")
                heard[found.instance ?? "", default: []].formUnion(found.interfaces)
            }
            #expect(heard["strict"] == ["eth0"])
            // A browser with denied interfaces finds every publisher on one link only.
            try await study.tell("browse _waft._tcp")
            var strictlyHeard: [String: Set<String>] = [:]
            while strictlyHeard.count < 2 {
                let found = try await study.hears("updated")
                strictlyHeard[found.instance ?? "", default: []].formUnion(found.interfaces)
            }
            #expect(strictlyHeard == ["strict": ["eth0"], "open": ["eth0"]])
            try await kitchen.withdraw("strict")
            try await study.hears("removed", "strict")
            for probe in [openKitchen, openStudy] { await probe.end() }
        }
    }

    @Test("an interface that comes later is used too", arguments: likes)
    func laterInterface(pair: Pair) async throws {
        // A cable is unplugged and its interface renamed meanwhile, so each responder sees a new interface.
        try await between(pair, options: ["--links", "eth0,eth1"]) { lab, kitchen, study in
            for host in ["kitchen", "study"] { try await lab.run(host, "ip", "link", "set", "eth1", "down") }
            try await lab.run("kitchen", "ip", "link", "set", "eth1", "name", "docker1")
            try await kitchen.publish("abc")
            try await study.tell("browse _waft._tcp")
            #expect(try await study.hears("updated") { $0.hosts.count == 2 }.interfaces == ["eth0"])
            try await lab.run("kitchen", "ip", "link", "set", "docker1", "name", "usb0")
            for (host, link) in [("kitchen", "usb0"), ("study", "eth1")] {
                try await lab.run(host, "ip", "link", "set", link, "up")
            }
            try await study.hears("updated") { $0.instance == "abc" && $0.interfaces.contains("eth1") }
        }
    }

    @Test("a service that is being announced when an interface goes is announced on the others", arguments: likes)
    func goneInterface(pair: Pair) async throws {
        try await between(pair, options: ["--links", "eth0,eth1"]) { lab, kitchen, study in
            try await kitchen.publish("abc")
            try await kitchen.tell("publish def _waft._tcp def 4711 v=1")
            try await lab.run("kitchen", "ip", "link", "delete", "eth1")
            #expect(try await kitchen.answer()?.event == "published")
            try await study.tell("browse _waft._tcp")
            try await study.hears("updated", "def")
        }
    }

    @Test("two hundred services are all found, and all seen to go", arguments: likes)
    func many(pair: Pair) async throws {
        try await between(pair) { _, kitchen, study in
            try await study.tell("browse _waft._tcp")
            try await kitchen.tell("publish-many _waft._tcp s 200")
            try await kitchen.hears("published")
            let names = Set((0..<200).map { "s\($0)" })
            for found in try await study.hears("updated", all: names) {
                #expect(found.addresses?.allSatisfy { "s\(Int($0.port) - 20_000)" == found.instance } == true)
            }
            for name in names { try await kitchen.tell("withdraw \(name)") }
            try await study.hears("removed", all: names)
        }
    }

    /// The work of a responder grows with the square of its services: a minute of a processor for these.
    private static let isWhole = ProcessInfo.processInfo.environment["TEST_ALL"] != nil

    @Test(
        "of more services than are kept as many are found as are kept",
        .enabled(if: isWhole, "NOT RUN: only with --all"), arguments: [Via.daemon, .embedded])
    func tooMany(browser: Via) async throws {
        try await between(Pair(publisher: .embedded, browser: browser)) { _, kitchen, study in
            try await kitchen.tell("publish-many _waft._tcp s 1100")
            try await kitchen.hears("published")
            try await study.tell("browse _waft._tcp")
            var found: Set<String> = []
            while found.count < 1_024 { found.insert(try await study.hears("updated").instance ?? "") }
            // Withdrawn services make room again.
            for name in found.sorted().prefix(200) { try await kitchen.tell("withdraw \(name)") }
            try await study.hears("removed", all: Set(found.sorted().prefix(200)))
            try await kitchen.publish("late")
            try await study.hears("updated", "late")
        }
    }
}
