import Foundation
import Subprocess
import Testing

@Suite(
    "A transfer over the radio link", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct RadioTransferTests {
    @Test("comes from a phone that sends as Apple's do; one that leaves in the middle keeps nobody else out")
    func receiving() async throws {
        try await RadioLab.with { radio in
            let script = radio.lab.folder + "/sender"
            try writeScript(RadioScripts.sender, to: script)
            try await radio.kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { daemon in
                try await radio.waft("visible", "everyone", "--for", "10m")
                let place = try await radio.address(of: "kitchen") + "%awdl0"
                while try await !radio.kitchen.run("ss", ["-tln"]).output.contains(":8771") {}
                _ = try await radio.study.withProgram(script, [place, "8771", "lost.jpg", "1", "300000", "half"]) {
                    phone in
                    try await phone.transcript.says("half")
                    try await radio.lab.call(["drop", radio.lab.name, "kitchen", "100"])
                    try await phone.type("\n")
                }
                try await radio.lab.call(["drop", radio.lab.name, "kitchen", "0"])
                let sent = try await radio.study.withProgram(script, [place, "8771", "Blüte.jpg", "1", "300000"]) {
                    phone in
                    try await phone.transcript.says("/Upload 200")
                }
                #expect(sent.exit == 0, "\(sent.text)")
                #expect(try daemon.names() == ["Blüte.jpg"])
                #expect(try await radio.waft("history").contains("Anna’s iPhone"))
                // No socket waits for the other side's last word.
                let sockets = try await radio.kitchen.run("ss", ["-tan", "sport = :8771"]).output
                #expect(!sockets.contains("FIN-WAIT") && !sockets.contains("TIME-WAIT"), "\(sockets)")
                try await radio.lab.call(["run", radio.lab.name, "kitchen", "ip", "link", "del", "awdl0"])
                try await radio.status(has: "awdl0 is not up")
            }
        }
    }

    @Test("reaches one phone among 200 that were heard, once it listens; a folder is refused before, with the way out")
    func sending() async throws {
        try await RadioLab.with { radio in
            let folder = radio.lab.folder
            try writeScript(RadioScripts.phone, to: folder + "/phone")
            try FileManager.default.createDirectory(atPath: folder + "/trip", withIntermediateDirectories: true)
            try Data(count: 100_000).write(to: URL(fileURLWithPath: folder + "/photo.jpg"))
            let crowd = (1..<200).map { "02:00:00:00:00:\($0 < 16 ? "0" : "")\(String($0, radix: 16)) rssi=-40" }
            let real = try await radio.hardwareAddress(of: "study") + " rssi=?"
            try radio.set("peers", (crowd + [real]).joined(separator: "\n") + "\n")
            try radio.set("window", "")
            let phone = ["Anna’s iPhone", "iPhone15,2", folder, "2"]
            _ = try await radio.study.withProgram(folder + "/phone", phone, signal: .terminate) { phone in
                let sent = try await radio.kitchen.run(
                    arguments: ["send", "photo.jpg", "--to", "Anna’s iPhone"], in: folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                try await phone.transcript.says("/Upload ")
                let refused = try await radio.kitchen.run(
                    arguments: ["send", "trip", "--to", "Anna’s iPhone"], in: folder)
                #expect(refused.exit == 64 && refused.errors.contains("zip -r"), "\(refused.errors)")
                let peers = try await radio.kitchen.run(arguments: ["peers"], in: folder)
                #expect(peers.output.contains("%awdl0]:8770"), "\(peers.output)")
                let doctor = try await radio.waft("doctor")
                #expect(doctor.contains("200 peers heard, 1 answered"), "\(doctor)")
            }
        }
    }
}
