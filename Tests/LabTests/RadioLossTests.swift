import Foundation
import Subprocess
import Testing

@Suite(
    "A radio link that fails", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct RadioLossTests {
    @Test("ends what is received over it at once, keeps nothing of that, and disturbs nobody else")
    func receiving() async throws {
        try await RadioLab.with { radio in
            let script = radio.lab.folder + "/sender"
            try writeScript(RadioScripts.sender, to: script)
            try Data(count: 1_000).write(to: URL(fileURLWithPath: radio.lab.folder + "/a"))
            try await radio.kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { daemon in
                try await radio.waft("visible", "everyone", "--for", "10m")
                let place = try await radio.listens()
                try await radio.study.withProgram(script, [place, "8771", "lost.jpg", "1", "300000", "half"]) { phone in
                    try await phone.transcript.says("half")
                    try await radio.removeLink()
                    try await daemon.log.error(containing: "transfer ended")
                    try await phone.type("\n")
                }
                let sent = try await radio.study.run(arguments: ["send", "a", "--to", "Kitchen"], in: radio.lab.folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                #expect(try daemon.names() == ["a"] && daemon.staged().isEmpty)
                try await radio.addLink()
                let again = try await radio.study.withProgram(
                    script, [radio.listens(), "8771", "found.jpg", "1", "300000"]
                ) { phone in try await phone.transcript.says("/Upload 200") }
                #expect(again.exit == 0, "\(again.text)")
                #expect(try daemon.names() == ["a", "found.jpg"])
            }
        }
    }

    @Test("ends what is sent over it at once, with one line and exit code 11")
    func sending() async throws {
        try await RadioLab.with { radio in
            try await radio.withPhone(photo: 3_000_000) { phone in
                try await radio.lab.call(["rate", radio.lab.name, "kitchen", "4mbit", "awdl0"])
                let words = ["send", "photo.jpg", "--to", "Anna’s iPhone"]
                let lost = try await radio.kitchen.withProgram(
                    Programs.waft, words + ["--json"], in: radio.lab.folder
                ) { sending in
                    try await sending.transcript.says("\"progress\"")
                    try await radio.removeLink()
                    while await !sending.transcript.hasEnded { try await Task.sleep(for: .milliseconds(10)) }
                }
                #expect(lost.exit == 11, "\(lost.text)")
                #expect(lost.text.contains("the radio link to Anna’s iPhone is gone"), "\(lost.text)")
                try await radio.addLink()
                let again = try await radio.kitchen.run(arguments: words, in: radio.lab.folder)
                #expect(again.exit == 0, "\(again.errors)")
                try await phone.transcript.says("/Upload 3")
            }
        }
    }

    @Test("carries a photo to a phone that listens one second of three, and one from it")
    func bursts() async throws {
        try await RadioLab.with { radio in
            let script = radio.lab.folder + "/sender"
            try writeScript(RadioScripts.sender, to: script)
            try writeScript(RadioScripts.bursts, to: radio.lab.folder + "/bursts")
            try await radio.kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { daemon in
                try await radio.waft("visible", "everyone", "--for", "10m")
                let place = try await radio.listens()
                try await radio.withPhone(photo: 300_000) { phone in
                    try await radio.study.withProgram(radio.lab.folder + "/bursts", ["1", "2"], signal: .terminate) {
                        _ in
                        async let came = radio.study.withProgram(
                            script, [place, "8771", "from.jpg", "1", "300000"]
                        ) { phone in try await phone.transcript.says("/Upload 200") }
                        let sent = try await radio.kitchen.run(
                            arguments: ["send", "photo.jpg", "--to", "Anna's iPhone"], in: radio.lab.folder)
                        #expect(sent.exit == 0, "\(sent.errors)")
                        #expect(try await came.exit == 0)
                    }
                    try await phone.transcript.says("/Upload 3")
                }
                #expect(try daemon.names() == ["from.jpg"])
            }
        }
    }
}
