import NIOCore
import PropertyLists
import Sharing
import TestSupport
import Testing

@testable import AirDropDialect

@Suite("Packing and unpacking")
struct PackingTests {
    @Test(
        "every form of the same archive is the same archive, cut at every byte and with little room",
        arguments: ["plain.odc.cpio", "plain.odc.cpio.gz", "stored.dvzip", "deflated.dvzip", "mixed.dvzip"])
    func vectors(_ name: String) throws {
        let archive = try Vector.bytes("plain.odc.cpio")
        let body = try Vector.buffer(name)
        for size in [1, 2, 3, 5, 64, 1_000_000] {
            for room in [1, 7, 64 << 10] {
                #expect(try inflateAll(body, in: size, room: room) == archive, "\(name) in \(size), room for \(room)")
            }
        }
        // The body is cut at each position into two pieces.
        for cut in 1..<body.readableBytes {
            var (head, tail) = (body, body)
            head.moveWriterIndex(to: cut)
            tail.moveReaderIndex(to: cut)
            let inflater = BodyInflater(InflationLimit(Offer.sample(size: nil)))
            var room = [UInt8](repeating: 0, count: 1 << 16)
            var all: [UInt8] = []
            for piece in [head, tail] {
                let (_, produced) = try piece.withUnsafeReadableBytes { bytes in
                    try room.withUnsafeMutableBytes { try inflater.inflate(bytes, into: $0) }
                }
                all += room[..<produced]
            }
            #expect(all == archive, "\(name) cut at \(cut)")
        }
    }

    @Test(
        "unpacking gives the packed items, and data that does not get smaller is stored",
        arguments: [BodyDeflater.Form.dvzip, .gzip], 0..<6 as Range<UInt64>)
    func roundTrip(_ form: BodyDeflater.Form, seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        // Stretches of both kinds, so that the deflater has to change its choice.
        var contents: [UInt8] = []
        for stretch in 0..<4 {
            let count = Int.random(in: 1...1_500_000, using: &numbers)
            if (stretch + Int(seed)).isMultiple(of: 2) {
                contents += (0..<count / 8).flatMap { _ in
                    withUnsafeBytes(of: UInt64.random(in: 0...UInt64.max, using: &numbers)) { Array($0) }
                }
            } else {
                contents += (0..<count).map { UInt8(truncatingIfNeeded: $0 / 100) }
            }
        }
        // The receiver recognizes the form of a body by its first byte.
        contents[0] = UInt8(ascii: "0")
        let deflater = try BodyDeflater(form)
        var packed = ByteBuffer()
        var rest = contents[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...400_000, using: &numbers))
            piece.withUnsafeBytes { deflater.add($0, to: &packed) }
            rest = rest.dropFirst(piece.count)
        }
        deflater.finish(into: &packed)
        #expect(packed.readableBytes < contents.count + 1_000)
        #expect(try inflateAll(packed, in: 1 << 20) == contents)
    }

    @Test("contents with an offered size may be packed as small as possible; other contents at most a hundred times")
    func budget() {
        let known = InflationLimit(Offer.sample(items: 2, size: 1 << 40))
        #expect(known.allows(1 << 41, from: 1))
        #expect(!known.allows(1 << 42, from: 1))
        let unknown = InflationLimit(Offer.sample(size: nil))
        #expect(unknown.allows(64 << 20, from: 1))
        #expect(!unknown.allows(65 << 20, from: 1))
        #expect(unknown.allows((64 << 20) + 100_000_000, from: 1_000_000))
        #expect(!unknown.allows((64 << 20) + 100_000_001, from: 1_000_000))
        #expect(unknown.allows(.max, from: .max))
    }

    @Test("a missing archive library is reported in one line, and so is a library that lacks a function")
    func noLibrary() throws {
        for name in ["libwaft-nothing.so.1", "libz.so.1"] {
            do {
                _ = try ArchiveLibrary.load(name)
                Issue.record("\(name) was loaded")
            } catch {
                #expect(error.code == .unexpected && error.message.hasPrefix("AirDrop needs libarchive"))
                #expect(!error.message.contains("\n"))
            }
        }
        _ = try ArchiveLibrary.functions()
    }

    @Test("paths are compared composed, without wrapper and dots")
    func paths() throws {
        func names(_ text: String) throws -> [Substring] {
            var path = try MemberPath(text)
            path.unwrap { $0 == "NSIRD_AirDrop_announced" }
            return path.names
        }
        #expect(try names("./e\u{301}/b//c/").map { Array($0.utf8) } == [Array("\u{E9}".utf8), [0x62], [0x63]])
        #expect(try names("NSIRD_AirDrop_abc/a") == ["a"])
        #expect(try names("./NSIRD_AirDrop_announced/a") == ["NSIRD_AirDrop_announced", "a"])
        #expect(try names(".").isEmpty && names("./").isEmpty && names("NSIRD_AirDrop_abc").isEmpty)
        #expect(throws: NameError.absolute) { try MemberPath("/a") }
    }
}

@Suite("Messages as property lists")
struct MessageListTests {
    @Test("the vectors are read", arguments: ["ask.opendrop.plist", "ask.apple.plist", "ask.link.plist"])
    func vectors(_ name: String) throws {
        let ask = try AskReading(Vector.buffer(name))
        #expect(!ask.senderName.isEmpty)
        #expect(ask.files.count == (name == "ask.link.plist" ? 0 : 4))
        #expect(ask.links.count == (name == "ask.link.plist" ? 1 : 0))
        if name == "ask.apple.plist" {
            #expect(ask.identifier == "6F9619FF-8B86-D011-B42D-00C04FC964FF")
            #expect(ask.senderName == "Anna\u{2019}s MacBook Pro")
            #expect(ask.files.map(\.size) == [13, 0, 11, nil])
        }
    }

    @Test("a written property list is read back: text in two forms, data, numbers, booleans, depths")
    func roundTrip() throws {
        let card = AirDropCard(name: "K\u{FC}che \u{1F373}", model: "Waft1,1")
        let message = try AirDropMessage.showing(card).encoded()
        let read = try #require(PropertyList(message: message)?.dictionary)
        #expect(read["ReceiverComputerName"]?.string == card.name)
        #expect(read["ReceiverModelName"]?.string == "Waft1,1")
        #expect(read["IsAirDropable"]?.truth == true)
        #expect(read["DeviceSupportFlags"]?.unsigned == 111_611)
        #expect(read["ReceiverMediaCapabilities"] == .data(Array("{\"Version\":1}".utf8)))
    }

    @Test("a list that contains itself, and one that stands for billions of values, are refused")
    func bombs() {
        // An array whose only element is itself.
        #expect(PropertyList(message: Self.list([[0xA1, 0]])) == nil)
        // Arrays of ten references to the next one, twenty deep and eight deep.
        for depth in [8, 20] {
            var objects: [[UInt8]] = (1...depth).map { [0xAA] + Array(repeating: UInt8($0), count: 10) }
            objects.append([0x08])
            #expect(PropertyList(message: Self.list(objects)) == nil)
        }
        // Many references to the same text.
        let text: [UInt8] = [0x5F, 0x11, 0x40, 0x00] + Array(repeating: 0x61, count: 0x4000)
        let references: [UInt8] = [0xAF, 0x11, 0x06, 0x01] + Array(repeating: 1, count: 0x601)
        #expect(PropertyList(message: Self.list([references, text])) == nil)
    }

    @Test("no list of few bytes makes the reader fall")
    func random() {
        // One test: as many cases cost more than their lists.
        for seed in 0..<2_000 as Range<UInt64> {
            var numbers = SeededNumbers(seed: seed)
            let objects = (0..<Int.random(in: 1...8, using: &numbers)).map { _ in
                (0..<Int.random(in: 1...24, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            }
            _ = PropertyList(message: Self.list(objects))
            var bytes = Self.list(objects)
            let end = bytes.readableBytes
            bytes.setInteger(
                UInt64.random(in: 0...UInt64.max, using: &numbers),
                at: end - 8 * Int.random(in: 1...4, using: &numbers))
            _ = PropertyList(message: bytes)
        }
    }

    /// A property list of raw objects; the first is the top.
    private static func list(_ objects: [[UInt8]]) -> ByteBuffer {
        var bytes = ByteBuffer(string: "bplist00")
        var offsets: [UInt16] = []
        for object in objects {
            offsets.append(UInt16(bytes.readableBytes))
            bytes.writeBytes(object)
        }
        let table = bytes.readableBytes
        for offset in offsets { bytes.writeInteger(offset) }
        bytes.writeBytes([0, 0, 0, 0, 0, 0, 2, 1])
        bytes.writeInteger(UInt64(objects.count))
        bytes.writeInteger(0 as UInt64)
        bytes.writeInteger(UInt64(table))
        return bytes
    }
}
