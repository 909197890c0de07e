import Foundation
import HandlerCatalog
import Handlers
import HookSandbox
import Sharing
import TestSupport
import Testing

@Suite("Bundles and their data folders", .timeLimit(.minutes(1)))
struct DataFolderTests {
    private let place = HookFolder()

    /// A bundle on the disk, as the catalog reads it.
    private func bundle(_ script: String, _ keys: [String: Any] = [:]) throws -> HandlerBundle {
        let path = place.folder / "handlers/Evil.handler"
        try FileManager.default.createDirectory(atPath: path + "/lib", withIntermediateDirectories: true)
        for file in ["Info.plist", "lib/module", "run"] {
            try? FileManager.default.removeItem(atPath: path + "/" + file)
        }
        let all = ["CFBundleIdentifier": "org.example.evil", "CFBundleExecutable": "run"].merging(keys) { $1 }
        let info = try PropertyListSerialization.data(fromPropertyList: all, format: .xml, options: 0)
        try info.write(to: URL(fileURLWithPath: path + "/Info.plist"))
        try Data("#!/usr/bin/env python3\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path + "/run"))
        try Data("x".utf8).write(to: URL(fileURLWithPath: path + "/lib/module"))
        for file in ["", "/lib", "/run"] { chmod(path + file, 0o755) }
        return try #require(catalog.load().bundles.first)
    }

    private var catalog: HandlerCatalog {
        HandlerCatalog(
            folders: HandlerFolders(
                user: place.folder / "handlers", machine: place.folder / "none", distribution: place.folder / "none"),
            choicesPath: place.folder / "config/handlers.json", home: nil)
    }

    private func call(_ bundle: HandlerBundle) async throws -> AttemptOutcome {
        let program = try #require(
            HandlerProgram(bundle: bundle, defaultTimeLimit: .seconds(3_600), requiresSandbox: false))
        return try await place.runner(forbidden: catalog.closed.paths).run(program, .open(.sample(), attempt: 1))
    }

    @Test("the folder is made before the first call, private, and its files are there in the next call")
    func made() async throws {
        let data = place.folder / "handler-data/org.example.evil"
        let script = """
            import os
            path = os.path.join(os.environ["WAFT_DATA"], "count")
            count = int(open(path).read()) + 1 if os.path.exists(path) else 1
            open(path, "w").write(str(count))
            assert os.getcwd().endswith("/Evil.handler")
            """
        for level in ["strict", "none"] {
            let bundle = try bundle(script, ["WaftSandbox": level])
            #expect(bundle.dataFolder == data)
            #expect(try await call(bundle).answer == .yes)
            #expect(try await call(bundle).answer == .yes)
            #expect(try String(contentsOfFile: data + "/count", encoding: .utf8) == "2")
            var status = stat()
            #expect(lstat(data, &status) == 0 && status.st_mode & 0o7777 == 0o700)
            try DataFolder.remove(data)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder / "handler-data") == [])
        }
    }

    @Test("anything else in its place is not used, and the handler is asked later")
    func inTheWay() async throws {
        let bundle = try bundle("")
        let target = place.folder / "target"
        mkdir(target, 0o700)
        mkdir(place.folder / "handler-data", 0o700)
        symlink(target, place.folder / "handler-data/org.example.evil")
        let outcome = try await call(bundle)
        #expect(outcome.answer == .later)
        #expect(outcome.reason.hasPrefix("its data folder \(place.folder / "handler-data/org.example.evil")"))
    }

    @Test(
        "a handler cannot change its bundle: EACCES on every file of it, and its sandbox is the same in the next call",
        .enabled(if: HookSandbox.support.abi > 0, "NOT TESTED: this kernel has no Landlock"))
    func readOnly() async throws {
        let script = """
            import errno, os
            found = []
            def attempt(what, body):
                try:
                    body()
                    found.append(what + " done")
                except OSError as error:
                    found.append(what + " " + errno.errorcode[error.errno])
            for folder, folders, files in os.walk("."):
                for name in files:
                    path = os.path.join(folder, name)
                    attempt("write " + path, lambda: open(path, "r+b").close())
                    attempt("truncate " + path, lambda: os.truncate(path, 0))
                    attempt("remove " + path, lambda: os.unlink(path))
                attempt("make in " + folder, lambda: open(os.path.join(folder, "new"), "w").close())
                attempt("rename in " + folder, lambda: os.rename(os.path.join(folder, files[0]), folder + "/old"))
            with open(os.environ["WAFT_DATA"] + "/found", "a") as file:
                file.write("\\n".join(sorted(set(line.split()[-1] for line in found))) + "\\n")
                file.write("%d\\n" % len(found))
            """
        let bundle = try bundle(script)
        for _ in 0..<2 { #expect(try await call(bundle).answer == .yes) }
        let found = try String(
            contentsOfFile: place.folder / "handler-data/org.example.evil/found", encoding: .utf8)
        #expect(found == "EACCES\n13\nEACCES\n13\n")
        #expect(catalog.load().bundles == [bundle])
    }

    @Test(
        "a path that leads to a bundle at the time of the call is refused, wherever it led before",
        .enabled(if: HookSandbox.support.abi > 0, "NOT TESTED: this kernel has no Landlock"))
    func movedLink() async throws {
        let link = place.folder / "link"
        mkdir(place.folder / "harmless", 0o700)
        for key in ["WaftWritablePaths", "WaftReadablePaths"] {
            unlink(link)
            symlink(place.folder / "harmless", link)
            let bundle = try bundle("", [key: [link]])
            #expect(try await call(bundle).answer == .yes)
            for target in [bundle.path, place.folder / "handlers", place.folder.path, place.folder / "handler-data"] {
                unlink(link)
                symlink(target, link)
                let outcome = try await call(bundle)
                #expect(outcome.answer == .failed, "\(key) \(target)")
                #expect(outcome.exitCode == nil)
            }
        }
    }
}
