import ArgumentParser
import Foundation
import HandlerCatalog
import HookSandbox
import Lines
import Operations
import TestSupport

@testable import CommandLine

/// The folders of handlers, the user's choices and an Inbox, in a temporary folder.
final class HandlerShelf: Sendable {
    let folder = TemporaryFolder()
    let rule: EligibilityRule
    let hook: ConfiguredHook?

    /// - Parameter hook: name of the configured hook's program in the folder; nil for none.
    init(rule: EligibilityRule = .everything, hook: String? = nil) {
        self.rule = rule
        let folder = folder
        self.hook = hook.map { ConfiguredHook(path: folder / $0, launch: LaunchRules(timeout: .seconds(9))) }
        for path in [machine, distribution, inbox] {
            try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            chmod(path, 0o755)
        }
        if let hook { folder.file(hook, "#!/bin/sh\n", mode: 0o755) }
        folder.file("import.sh", "#!/bin/sh\nexit 0\n", mode: 0o755)
    }

    /// Does not exist until a handler is installed.
    var user: String { folder / "user/handlers" }
    var machine: String { folder / "etc/handlers" }
    var distribution: String { folder / "usr/handlers" }
    var choices: String { folder / "config/handlers.json" }
    var inbox: String { folder / "home/Documents/Inbox" }
    var program: String { folder / "import.sh" }

    var handlers: InstalledHandlers { handlers(languages: []) }

    func handlers(
        languages: [String], openedSchemes: Set<URLScheme> = [], announce: @escaping @Sendable () -> Void = {}
    ) -> InstalledHandlers {
        var catalog = HandlerCatalog(
            folders: HandlerFolders(user: user, machine: machine, distribution: distribution),
            choicesPath: choices,
            home: self.folder / "home",
            rule: self.rule,
            hook: self.hook,
            closed: ClosedPaths(
                [ClosedPaths.ClosedPath(folder / "config", "the folder of Waft's configuration")], inbox: inbox),
            firstLaunches: FirstLaunches(path: folder / "state/first-launches.json")
        )
        catalog.languages = languages
        return InstalledHandlers(
            catalog: catalog, support: Self.support, usualTimeLimit: .seconds(60), openedSchemes: openedSchemes,
            workingDirectory: folder.path
        ) { _ in announce() }
    }

    static let support = HookSandbox.Support(landlock: .abi(6), filter: .asking)

    /// What a verb prints, or its failure.
    func run(_ words: String...) async throws -> HandlersReport { try await run(words) }

    func run(
        _ words: [String], languages: [String] = [], openedSchemes: Set<URLScheme> = []
    ) async throws -> HandlersReport {
        let command = try HandlersCommand.parseAsRoot(words)
        guard let verb = command as? any HandlersVerb else { throw ExitCode(0) }
        let (results, notes, changes) = (Recorder<String>(), Recorder<String>(), Recorder<Void>())
        let handlers = handlers(languages: languages, openedSchemes: openedSchemes) { changes.record(()) }
        var exit = WaftExit.done
        let listener: @Sendable (String, Int32) -> Void = { text, descriptor in
            for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
                (descriptor == STDOUT_FILENO ? results : notes).record(String(line))
            }
        }
        do {
            try await Console.$listener.withValue(listener) { try await verb.run(on: handlers) }
        } catch let error as WaftError {
            throw CommandError(error)
        } catch let code as ExitCode {
            exit = WaftExit(rawValue: code.rawValue) ?? .unexpected
        }
        if words.contains("--json") { holdContract(results.all) }
        return HandlersReport(results: results.all, notes: notes.all, exit: exit, isChange: !changes.all.isEmpty)
    }

    /// How a verb fails: its exit code and its line.
    func failure(_ words: String...) async -> (exit: Int32, message: String, hint: String?) {
        do {
            let report = try await run(words)
            return (report.exit.rawValue, report.notes.joined(separator: " / "), nil)
        } catch let failure as CommandError {
            return (failure.exit.rawValue, failure.message, failure.hint)
        } catch {
            return (HandlersCommand.exitCode(for: error).rawValue, HandlersCommand.message(for: error), nil)
        }
    }

    /// Installs a handler through the command.
    func add(_ name: String, _ types: String...) async throws {
        _ = try await run(["add", "--name", name, "--run", program] + types.flatMap { ["--type", $0] })
    }

    /// Writes a bundle directly, as another program would.
    @discardableResult
    func write(_ name: String, _ keys: [String: Any]?, in place: String? = nil) throws -> String {
        let path = (place ?? user) + "/" + name + ".handler"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        chmod(path, 0o755)
        _ = FileManager.default.createFile(atPath: path + "/run", contents: Data("#!/bin/sh\n".utf8))
        chmod(path + "/run", 0o755)
        guard let keys else { return path }
        let info = try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
        try info.write(to: URL(fileURLWithPath: path + "/Info.plist"))
        chmod(path + "/Info.plist", 0o644)
        return path
    }

    static func keys(_ identifier: String, _ types: [String] = [], _ more: [String: Any] = [:]) -> [String: Any] {
        var keys: [String: Any] = ["CFBundleIdentifier": identifier, "CFBundleExecutable": "run"]
        if !types.isEmpty { keys["CFBundleDocumentTypes"] = [["LSItemContentTypes": types]] }
        return keys.merging(more) { $1 }
    }

    /// Everything in the folder of the user's handlers, including hidden entries.
    var installed: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: user)) ?? []).sorted() }
}

/// What a verb has printed, line by line.
struct HandlersReport {
    /// On standard output.
    let results: [String]
    /// On standard error.
    let notes: [String]
    let exit: WaftExit
    /// Whether it has announced a change.
    let isChange: Bool

    var text: String { results.joined(separator: "\n") }

    /// The JSON documents on standard output.
    var documents: [[String: Any]] {
        results.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    }

    /// Whether the output contains nothing that a terminal obeys.
    var isPrintable: Bool {
        (results + notes).allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
    }
}
