import Foundation
import Subprocess
import Testing

/// Transfers by spoken codes between two hosts that do not know each other.
@Suite("A spoken code", .serialized, .timeLimit(.minutes(3)))
struct SpokenCodeTests {
    /// The last code that a program shows, once it has shown so many.
    static func code(_ number: Int = 1, of program: RunningProgram) async throws -> String {
        try await program.transcript.first("a code") { text in
            let codes = text.split(whereSeparator: \.isNewline).filter {
                $0.wholeMatch(of: /[0-9]+(-[a-z]+){2,3}/) != nil
            }
            return codes.count >= number ? String(codes[number - 1]) : nil
        }
    }

    private static func file(_ folder: String, _ name: String = "plan.txt") throws -> String {
        try "the plan\n".write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        return "\(folder)/\(name)"
    }

    private static func stored(_ host: Host) -> [String] {
        let inbox = host.home + "/Documents/Inbox"
        return ((try? FileManager.default.contentsOfDirectory(atPath: inbox)) ?? []).filter { !$0.hasPrefix(".") }
    }

    @Test(
        "moves a file between two homes without receivers, which show it in one line each; both end, and no contact is made"
    )
    func bare() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let path = try Self.file(lab.folder)
            let sent = try await study.withProgram(Programs.waft, ["send", path, "--code"]) { sending in
                let code = try await Self.code(of: sending)
                let received = try await kitchen.run(arguments: [
                    "receive", code.uppercased().replacing("-", with: " "),
                ])
                #expect(received.exit == 0, "\(received)")
                #expect(received.output.contains("/plan.txt  9 bytes"), "\(received.output)")
            }
            #expect(sent.exit == 0 && sent.text.contains("stored as plan.txt"), "\(sent.text)")
            #expect(Self.stored(kitchen) == ["plan.txt"])
            for host in [kitchen, study] {
                #expect(try await host.run(arguments: ["contacts", "--json"]).output == "")
            }
        }
    }

    @Test("goes through daemons that nobody can see, in both directions, and hides them again")
    func daemons() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let path = try Self.file(lab.folder)
            try await kitchen.withReceiver(Programs.waftd, []) { there in
                try await study.withReceiver(Programs.waftd, []) { here in
                    for host in [kitchen, study] {
                        #expect(try await host.run(arguments: ["visible", "off"]).exit == 0)
                    }
                    let sent = try await study.withProgram(Programs.waft, ["send", path, "--code", "--json"]) {
                        sending in
                        let code = try await sending.transcript.first("a code") { text in
                            text.firstMatch(of: /"code":"([0-9a-z-]+)"/).map { String($0.output.1) }
                        }
                        let received = try await kitchen.run(arguments: ["receive", code, "--json"])
                        #expect(received.exit == 0, "\(received)")
                        #expect(received.events.map(\.event).contains("stored"), "\(received.output)")
                    }
                    #expect(sent.exit == 0, "\(sent.text)")
                    #expect(try there.names() == ["plan.txt"])
                    // The other direction: the receiving side shows the code.
                    let back = try Self.file(lab.folder, "back.txt")
                    let shown = try await study.withProgram(Programs.waft, ["receive", "--code"]) { receiving in
                        let code = try await Self.code(of: receiving)
                        let sent = try await kitchen.run(arguments: ["send", back, "--to-code", code])
                        #expect(sent.exit == 0, "\(sent)")
                    }
                    #expect(shown.exit == 0 && shown.text.contains("/back.txt"), "\(shown.text)")
                    #expect(try here.names() == ["back.txt"])
                    let late = try await kitchen.run(arguments: ["send", path, "--to", here.address])
                    #expect(late.exit != 0, "\(late)")
                }
            }
        }
    }

    @Test("for three people is typed at three machines at once; a contact is made for a time where both sides say so")
    func several() async throws {
        try await Lab.with(avahi: "none", hosts: "study,kitchen,attic,cellar") { lab in
            let study = lab.host("study")
            let guests = ["kitchen", "attic", "cellar"].map { lab.host($0) }
            let words = ["send", try Self.file(lab.folder), "--code", "--people", "3", "--remember", "30d"]
            let sent = try await study.withProgram(Programs.waft, words) { sending in
                let code = try await Self.code(of: sending)
                #expect(code.split(separator: "-").count == 4)
                try await withThrowingTaskGroup(of: ProgramResult.self) { group in
                    for (number, guest) in guests.enumerated() {
                        let words = ["receive", code] + (number == 0 ? ["--remember", "7d"] : [])
                        group.addTask { try await guest.run(arguments: words) }
                    }
                    for try await received in group { #expect(received.exit == 0, "\(received)") }
                }
            }
            #expect(sent.exit == 0 && !sent.text.contains("A wrong try"), "\(sent.text)")
            for guest in guests { #expect(Self.stored(guest) == ["plan.txt"]) }
            let known = try await study.run(arguments: ["contacts"])
            #expect(known.output.split(separator: "\n").count == 1, "\(known.output)")
            #expect(known.output.hasPrefix("kitchen  ") && known.output.contains("a contact until"), "\(known.output)")
            #expect(guests[0].contactsFile.contains("spokenCode") && guests[1].contactsFile == "")
        }
    }

    @Test("is spent by wrong words: both sides say so, and the next code works")
    func wrong() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let path = try Self.file(lab.folder)
            let sent = try await study.withProgram(Programs.waft, ["send", path, "--code"]) { sending in
                let first = try await Self.code(of: sending)
                let number = first.split(separator: "-")[0]
                let words = first.hasSuffix("-acorn-acorn") ? "adobe adobe" : "acorn acorn"
                let guess = try await kitchen.run(arguments: ["receive", "\(number) \(words)"])
                #expect(guess.exit == 12 && guess.errors.contains("the words are wrong"), "\(guess)")
                // A false machine would get another guess.
                let again = try await kitchen.run(arguments: ["receive", "\(number) \(words)"])
                #expect(again.exit == 12 && again.errors.contains("has failed here before"), "\(again)")
                let second = try await Self.code(2, of: sending)
                #expect(sending.process.value > 0 && second != first)
                let spent = try await kitchen.run(arguments: ["receive", first])
                #expect([10, 12].contains(spent.exit), "\(spent)")
                let received = try await kitchen.run(arguments: ["receive", second])
                #expect(received.exit == 0, "\(received)")
            }
            #expect(sent.exit == 0 && sent.text.contains("A wrong try from"), "\(sent.text)")
            #expect(Self.stored(kitchen) == ["plan.txt"])
        }
    }

    @Test("that another machine says to show too is tried at neither; the key beside the code chooses")
    func claimed() async throws {
        try await Lab.with(avahi: "attic", hosts: "kitchen,study,attic") { lab in
            let (kitchen, study, attic) = (lab.host("kitchen"), lab.host("study"), lab.host("attic"))
            let path = try Self.file(lab.folder)
            try await attic.withStranger("serve", [#"{"name": "study", "host": "0.0.0.0"}"#]) { stranger in
                let port = try await stranger.event("listening").port ?? 0
                let record = ["-s", "false", "_waft._tcp", "\(port)", "v=1"]
                try await attic.withProgram("/usr/bin/avahi-publish", record, signal: .interrupt) { publishing in
                    try await publishing.transcript.says("Established")
                    // The false machine alone gets one try, which shows nothing of the words.
                    let alone = try await kitchen.run(arguments: ["receive", "7-pumpkin-sausage"])
                    #expect([11, 12].contains(alone.exit), "\(alone)")
                    let sent = try await study.withProgram(Programs.waft, ["send", path, "--code"]) { sending in
                        let code = try await Self.code(of: sending)
                        let key = try await sending.transcript.first("a key") { text in
                            text.firstMatch(of: /shown as ([0-9a-z-]+)/).map { String($0.output.1) }
                        }
                        // Until the record of the sender is there.
                        _ = try await kitchen.run(arguments: ["peers", "--timeout", "3"])
                        let doubtful = try await kitchen.run(arguments: ["receive", code])
                        #expect(doubtful.exit == 12 && doubtful.errors.contains(key), "\(doubtful)")
                        // The desk names both keys, for buttons.
                        try await withDesk(kitchen) { desk in
                            try await desk.enter()
                            let told = try await desk.call("codes/receive", "{\"code\":\"\(code)\"}")
                            #expect(told.contains(#""fault":"claimed""#) && told.contains(key), "\(told)")
                        }
                        let chosen = try await kitchen.run(arguments: ["receive", code, "--from", key])
                        #expect(chosen.exit == 0, "\(chosen)")
                    }
                    #expect(sent.exit == 0 && !sent.text.contains("A wrong try"), "\(sent.text)")
                }
            }
        }
    }

    @Test(
        "that is no code is refused where it is typed; one that nobody shows is not found; one that nobody types expires"
    )
    func refused() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let path = try Self.file(lab.folder)
            let mistyped = try await kitchen.run(arguments: ["receive", "7-pumpkn-sausage"])
            #expect(mistyped.exit == 64 && mistyped.errors.contains("did you mean pumpkin?"), "\(mistyped)")
            // At the terminal a word is completed, and one that is none cannot be left.
            let entered = try await kitchen.atTerminal(["receive", "--enter-code", "--at", "192.168.77.2"]) {
                terminal in
                try await terminal.transcript.says("Code: ")
                try await terminal.type("7 pumpz ")
                try await terminal.transcript.says("no word of a code begins with pumpz: pumpkin")
                try await terminal.type("\u{7F}\tsaus\n")
            }
            #expect(entered.exit == 10 && entered.text.contains("shows 7-pumpkin-sausage"), "\(entered)")
            let read = try await kitchen.run(Programs.waft, ["receive", "-"], input: "7 pumpkin\n")
            #expect(read.exit == 64, "\(read)")
            let both = try await kitchen.run(arguments: ["send", path, "--code", "--to", "study"])
            #expect(both.exit == 64, "\(both)")
            // An address that asks too often hears that, and nothing more.
            try await study.withReceiver(Programs.waftd, []) { running in
                var answers: [ProgramResult] = []
                for _ in 0..<6 {
                    let words = ["receive", "7-acorn-agent", "--at", "192.168.77.2:\(running.port)"]
                    answers.append(try await kitchen.run(arguments: words))
                }
                #expect(answers.map(\.exit) == [10, 10, 10, 10, 10, 12], "\(answers)")
                #expect(answers[5].errors.contains("too many questions"), "\(answers[5])")
            }
            async let expiring = study.run(arguments: ["send", path, "--code", "--for", "1s"])
            let nobody = try await kitchen.run(arguments: ["receive", "7-pumpkin-sausage", "--at", "192.168.77.2"])
            #expect(nobody.exit == 10, "\(nobody)")
            let expired = try await expiring
            #expect(expired.exit == 15 && expired.errors.contains("nobody typed the code"), "\(expired)")
        }
    }
}
