import Foundation
import Subprocess
import Testing

extension BrowserTests {
    /// How a guest comes to the page, and when the page goes.
    @Suite("The way in, and the end")
    struct Door {
        @Test("the printed code is the page's address, and the browser that opens it sees the host and its items")
        func code() async throws {
            try await BrowserStage.take { stage in
                try stage.write("report.pdf", Data("%PDF-1.4".utf8))
                let kitchen = stage.kitchen(["NO_COLOR": "1"])
                let ended = try await kitchen.withProgram(
                    Programs.waft, ["web", "report.pdf"], signal: .interrupt, in: stage.folder
                ) { running in
                    let (code, address) = try await running.transcript.first("a code and an address") { text in
                        text.firstMatch(of: #/https://\S+/g/[0-9a-z]{26}/#).map {
                            (PrintedCode(text), String($0.output))
                        }
                    }
                    #expect(code.lines.count <= 24 && code.lines.allSatisfy { $0.count <= 80 })
                    #expect(try await code.read(in: stage.folder) == address)
                    try await stage.browser.open(address)
                    try await stage.browser.waitForPage()
                    #expect(try await stage.browser.text("h1") == "kitchen")
                    #expect(try await stage.browser.text("#shared").hasPrefix("report.pdf"))
                    #expect(
                        try await stage.browser.script("return location.pathname.slice(0, 3)") == "/p/",
                        "the secret is not shown")
                }
                #expect(ended.exit == 0, "\(ended.text)")
            }
        }

        @Test("without the secret the PIN opens the page")
        func pin() async throws {
            try await BrowserStage.take { stage in
                try stage.write("a.txt", Data("hello".utf8))
                let exit = try await stage.kitchen().withPage(["a.txt", "--pin"], in: stage.folder) { page in
                    #expect(page.facts.url == nil)
                    let browser = stage.browser
                    try await browser.open(page.address)
                    #expect(try await browser.text("#shared").isEmpty)
                    try await browser.type(try #require(page.facts.pin), into: "#pin")
                    try await browser.click("#door button")
                    try await browser.waitForPage()
                    #expect(try await browser.text("#shared").hasPrefix("a.txt"))
                    let guest = try await page.event("guest")
                    #expect(guest.address == Self.study && guest.browser?.contains("Chrom") == true, "\(guest)")
                }
                #expect(exit == 0)
            }
        }

        @Test("after five wrong PINs even the right one opens nothing for a while")
        func wrongPINs() async throws {
            try await BrowserStage.take { stage in
                try await stage.kitchen().withPage(["--pin"], in: stage.folder) { page in
                    let (browser, pin) = (stage.browser, try #require(page.facts.pin))
                    try await browser.open(page.address)
                    for count in 1...5 {
                        try await browser.type(pin == "111111" ? "222222" : "111111", into: "#pin")
                        try await browser.click("#door button")
                        if count == 1 { try await page.event("wrongPin") { $0.address == Self.study } }
                        try await browser.wait(for: "That PIN is not right", in: "#notice")
                    }
                    try await browser.type(pin, into: "#pin")
                    try await browser.click("#door button")
                    try await browser.wait(for: "Too many wrong PINs. Wait, or scan the code.", in: "#notice")
                    try await browser.open(page.address)
                    #expect(try await browser.text("#give").isEmpty)
                    #expect(await page.count("guest") == 0)
                }
            }
        }

        @Test("the page of a daemon is there while its visibility is off")
        func invisible() async throws {
            try await BrowserStage.take { stage in
                let kitchen = stage.kitchen(accept: "ask")
                try stage.write("a.txt", Data("hello".utf8))
                let hidden = try await kitchen.run(arguments: ["visible", "off"])
                #expect(hidden.exit == 0, "\(hidden.errors)")
                // A hidden daemon prints no line at its start.
                try await kitchen.withProgram(Programs.waftd, [], signal: .terminate) { _ in
                    try await eventually { try await kitchen.run(arguments: ["status"]).exit == 0 }
                    try await kitchen.withPage([], in: stage.folder) { page in
                        try await stage.browser.enter(page)
                        try await stage.browser.choose([stage.folder + "/a.txt"])
                        try await stage.browser.click("#send")
                        try await page.answer()
                        try await stage.browser.ends()
                        try await page.event("stored")
                        #expect(try page.names() == ["a.txt"])
                    }
                    // The daemon stays.
                    #expect(try await kitchen.status().visibility == "off")
                }
            }
        }

        @Test("with --once the page ends after its first guest's transfer")
        func once() async throws {
            try await BrowserStage.take { stage in
                let path = try stage.write("a.txt", Data("hello".utf8))
                let exit = try await stage.kitchen().withPage(["--once"], in: stage.folder) { page in
                    try await stage.browser.enter(page)
                    try await stage.browser.choose([path])
                    try await stage.browser.click("#send")
                    try await stage.browser.wait(for: "Done, it has arrived", in: "#state")
                    #expect(try await page.event("pageClosed").end == "guest")
                    try await Self.isClosed(page, stage)
                    #expect(page.contents("a.txt") == Data("hello".utf8))
                }
                #expect(exit == 0)
            }
        }

        @Test("Ctrl-C ends the page in the middle of a visit, and its port is closed")
        func interrupted() async throws {
            try await BrowserStage.take { stage in
                let exit = try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await stage.browser.enter(page)
                    page.interrupt()
                    #expect(try await page.event("pageClosed").end == "interrupted")
                    try await Self.isClosed(page, stage)
                    try await stage.browser.type("hello", into: "#text")
                    try await stage.browser.click("#send")
                    try await stage.browser.wait(for: "kitchen cannot be reached", in: "#problem")
                }
                #expect(exit == 0)
            }
        }

        @Test("the page ends when its time is over")
        func time() async throws {
            try await BrowserStage.take { stage in
                let exit = try await stage.kitchen().withPage(["--for", "4s"], in: stage.folder) { page in
                    #expect((1...4).contains(page.facts.seconds ?? 0))
                    #expect(try await page.event("pageClosed").end == "time")
                    try await Self.isClosed(page, stage)
                }
                #expect(exit == 0)
            }
        }

        private static let study = "192.168.77.2"

        private static func isClosed(_ page: GuestPage, _ stage: BrowserStage) async throws {
            // 7: nobody listens.
            try await eventually { try await stage.curl([page.address]).exit == 7 }
        }
    }
}

/// A QR code in half blocks, as a terminal shows it.
private struct PrintedCode: Sendable {
    let lines: [[Character]]

    init(_ text: String) {
        lines = text.split(separator: "\n").map(Array.init).filter { line in
            line.contains { $0 != " " } && line.allSatisfy { "█▀▄ ".contains($0) }
        }
    }

    /// Reads it as a camera would: on the dark ground of a terminal, each module some pixels wide.
    func read(in folder: String) async throws -> String {
        let side = (lines.map(\.count).max() ?? 0) + 8
        var rows = [[Bool]](repeating: [Bool](repeating: true, count: side), count: lines.count * 2 + 8)
        for (y, line) in lines.enumerated() {
            for (x, character) in line.enumerated() {
                rows[2 * y + 4][x + 4] = !"█▀".contains(character)
                rows[2 * y + 5][x + 4] = !"█▄".contains(character)
            }
        }
        let scale = 4
        let pixels = rows.flatMap { row in
            let line = row.map { String(repeating: $0 ? "1" : "0", count: scale) }.joined() + "\n"
            return [String](repeating: line, count: scale)
        }
        let picture = folder + "/code.pbm"
        try "P1\n\(side * scale) \(rows.count * scale)\n\(pixels.joined())".write(
            toFile: picture, atomically: false, encoding: .utf8)
        let result = try await Host(home: folder).run("/usr/bin/zbarimg", ["--quiet", "--raw", picture])
        #expect(result.exit == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }
}
