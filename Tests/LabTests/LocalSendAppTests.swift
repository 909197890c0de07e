import Foundation
import Testing

/// With a stand-in for LocalSend's app that is as strict as the app is.
@Suite(
    "LocalSend's app", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct LocalSendAppTests {
    private static let kitchenAddress = "192.168.77.1"
    private static let studyAddress = "192.168.77.2"
    private static let receiver = kitchenAddress + ":53317"

    private func write(_ folder: String, _ contents: [String: Data]) throws -> [String] {
        for (name, data) in contents { try data.write(to: URL(fileURLWithPath: folder + "/" + name)) }
        return contents.keys.sorted().map { folder + "/" + $0 }
    }

    private static let samples = [
        "a.txt": Data("hello".utf8), "empty": Data(),
        "gr\u{F6}\u{DF}e.bin": Data((0..<900_000).map { UInt8(truncatingIfNeeded: $0) }),
    ]

    @Test("the app and this receiver find each other, whoever comes first", arguments: ["1.18", "1.17"])
    func finding(_ version: String) async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await study.withApp(version, at: Self.studyAddress) { app in
                let peers = try await kitchen.run(arguments: ["peers", "--timeout", "4", "--json"])
                #expect(peers.events.map(\.name) == ["phone"], "\(peers.output) \(peers.errors)")
                try await kitchen.withReceiver(port: nil) { _ in
                    _ = try await app.event("device") { $0.alias == "kitchen" && $0.how == "answered" }
                }
                #expect(await app.events("unreadable").isEmpty)
                #expect(await app.events("dropped").isEmpty)
            }
            try await kitchen.withReceiver(port: nil) { _ in
                try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                try await study.withApp(version, at: Self.studyAddress) { app in
                    _ = try await app.event("device") { $0.alias == "kitchen" && $0.how == "registered" }
                    // The app gives up after half a second, and its user asks again.
                    var (probed, count): (AppEvent?, Int) = (nil, 0)
                    while probed?.status != 200 {
                        count += 1
                        try await app.order(#"{"do":"probe","to":"\#(Self.receiver)"}"#)
                        probed = try await app.event("probed", number: count)
                    }
                    #expect(probed?.alias == "kitchen")
                    #expect(await app.events("unreadable").isEmpty)
                    #expect(await app.events("dropped").isEmpty)
                }
            }
        }
    }

    @Test(
        "the app sends files and a message; a file that is changed on the way is sent again",
        arguments: ["1.18", "1.17"])
    func receiving(_ version: String) async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let paths = try write(lab.folder, Self.samples)
            let later = try write(lab.folder, ["later.txt": Data("later".utf8)])
            try await kitchen.withReceiver(port: nil) { running in
                try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                try await study.withApp(version, at: Self.studyAddress) { app in
                    let answer = try await app.send(paths, to: Self.receiver)
                    #expect(answer.status == 200)
                    let sent = try await app.event("sent")
                    #expect(sent.fine == paths.count)
                    for (name, data) in Self.samples {
                        #expect(FileManager.default.contents(atPath: running.inbox + "/" + name) == data, "\(name)")
                    }
                    try await app.order(#"{"do":"send","to":"\#(Self.receiver)","text":"back at six"}"#)
                    _ = try await app.event("answer", number: 2) { $0.status == 204 || $0.status == 200 }
                    let text = FileManager.default.contents(atPath: running.inbox + "/back at six.txt")
                    #expect(text == Data("back at six".utf8))
                    guard version == "1.18" else { return }
                    _ = try await app.send(later, to: Self.receiver, #","garble":1"#)
                    _ = try await app.event("uploaded") { $0.name == "later.txt" && $0.status == 422 }
                    _ = try await app.event("uploaded") { $0.name == "later.txt" && $0.status == 200 }
                    #expect(FileManager.default.contents(atPath: running.inbox + "/later.txt") == Data("later".utf8))
                    #expect(try running.staged().isEmpty)
                }
            }
        }
    }

    @Test("a phone is a contact after a look at its offer; what it sends then is taken without a question")
    func phone() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let paths = try write(lab.folder, ["a.txt": Data("hello".utf8), "b.txt": Data("later".utf8)])
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, [], port: nil) { running in
                try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                try await study.withApp("1.18", at: Self.studyAddress, #"{"silent":true}"#) { app in
                    async let first = app.send([paths[0]], to: Self.receiver)
                    let words = ["contacts", "allow", "--from-offer", "1", "--name", "my phone", "--policy", "accept"]
                    try await eventually { try await kitchen.run(arguments: ["offers"]).output.contains("phone") }
                    let look = try await kitchen.run(arguments: words)
                    #expect(look.exit == 0 && look.errors.contains("from the address \(Self.studyAddress)"), "\(look)")
                    #expect(look.errors.contains("fingerprint of its certificate: "), "\(look.errors)")
                    #expect(try await kitchen.run(arguments: ["accept", "1"]).exit == 0)
                    #expect(try await first.status == 200)
                    try await app.event("sent")
                    #expect(try await app.send([paths[1]], to: Self.receiver).status == 200)
                    try await app.event("sent", number: 2)
                    #expect(try running.names() == ["a.txt", "b.txt"])
                }
            }
        }
    }

    @Test("a receiver that is stopped in the middle tells the app")
    func stopped() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let paths = try write(lab.folder, ["large.bin": Data(count: 8_000_000)])
            try await study.withApp("1.18", at: Self.studyAddress, #"{"silent":true}"#) { app in
                try await kitchen.withReceiver(port: nil) { running in
                    try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                    try await lab.call(["rate", lab.name, "study", "8mbit"])
                    #expect(try await app.send(paths, to: Self.receiver).status == 200)
                    try await eventually { try !running.staged().isEmpty }
                }
                try await app.event("told")
            }
        }
    }

    @Test("an offer that is declined is answered with 403, and one without the sender's port is taken all the same")
    func declined() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let paths = try write(lab.folder, ["a.txt": Data("hello".utf8)])
            try await study.withApp("1.18", at: Self.studyAddress, #"{"silent":true}"#) { app in
                try await kitchen.withReceiver(Programs.waft, ["receive", "--accept", "none"], port: nil) { running in
                    try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                    let answer = try await app.send(paths, to: Self.receiver)
                    #expect(answer.status == 403)
                    #expect(try running.names().isEmpty)
                }
                try await kitchen.withReceiver(port: nil) { running in
                    try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                    let answer = try await app.send(
                        paths, to: Self.receiver, #","sender":{"port":null,"deviceType":null}"#)
                    #expect(answer.status == 200)
                    try await app.event("sent")
                    #expect(try running.names() == ["a.txt"])
                }
            }
        }
    }
}
