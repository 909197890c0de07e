import ContentCheck
import Control
import Digests
import Endpoints
import Executors
import Foundation
import Glibc
import HandlerCatalog
import Inbox
import Journal
import Lines
import Protection
import Settings
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

extension Kitchen {
    /// Puts a text file into the Inbox, and records its arrival.
    func arrive(_ name: String, _ text: String = "hello\n", type: UniformType = .utf8PlainText) throws -> JournalEntry {
        let path = home.inbox + "/" + name
        try FileManager.default.createDirectory(
            atPath: home.inbox, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: try SafeName(name), type: type, size: UInt64(text.utf8.count)),
            size: UInt64(text.utf8.count), digest: .of(.xxh3_128, Array(text.utf8)), peer: .sample(1),
            senderName: "study", annotation: [:])
        let journal = try Journal(folder: home.state, dialects: .known)
        let number = try journal.intend([IntendedArrival(facts: facts, identity: nil, isDelivered: false)])[0]
        try journal.settle([(number: number, stored: StoredItem(name: try SafeName(name), path: path))])
        return try entry(number)
    }

    func entry(_ number: ArrivalNumber) throws -> JournalEntry {
        guard let entry = try waft.journal.entry(number) else { throw JournalError("no entry") }
        return entry
    }

    /// A handler of plain texts.
    func reader(_ script: String, _ name: String = "Note") throws {
        try handler(name, script, ["CFBundleDocumentTypes": [["LSItemContentTypes": ["public.plain-text"]]]])
    }

    static var noKeys: FileKeys {
        FileKeys { _ throws(SealedFileError) in throw .locked("it is sealed, and no receiver runs") }
    }
}

/// The beginning of a PNG image of 640 by 480 pixels.
let smallPNG: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 2, 0x80, 0, 0, 1, 0xE0]
    + [8, 2, 0, 0, 0]

@Suite("What a user can do with documents")
struct DocumentsTests {
    private let kitchen: Kitchen

    init() throws { kitchen = try Kitchen(jobs: 0) }

    private var documents: Documents { kitchen.waft.documents() }

    private func file(_ name: String, _ text: String = "hello\n") throws -> Document {
        try documents.file(kitchen.folder.file(name, text))
    }

    private func file(_ name: String, bytes: [UInt8]) throws -> Document {
        try Data(bytes).write(to: URL(fileURLWithPath: kitchen.folder / name))
        return try documents.file(kitchen.folder / name)
    }

    private func refusal(_ body: () async throws -> Void) async -> WaftError? {
        do { try await body() } catch { return error as? WaftError }
        return nil
    }

    // MARK: Which

    @Test("what is no file and no folder, and what is not there, is no document")
    func missing() throws {
        for (path, reason) in [("/dev/null", "it is neither a file nor a folder"), (kitchen.folder / "none", "none")] {
            let error = #expect(throws: WaftError.self) { try documents.file(path) }
            #expect(error?.code == .inputMissing && error?.reason.contains(reason) == true)
        }
    }

    @Test("an item of the Inbox has its names, and is refused when it is gone")
    func item() throws {
        let entry = try kitchen.arrive("a.txt")
        let document = try documents.item(entry, keys: Kitchen.noKeys)
        #expect(document.name.head == "1  a.txt" && document.path == entry.arrival.stored.path)
        let line = OptionLine(document.name, type: "public.plain-text", action: .take)
        #expect(line.json.contains(#""arrival":1,"event":"option","name":"a.txt","path":"#))
        try FileManager.default.removeItem(atPath: document.path)
        let gone = WaftError(.inputMissing, "1  a.txt: it is no longer in the Inbox")
        #expect(throws: gone) { try documents.item(entry, keys: Kitchen.noKeys) }
        // A later item may have its place.
        var left = try kitchen.arrive("a.txt")
        left.departure = Departure(.removed, at: .now)
        #expect(throws: WaftError.self) { try documents.item(left, keys: Kitchen.noKeys) }
    }

    // MARK: Previews

    @Test("the preview has the form of the content")
    func forms() async throws {
        let text = try await documents.preview(of: try file("a.txt", "one\ntwo\nthree\n"), lines: 2)
        #expect(text.facts.type == "public.plain-text" && text.facts.shownAs == .text && text.facts.size == 14)
        #expect(text.facts.lines == ["one", "two"] && text.facts.isCut == true && text.warning == nil)
        let image = try await documents.preview(of: try file("a.png", bytes: smallPNG), columns: nil)
        #expect(image.facts.shownAs == .image && image.facts.pixelWidth == 640 && image.drawing == [])
        let link = try await documents.preview(of: try file("a.url", "[InternetShortcut]\nURL=https://a.org/b?c=d\n"))
        #expect(link.facts.shownAs == .link && link.facts.urlParts?.host == "a.org")
        let links = LineContract.shared.faults(in: [text.json, image.json, link.json])
        #expect(links == [])
    }

    @Test("a folder is shown as a tree, and its members have whole paths")
    func folder() async throws {
        try FileManager.default.createDirectory(
            atPath: kitchen.folder / "tree/b", withIntermediateDirectories: true)
        for name in ["tree/a", "tree/b/c", "tree/d"] { kitchen.folder.file(name, "1") }
        let line = try await documents.preview(of: try documents.file(kitchen.folder / "tree"))
        #expect(line.facts.members?.map(\.member) == ["a", "b", "b/c", "d"])
        #expect(line.facts.members?.map(\.kind) == ["file", "tree", "file", "file"])
        #expect(line.tree[2] == .entry(level: 1, name: "c", kind: "file", size: 1))
        #expect(line.facts.content == nil && LineContract.shared.faults(in: [line.json]) == [])
    }

    @Test("nothing to show is no failure of another kind, and a liar has the warning beside it")
    func nothing() async throws {
        let plain = try file("a.bin", bytes: [0, 1, 2, 3])
        #expect(
            await refusal { _ = try await documents.preview(of: plain) }
                == WaftError(.ineligible, "\(plain.path): there is no preview of public.data"))
        let liar = try file("report.png", bytes: Array("%PDF-1.4\n".utf8))
        let error = await refusal { _ = try await documents.preview(of: liar) }
        #expect(error?.code == .ineligible && error?.hint == nil && error?.others.count == 1)
        #expect(error?.others.first?.contains("PDF") == true)
    }

    @Test("no picture is made of a folder, of a liar, and where no program makes one")
    func pictures() async throws {
        let cases = [
            (try documents.file(kitchen.folder.path), "a folder has no picture"),
            (try file("report.png", bytes: Array("%PDF-1.4\n".utf8)), "it is not what its name says"),
            (try file("a.bin", bytes: [0, 1, 2, 3]), "no picture of public.data could be made"),
        ]
        for (document, reason) in cases {
            let error = await refusal { _ = try await documents.picture(of: document, pixels: 64, page: 1) }
            #expect(error?.code == .ineligible && error?.reason.contains(reason) == true, "\(reason)")
        }
    }

    @Test("a picture is written to a new file only")
    func saved() throws {
        let document = try file("a.txt")
        let still = try #require(StillImage(smallPicture))
        let picture = Picture(document: document, type: .plainText, image: still, bytes: smallPicture)
        let path = kitchen.folder / "new.png"
        let line = try picture.save(to: path)
        #expect(line.facts.picture == path && line.facts.mediaType == "image/png" && line.size == smallPicture.count)
        #expect(FileManager.default.contents(atPath: path) == Data(smallPicture))
        for (path, hint) in [(path, "give another name"), (kitchen.folder / "none/a.png", "make the folder first")] {
            let error = #expect(throws: WaftError.self) { try picture.save(to: path) }
            #expect(error?.code == .usage && error?.hint == hint)
        }
    }

    /// A whole PNG image of one pixel.
    private var smallPicture: [UInt8] {
        let text =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        return Data(base64Encoded: text).map(Array.init) ?? []
    }

    // MARK: Actions

    @Test("the actions are those that work here, and one that does not is refused")
    func options() throws {
        let document = try file("a.txt")
        #expect(try documents.options(for: document).map(\.facts.action).first == .preview)
        #expect(try documents.options(for: document, check: .preview).count == 1)
        let error = #expect(throws: WaftError.self) { try documents.options(for: document, check: .take) }
        #expect(error == WaftError(.ineligible, "\(document.path): take is not possible here"))
        let item = try documents.item(try kitchen.arrive("b.txt"), keys: Kitchen.noKeys)
        #expect(try documents.options(for: item).map(\.facts.action).suffix(2) == [.take, .remove])
    }

    @Test("a short text is copied by the terminal; without a clipboard it is refused", .enabled(if: !Face.hasDisplay))
    func copying() async throws {
        let document = try file("a.txt")
        #expect(
            await refusal { try await documents.copy(document) }
                == WaftError(.ineligible, "there is no clipboard here", hint: "install wl-clipboard or xclip"))
        let written = Recorder<String>()
        var face = Face()
        face.terminal = { written.record($0) }
        try await kitchen.waft.documents(face).copy(document)
        #expect(written.all == ["\u{1B}]52;c;aGVsbG8K\u{7}"])
        #expect(try kitchen.waft.documents(face).options(for: document, check: .copy).count == 1)
    }

    @Test("nothing is shown without a desktop", .enabled(if: !Face.hasDisplay))
    func noDesktop() async throws {
        let document = try file("a.txt")
        #expect(await refusal { _ = try await documents.openOnDesktop(document) }?.code == .ineligible)
        #expect(await refusal { _ = try await documents.showInWindow(document) }?.hint == "leave out --window")
        #expect(throws: WaftError.self) { try documents.options(for: document, check: .open) }
    }

    @Test(
        "what lies about its content and what the desktop would run is handed on only anyway",
        arguments: [
            ("a.png", "%PDF-1.4\n", "looks like"), ("a.desktop", "[Desktop Entry]\nExec=id\n", "would run it"),
            ("b.txt", "# a note\n\n[Desktop Entry]\n", "a launcher"), ("run.sh", "#!/bin/sh\n", "would run it"),
        ])
    func dangerous(name: String, text: String, reason: String) throws {
        let document = try file(name, text)
        let error = #expect(throws: WaftError.self) { try documents.programs(for: document) }
        #expect(error?.code == .ineligible && error?.reason.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.hint == "to open it all the same: --anyway")
        _ = try documents.programs(for: document, anyway: true)
    }

    // MARK: Programs

    @Test("a program is named by its number, its name in any case or its identifier; all else is wrong usage")
    func targets() throws {
        try kitchen.reader("exit 0")
        let document = try file("a.txt")
        let list = try documents.programs(for: document)
        let line = try #require(list.lines.first)
        #expect(line.facts.program == "Note" && line.facts.handler == "org.example.note" && line.facts.place == 1)
        for word in ["1", "note", "NOTE", "org.example.note"] { #expect(try list.target(word).isHandler) }
        for word in ["0", "99", "evil"] {
            let error = #expect(throws: WaftError.self) { try list.target(word) }
            #expect(error?.code == .usage && error?.hint?.hasPrefix("programs that do: Note") == true)
        }
    }

    @Test("a handler that was chosen gets a file with the annotation, and its answer counts")
    func called() async throws {
        let got = kitchen.folder / "got"
        try kitchen.reader("cat > '\(got)'; [ \"$WAFT_NAME\" != no.txt ] || exit 1")
        let document = try file("a.txt")
        let target = try documents.programs(for: document).target("note")
        let line = try await documents.open(document, in: target, Annotation(["page": "3"]))
        #expect(line.facts.handler == "org.example.note" && line.facts.handlerAnswer == "yes")
        #expect(line.said == "opened by Note" && LineContract.shared.faults(in: [line.json]) == [])
        #expect(try kitchen.text("got").contains(#""page":"3""#))
        try kitchen.reader("exit 1")
        let error = await refusal { _ = try await documents.open(document, in: target) }
        #expect(error == WaftError(.handlerSaidNo, "\(document.path): Note said no"))
    }

    @Test("a file in the Inbox is called for by its number, and no handler is called with forgiven settings")
    func refusedCalls() async throws {
        try kitchen.reader("exit 0")
        let entry = try kitchen.arrive("a.txt")
        let inside = try documents.file(entry.arrival.stored.path)
        let target = try documents.programs(for: inside).target("note")
        let error = await refusal { _ = try await documents.open(inside, in: target) }
        #expect(error?.code == .usage && error?.hint == "waft inbox open-in a.txt")
        var waft = kitchen.waft
        waft.settingsFault = WaftError(.usage, "line 3: unknown setting")
        let forgiven = waft.documents()
        let outside = try file("b.txt")
        #expect(await refusal { _ = try await forgiven.open(outside, in: target) } == waft.settingsFault)
    }

    @Test("without a receiver the journal has the call as one that a person asked for")
    func askedHere() async throws {
        try kitchen.reader("exit 0")
        let entry = try kitchen.arrive("a.txt")
        let document = try documents.item(entry, keys: Kitchen.noKeys)
        let target = try documents.programs(for: document).target("note")
        #expect(try await documents.open(document, in: target).said == "opened by Note")
        try kitchen.reader("rm \"$WAFT_PATH\" 2>/dev/null || rm '\(document.path)'; exit 1")
        let no = await refusal { _ = try await documents.open(document, in: target) }
        #expect(no?.code == .handlerSaidNo && no?.hint == "its output: waft inbox show 1")
        let after = try kitchen.entry(entry.arrival.number)
        #expect(after.attempts.map(\.isAsked) == [true, true] && after.attempts.map(\.outcome?.answer) == [.yes, .no])
        #expect(after.departure?.how == .handler && after.departure?.toward == "org.example.note")
        let left = await refusal { _ = try await documents.open(document, in: target) }
        #expect(left == WaftError(.inputMissing, "item 1 has left the Inbox"))
    }

    @Test("a running receiver calls the handler, and its refusals have their exit codes")
    func askedThere() async throws {
        try kitchen.reader("exit 1")
        let document = try documents.item(try kitchen.arrive("a.txt"), keys: Kitchen.noKeys)
        let target = try documents.programs(for: document).target("note")
        let request = ControlRequest.open(arrival: 1, handler: "org.example.note", annotation: ["a": "b"])
        let replies: [(ControlReply, WaftExit?)] = [
            (.handlerAnswered("yes", exitCode: 0, reason: ""), nil),
            (.handlerAnswered("later", exitCode: 75, reason: "busy"), .handlerSaidNo),
            (.handlerAnswered("perhaps", exitCode: 0, reason: ""), .unexpected), (.unknown("gone"), .inputMissing),
            (.locked("it is sealed"), .locked), (.refused("no"), .unexpected), (.done, .unexpected),
        ]
        for (reply, exit) in replies {
            try await kitchen.withReceiver {
                $0 == request ? reply : .unknown("another request")
            } _: {
                let error = await refusal { _ = try await documents.open(document, in: target, Annotation(["a": "b"])) }
                #expect(error?.code == exit, "\(reply)")
            }
        }
    }

    @Test("a call that is cancelled ends the handler, and is recorded")
    func cancelled() async throws {
        let began = kitchen.pipe("began")
        try kitchen.reader("echo > '\(began)'; exec sleep 600")
        let entry = try kitchen.arrive("a.txt")
        let document = try documents.item(entry, keys: Kitchen.noKeys)
        let target = try documents.programs(for: document).target("note")
        let documents = documents
        let call = Task { await refusal { _ = try await documents.open(document, in: target) } }
        await Kitchen.word(from: began)
        call.cancel()
        #expect(await call.value == WaftError(.interrupted, "interrupted"))
        #expect(try kitchen.entry(entry.arrival.number).attempts.map(\.outcome?.reason) == ["interrupted"])
    }

    @Test("an answer is not recorded if another handler was asked meanwhile, and the user hears of it")
    func meanwhile() async throws {
        let (entry, remarks) = (try kitchen.arrive("a.txt"), Recorder<String>())
        var face = Face()
        face.remark = { remarks.record($0) }
        let documents = kitchen.waft.documents(face)
        let (began, go) = (kitchen.pipe("began"), kitchen.pipe("go"))
        try kitchen.reader("echo > '\(began)'; cat '\(go)' > /dev/null; exit 0")
        let document = try documents.item(entry, keys: Kitchen.noKeys)
        let target = try documents.programs(for: document).target("note")
        let call = Task { try? await documents.open(document, in: target).said }
        await Kitchen.word(from: began)
        _ = try Journal(folder: kitchen.home.state, dialects: .known)
            .began([entry.arrival.number], handler: "org.example.other", isAsked: true, at: .now)
        _ = await BackgroundThread.run("waft-test") { close(open(go, O_WRONLY)) }
        #expect(await call.value == "opened by Note")
        #expect(remarks.all.count == 1 && remarks.all[0].hasPrefix("the answer could not be recorded: "))
    }

    @Test("a sealed item is left as it is, or refused when its copy is larger than the user allows")
    func sealed() throws {
        var settings = Settings(hostName: "kitchen")
        settings.clearQuota = 1
        let waft = Waft(kitchen.home, LiveSettings(settings), logger: kitchen.waft.logger)
        var entry = try kitchen.arrive("a.txt")
        entry.arrival.facts.destination = Destination(handler: nil, folder: nil, protection: .complete)
        let stored = try waft.documents().item(entry, for: nil, keys: Kitchen.noKeys)
        #expect(stored.path == entry.arrival.stored.path)
        let error = #expect(throws: WaftError.self) { try waft.documents().item(entry, keys: Kitchen.noKeys) }
        #expect(error?.code == .noRoom && error?.hint == "take it out with: waft inbox take")
        // There is no copy, so there is none to remove.
        waft.documents().end(stored)
    }

    @Test("the parts of a URL are the same document that handlers get")
    func urlParts() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for text in ["https://a:b@c.org:1/d%2Fe/f?g=h&i#j", "mailto:a@b.org", "foo:"] {
            let url = try URLParts(text)
            #expect(try encoder.encode(LinkParts(url)) == encoder.encode(url))
        }
    }

    @Test("a drawing keeps its colours, and nothing else that a terminal obeys")
    func drawing() {
        let plain = "\u{1B}[0m"
        let output = "\u{1B}[31mred\u{1B}[2Jx\u{7}\n\u{1B}]0;title\u{7}b\n\u{1B}[0m\n"
        #expect(
            PictureText.lines(Array(output.utf8), maximum: 2) == ["\u{1B}[31mredx" + plain, "]0;titleb" + plain])
    }
}
