import Digests
import Sharing
import TestSupport
import Testing

/// The domain's service to protocols that offer fewer facts than Waft's own.
@Suite("A transfer of another protocol")
struct AnnouncedTransferTests {
    @Test("without an offered digest the receiver's own is in the receipt")
    func noDigests() throws {
        let bytes = Array("hello".utf8)
        let offer = Offer.sample()
        let receiving = Receiving(offer)
        try receiving.transfer.beginItem(0)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try receiving.write(bytes)
        try receiving.transfer.endFile(digest: nil)
        try receiving.transfer.endItem(digest: nil)
        let receipt = try receiving.transfer.finish()
        let digest = Digest.of(.lasting, bytes)
        #expect(receipt.items[0].outcome == .stored(name: "file-0", size: 5, digest: digest))
        #expect(receiving.arrivals.all.first?.digest == digest)
    }

    @Test("an item without contents is none, also without an offered digest")
    func nothing() throws {
        let receiving = Receiving(.sample())
        try receiving.transfer.beginItem(0)
        #expect(throws: TransferError.self) { try receiving.transfer.endItem(digest: nil) }
    }

    @Test("the facts of an arrival name its protocol")
    func dialect() throws {
        var offer = Offer.sample()
        offer.dialect = .keyless
        let receiving = Receiving(offer)
        try receiving.sendItem(0, Array("hello".utf8))
        _ = try receiving.transfer.finish()
        #expect(receiving.arrivals.all.map(\.dialect) == [.keyless])
        #expect(Offer.sample().dialect == .keyed)
    }

    @Test("an unproven id is the same for the same seed, and another for another seed or protocol")
    func unproven() {
        let id = PeerID.unproven(.keyless, seed: [1])
        #expect(id == .unproven(.keyless, seed: [1]))
        #expect(id != .unproven(.keyless, seed: [2]))
        #expect(id != .unproven(.keyed, seed: [1]))
        // The fingerprint of a key that has the seed's bytes is something else.
        #expect(id.bytes != Digest.of(.sha256, [1]).bytes)
    }

    @Test(
        "a URL item is marked as one, and its file is named after its host",
        arguments: [
            ("https://Example.com/a?b", "example.com.url"), ("mailto:x@example.com", "mailto.url"),
            ("https://user:secret@[::1]:8080/", "1.url"),
        ])
    func shortcuts(_ url: String, name: String) throws {
        let shortcut = try InternetShortcut(url)
        #expect(shortcut.name.text == name)
        #expect(InternetShortcut.url(in: shortcut.contents) == url)
    }

    @Test(
        "text that could be another line, or is no URL at all, is refused",
        arguments: ["", "example.com", "https:", "a b:c", "https://x\r\nURL=file:///", "1x:y", "x:\u{202E}y"])
    func noShortcuts(_ text: String) {
        #expect(throws: InternetShortcut.FormatError.self) { try InternetShortcut(text) }
    }
}
