import Foundation
import Sharing
import Subprocess
import SystemPackage

/// The clipboard: of the desktop by `wl-copy` or `xclip`; without a desktop that of the terminal, for short texts.
struct Clipboard {
    struct Content {
        static let text = "text/plain;charset=utf-8"

        let mimeType: String
        let bytes: [UInt8]
    }

    private enum Way {
        case program(String, [String])
        /// OSC 52: the terminal takes text in base 64.
        case terminal
    }

    /// Bytes that a terminal takes.
    private static let terminalBytes = 64 << 10

    private let environment: [String: String]
    private let hasTerminal: Bool

    init(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        hasTerminal: Bool = isatty(STDOUT_FILENO) == 1
    ) {
        (self.environment, self.hasTerminal) = (environment, hasTerminal)
    }

    func takes(_ content: Content) -> Bool { way(for: content) != nil }

    private func way(for content: Content) -> Way? {
        if let path = program("wl-copy", needs: "WAYLAND_DISPLAY") {
            return .program(path, ["--type", content.mimeType])
        }
        if let path = program("xclip", needs: "DISPLAY") {
            return .program(path, ["-selection", "clipboard", "-t", content.mimeType, "-i"])
        }
        let isShort = content.bytes.count <= Self.terminalBytes
        return hasTerminal && isShort && content.mimeType.hasPrefix("text/") ? .terminal : nil
    }

    /// - Parameter variable: names the desktop for the program.
    private func program(_ name: String, needs variable: String) -> String? {
        guard environment[variable]?.isEmpty == false else { return nil }
        return (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { folder -> String in
            "\(folder)/\(name)"
        }
        .first { path in PathText.isAbsolute(path) && access(path, X_OK) == 0 }
    }

    /// - Throws: `CommandError` `ineligible` if no clipboard takes it, `unexpected` if its program fails.
    func copy(_ content: Content) async throws(CommandError) {
        switch way(for: content) {
        case .program(let path, let words): try await run(path, words, content.bytes)
        case .terminal:
            Console.shared.result("\u{1B}]52;c;\(Data(content.bytes).base64EncodedString())\u{7}")
        case nil: throw CommandError(.ineligible, "there is no clipboard here", hint: "install wl-clipboard or xclip")
        }
    }

    private func run(_ path: String, _ words: [String], _ bytes: [UInt8]) async throws(CommandError) {
        let name = URL(fileURLWithPath: path).lastPathComponent
        do {
            let result = try await Subprocess.run(
                .path(FilePath(path)), arguments: Arguments(words), input: .array(bytes), output: .discarded,
                error: .discarded)
            guard result.terminationStatus.isSuccess else { throw CommandError(.unexpected, "\(name) failed") }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(.unexpected, "\(name) could not be started: \(error)")
        }
    }
}
