import ContentCheck
import Sharing
import TestSupport
import Testing
import UniformTypes

private let checker = ContentChecker(database: .none)
private let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 64)
private let elf: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + Array(repeating: 0, count: 57)

@Suite("The declared type of an item, and its content")
struct ContentClaimTests {
    @Test("a text is a text, a script among them, and anything else under that kind lies")
    func texts() {
        func outcome(_ bytes: [UInt8], _ type: String = "public.utf8-plain-text") -> ContentVerdict.Outcome {
            ContentClaim(kind: .text, type: uniform(type)).verdict(by: checker, bytes: bytes).outcome
        }
        for text in ["", "hello", "#!/bin/sh\necho\n", "MZ is how this sentence begins", "k\u{FC}che \u{1F373}\r\n"] {
            #expect(outcome(Array(text.utf8)) == .consistent, "\(text)")
        }
        #expect(outcome(Array("{}".utf8), "public.json") == .consistent)
        // Latin-1.
        #expect(outcome([0x6B, 0xFC, 0x63, 0x68, 0x65]) != .lying)
        for bytes in [elf, png, [0, 1, 2, 3], [0x4D, 0x5A, 0x90, 0]] { #expect(outcome(bytes) == .lying) }
    }

    @Test("a URL is the file that Waft writes, and nothing else")
    func urls() throws {
        func outcome(_ bytes: [UInt8]) -> ContentVerdict.Outcome {
            ContentClaim(kind: .url, type: .url).verdict(by: checker, bytes: bytes).outcome
        }
        let good = try InternetShortcut("https://example.com/a?b").contents
        #expect(outcome(good) == .consistent)
        let long = try InternetShortcut("x:" + String(repeating: "y", count: InternetShortcut.maximumBytes - 2))
            .contents
        #expect(outcome(long) == .consistent)
        for bytes in [
            elf, png, [], Array("https://example.com".utf8), good + good, good + [0x20], Array(good.dropLast()),
            long + Array(repeating: 0x20, count: 1 << 20),
            Array("[InternetShortcut]\r\nURL=https://x\u{202E}y\r\n".utf8),
            Array("[InternetShortcut]\r\nURL=https://x\r\nIconFile=\\\\evil\\x\r\n".utf8),
            Array("#!/bin/sh\n[InternetShortcut]\r\nURL=https://x\r\n".utf8),
        ] {
            #expect(outcome(bytes) == .lying)
        }
    }

    @Test(
        "an item that was accepted as a picture is one by its content",
        arguments: [
            ("public.png", png, true), ("public.jpeg", png, true), ("public.image", png, true),
            ("public.png", elf, false), ("public.png", [], false), ("public.png", Array("export PATH=.".utf8), false),
            // Picture types without a known signature, or that are texts as well.
            ("com.truevision.tga-image", Array("export PATH=.".utf8), false),
            ("public.svg-image", Array("export PATH=.".utf8), false),
            ("com.truevision.tga-image", [0, 1, 2, 3], false),
        ])
    func pictures(_ type: String, _ bytes: [UInt8], _ isGood: Bool) {
        let claim = ContentClaim(kind: .file, type: uniform(type), admittedAs: [[.image]])
        let verdict = claim.verdict(by: checker, bytes: bytes)
        #expect((verdict.outcome != .lying) == isGood, "\(verdict.explanation)")
    }

    @Test("one type of each list is enough, and a type that only a handler knows asks no more than that nothing lies")
    func lists() {
        func isGood(_ lists: [[String]], _ bytes: [UInt8] = png, as type: String = "public.png") -> Bool {
            let claim = ContentClaim(kind: .file, type: uniform(type), admittedAs: lists.map { $0.map(uniform) })
            return claim.verdict(by: checker, bytes: bytes).outcome != .lying
        }
        #expect(isGood([["com.adobe.pdf", "public.image"], ["public.png"]]))
        #expect(!isGood([["public.image"], ["public.jpeg"]]))
        #expect(isGood([["public.content"]]))
        #expect(isGood([["public.text"]], Array("words".utf8), as: "public.plain-text"))
        #expect(!isGood([["public.text"]], [0, 1, 2], as: "public.plain-text"))
        #expect(isGood([["org.example.note"]], Array("words".utf8), as: "org.example.note"))
    }

    // MARK: In a transfer

    private func transfer(
        _ items: [OfferedItem], _ verdict: Verdict, _ inbox: MemoryInbox, _ binding: OfferBinding = .exact
    ) -> IncomingTransfer {
        IncomingTransfer(
            offer: Offer(items: items, senderName: ""), verdict: verdict, peer: .sample(1), binding: binding,
            storage: ArrivalStorage(inbox, MemoryJournal(), isDelivered: { $0.content?.outcome != .lying }),
            report: { _ in })
    }

    private func send(_ number: Int, _ bytes: [UInt8], to transfer: IncomingTransfer) throws {
        try transfer.beginItem(number)
        try transfer.beginFile(
            FileEntry(path: nil, executable: true, modified: nil, size: UInt64(bytes.count)))
        try bytes.withUnsafeBytes { bytes in try transfer.write(bytes) }
        try transfer.endFile(digest: nil)
        try transfer.endItem(digest: nil)
    }

    @Test("an item that was accepted as a picture and is none is not stored; the others are, without an executable bit")
    func refused() throws {
        let inbox = MemoryInbox(checker: checker)
        let items = ["a.png", "b.png", "c.png"].map {
            OfferedItem(kind: .file, name: safe($0), type: uniform("public.png"), size: nil)
        }
        var verdict = Verdict(all: .accepted, count: 3)
        for number in 0...1 { verdict.items[number].admittedAs = [[.image]] }
        let transfer = transfer(items, verdict, inbox)
        for (number, bytes) in [png, elf, elf].enumerated() { try send(number, bytes, to: transfer) }
        let receipt = try transfer.finish()
        #expect(receipt.items.map(\.isStored) == [true, false, true])
        if case .failed(let fault) = receipt.items[1].outcome {
            #expect(fault.code == .notAsDeclared && fault.message.contains("b.png is not stored: "), "\(fault.message)")
        }
        #expect(inbox.names == ["a.png", "c.png"])
        #expect(inbox["a.png"]?.entries[""] == .file(png, executable: false, modified: nil))
        // A person accepted this item: it is stored, and its verdict tells that it lies.
        #expect(receipt.items[2].content?.outcome == .lying)
        #expect(inbox.stagedCount == 0)
    }

    @Test("by a protocol without an answer to single items one of them is all of them")
    func allOrNothing() throws {
        let inbox = MemoryInbox(checker: checker)
        let items = ["a.png", "b.png"].map {
            OfferedItem(kind: .file, name: safe($0), type: uniform("public.png"), size: nil)
        }
        var verdict = Verdict(all: .accepted, count: 2)
        for number in 0...1 { verdict.items[number].admittedAs = [[.image]] }
        let transfer = transfer(items, verdict, inbox, .announced)
        try send(1, elf, to: transfer)
        try send(0, png, to: transfer)
        let fault = #expect(throws: TransferError.self) { try transfer.finish() }
        #expect(fault?.code == .notAsDeclared)
        _ = transfer.fail(try #require(fault))
        #expect(inbox.stored.isEmpty && inbox.stagedCount == 0)
    }
}
