import Foundation
import HandlerCatalog
import Logging
import TestSupport
import Testing
import UniformTypes

@Suite("Changes of handlers", .timeLimit(.minutes(2)))
struct WatchTests {
    private let shelf = Shelf()

    private func watch(
        _ shelf: Shelf? = nil,
        listening: Bool = true,
        quiet: Duration = .milliseconds(20),
        maximumAge: Duration = .milliseconds(100)
    ) -> CatalogWatch {
        CatalogWatch(
            (shelf ?? self.shelf).catalog(),
            listening: listening,
            quiet: quiet,
            maximumAge: maximumAge,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Makes a change, and waits until the watch has noticed it.
    private func change(
        _ watch: CatalogWatch,
        _ body: () throws -> Void,
        until isSo: (CatalogSnapshot) -> Bool
    ) async throws -> CatalogSnapshot? {
        let changes = watch.changes()
        try body()
        for await snapshot in changes where isSo(snapshot) { return snapshot }
        return nil
    }

    @Test("a bundle that comes, changes and goes is noticed")
    func comesChangesGoes() async throws {
        let watch = watch()
        #expect(watch.isListening)
        #expect(watch.current.bundles.isEmpty)
        _ = try await change(watch) {
            try shelf.write("A", Shelf.opening("org.example.a", "public.image"))
        } until: {
            $0.identifiers == ["org.example.a"]
        }
        #expect(watch.current.claimants(of: .jpeg).first?.bundle.name == "A")
        _ = try await change(watch) {
            try shelf.write("A", Shelf.opening("org.example.a", "public.movie"))
        } until: {
            $0.claimants(of: .jpeg).first?.bundle.isBuiltIn == true
        }
        _ = try await change(watch) {
            try FileManager.default.moveItem(atPath: shelf.user + "/A.handler", toPath: shelf.user + "/B.handler")
        } until: {
            $0.bundles.map(\.folderName) == ["B"]
        }
        _ = try await change(watch) {
            try FileManager.default.removeItem(atPath: shelf.user + "/B.handler")
        } until: {
            $0.bundles.isEmpty && $0.problems.isEmpty
        }
        watch.stop()
    }

    @Test("all three folders are watched, and so are folders that come later")
    func foldersThatComeLater() async throws {
        for path in [shelf.folder / "user", shelf.folder / "etc", shelf.folder / "usr", shelf.folder / "config"] {
            try FileManager.default.removeItem(atPath: path)
        }
        let watch = watch()
        for (number, place) in [shelf.user, shelf.machine, shelf.distribution].enumerated() {
            let found = try await change(watch) {
                try shelf.write("A\(number)", Shelf.keys("org.example.a\(number)"), in: place)
            } until: {
                $0.bundles.count == number + 1
            }
            #expect(found != nil)
        }
        _ = try await change(watch) {
            try shelf.catalog().disable("A1")
        } until: {
            $0.choices.disabled.count == 1
        }
        _ = try await change(watch) {
            try FileManager.default.removeItem(atPath: shelf.folder / "etc")
        } until: {
            $0.bundles.count == 2
        }
        _ = try await change(watch) {
            try shelf.write("Again", Shelf.keys("org.example.again"), in: shelf.machine)
        } until: {
            $0.bundles.count == 3
        }
    }

    @Test("a bundle that is being copied is read again until it is whole")
    func halfCopied() async throws {
        let watch = watch()
        let path = shelf.user + "/A.handler"
        let keys = Shelf.keys("org.example.a", ["CFBundleExecutable": "bin/deep/start"])
        let info = try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
        func reason(_ snapshot: CatalogSnapshot) -> String? { snapshot.problems.first?.reason }
        _ = try await change(watch) {
            mkdir(path, 0o755)
        } until: {
            reason($0) == "it has no Info.plist"
        }
        let file = FileManager.default
        _ = try await change(watch) {
            #expect(file.createFile(atPath: path + "/Info.plist", contents: info.prefix(60)))
        } until: {
            reason($0)?.hasPrefix("its Info.plist is not a well-formed") == true
        }
        _ = try await change(watch) {
            let handle = try #require(FileHandle(forWritingAtPath: path + "/Info.plist"))
            try handle.seekToEnd()
            try handle.write(contentsOf: info.dropFirst(60))
        } until: {
            reason($0) == "its executable bin/deep/start is missing: its items wait"
        }
        _ = try await change(watch) {
            try file.createDirectory(atPath: path + "/bin/deep", withIntermediateDirectories: true)
            Shelf.writeProgram(path + "/bin/deep/start", mode: 0o644)
        } until: {
            reason($0)?.contains("chmod +x") == true
        }
        _ = try await change(watch) {
            chmod(path + "/bin/deep/start", 0o755)
        } until: {
            $0.problems.isEmpty
        }
        #expect(watch.current.bundles.count == 1)
        _ = try await change(watch) {
            try file.removeItem(atPath: path + "/bin/deep/start")
        } until: {
            $0.bundles.first?.programFault == "is missing"
        }
    }

    @Test("many bundles that come at once are read in few goes, and none is missed")
    func manyAtOnce() async throws {
        let watch = watch()
        let changes = watch.changes()
        for number in 0..<100 { try shelf.write("A\(number)", Shelf.keys("org.example.a\(number)")) }
        for await snapshot in changes where snapshot.bundles.count == 100 && snapshot.problems.isEmpty { break }
        #expect(watch.current.bundles.count == 100)
    }

    @Test("a folder that is replaced by another is watched in its place")
    func replacedFolder() async throws {
        try shelf.write("Old", Shelf.keys("org.example.old"))
        let watch = watch()
        let (other, aside) = (shelf.folder / "other", shelf.folder / "aside")
        try shelf.write("New", Shelf.keys("org.example.new"), in: other)
        _ = try await change(watch) {
            rename(shelf.user, aside)
            rename(other, shelf.user)
        } until: {
            $0.identifiers == ["org.example.new"]
        }
        _ = try await change(watch) {
            try shelf.write("More", Shelf.keys("org.example.more"))
        } until: {
            $0.bundles.count == 2
        }
    }

    @Test("a file that a handler writes into its own folder is no change")
    func handlersOwnFiles() async throws {
        let path = try shelf.write("A", Shelf.keys("org.example.a"))
        let watch = watch()
        let changes = watch.changes()
        for number in 0..<50 {
            #expect(FileManager.default.createFile(atPath: path + "/log\(number)", contents: Data([1])))
        }
        // The first reported change is the one after the handler's own files.
        try shelf.catalog().disable("A")
        for await snapshot in changes {
            #expect(snapshot.choices.disabled.count == 1)
            break
        }
        let looking = self.watch(listening: false)
        let before = looking.current
        #expect(FileManager.default.createFile(atPath: path + "/another", contents: Data([1])))
        #expect(looking.current.bundles == before.bundles)
    }

    @Test("every stream of changes gets them, and ends with the watch")
    func streams() async throws {
        let watch = watch()
        let (one, two, dropped) = (watch.changes(), watch.changes(), watch.changes())
        _ = consume dropped
        try shelf.write("A", Shelf.keys("org.example.a"))
        for stream in [one, two] {
            for await snapshot in stream where !snapshot.bundles.isEmpty { break }
        }
        let three = watch.changes()
        watch.stop()
        watch.stop()
        for await _ in three { Issue.record("a change after the end") }
        for await _ in watch.changes() { Issue.record("a change after the end") }
        #expect(watch.current.bundles.count == 1)
    }

    @Test("a watch that is no longer referred to ends")
    func dropped() async throws {
        var watch: CatalogWatch? = watch()
        let changes = try #require(watch?.changes())
        watch = nil
        for await _ in changes { Issue.record("a change after the end") }
    }

    @Test("without events, each use looks whether something changed")
    func looking() throws {
        let watch = watch(listening: false)
        #expect(!watch.isListening)
        #expect(watch.current.bundles.isEmpty)
        let path = try shelf.write("A", Shelf.opening("org.example.a", "public.image"))
        #expect(watch.current.identifiers == ["org.example.a"])
        chmod(path + "/run", 0o644)
        #expect(watch.current.bundles.first?.programFault != nil)
        chmod(path + "/run", 0o755)
        #expect(watch.current.bundles.map(\.programFault) == [nil])
        try shelf.catalog().disable("A")
        #expect(watch.current.choices.disabled.count == 1)
        try FileManager.default.removeItem(atPath: shelf.folder / "user")
        #expect(watch.current.identifiers == [])
        try shelf.write("B", Shelf.keys("org.example.b"))
        #expect(watch.current.identifiers == ["org.example.b"])
    }

    @Test("a use that comes before the events sees every change all the same")
    func ahead() throws {
        // The test ends before the events are read.
        let watch = watch(quiet: .seconds(3_600), maximumAge: .zero)
        for number in 1...100 {
            try shelf.write("A\(number)", Shelf.opening("org.example.a\(number)", "public.image"))
            #expect(watch.current.bundles.count == number)
        }
        try shelf.catalog().disable("A1")
        #expect(watch.current.choices.disabled.count == 1)
        watch.stop()
    }

    @Test("a change before a refresh counts when the refresh returns, and the listeners get it")
    func refresh() async throws {
        let watch = watch(quiet: .seconds(3_600), maximumAge: .seconds(3_600))
        let changes = watch.changes()
        try shelf.write("A", Shelf.keys("org.example.a"))
        #expect(watch.current.bundles.isEmpty, "nobody has looked")
        #expect(watch.refresh().identifiers == ["org.example.a"])
        #expect(watch.current.identifiers == ["org.example.a"])
        for await snapshot in changes {
            #expect(snapshot.identifiers == ["org.example.a"])
            break
        }
        watch.stop()
        try shelf.catalog().remove("A")
        #expect(watch.refresh().bundles.count == 1, "it has ended")
    }

    @Test("without events, a waiting stream gets the changes with the next refresh")
    func lookingStreams() async throws {
        let watch = watch(listening: false)
        let changes = watch.changes()
        try shelf.write("A", Shelf.keys("org.example.a"))
        _ = watch.current
        for await snapshot in changes {
            #expect(snapshot.identifiers == ["org.example.a"])
            break
        }
    }
}
