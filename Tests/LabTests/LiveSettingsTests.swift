import Foundation
import Subprocess
import Testing

/// `waft config set` while a receiver runs: between two hosts, as some settings are about their network.
@Suite(
    "The settings of a running receiver", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct LiveSettingsTests {
    private static let port = "9300"
    /// A new value for each setting, but for the rules, which `waft config edit` changes.
    private static let values: KeyValuePairs = [
        "name": "cellar", "port": port, "accept": "contacts", "hook": "/bin/true", "hookTimeout": "30",
        "hookReadable": "/srv", "hookWritable": "/var/tmp", "hookNetwork": "true", "hookSockets": "true",
        "hookEnvironment": "HTTPS_PROXY",
        "hookSandbox": "none", "eligibility": "handlers", "openReceivedURLs": "http",
        "excludedActivities": "org.waft.activity.print", "sandbox": "require",
        "arbiter": "/bin/true", "notifications": "false", "previews": "off", "relay": "never",
        "outboxHook": "/bin/true",
        "outboxQuota": "1 GiB",
        "inhibitSleep": "false", "discovery": "false", "skipInterfaces": "eth*", "searchDomains": "example.org",
        "reserve": "1 MB", "strangerQuota": "1 GiB", "conflict": "skip", "partialLifetime": "1d",
        "partialQuota": "1 GiB", "dialects.airdrop.enabled": "false", "dialects.airdrop.flags": "11",
        "dialects.airdrop.modelName": "Lab", "dialects.airdrop.radio": "off", "dialects.airdrop.identity": "/lab",
        "dialects.localsend.enabled": "false",
        "dialects.localsend.port": "53318",
        "dialects.localsend.pin": "471100", "dialects.localsend.deviceModel": "Lab",
        "dialects.localsend.plain": "true", "web.enabled": "true", "web.port": "7444", "web.plain": "true",
        "web.certificate": "/nowhere/certificate.pem", "web.key": "/nowhere/key.pem",
        "desk.sound": "true", "desk.firstSteps": "false",
        "logLevel": "debug", "protection": "untilFirstUnlock", "lockAfter": "15m",
        "lockOnScreenSaver": "true", "clearQuota": "1 MB",
    ]

    private struct Line: Decodable {
        var setting: String?
        var inUse: Bool?
    }

    private func change(_ host: Host, _ words: [String]) async throws {
        let outcome = try await host.run(arguments: ["config"] + words + ["--json"])
        let line = try? JSONDecoder().decode(Line.self, from: Data(outcome.output.utf8))
        #expect(outcome.exit == 0 && line?.inUse == true, "\(words): \(outcome)")
    }

    @Test(
        "each of them is used at once while a transfer runs, which goes on", arguments: ["all", "none"])
    func each(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let known = try await kitchen.run(arguments: ["config", "list", "--all", "--json"])
            let names = known.output.split(separator: "\n").compactMap {
                try? JSONDecoder().decode(Line.self, from: Data($0.utf8)).setting
            }
            #expect(Set(names) == Set(Self.values.map(\.key) + ["policy"]))
            try await kitchen.becomeVisible()
            try await change(kitchen, offline: "accept", "everyone")
            // Keys without which nothing can be sealed.
            let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
            let keys = try await kitchen.run(arguments: ["protection", "set-up", "--recipient", recipient])
            #expect(keys.exit == 0, "\(keys)")
            try await change(kitchen, offline: "protection", "none")
            try await kitchen.withReceiver(Programs.waftd, [], port: nil) { running in
                let sent = try await study.withProgram(
                    Programs.waft, ["send", "-", "--name", "film", "--to", "kitchen"]
                ) { sender in
                    try await sender.type("one\n")
                    _ = try await running.log.first("answered")
                    for (name, value) in Self.values {
                        try await change(kitchen, ["set", "--anyway", name, value])
                        if name == "port" { try await takes(kitchen, study, lab) }
                        try await change(kitchen, ["unset", name])
                    }
                    try await change(kitchen, ["set", "accept", "everyone"])
                    try await sender.type("two\n")
                }
                #expect(sent.exit == 0, "\(sent.text)")
                _ = try await running.log.first("stored")
                let film = try String(contentsOfFile: running.inbox + "/film", encoding: .utf8)
                #expect(film == "one\ntwo\n")
            }
        }
    }

    /// Makes a setting before a receiver runs.
    private func change(_ host: Host, offline name: String, _ value: String) async throws {
        let outcome = try await host.run(arguments: ["config", "set", name, value])
        #expect(outcome.exit == 0, "\(outcome)")
    }

    /// The receiver can be reached at its new port.
    private func takes(_ kitchen: Host, _ study: Host, _ lab: Lab) async throws {
        // The new port is open a moment after the settings were read.
        try await eventually { try await kitchen.run(arguments: ["status"]).output.contains(Self.port) }
        try "x".write(toFile: lab.folder + "/small", atomically: false, encoding: .utf8)
        let sent = try await study.run(
            arguments: ["send", "small", "--to", "192.168.77.1:\(Self.port)"], in: lab.folder)
        #expect(sent.exit == 0, "\(sent)")
    }

    @Test(
        "a receiver that hides from the network, or from an interface, is found again after that",
        arguments: ["all", "none"])
    func hidden(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await change(kitchen, offline: "accept", "everyone")
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, [], port: nil) { running in
                func isInView() async throws -> Bool {
                    try await study.run(arguments: ["peers", "--timeout", "1"]).output.contains("kitchen")
                }
                func send(_ name: String) async throws {
                    try name.write(toFile: lab.folder + "/\(name)", atomically: false, encoding: .utf8)
                    let sent = try await study.run(
                        arguments: ["send", name, "--to", "kitchen", "--timeout", "20"], in: lab.folder)
                    #expect(sent.exit == 0, "\(sent)")
                }
                try await send("first")
                for (name, value) in [("discovery", "false"), ("skipInterfaces", "eth*")] {
                    try await change(kitchen, ["set", name, value])
                    while try await isInView() {}
                    try await change(kitchen, ["unset", name])
                    while try await !isInView() {}
                    try await send("after-\(name)")
                }
                #expect(try running.names() == ["after-discovery", "after-skipInterfaces", "first"])
            }
        }
    }
}
