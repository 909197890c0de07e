import Foundation
import Glibc
import ItemSources
import Lines
import Logging
import Sending
import Settings
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

@Suite("What a user can do with shared items")
struct ActivitiesTests {
    private let kitchen: Kitchen

    init() throws { kitchen = try Kitchen(jobs: 0) }

    private func words(_ texts: String...) -> ShareItems {
        ShareItems(texts.map { TextSource($0) }, paths: [], subject: nil)
    }

    private func files(_ paths: String...) throws -> ShareItems {
        let sources = try paths.map { path -> any ItemSource in try ItemSources.make(path: path) }
        return ShareItems(sources, paths: paths, subject: nil)
    }

    private func refusal(_ body: () async throws -> Void) async -> WaftError? {
        do { try await body() } catch { return error as? WaftError }
        return nil
    }

    /// A handler with the activity `org.example.resize`.
    private func handler(_ script: String, _ more: [String: Any] = [:]) throws {
        let activity: [String: Any] = [
            "WaftActivityType": "org.example.resize", "Title": "Resize", "ItemTypes": ["public.plain-text"],
        ].merging(more) { $1 }
        try kitchen.handler("Images", script, ["WaftActivities": [activity]])
    }

    @Test("an activity that there is not, and one that is left out, are wrong usage")
    func types() throws {
        let waft = kitchen.waft
        let unknown = #expect(throws: WaftError.self) { try waft.activities(excluding: ["org.example.gone"]) }
        #expect(unknown?.code == .usage && unknown?.hint?.contains("org.waft.activity.mail") == true)
        let activities = try waft.activities(excluding: [Activity.airdrop.type])
        #expect(!activities.hasPeers && activities.unknownExclusions.isEmpty)
        #expect(try activities.activity("org.waft.activity.print").kind == .print)
        #expect(
            throws: WaftError(.usage, "org.waft.activity.airdrop is excluded")
        ) { try activities.activity(Activity.airdrop.type) }
        #expect(throws: WaftError.self) { try activities.activity("print") }
    }

    @Test("a setting that leaves out an activity of no handler is told, and hinders nothing")
    func settings() throws {
        var settings = Settings(hostName: "kitchen")
        settings.excludedActivities = ["org.example.gone", Activity.airdrop.type]
        let waft = Waft(
            kitchen.home, LiveSettings(settings), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let activities = try waft.activities()
        #expect(activities.unknownExclusions == ["org.example.gone"] && !activities.hasPeers)
    }

    @Test("the list has those that take all items, and with all of them the reason of each that does not")
    func list() async throws {
        let activities = try kitchen.waft.activities(excluding: ["org.waft.activity.mail"])
        let all = await activities.lines(for: words("hello"), all: true)
        let reasons = Dictionary(uniqueKeysWithValues: all.map { ($0.type.components(separatedBy: ".")[3], $0.reason) })
        #expect(reasons["queue"] == .some(nil) && reasons["mail"] == "it is excluded")
        #expect(reasons["open-in"] == "it takes one file or folder" && reasons["airdrop"] == nil)
        #expect(reasons["save-image"] == "images and films are saved there")
        #expect(reasons["preview"] == "files and folders are shown")
        let possible = await activities.lines(for: words("hello"))
        #expect(possible.map(\.type) == all.filter { $0.reason == nil }.map(\.type))
        let error = await refusal {
            try await activities.check(activities.activity("org.waft.activity.preview"), words("hello"))
        }
        #expect(error?.code == .ineligible && error?.reason.hasSuffix("Preview: files and folders are shown") == true)
    }

    @Test("texts are copied as one, by the terminal", .enabled(if: !Face.hasDisplay))
    func copying() async throws {
        let written = Recorder<String>()
        var face = Face()
        face.terminal = { written.record($0) }
        let activities = try kitchen.waft.activities(face)
        let end = try await activities.perform(activities.activity("org.waft.activity.copy"), words("a", "b"))
        #expect(end.said == ["2 items: copied"] && end.returnedItems.isEmpty)
        #expect(written.all == ["\u{1B}]52;c;\(Data("a\nb".utf8).base64EncodedString())\u{7}"])
        let without = try kitchen.waft.activities()
        let error = await refusal {
            _ = try await without.perform(activities.activity("org.waft.activity.copy"), words("a"))
        }
        #expect(error?.code == .ineligible && error?.hint == "install wl-clipboard or xclip")
    }

    @Test("images are saved under their names, and none is replaced")
    func saving() throws {
        let pictures = try PicturesFolder(kitchen.folder / "pictures/new")
        let item = try files(kitchen.folder.file("a.jpg", "one")).items[0]
        let paths = try (0..<2).map { _ in try pictures.save(item) }
        #expect(Set(paths).count == 2 && paths.first == kitchen.folder / "pictures/new/a.jpg")
        let names = try FileManager.default.contentsOfDirectory(atPath: kitchen.folder / "pictures/new")
        #expect(names.count == 2)
        let folder = try files(kitchen.home.state).items[0]
        let error = #expect(throws: WaftError.self) { try pictures.save(folder) }
        #expect(error?.code == .ineligible && error?.reason.hasSuffix("this takes single files") == true)
        #expect(throws: WaftError.self) { try PicturesFolder(kitchen.folder / "pictures/new/a.jpg/b") }
    }

    @Test("items that are no files are made in a folder that goes with its last user")
    func spool() throws {
        let parent = kitchen.folder / "spool"
        var spool: ShareSpool? = ShareSpool(in: parent)
        let items = words("a", "a").items + (try files(kitchen.folder.file("a.txt"))).items
        let paths = try ShareItems.files(items, in: try #require(spool))
        #expect(Set(paths).count == 3 && paths[2] == kitchen.folder / "a.txt")
        #expect(try paths.prefix(2).map { try String(contentsOfFile: $0, encoding: .utf8) } == ["a", "a"])
        spool = nil
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent) == [])
    }

    @Test("the contents of an item are bounded, and those of a URL are the URL")
    func contents() throws {
        let text = words("hello").items[0]
        #expect(try text.words() == "hello" && String(decoding: text.data(limit: 5), as: UTF8.self) == "hello")
        let error = #expect(throws: WaftError.self) { try text.data(limit: 4) }
        #expect(error?.code == .ineligible && error?.reason.hasSuffix("is longer than 4 bytes") == true)
        let url = ShareItems([try URLSource("https://a.org/")], paths: [], subject: nil)
        #expect(try url.items[0].words() == "https://a.org/")
    }

    @Test("a handler does its activity, and its refusal has the end of its output")
    func handlers() async throws {
        try handler("echo \"{\\\"returnedItems\\\":[\\\"/etc/passwd\\\"]}\"")
        let remarks = Recorder<String>()
        var face = Face()
        face.remark = { remarks.record($0) }
        let activities = try kitchen.waft.activities(face)
        let activity = try activities.activity("org.example.resize")
        #expect(activity.kind == .handler && activity.title == "Resize (Images)" && activity.category == .action)
        let items = try files(kitchen.folder.file("a.txt"))
        try await activities.check(activity, items)
        let end = try await activities.perform(activity, items)
        #expect(end.said == ["a.txt: Resize (Images): done"] && end.returnedItems == [])
        #expect(remarks.all == ["1 of the items that it returned are not in its data folder"])
        try handler("echo first >&2; echo last >&2; exit 1")
        let error = await refusal { _ = try await activities.perform(activity, items) }
        #expect(error == WaftError(.handlerSaidNo, "a.txt: Images said no", others: ["first", "last"]))
    }

    @Test("a handler is asked before it is offered, and takes only its types and as many items as it says")
    func obstacles() async throws {
        try handler("exit 1", ["CanPerform": true, "MaximumItems": 1])
        let activities = try kitchen.waft.activities()
        let paths = [kitchen.folder.file("a.txt"), kitchen.folder.file("b.txt"), kitchen.folder.file("c.pdf")]
        for (items, reason) in [
            (try files(paths[2]), "it takes public.plain-text, and not com.adobe.pdf"),
            (try files(paths[0], paths[1]), "it takes 1 item"),
            (try files(paths[0]), "its handler says that it cannot do it now"),
        ] {
            let line = await activities.lines(for: items, all: true).first { $0.type == "org.example.resize" }
            #expect(line?.reason == reason)
        }
    }

    @Test("files of dead processes are removed after a day, and no others")
    func sweep() throws {
        for name in [".waft-saving-1", ".waft-saving-2", "photo.jpg"] { kitchen.folder.file(name) }
        for name in [".waft-saving-1", "photo.jpg"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -90_000)], ofItemAtPath: kitchen.folder / name)
        }
        _ = try PicturesFolder(kitchen.folder.path)
        let left = Set(kitchen.folder.names)
        #expect(!left.contains(".waft-saving-1") && left.isSuperset(of: [".waft-saving-2", "photo.jpg"]))
    }

    @Test("a search that is off finds nobody, and says so once")
    func noSearch() async throws {
        let troubles = Recorder<String>()
        let peers = SharePeers(PeerFinder(endpoints: [], searches: false), kitchen.waft.people)
        let found = await peers.found(within: .milliseconds(1)) { troubles.record($0) }
        #expect(found.isEmpty && troubles.all == ["discovery is off: peers are reached by address only"])
    }

    @Test("a picture, a document and a folder are mailed, printed and saved only where that is possible")
    func kinds() async throws {
        let paths = [kitchen.folder.file("a.jpg", "%PDF-1.4\n"), kitchen.home.state]
        let activities = try kitchen.waft.activities()
        for (path, type, reason) in [
            (paths[0], "save-image", "it is not what it claims to be: see waft preview"),
            (paths[1], "save-image", "images and films are saved there"), (paths[1], "preview", nil),
        ] {
            let lines = await activities.lines(for: try files(path), all: true)
            #expect(lines.first { $0.type.hasSuffix("." + type) }?.reason == reason, "\(type)")
        }
    }
}
