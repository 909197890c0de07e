import Foundation
import Testing

extension BrowserDeskTests {
    /// A group of contacts in the room.
    @Suite("A group in the window")
    struct Group {
        private static let names = ["attic", "cellar", "study"]
        private static let face = "main [data-key=\"peer-@lab\"]"

        /// Runs receivers that accept what the kitchen sends.
        private static func withMembers(
            _ stage: DeskStage, _ rest: ArraySlice<String> = names[...], _ running: [RunningReceiver] = [],
            _ body: @Sendable @escaping ([RunningReceiver]) async throws -> Void
        ) async throws {
            guard let name = rest.first else { return try await body(running) }
            let host = try stage.host(name)
            try await host.allow(stage.host("kitchen"), "kitchen", ["--policy", "accept"])
            try await host.withReceiver { receiver in
                try await withMembers(stage, rest.dropFirst(), running + [receiver], body)
            }
        }

        @Test("a file on the face of a group arrives at all of it; of one that declines, the face says the name")
        func all() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(2_000_000))
                let photo = try stage.write("photo.bin", contents)
                let note = try stage.write("note.bin", contents)
                try await stage.withDesk(contacts: Self.names) { desk, _ in
                    try await Self.withMembers(stage) { members in
                        for member in members {
                            try await browser.wait(
                                "document.querySelector('main [data-key=\"peer-\(member.id)\"]:not(.away)') !== null")
                        }
                        let words = ["contacts", "group", "lab"]
                        let made = try await desk.host.run(arguments: words + ["add"] + Self.names)
                        #expect(made.exit == 0, "\(made.errors)")
                        try await browser.wait(for: "3 people", in: Self.face)
                        let label: String = try await browser.script(
                            "return document.querySelector('\(Self.face)').ariaLabel.replace(/[\\u2068\\u2069]/g, '')")
                        #expect(label == "Send to lab. 3 people")
                        let _: Bool = try await browser.script(
                            """
                            const face = document.querySelector('\(Self.face)');
                            new MutationObserver(() => {window.ring ||= face.querySelector(".ring") !== null;})
                                .observe(face, {childList: true, subtree: true});
                            return true
                            """)
                        try await browser.drop([photo], on: Self.face)
                        try await browser.wait("document.querySelector('\(Self.face) .outcome:not(.bad)') !== null")
                        #expect(try await browser.script("return window.ring"))
                        for member in members {
                            #expect(FileManager.default.contents(atPath: member.inbox + "/photo.bin") == contents)
                        }
                        let outbox = desk.host.home + "/state/outbox"
                        let left = (try? FileManager.default.contentsOfDirectory(atPath: outbox)) ?? []
                        #expect(!left.contains { $0.hasPrefix(".new-") }, "\(left)")

                        let outcome = try await stage.host("attic").run(
                            arguments: ["contacts", "set", "kitchen", "--policy", "decline"])
                        #expect(outcome.exit == 0, "\(outcome.errors)")
                        try await browser.drop([note], on: Self.face)
                        try await browser.wait(for: "2 of 3 stored · not Attic", in: Self.face)
                        #expect(try members.map { try $0.names().count } == [1, 2, 2])
                        try await desk.show("transfers")
                        try await browser.wait(for: "Attic", in: "main .transfer .wrong")
                        try await browser.wait(
                            "document.querySelector('main .transfer .said')?.textContent.includes('Attic: ')")
                        let yes = try await stage.host("attic").run(
                            arguments: ["contacts", "set", "kitchen", "--policy", "accept"])
                        #expect(yes.exit == 0, "\(yes.errors)")
                        // Only those that did not get it are asked again. A rule that declines is no answer.
                        try await desk.click("again", in: "main .transfer.wrong ")
                        try await browser.wait(
                            "document.querySelector('main .transfer.wrong') === null"
                                + " && document.querySelectorAll('main .transfer.good').length === 2")
                        #expect(FileManager.default.contents(atPath: members[0].inbox + "/note.bin") == contents)
                        var asked: [Int] = []
                        for member in members { asked.append(await member.log.count("answered")) }
                        #expect(asked == [2, 2, 2])
                        try await desk.show("room")

                        let deleted = try await desk.host.run(arguments: words + ["delete"])
                        #expect(deleted.exit == 0, "\(deleted.errors)")
                        try await browser.wait("document.querySelector('\(Self.face)') === null")
                    }
                }
            }
        }
    }
}
