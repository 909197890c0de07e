import Digests
import Foundation
import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import WaftDialect

private let transfer = "0123456789abcdef0123456789abcdef"

/// An offer's lines, with one part replaced.
private func offerText(
    v: String = "1",
    transfer: String = "\"\(transfer)\"",
    item: String = #"{"kind":"file","name":"a","type":"public.data","size":5}"#,
    more: String = ""
) -> String {
    #"{"v":\#(v),"transfer":\#(transfer)\#(more)}\#n\#(item)"#
}

private func offer(_ text: String) throws(TransferError) -> Offer {
    try WaftDialect.offer(from: ByteBuffer(string: text))
}

@Suite("Messages that are as they should be")
struct MessageTests {
    @Test("an offer reads back as it was written")
    func offerRoundTrip() throws {
        let written = Offer(
            items: [
                OfferedItem(
                    kind: .file, name: safe("Küche 🍳.pdf"), type: uniform("com.adobe.pdf"), size: Limits.itemBytes),
                OfferedItem(kind: .tree, name: safe("tree"), type: uniform("public.folder"), size: 0, entries: 1 << 24),
                OfferedItem(kind: .url, name: safe("u.url"), type: uniform("public.url"), size: 7),
                OfferedItem(kind: .text, name: safe("\"\\ t.txt"), type: uniform("public.utf8-plain-text"), size: nil),
            ],
            annotation: [
                "note": "für\ndich \u{1B} \u{0}", "": "", "ключ": "🍳", SourceApplication.key: "org.waft.send",
            ],
            senderName: "study",
            digests: [.sha256, .xxh3_128]
        )
        let read = try WaftDialect.offer(from: WaftDialect.encode(written))
        #expect(read.transfer == written.transfer)
        #expect(read.items == written.items)
        #expect(read.annotation == written.annotation)
        #expect((read.senderName, read.digests) == (written.senderName, written.digests))
    }

    @Test("an offer tells the needs of a folder, and what is no need is none")
    func needs() throws {
        var written = Offer(
            items: [OfferedItem(kind: .tree, name: safe("t"), type: uniform("public.folder"), size: 0)],
            senderName: "study", dialect: .waft)
        for change: (inout DiskNeeds) -> Void in [
            { $0.links = true }, { $0.alike = true }, { $0.characters = "\":|" }, { $0.longestName = 255 },
        ] {
            var needs = DiskNeeds()
            change(&needs)
            written.items[0].needs = needs
            #expect(try WaftDialect.offer(from: WaftDialect.encode(written)).items == written.items)
        }
        let odd = #"{"kind":"tree","name":"a","type":"public.folder","needs":{"characters":"é/?","name":99999,"x":1}}"#
        let needs = try #require(try offer(offerText(item: odd)).items[0].needs)
        #expect(needs.characters == "?" && needs.longestName == 255 && !needs.links && !needs.alike)
        let file = #"{"kind":"file","name":"a","type":"public.data","needs":{"links":true}}"#
        #expect(try offer(offerText(item: file)).items[0].needs == nil)
    }

    @Test("a verdict reads back as it was written, whatever the mixture")
    func verdictRoundTrip() throws {
        let answers = ItemVerdict.Answer.allCases.map { ItemVerdict($0, reason: "because \($0)") } + [.accepted]
        let offer = Offer.sample(items: answers.count)
        for items in [answers, answers.reversed(), answers.map { _ in .accepted }, answers.map { _ in answers[1] }] {
            let written = Verdict(items: items, digest: .sha256)
            let read = try WaftDialect.verdict(from: WaftDialect.encode(written), on: offer)
            #expect(read.items == items)
            #expect(read.digest == .sha256)
        }
    }

    @Test("an offer tells the wait of its sender, and another value than a wait is ignored")
    func wait() throws {
        var written = Offer.sample()
        written.wait = .milliseconds(1_500)
        #expect(try WaftDialect.offer(from: WaftDialect.encode(written)).wait == .milliseconds(1_500))
        for (text, wait) in [
            ("", Duration?.none), (#","wait":0"#, nil), (#","wait":1"#, .milliseconds(1)),
            (#","wait":86400000"#, .seconds(86_400)), (#","wait":86400001"#, nil),
        ] {
            #expect(try offer(offerText(more: text)).wait == wait)
        }
    }

    @Test("a verdict reads back with its causes, and the sender is told no private rule")
    func verdictCauses() throws {
        let answers = EndCause.allCases.flatMap { cause in
            ItemVerdict.Answer.allCases.filter { $0 != .accepted }.map { ItemVerdict($0, reason: "x", cause: cause) }
        }
        let offer = Offer.sample(items: answers.count)
        let read = try WaftDialect.verdict(from: WaftDialect.encode(Verdict(items: answers)), on: offer)
        #expect(read.items == answers)
        let secret = Verdict(all: .privateRule, count: answers.count)
        let (text, usual) = try (
            WaftDialect.encode(secret), WaftDialect.encode(Verdict(all: .no, count: answers.count))
        )
        #expect(text == usual)
        #expect(try WaftDialect.verdict(from: text, on: offer).items.allSatisfy { $0 == .no })
    }

    @Test("a verdict of an earlier version, or with an unknown cause, has the usual causes")
    func olderVerdict() throws {
        let offer = Offer.sample(items: 3)
        for more in ["", #","cause":"moon""#] {
            let text =
                #"{"v":1,"digest":"xxh3-128","default":"expired"\#(more)}"# + "\n"
                + #"{"item":1,"answer":"declined"\#(more)}"# + "\n" + #"{"item":2,"answer":"accepted","cause":"rule"}"#
            let verdict = try WaftDialect.verdict(from: ByteBuffer(string: text), on: offer)
            #expect(verdict.items.map(\.cause) == [.timeout, .user, nil])
        }
    }

    @Test("a fault reads back with its cause, and one of an earlier version has the usual cause")
    func faultCauses() throws {
        for code in TransferError.Code.allCases {
            for cause in EndCause.allCases {
                let fault = TransferError(code, "x", cause: cause)
                let message = try WaftDialect.decode(FaultMessage.self, from: WaftDialect.encode(fault))
                #expect((message.cause == nil) == (cause == code.usualCause))
                #expect(TransferError(code: message.fault, message: message.message, cause: message.cause) == fault)
                #expect(TransferError(code: message.fault, message: "x", cause: nil).cause == code.usualCause)
            }
        }
        #expect(TransferError(code: "moon", message: "x", cause: "moon") == TransferError(.unexpected, "x"))
    }

    @Test("the verdict on 10,000 items that all get the same answer is one line")
    func shortVerdict() throws {
        let verdict = Verdict(all: .accepted, count: Limits.items)
        #expect(try WaftDialect.encode(verdict).readableBytes < 100)
    }

    @Test("a receipt reads back as it was written")
    func receiptRoundTrip() throws {
        let digest = Digest.of(.xxh3_128, [1] as [UInt8])
        var items = [ItemReceipt(.notSent)]
        for state in [HandlerAnswer.State.none, .pending, .yes, .no, .failed] {
            // Without a handler there is no exit code.
            let answer = HandlerAnswer(state, exitCode: state == .none ? nil : -3)
            items.append(ItemReceipt(.stored(name: "a-1.txt", size: .max, digest: digest), handler: answer))
        }
        for code in TransferError.Code.allCases { items.append(ItemReceipt(.failed(TransferError(code, "why")))) }
        let offer = Offer.sample(items: items.count)
        let written = Receipt(transfer: offer.transfer, items: items)
        #expect(try WaftDialect.receipt(from: WaftDialect.encode(written), for: offer) == written)
    }

    @Test("a card is made fit to be shown")
    func card() throws {
        let text = #"{"v":1,"name":"\u001b[2Jkit\u202echen","device":"\n","shoe":{"size":43}}"#
        let card = try WaftDialect.decode(CardMessage.self, from: ByteBuffer(string: text)).card
        #expect(card == Card(name: "[2Jkitchen", device: "unknown"))
    }

    @Test("unknown fields are ignored at every place")
    func unknownFields() throws {
        let item = #"{"kind":"file","offset":[1,{"a":null}],"name":"a","type":"public.data","x":{"y":[[]]}}"#
        let read = try offer(
            offerText(item: item, more: #","sender":{"name":"s","mood":"good"},"resume":true,"z":1e999"#))
        #expect((read.items.count, read.senderName) == (1, "s"))
    }

    @Test("the source application is a field of the sender's; in another form, or as an annotation, it is ignored")
    func sourceApplication() throws {
        let read = try offer(offerText(more: #","sender":{"name":"s","application":"org.example.x"}"#))
        #expect(read.annotation == [SourceApplication.key: "org.example.x"])
        for more in [
            #","sender":{"application":"a b"}"#, #","sender":{"application":""}"#,
            #","annotation":{"sourceApplication":"org.example.x"}"#,
        ] {
            #expect(try offer(offerText(more: more)).annotation.isEmpty)
        }
        let text = String(buffer: try WaftDialect.encode(read))
        #expect(text.contains(#""application":"org.example.x""#) && !text.contains("sourceApplication"))
    }

    @Test("optional fields have their defaults")
    func defaults() throws {
        let read = try offer(offerText(item: #"{"kind":"tree","name":"a","type":"public.folder"}"#))
        #expect((read.senderName, read.annotation, read.digests) == ("unnamed", [:], [.xxh3_128]))
        #expect((read.items[0].size, read.items[0].entries) == (nil, 1))
    }

    @Test("entries count for trees only, and unknown digests are ignored")
    func passedOver() throws {
        let item = #"{"kind":"file","name":"a","type":"public.data","entries":99999999999}"#
        let read = try offer(offerText(item: item, more: #","digests":["md5","sha-256"]"#))
        #expect((read.items[0].entries, read.digests) == (1, [.sha256]))
    }

    @Test("an unknown answer or state counts as the careful one")
    func unknownWords() throws {
        let offer = Offer.sample()
        let text = #"{"v":1,"digest":"sha-256","default":"perhaps"}"#
        #expect(
            try WaftDialect.verdict(from: ByteBuffer(string: text), on: offer).items == [ItemVerdict(.declined)])
        func receipt(_ item: String) throws -> ItemReceipt? {
            let text = #"{"v":1,"transfer":"\#(offer.transfer)"}\#n\#(item)"#
            return try WaftDialect.receipt(from: ByteBuffer(string: text), for: offer).items.first
        }
        #expect(
            try receipt(#"{"state":"quantum"}"#)?.outcome == .failed(TransferError(.unexpected, "it was not stored")))
        let digest = Digest.of(.xxh3_128, [] as [UInt8])
        #expect(
            try receipt(#"{"state":"stored","name":"n","size":1,"digest":"\#(digest)","handler":{"state":"maybe"}}"#)?
                .handler
                == HandlerAnswer(.failed))
    }

    @Test("lines from the other side are cut before anybody shows them")
    func longLines() throws {
        let long = String(repeating: "x", count: 60_000)
        let text = #"{"v":1,"digest":"sha-256","default":"declined","reason":"\#(long)"}"#
        let verdict = try WaftDialect.verdict(from: ByteBuffer(string: text), on: .sample())
        #expect(verdict.items[0].reason.utf8.count == 1_024)
    }

    @Test("the protocol's own examples are messages, with the lengths they claim")
    func examples() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Dialects/WaftDialect/WaftDialect.docc/Protocol.md")
        let lines = try String(contentsOf: source, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("> POST /waft/1/offers") })
        let end = try #require(lines[start...].firstIndex { $0 == "```" })
        var bodies: [String] = []
        var announced: [Int] = []
        var body: [Substring]?
        for line in lines[start..<end] {
            if let length = line.firstMatch(of: /content-length: ([0-9]+)/)?.1 { announced.append(Int(length) ?? -1) }
            if line == ">" || line == "<" {
                body = []
            } else if line.contains("HTTP/1.1") {
                if let body { bodies.append(body.joined(separator: "\n")) }
                body = nil
            } else {
                body?.append(line.dropFirst(2))
            }
        }
        if let body { bodies.append(body.joined(separator: "\n")) }
        // The offer, the verdict, the request for contents, the frames of both sides.
        try #require(bodies.count == 4)
        #expect(announced == bodies[..<3].map(\.utf8.count))
        let offer = try offer(bodies[0])
        #expect((offer.items[0].name.text, offer.items[0].size, offer.annotation) == ("hello.txt", 5, ["note": "hi"]))
        let verdict = try WaftDialect.verdict(from: ByteBuffer(string: bodies[1]), on: offer)
        #expect(verdict.items == [.accepted])
        let frames = bodies[3].split(separator: "\n")
        let text = frames.filter { $0.hasPrefix("  \"") }.map { $0.dropFirst(3).dropLast() + "\n" }.joined()
        let length = try #require(bodies[3].firstMatch(of: /06 00 0000 ([0-9a-f]{8}) +data: the receipt/)?.1)
        #expect(Int(length, radix: 16) == text.utf8.count)
        let receipt = try WaftDialect.receipt(from: ByteBuffer(string: text), for: offer)
        let digest = Digest.of(.xxh3_128, Array("hello".utf8))
        #expect(
            receipt.items == [
                ItemReceipt(.stored(name: "hello.txt", size: 5, digest: digest), handler: HandlerAnswer(.pending))
            ])
    }

    @Test("each resource is found by its path, and nothing else is")
    func resources() {
        let id = TransferID()
        let all: [WaftDialect.Resource] = [
            .card, .offers, .contents(id), .receipt(id, answered: false), .receipt(id, answered: true),
        ]
        for resource in all { #expect(WaftDialect.Resource(path: resource.path) == resource) }
        #expect(WaftDialect.Resource(path: "/waft/1/card?x=1&wait=opened") == .card)
        for path in [
            "", "/", "card", "waft/1/card", "x/waft/1/card", "//waft/1/card", "/waft/1/card/", "/waft/2/card",
            "/waft/1",
            "/waft/1/", "/waft/1/transfers/\(id)", "/waft/1/transfers/../contents",
            "/waft/1/transfers/\(id)/contents/x",
            "/waft/1/transfers/\(id.text.uppercased())x/contents", "/waft/1/transfers//contents", "/WAFT/1/CARD",
            "/waft/1/transfers/\(id)/receip", "http://waft/waft/1/card", "*", "?",
            "/waft/1/card" + String(repeating: "?", count: 300),
            "/waft/1/%63ard", "/waft/1/./card",
        ] {
            #expect(WaftDialect.Resource(path: path) == nil, "\(path)")
        }
    }
}

@Suite("Messages that are not")
struct HostileMessageTests {
    @Test(
        "a document that is no offer is malformed",
        arguments: [
            "", " ", "null", "[]", "\"\"", "1", "{}", "{", "}", "\0", "\u{FEFF}", "{\"v\":1}", "nonsense", "[[[[",
            "{\"v\":1,}",
            offerText(v: "2"), offerText(v: "0"), offerText(v: "\"1\""), offerText(v: "null"), offerText(v: "1.5"),
            offerText(v: "1e30"), offerText(transfer: "null"), offerText(transfer: "\"\""), offerText(transfer: "7"),
            offerText(transfer: "\"\(transfer.uppercased())\""),
            offerText(transfer: "\"../../../../../../../../../../x\""),
            offerText(item: ""), offerText(item: "null"), offerText(item: "[]"), offerText(item: "{}"),
            offerText(item: #"{"kind":"device","name":"a","type":"public.data"}"#),
            offerText(item: #"{"kind":"file","name":"a"}"#), offerText(item: #"{"kind":"file","name":"a","type":""}"#),
            offerText(item: #"{"kind":"file","type":"public.data"}"#),
            offerText(item: #"{"name":"a","type":"public.data"}"#),
            offerText(item: #"{"kind":"file","name":7,"type":"public.data"}"#),
            offerText(more: #","annotation":{"a":1}"#), offerText(more: #","annotation":"x""#),
            offerText(more: #","annotation":{"a":{"b":"c"}}"#), offerText(more: #","digests":[]"#),
            offerText(more: #","digests":["md5"]"#), offerText(more: #","digests":"sha-256""#),
            offerText(more: #","sender":"me""#), offerText() + "x", offerText() + offerText(),
        ])
    func malformed(text: String) {
        let fault = #expect(throws: TransferError.self) { try offer(text) }
        #expect(fault?.code == .protocolViolation)
    }

    @Test(
        "JSON that readers understand in different ways is malformed, cut at any byte",
        arguments: [
            offerText(more: #","v":1"#), offerText(more: #","\u0076":1"#), offerText(more: #","x":[1,2,]"#),
            offerText(more: #","x":{"a":1,}"#), offerText(more: #","x":{"a":1,"b":{"a":1},"a":1}"#),
            offerText(more: #","annotation":{"é":"1","\u00e9":"2"}"#),
            offerText(more: #","annotation":{"🍳":"1","\ud83c\udf73":"2"}"#),
            offerText(more: ",\"x\":\"\0\""), "\u{FEFF}" + offerText(),
            offerText(item: #"{"kind":"file","kind":"tree","name":"a","type":"public.data","size":5}"#),
        ])
    func ambiguous(text: String) throws {
        for size in [1, 100_000] {
            let fault = #expect(throws: TransferError.self) {
                try WaftDialect.offer(from: ByteBuffer(string: text), pieceBytes: size)
            }
            #expect(fault?.code == .protocolViolation)
        }
    }

    @Test("other encodings than UTF-8 are malformed", arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf32])
    func encodings(encoding: String.Encoding) throws {
        let bytes = try #require(offerText().data(using: encoding))
        #expect(throws: TransferError.self) { try WaftDialect.offer(from: ByteBuffer(bytes: bytes)) }
        #expect(throws: TransferError.self) {
            try WaftDialect.decode(
                CardMessage.self,
                from: ByteBuffer(bytes: #require(#"{"v":1,"name":"kitchen"}"#.data(using: encoding))))
        }
    }

    @Test("names that are alike in different objects, and thousands of them in one, are no fault")
    func names() throws {
        let many = (0..<2_000).map { "\"\($0)\":[{\"a\":1},{\"a\":2}]" }.joined(separator: ",")
        _ = try offer(offerText(more: #","x":{"a":1,"b":{"a":1},"c":"a","d":["a","a"],"y":{\#(many)}}"#))
        #expect(throws: TransferError.self) { try offer(offerText(more: ",\"x\":{\(many),\"1999\":1}")) }
    }

    @Test("an offer of a kind and a type that do not agree is malformed, and says which item it is")
    func kinds() {
        let items = #"{"kind":"file","name":"b","type":"public.png"}\#n{"kind":"tree","name":"a","type":"public.png"}"#
        let fault = #expect(throws: TransferError.self) { try offer(offerText(item: items)) }
        #expect(fault?.code == .protocolViolation)
        #expect(fault?.message.contains("item 1, a cannot be of the type public.png") == true)
    }

    @Test(
        "sizes that are none are malformed",
        arguments: [
            "9223372036854775808", "18446744073709551615", "18446744073709551616", "-1", "1e30", "-1e30", "1e999",
            "1.5", "\"5\"",
            "true", "[]", "\(Limits.itemBytes + 1)", String(repeating: "9", count: 10_000), "0x10", "NaN", "Infinity",
            "00",
        ])
    func sizes(size: String) {
        for item in [
            #"{"kind":"file","name":"a","type":"public.data","size":\#(size)}"#,
            #"{"kind":"tree","name":"a","type":"public.folder","entries":\#(size)}"#,
        ] {
            let fault = #expect(throws: TransferError.self) { try offer(offerText(item: item)) }
            #expect(fault?.code == .protocolViolation)
        }
    }

    @Test("a tree has at least one entry and at most 2^24", arguments: [0, (1 << 24) + 1, .max] as [UInt64])
    func entries(count: UInt64) {
        let item = #"{"kind":"tree","name":"a","type":"public.folder","entries":\#(count)}"#
        #expect(throws: TransferError.self) { try offer(offerText(item: item)) }
    }

    @Test("a number with a million digits is refused like any other that is too large")
    func longNumber() {
        let digits = String(repeating: "9", count: 1_000_000)
        let item = #"{"kind":"file","name":"a","type":"public.data","size":\#(digits)}"#
        #expect(throws: TransferError.self) { try offer(offerText(item: item)) }
    }

    @Test(
        "an item whose name is not safe is refused, and so the offer",
        arguments: [
            "", ".", "..", "/", "a/b", "/etc/passwd", "../x", "a\\u0000b", "\\u0000", "a\\nb", "a\\rb", "a\\u001bb",
            "a\\u007fb",
            "a\\u0085b", "\\u202egpj.exe", "a\\u200eb", "a\\u2028b", "\\ufeffa", "\\u2066a", "\\ufff9a",
            String(repeating: "a", count: 256), String(repeating: "ä", count: 128),
        ])
    func names(name: String) {
        let fault = #expect(throws: TransferError.self) {
            try offer(offerText(item: #"{"kind":"file","name":"\#(name)","type":"public.data"}"#))
        }
        #expect(fault?.code == .unsafeName)
    }

    @Test(
        "names that are strange and safe are taken as they are",
        arguments: ["\\\\", "con", "~", "-rf", "$(id)", ".hidden", "a b "])
    func strangeNames(name: String) throws {
        let read = try offer(offerText(item: #"{"kind":"file","name":"\#(name)","type":"public.data"}"#))
        #expect(read.items[0].name.text == (name == "\\\\" ? "\\" : name))
    }

    @Test("a name that is no Unicode is malformed", arguments: ["\\ud800", "\\udc00x", "\\ud800\\ud800"])
    func surrogates(name: String) {
        #expect(throws: TransferError.self) {
            try offer(offerText(item: #"{"kind":"file","name":"\#(name)","type":"public.data"}"#))
        }
    }

    @Test("bytes that are no UTF-8 are malformed")
    func notUTF8() {
        let text = offerText(item: #"{"kind":"file","name":"a","type":"public.data"}"#)
        var bytes = Array(text.utf8)
        bytes[bytes.firstIndex(of: UInt8(ascii: "a")) ?? 0] = 0xFF
        #expect(throws: TransferError.self) {
            _ = try WaftDialect.offer(from: ByteBuffer(bytes: bytes))
        }
    }

    @Test("10,000 items are an offer, one more is not")
    func itemCount() throws {
        let item = #"{"kind":"file","name":"a","type":"public.data","size":5}"#
        let items = Array(repeating: item, count: Limits.items).joined(separator: "\n")
        #expect(try offer(offerText(item: items)).items.count == Limits.items)
        let fault = #expect(throws: TransferError.self) { try offer(offerText(item: items + "\n" + item)) }
        #expect(fault?.code == .protocolViolation)
    }

    @Test("an annotation of 16 KiB is taken, a byte more is not")
    func annotation() throws {
        let value = String(repeating: "x", count: Limits.annotationBytes - 1)
        #expect(try offer(offerText(more: #","annotation":{"a":"\#(value)"}"#)).annotation["a"] == value)
        #expect(throws: TransferError.self) { try offer(offerText(more: #","annotation":{"a":"\#(value)x"}"#)) }
    }

    @Test(
        "a hundred thousand nested arrays or objects do not crash the reader", arguments: ["[", "{\"a\":", "[{\"a\":"])
    func bombs(opening: String) {
        for bomb in [
            String(repeating: opening, count: 100_000),
            offerText(more: ",\"x\":" + String(repeating: opening, count: 100_000)),
        ] {
            let fault = #expect(throws: TransferError.self) { try offer(bomb) }
            #expect(fault?.code == .protocolViolation)
        }
        let closed = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: TransferError.self) { try offer(offerText(more: ",\"x\":" + closed)) }
    }

    @Test("thirty levels are not too deep, and brackets in strings are none")
    func depth() throws {
        let deep = String(repeating: "[", count: 30) + String(repeating: "]", count: 30)
        _ = try offer(offerText(more: ",\"x\":" + deep))
        let text = "\"" + String(repeating: "[{,:", count: 10_000) + "\\\"[\\\\\""
        _ = try offer(offerText(more: ",\"x\":" + text))
    }

    @Test(
        "a document that is no verdict on this offer is malformed",
        arguments: [
            #"{"v":1}"#, #"{"v":1,"digest":"sha-256"}"#, #"{"v":1,"default":"accepted"}"#,
            #"{"v":1,"digest":"md5","default":"accepted"}"#, #"{"v":1,"digest":"xxh3-128","default":"accepted"}"#,
            #"{"v":1,"digest":"sha-256","default":"accepted"}\#n{"item":1,"answer":"accepted"}"#,
            #"{"v":1,"digest":"sha-256","default":"accepted"}\#n{"item":-1,"answer":"accepted"}"#,
            #"{"v":1,"digest":"sha-256","default":"accepted"}\#n{"item":9223372036854775807,"answer":"accepted"}"#,
            #"{"v":1,"digest":"sha-256","default":"accepted"}\#n{"item":1e30,"answer":"accepted"}"#,
            #"{"v":1,"digest":"sha-256","default":"accepted"}\#n{"answer":"accepted"}"#,
            #"{"v":1,"digest":"sha-256","default":"accepted"}\#n[]"#,
            #"{"v":2,"digest":"sha-256","default":"accepted"}"#,
        ])
    func verdicts(text: String) {
        var asked = Offer.sample()
        asked.digests = [.sha256]
        #expect(throws: TransferError.self) {
            _ = try WaftDialect.verdict(from: ByteBuffer(string: text), on: asked)
        }
    }

    @Test(
        "a document that is no receipt of this transfer is malformed",
        arguments: [
            #"{"v":1}"#, #"{"v":1,"transfer":"ID"}"#, #"{"v":1,"transfer":"ID"}\#n"#,
            #"{"v":1,"transfer":"ID"}\#n{"state":"notSent"}\#n{"state":"notSent"}"#,
            #"{"v":1,"transfer":"00000000000000000000000000000000"}\#n{"state":"notSent"}"#,
            #"{"v":1,"transfer":"ID"}\#n{}"#, #"{"v":1,"transfer":"ID"}\#n{"state":"stored"}"#,
            #"{"v":1,"transfer":"ID"}\#n{"state":"stored","name":"n","size":1,"digest":"md5:00"}"#,
            #"{"v":1,"transfer":"ID"}\#n{"state":"stored","name":"n","size":-1,"digest":"xxh3-128:00000000000000000000000000000000"}"#,
            #"{"v":1,"transfer":"ID"}\#n{"state":"stored","name":"n","size":1e30,"digest":"xxh3-128:00000000000000000000000000000000"}"#,
            #"{"v":1,"transfer":"ID"}\#n{"state":"stored","size":1,"digest":"xxh3-128:00000000000000000000000000000000"}"#,
        ])
    func receipts(text: String) {
        let offer = Offer.sample()
        let text = text.replacing("ID", with: offer.transfer.text)
        #expect(throws: TransferError.self) {
            _ = try WaftDialect.receipt(from: ByteBuffer(string: text), for: offer)
        }
    }

    @Test("bytes that mean nothing are malformed, never a crash", arguments: 0..<100 as Range<UInt64>)
    func noise(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        let words = [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "v", "1", "null", "-", "e", "\n", "\u{0}", "\\u", "🍳", " ",
        ]
        for _ in 0..<50 {
            let text = (0..<Int.random(in: 1...200, using: &dice)).map { _ in words.randomElement(using: &dice) ?? "" }
                .joined()
            #expect(throws: TransferError.self) { try offer(text) }
            // The same in the middle of something good.
            _ = try? offer(offerText(more: ",\"x\":" + text))
        }
    }
}
