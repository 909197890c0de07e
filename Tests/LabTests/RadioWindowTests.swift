import Foundation
import Glibc
import Subprocess
import Testing

@Suite(
    "The radio's window", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct RadioWindowTests {
    @Test("opens and closes with the visibility, whatever ends it: a choice, the time, the receiver, or a kill")
    func follows() async throws {
        try await RadioLab.with { radio in
            try await radio.kitchen.withReceiver(Programs.waftd, []) { _ in
                #expect(try await radio.waft("status").contains("iPhones          off: not visible to everyone"))
                #expect(radio.calls.isEmpty)
                let chosen = try await radio.waft("visible", "everyone", "--for", "10m")
                #expect(chosen.contains("iPhones see this machine too (stub 1.0)"), "\(chosen)")
                try await radio.waits(for: ["start 600"])
                try await radio.status(has: "awdl0 is up")
                try await radio.waft("visible", "contacts")
                try await radio.waits(for: ["start 600", "stop"])
                try await radio.waft("visible", "everyone", "--for", "2s")
                try await radio.waits(for: ["start 600", "stop", "start 2", "stop"])
                try await radio.waft("visible", "everyone")
                try await radio.waft("visible", "off")
                try await radio.waits(for: ["start 600", "stop", "start 2", "stop", "start 0", "stop"])
                try await radio.waft("visible", "everyone", "--for", "1h")
                // The receiver ends with the body.
            }
            #expect(radio.calls.suffix(2) == ["start 3600", "stop"])
            try await radio.waft("visible", "everyone", "--for", "1h")
            try await radio.kitchen.withReceiver(Programs.waftd, []) { running in
                try await radio.status(has: "iPhones see this machine too")
                kill(running.process.value, SIGKILL)
                await running.log.ended()
            }
            #expect(radio.calls.last?.hasPrefix("start 3") == true, "\(radio.calls)")
            try await radio.waft("visible", "contacts")
            let before = radio.calls
            try await radio.kitchen.withReceiver(Programs.waftd, []) { _ in
                try await radio.waits(for: before + ["stop"])
            }
            // Its end may come before the answer of the helper: then it asks once more.
            #expect(radio.calls.starts(with: before + ["stop"]), "\(radio.calls)")
        }
    }

    private struct Case: Sendable {
        var knobs: [String: String]
        var says: String
        var state: String
    }

    private static let cases = [
        Case(
            knobs: ["start.exit": "3", "start.say": "Wi-Fi isn't connected.\n"],
            says: "the radio is not available now: Wi-Fi isn't connected.", state: "notNow"),
        Case(knobs: ["start.exit": "4"], says: "no radio: the backend found no Wi-Fi card", state: "noRadio"),
        Case(knobs: ["start.exit": "5"], says: "iPhones see this machine too", state: "on"),
        Case(knobs: ["start.exit": "126"], says: "polkit does not let this user switch the radio", state: "refused"),
        Case(
            knobs: ["start.exit": "1", "start.say": "\u{1B}[2Jevil\n"], says: #"failed at "start": \u{1B}[2Jevil"#,
            state: "backend"),
        Case(
            knobs: [
                "probe": #"{"backend":"x","version":"9","contract":"9.0","hardware":true,"missing":[]}"#
            ], says: "speaks contract 9.0", state: "backend"),
        Case(
            knobs: ["probe": String(repeating: "garbage\n", count: 100_000)], says: "is not understood",
            state: "backend"),
    ]

    @Test("that does not open says why in the answer and in the status, and the receiver receives meanwhile")
    func faults() async throws {
        try await RadioLab.with { radio in
            try "a".write(toFile: radio.lab.folder + "/a", atomically: false, encoding: .utf8)
            try await radio.kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { _ in
                for test in Self.cases {
                    for (knob, value) in test.knobs { try radio.set(knob, value) }
                    let answer = try await radio.waft("visible", "everyone", "--for", "10m")
                    #expect(answer.contains(test.says), "\(test.knobs.keys): \(answer)")
                    #expect(try await radio.waft("status").contains(test.says))
                    let line = try await radio.waft("visible", "--json")
                    #expect(line.contains("\"radioState\":\"\(test.state)\""), "\(line)")
                    try await radio.waft("visible", "contacts")
                    for knob in test.knobs.keys { try radio.set(knob, nil) }
                }
                try radio.set("hang", "start")
                let began = ContinuousClock.now
                let answer = try await radio.waft("visible", "everyone", "--for", "10m")
                #expect(answer.contains("the radio is being switched on") && .now - began < .seconds(10))
                let sent = try await radio.study.run(arguments: ["send", "a", "--to", "Kitchen"], in: radio.lab.folder)
                #expect(sent.exit == 0, "\(sent.errors)")
            }
        }
    }

    @Test("needs the port 8771 of the radio link: status says that it is taken, and the doctor by whom")
    func taken() async throws {
        try await RadioLab.with { radio in
            let script = radio.lab.folder + "/squatter"
            try writeScript(RadioScripts.squatter, to: script)
            try await radio.kitchen.withReceiver(Programs.waftd, []) { _ in
                _ = try await radio.kitchen.withProgram(script, []) { squatter in
                    try await squatter.transcript.says("listening")
                    try await radio.waft("visible", "everyone", "--for", "10m")
                    try await radio.status(has: "their port is not open here")
                    let doctor = try await radio.waft("doctor")
                    #expect(doctor.contains("8771, where iPhones are received, is taken by"), "\(doctor)")
                    try await squatter.type("\n")
                }
            }
        }
    }
}
