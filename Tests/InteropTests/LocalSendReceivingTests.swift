import Foundation
import Testing

/// Receiving from two independent implementations of LocalSend.
@Suite(
    "Receiving from LocalSend's programs", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Programs.localsendIsPossible, "run Scripts/setup-interop, and the tests as root"))
struct LocalSendReceivingTests {
    /// Bytes of the large file.
    private static let largeBytes = 200_000_000

    private func expectArrived(_ names: [String], _ both: LocalSendLab) throws {
        for name in names {
            let stored = name.precomposedStringWithCanonicalMapping
            #expect(Samples.areEqual(both.study + "/" + name, both.inbox + "/" + stored), "\(name) arrived otherwise")
        }
        #expect(try both.staged().isEmpty)
    }

    @Test("localsendd finds this receiver, and sends it files of all kinds, and 500 at once")
    func daemon() async throws {
        try await LocalSendLab.with { both in
            let names =
                try Samples.write(to: both.study, largeBytes: Self.largeBytes) + LocalSendLab.odd(to: both.study)
            let small = try LocalSendLab.small(500, to: both.study)
            try await both.receiving {
                try await both.withDaemon { _ in
                    try await both.untilFound()
                    let sent = try await both.controlSend(names)
                    #expect(sent.exit == 0, "\(sent.output) \(sent.errors)")
                    try expectArrived(names, both)
                    let many = try await both.controlSend(small)
                    #expect(many.exit == 0, "\(many.output) \(many.errors)")
                    try expectArrived(small, both)
                    #expect(try both.arrived().count == names.count + small.count)
                    let history = try await both.waft("history", "--json", "--limit", "3")
                    #expect(history.output.contains("\"via\":\"localsend\""), "\(history.output) \(history.errors)")
                }
            }
        }
    }

    @Test("localsend-cli, which shows no certificate, sends files of all kinds")
    func commandLine() async throws {
        try await LocalSendLab.with { both in
            let names =
                try Samples.write(to: both.study, largeBytes: Self.largeBytes) + LocalSendLab.odd(to: both.study)
            try await both.receiving {
                let sent = try await both.cliSend(names)
                #expect(sent.exit == 0 && !sent.output.contains("error"), "\(sent.output) \(sent.errors)")
                try expectArrived(names, both)
                #expect(try both.arrived().count == names.count)
            }
        }
    }

    @Test("a PIN is asked for: without it, and with a wrong one, nothing arrives")
    func pin() async throws {
        try await LocalSendLab.with(pin: "471100") { both in
            let names = try LocalSendLab.odd(to: both.study)
            try await both.receiving {
                try await both.withDaemon { _ in
                    try await both.untilFound()
                    for options in [[], ["--pin", "471101"]] {
                        let refused = try await both.controlSend(names, options)
                        #expect(refused.exit == 1 && refused.output.contains("pin_required"), "\(refused.output)")
                    }
                    let withoutPIN = try await both.cliSend(names)
                    #expect(withoutPIN.exit == 1 && withoutPIN.output.contains("HTTP 401"), "\(withoutPIN.output)")
                    #expect(try both.arrived().isEmpty)
                    let sent = try await both.controlSend(names, ["--pin", "471100"])
                    #expect(sent.exit == 0, "\(sent.output) \(sent.errors)")
                    try expectArrived(names, both)
                }
            }
        }
    }

    @Test("senders hear that their offer was declined")
    func declined() async throws {
        try await LocalSendLab.with { both in
            let names = try LocalSendLab.odd(to: both.study)
            try await both.receiving(accept: "none") {
                try await both.withDaemon { _ in
                    try await both.untilFound()
                    let refused = try await both.controlSend(names)
                    #expect(refused.exit == 1 && refused.output.contains("declined"), "\(refused.output)")
                }
                let refused = try await both.cliSend(names)
                #expect(refused.exit == 1 && refused.output.contains("rejected"), "\(refused.output)")
                #expect(try both.arrived().isEmpty)
            }
        }
    }

    @Test(
        "a sender that cancels in the middle, and one that is killed, leave nothing behind, and the next one is served")
    func brokenOff() async throws {
        try await LocalSendLab.with { both in
            let names = try Samples.write(to: both.study, largeBytes: Self.largeBytes)
            let (large, note) = (names[4], names[0])
            try await both.receiving {
                try await both.withDaemon { _ in
                    try await both.untilFound()
                    try await both.lab.call(["rate", both.lab.name, "study", "80mbit"])
                    async let sending = both.controlSend([large])
                    try await both.until { try !both.staged().isEmpty }
                    let cancel = try await both.control("cancel")
                    #expect(cancel.output.contains("Cancelled"), "\(cancel.output) \(cancel.errors)")
                    let cancelled = try await sending
                    #expect(cancelled.exit == 1 && cancelled.output.contains("cancelled"), "\(cancelled.output)")
                    try await both.until { try both.staged().isEmpty }
                }
                try await both.lab.running(
                    "study", both.cli([large]), environment: both.cliEnvironment, in: both.study, sign: "sending"
                ) { process in
                    try await both.until { try !both.staged().isEmpty }
                    kill(process, SIGKILL)
                    try await both.until { try both.staged().isEmpty }
                }
                #expect(try both.arrived().isEmpty)
                let sent = try await both.cliSend([note])
                #expect(sent.exit == 0, "\(sent.output)")
                #expect(try both.arrived() == [note])
            }
        }
    }

    @Test("two senders are served at once")
    func together() async throws {
        try await LocalSendLab.with { both in
            let names = try Samples.write(to: both.study, largeBytes: 20_000_000)
            let odd = try LocalSendLab.odd(to: both.study)
            try await both.receiving {
                try await both.withDaemon { _ in
                    try await both.untilFound()
                    async let first = both.controlSend(names)
                    async let second = both.cliSend(odd)
                    let (one, other) = try await (first, second)
                    #expect(one.exit == 0 && other.exit == 0, "\(one.output) \(other.output)")
                    try expectArrived(names + odd, both)
                }
            }
        }
    }

    @Test("waft peers lists the programs that run, and none that has stopped")
    func peers() async throws {
        try await LocalSendLab.with { both in
            @Sendable func found() async throws -> String {
                try await both.waft("peers", "--timeout", "6", "--json").output
            }
            try await both.withDaemon { _ in
                let list = try await found()
                #expect(list.contains("\"name\":\"py\"") && list.contains("\"via\":\"localsend\""), "\(list)")
            }
            try await both.withCLI { process in
                var list = ""
                // It needs longer than one look to start on a busy machine.
                while !list.contains("\"name\":\"localsend-cli@study\"") { list = try await found() }
                #expect(!list.contains("\"name\":\"py\""), "\(list)")
                // It announces itself no more, and answers nobody.
                kill(process, SIGSTOP)
                let later = try await found()
                kill(process, SIGCONT)
                #expect(later.isEmpty, "\(later)")
            }
        }
    }
}
