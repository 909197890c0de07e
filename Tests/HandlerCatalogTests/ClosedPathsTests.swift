import Foundation
import HandlerCatalog
import Sharing
import TestSupport
import Testing

@Suite("Places that no handler can be given")
struct ClosedPathsTests {
    private let shelf = Shelf()

    private func trouble(_ path: String, _ access: ClosedPaths.Access) -> String? {
        shelf.catalog().closed.trouble(path, access)
    }

    @Test(
        "configuration, state, handlers and their data are closed, and so are the files in them and the folders around them"
    )
    func closed() throws {
        let link = shelf.folder / "link"
        symlink(shelf.folder / "config", link)
        symlink("/", shelf.folder / "root")
        let paths = [
            shelf.folder / "config", shelf.folder / "config/not/there", shelf.folder / "state", shelf.user,
            shelf.user + "/A.handler/data", shelf.machine, shelf.folder / "user/handler-data/org.example.a",
            shelf.folder / "user", shelf.folder.path, "/", link, link + "/x", shelf.folder / "root",
            shelf.folder / "user/../config/", "/somewhere/Else.handler", "/somewhere/Else.handler/data",
        ]
        for path in paths {
            for access in ClosedPaths.Access.allCases {
                let words = try #require(trouble(path, access), "\(path)")
                #expect(
                    words.hasPrefix(path) && words.contains("name a folder elsewhere") || words.contains("beside it"))
            }
        }
        for path in [shelf.folder / "config2", shelf.folder / "Pictures", "/usr/share/handlers"] {
            #expect(trouble(path, .read) == nil && trouble(path, .write) == nil, "\(path)")
        }
        // A folder that contains the Inbox can be read, but not written.
        #expect(trouble(shelf.folder / "home", .read) == nil)
        #expect(
            trouble(shelf.folder / "home", .write)?.contains("contains the Inbox, where no handler may write") == true)
    }

    @Test("a bundle that asks for a closed place is a problem, and is not used")
    func bundles() throws {
        try shelf.write("Good", Shelf.keys("org.example.good", ["WaftReadablePaths": [shelf.folder / "home"]]))
        let asking: [(key: String, path: String)] = [
            ("WaftWritablePaths", shelf.user + "/Good.handler"), ("WaftWritablePaths", shelf.user + "/Bad.handler"),
            ("WaftReadablePaths", shelf.folder / "state"), ("WaftWritablePaths", shelf.inbox),
            ("WaftReadablePaths", "/"),
        ]
        for (key, path) in asking {
            try shelf.write("Bad", Shelf.keys("org.example.bad", [key: [path]]))
            let snapshot = shelf.catalog().load()
            #expect(snapshot.identifiers == ["org.example.good"])
            #expect(snapshot.reasons(.unusable).first?.hasPrefix("\(key) is not usable: \(path) ") == true)
        }
        // Without a sandbox the handler can write anywhere.
        try shelf.write("Bad", Shelf.keys("org.example.bad", ["WaftWritablePaths": ["/"], "WaftSandbox": "none"]))
        #expect(shelf.catalog().load().bundles.count == 2)
    }

    @Test("a bundle that is a link to elsewhere is closed there, too")
    func links() throws {
        let real = try shelf.write("Real", Shelf.keys("org.example.real"), in: shelf.folder / "workshop")
        try FileManager.default.moveItem(atPath: real, toPath: shelf.folder / "workshop/plain")
        symlink(shelf.folder / "workshop/plain", shelf.user + "/Real.handler")
        try shelf.write(
            "Bad", Shelf.keys("org.example.bad", ["WaftWritablePaths": [shelf.folder / "workshop"]]))
        let snapshot = shelf.catalog().load()
        #expect(snapshot.identifiers == ["org.example.real"])
        #expect(snapshot.reasons(.unusable).first?.contains("contains the bundle of a handler") == true)
    }

    @Test("a hook that asks for a closed place cannot be used")
    func hook() throws {
        let program = shelf.folder / "on-arrival"
        Shelf.writeProgram(program)
        for rules in [LaunchRules(readablePaths: [shelf.user]), LaunchRules(writablePaths: [shelf.folder / "home"])] {
            let snapshot = shelf.catalog(hook: ConfiguredHook(path: program, launch: rules)).load()
            #expect(snapshot.hook == nil)
            #expect(snapshot.reasons(.unusable).first?.contains("cannot be started: hook") == true)
        }
        let snapshot = shelf.catalog(hook: ConfiguredHook(path: program, launch: LaunchRules())).load()
        #expect(snapshot.hook?.dataFolder == shelf.folder / "user/handler-data/hook")
    }
}

@Suite("First launches")
struct FirstLaunchesTests {
    @Test("an approved version stays approved until the handler is forgotten, and no other version is")
    func versions() throws {
        let launches = Shelf().launches
        let (one, other) = (try identifier("A"), try identifier("other"))
        #expect(!launches.isDone(one, version: ""))
        try launches.note(one, version: "")
        #expect(launches.isDone(one, version: "") && !launches.isDone(other, version: ""))
        #expect(!launches.isDone(one, version: "2"))
        try launches.note(one, version: "2")
        try launches.note(other, version: "1")
        #expect(launches.isDone(try identifier("a"), version: "2"), "an identifier has no case")
        #expect(!launches.isDone(one, version: ""))
        try launches.forget(one)
        #expect(!launches.isDone(one, version: "2") && launches.isDone(other, version: "1"))
    }

    @Test("a damaged file approves nothing, and is written again", arguments: ["", "[]", "{\"a\": 1}", "\u{0}"])
    func damaged(contents: String) throws {
        let launches = Shelf().launches
        try FileManager.default.createDirectory(
            atPath: (launches.path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try contents.write(toFile: launches.path, atomically: false, encoding: .utf8)
        #expect(!launches.isDone(try identifier("a"), version: "1"))
        try launches.note(try identifier("a"), version: "1")
        #expect(launches.isDone(try identifier("a"), version: "1"))
    }
}
