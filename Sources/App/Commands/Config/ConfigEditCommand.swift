import ArgumentParser
import Foundation
import Lines
import Receiving
import Settings
import SystemCalls

/// `waft config edit`.
struct ConfigEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit config.yaml, and check it before it is replaced.",
        discussion: """
            Example: VISUAL=nano waft config edit

            Starts $VISUAL, or else $EDITOR, or else vi, with a copy. A copy with faults replaces nothing.
            """
    )

    @Flag(
        name: .long, help: "Replace it also if a program, folder or certificate is missing: its disk is mounted later.")
    var anyway = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let home = try CommandContext.place()
        let path = home.configurationFile
        let old = try text(path)
        let folder = try EditorFolder()
        let copy = folder.path + "/config.yaml"
        try write(old, to: copy)
        let new = try await edited(copy, home)
        guard new.text != old else {
            folder.remove()
            if !output.json { Console.shared.note("nothing was changed") }
            return
        }
        do {
            try ConfigurationWriting.change(path) { file in
                guard file.text == old else {
                    throw CommandError(
                        .unexpected, "config.yaml has been changed meanwhile, and is not replaced",
                        hint: "your text is in \(copy)")
                }
                return ConfigurationText(path: path, text: new.text)
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(
                .unexpected, TerminalText.escaped("\(error)", limit: 4_096), hint: "your text is in \(copy)")
        }
        folder.remove()
        let reload = try await SettingsReload.ask()
        if output.json {
            return EventLine.settingsFile(ConfigPathCommand.Fields(path: path, exists: true)).print()
        }
        let use = reload.map { $0.isOK ? "the receiver uses it now" : "the receiver does not use it: \($0.reason)" }
        Console.shared.note("config.yaml is replaced; \(use ?? "no receiver is running")")
    }

    private func text(_ path: String) throws(CommandError) -> String {
        do {
            return try ConfigurationText(path: path)?.text ?? ConfigurationTemplate.text
        } catch {
            throw CommandError(.usage, error)
        }
    }

    private func write(_ text: String, to path: String) throws(CommandError) {
        do {
            try SmallFile.replace(path, with: Array(text.utf8), mode: 0o600)
        } catch {
            throw CommandError(.unexpected, "\(path) cannot be written: \(error)")
        }
    }

    /// The text without faults that the user has made of the copy.
    private func edited(_ copy: String, _ home: Home) async throws -> ConfigurationText {
        while true {
            try runEditor(copy)
            do throws(Settings.InvalidError) {
                let file = try ConfigurationText(path: copy) ?? ConfigurationText(path: copy, text: "")
                let faults = SettingsJudge(home).read(file, hostName: CommandContext.hostName).faults
                    .filter { !anyway || $0.kind == .file }
                guard faults.isEmpty else { throw Settings.InvalidError(file: copy, faults) }
                return file
            } catch {
                let failure = CommandError(.usage, error)
                guard LineReader.hasTerminal, !output.json else {
                    throw CommandError(
                        .usage, failure.message, hint: "config.yaml is as it was; your text is in \(copy)",
                        others: failure.others)
                }
                Console.shared.note(failure.description)
                Console.shared.prompt("Edit it again? [y/n] ")
                let answer = readLine()?.lowercased() ?? "n"
                Console.shared.answered()
                guard answer.isEmpty || answer.hasPrefix("y") else {
                    throw CommandError(.usage, "config.yaml is as it was", hint: "your text is in \(copy)")
                }
            }
        }
    }

    /// - Throws: `CommandError` if the editor cannot be started, or ends with another code than 0.
    private func runEditor(_ path: String) throws(CommandError) {
        let environment = ProcessInfo.processInfo.environment
        let editor = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        // By the shell, as other programs do it: the variable can have options.
        let words = ["sh", "-c", "\(editor) \"$1\"", "sh", path]
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child: pid_t = 0
        let number = posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ)
        guard number == 0 else { throw CommandError(.unexpected, "no shell: \(SystemError(number))") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw CommandError(
                .unexpected, "the editor \(TerminalText.escaped(editor)) has failed; config.yaml is as it was",
                hint: "set another one with VISUAL or EDITOR")
        }
    }
}

/// A folder for the copy that is edited, private to the user.
private struct EditorFolder {
    let path: String

    init() throws(CommandError) {
        var template = Array((NSTemporaryDirectory() + "waft-edit-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError(.unexpected, "a temporary folder cannot be made: \(SystemError.last)")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
