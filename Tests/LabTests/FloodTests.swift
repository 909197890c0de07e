import Foundation
import Subprocess
import Testing

/// One stranger that offers endlessly.
@Suite("A flood of offers", .serialized, .timeLimit(.minutes(3)))
struct FloodTests {
    /// A value in kilobytes from the status of a process.
    private func kilobytes(_ field: String, of process: ProcessIdentifier) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.value)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
        return try #require(Int(line.split(separator: " ").dropFirst().first ?? line))
    }

    @Test("500 offers of one stranger: four wait, the others hear busy, and contacts and commands notice nothing")
    func flood() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let (trusted, asked) = (Host.loopback(folder + "/trusted"), Host.loopback(folder + "/asked"))
            let mallory = Host.loopback(folder + "/mallory")
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            try await kitchen.allow(trusted, "Trusted", ["--policy", "accept"])
            try await kitchen.allow(asked, "Asked")
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let sending = ["send", "note.txt", "--to", running.address]
                #expect(try await trusted.run(arguments: sending, in: folder).exit == 0)
                let before = try kilobytes("VmHWM", of: running.process)
                try await mallory.withStranger("flood", [running.address, "500"]) { flood in
                    // In the middle of the flood.
                    _ = try await flood.event { $0.event == "tally" && ($0.busy ?? 0) >= 100 }
                    // A new file: an item that is there already is not stored again.
                    try "again".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
                    #expect(try await trusted.run(arguments: sending, in: folder).exit == 0)
                    async let question = asked.run(arguments: sending, in: folder)
                    let status = try await kitchen.run(arguments: ["status"])
                    #expect(status.exit == 0)
                    _ = try await flood.event { $0.event == "tally" && $0.busy == 496 }
                    // The four that wait, and the contact's.
                    var list = try await kitchen.run(arguments: ["offers", "--json"])
                    while list.output.split(separator: "\n").count < 5 {
                        list = try await kitchen.run(arguments: ["offers", "--json"])
                    }
                    #expect(list.output.split(separator: "\n").count == 5, "\(list.output)")
                    struct Waiting: Decodable {
                        var offer: Int
                        var count: Int
                    }
                    let waiting = try list.output.split(separator: "\n").map {
                        try JSONDecoder().decode(Waiting.self, from: Data($0.utf8))
                    }
                    let contact = try #require(waiting.first { $0.count == 1 })
                    #expect(try await kitchen.run(arguments: ["accept", "\(contact.offer)"]).exit == 0)
                    #expect(try await question.exit == 0)
                    // One no makes room for one question, and no more than six are asked in a minute.
                    for number in waiting.map(\.offer) where number != contact.offer {
                        #expect(try await kitchen.run(arguments: ["decline", "\(number)"]).exit == 0)
                    }
                    let end = try await flood.event("done")
                    #expect((end.busy, end.declined, end.closed) == (496, 4, nil))
                }
                let grown = try kilobytes("VmHWM", of: running.process) - before
                #expect(grown < 128 << 10, "\(grown) KiB more than before")
                #expect(try running.names().count == 3)
                #expect(await running.log.count("offer") <= 8, "nothing is shown of what nobody is asked about")
                #expect(try await kitchen.run(arguments: ["offers"]).output == "")
            }
        }
    }

    @Test("a stranger that goes takes its offers with it")
    func gone() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, mallory) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/mallory"))
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                try await mallory.withStranger("flood", [running.address, "8"]) { flood in
                    _ = try await flood.event { $0.event == "tally" && $0.busy == 4 }
                    // The others may be about to wait.
                    try await eventually {
                        try await kitchen.run(arguments: ["offers", "--json"]).output.split(separator: "\n").count == 4
                    }
                }
                try await eventually { try await kitchen.run(arguments: ["offers"]).output.isEmpty }
            }
        }
    }
}
