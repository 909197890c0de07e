import Foundation
import Subprocess
import Testing

/// All ways to answer an offer, one at a time and all at once: the terminal of `waft receive`, commands
/// from another shell, the arbiter, and the desktop.
@Suite("Answers to an offer", .serialized, .timeLimit(.minutes(4)))
struct AnswersTests {
    private struct Place: Sendable {
        let folder: String
        let kitchen: Host
        let study: Host
        let desktop: Desktop
        let terminal: RunningProgram
        let address: String

        /// - Parameter number: the one that the offer gets.
        func send(_ number: Int) async throws -> ProgramResult {
            try begin(number)
            return try await study.run(arguments: ["send", "note.txt", "--to", address], in: folder)
        }

        func begin(_ number: Int) throws {
            try "\(number)".write(toFile: folder + "/words/round", atomically: true, encoding: .utf8)
        }

        /// Whether the arbiter thinks about that offer.
        private func isArbitrated(_ number: Int) -> Bool {
            let files = FileManager.default.enumerator(atPath: kitchen.home + "/state/hooks")
            return files?.contains { ($0 as? String)?.hasSuffix("/asked-\(number)") ?? false } ?? false
        }

        /// Waits until the terminal, the desktop and the arbiter have the question.
        func isAsked(_ number: Int) async throws {
            try await terminal.transcript.asks(below: "\(number): study")
            try await desktop.displays(1)
            try await eventually { isArbitrated(number) }
        }

        /// Waits until the question has disappeared everywhere.
        func isSettled(_ number: Int) async throws {
            #expect(try await kitchen.run(arguments: ["offers"]).output == "")
            try await desktop.displays(0)
            try await eventually { !isArbitrated(number) }
        }

        func command(_ verb: String, _ number: Int) async throws -> ProgramResult {
            try await kitchen.run(arguments: [verb, "\(number)"])
        }

        /// Makes the arbiter answer that offer with an exit code.
        func arbitrate(_ number: Int, exit: Int) throws {
            try "\(exit)".write(toFile: folder + "/words/say-\(number)", atomically: true, encoding: .utf8)
        }
    }

    /// Runs `waft receive` at a terminal, on a desktop, with an arbiter that waits for its answer.
    private func withPlace(_ body: @Sendable @escaping (Place) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            try FileManager.default.createDirectory(atPath: folder + "/words", withIntermediateDirectories: true)
            // The arbiter's sandbox lets it read the folder `words`, and write in its temporary folder.
            try writeScript(
                """
                #!/bin/sh
                n=$(cat '\(folder)/words/round')
                : > "$TMPDIR/asked-$n"
                until [ -s "\(folder)/words/say-$n" ]; do sleep 0.01; done
                exit "$(cat "\(folder)/words/say-$n")"

                """, to: folder + "/arbiter")
            try FileManager.default.createDirectory(atPath: folder + "/desktop", withIntermediateDirectories: true)
            try await Desktop.with(in: folder + "/desktop") { desktop in
                var host = Host.loopback(folder + "/kitchen")
                host.environment.merge(desktop.environment) { $1 }
                host.environment["WAFT_ARBITER"] = folder + "/arbiter"
                // A notification of an arrival would stay on the desktop.
                host.environment["WAFT_NOTIFICATIONS"] = "offers"
                host.environment["WAFT_HOOK_READABLE"] = folder + "/words"
                var sender = Host.loopback(folder + "/study")
                sender.environment["WAFT_NAME"] = "study"
                let (kitchen, study) = (host, sender)
                try await kitchen.allow(study, "study")
                try await kitchen.atTerminal(["receive", "--port", "0"]) { terminal in
                    let port = try await terminal.transcript.first("a port") { text in
                        text.firstMatch(of: /on port (\d+),/).map { String($0.output.1) }
                    }
                    let place = Place(
                        folder: folder, kitchen: kitchen, study: study, desktop: desktop, terminal: terminal,
                        address: "127.0.0.1:\(port)")
                    try await body(place)
                    try await terminal.type("\u{3}")
                }
            }
        }
    }

    @Test("each way answers, and the offer disappears from all others")
    func oneByOne() async throws {
        let ways: [(name: String, exit: Int, answer: @Sendable (Place, Int) async throws -> Void)] = [
            // First: shortly after an answer from elsewhere, typed characters may be meant for the previous offer.
            ("y at the terminal", 0, { place, _ in try await place.terminal.type("y\n") }),
            ("n at the terminal", 12, { place, _ in try await place.terminal.type("n\n") }),
            ("waft accept", 0, { place, number in _ = try await place.command("accept", number) }),
            ("waft decline", 12, { place, number in _ = try await place.command("decline", number) }),
            ("Accept on the desktop", 0, { place, _ in try await place.desktop.choose("Accept") }),
            ("Decline on the desktop", 12, { place, _ in try await place.desktop.choose("Decline") }),
            ("a yes of the arbiter", 0, { place, number in try place.arbitrate(number, exit: 0) }),
            ("a no of the arbiter", 12, { place, number in try place.arbitrate(number, exit: 1) }),
        ]
        try await withPlace { place in
            for (index, way) in ways.enumerated() {
                let number = index + 1
                async let sending = place.send(number)
                try await place.isAsked(number)
                try await way.answer(place, number)
                let outcome = try await sending
                #expect(outcome.exit == way.exit, "\(way.name): \(outcome.errors)")
                try await place.isSettled(number)
                // A later answer is refused.
                let late = try await place.command("accept", number)
                #expect(late.exit == 66, "\(way.name)")
                #expect(late.errors.contains("waft offers"), "\(late.errors)")
                if !way.name.hasSuffix("terminal") {
                    let words =
                        way.name.hasSuffix("arbiter")
                        ? "The question about offer \(number) was withdrawn."
                        : "Offer \(number) was answered elsewhere."
                    try await place.terminal.transcript.says(words)
                }
            }
        }
    }

    @Test("of answers that come all at once one wins, and the sender gets one verdict")
    func allAtOnce() async throws {
        try await withPlace { place in
            for number in 1...6 {
                async let sending = place.send(number)
                try await place.isAsked(number)
                async let accepting = place.command("accept", number)
                async let declining = place.command("decline", number)
                async let choosing: Void = place.desktop.choose(number.isMultiple(of: 2) ? "Decline" : "Accept")
                async let typing: Void = place.terminal.type(number.isMultiple(of: 2) ? "y\n" : "n\n")
                try place.arbitrate(number, exit: number % 2)
                let outcome = try await sending
                #expect([0, 12].contains(outcome.exit), "\(outcome.errors)")
                #expect((outcome.output + outcome.errors).split(separator: "\n").count == 1, "\(outcome)")
                let commands = (accept: try await accepting.exit, decline: try await declining.exit)
                #expect([0, 66].contains(commands.accept) && [0, 66].contains(commands.decline), "\(commands)")
                if commands.accept == 0 { #expect((outcome.exit, commands.decline) == (0, 66)) }
                if commands.decline == 0 { #expect((outcome.exit, commands.accept) == (12, 66)) }
                try await choosing
                try await typing
                try await place.isSettled(number)
            }
        }
    }

    @Test("a sender that goes takes its question from everywhere")
    func withdrawn() async throws {
        try await withPlace { place in
            let words = ["send", "note.txt", "--to", place.address]
            try place.begin(1)
            let gone = try await place.study.withProgram(Programs.waft, words, signal: .interrupt, in: place.folder) {
                _ in
                try await place.isAsked(1)
            }
            #expect(gone.exit == 130)
            try await place.terminal.transcript.says("The question about offer 1 was withdrawn.")
            try await place.isSettled(1)
            #expect(try await place.command("accept", 1).exit == 66)
        }
    }

    @Test("an answer that was typed for an offer that goes at that moment does not answer the next one")
    func typedTooLate() async throws {
        try await withPlace { place in
            let words = ["send", "note.txt", "--to", place.address]
            let terminal = place.terminal
            async let stranger = place.study.withProgram(
                Programs.waft, words, signal: .interrupt, in: place.folder
            ) { _ in
                try await terminal.transcript.says("1: study")
                // The second one waits behind it.
                while try await !place.kitchen.run(arguments: ["offers"]).output.contains("2: study") {}
            }
            try await terminal.transcript.asks(below: "1: study")
            let second = try await place.study.withProgram(Programs.waft, words, in: place.folder) { _ in
                try await terminal.transcript.asks(below: "The question about offer 1 was withdrawn.")
                try await terminal.type("y\n")
                try await terminal.transcript.says("Offer 1 does not wait any longer; next:")
                try await terminal.transcript.asks(below: "2: study", times: 2)
                try await terminal.type("n\n")
            }
            #expect(second.exit == 12, "\(second.text)")
            #expect(try await stranger.exit == 130)
        }
    }
}
