import Foundation
import Lines
import UniformTypes

/// The clipboard: of the desktop by `wl-copy` or `xclip`; without a desktop that of the terminal, for short texts.
struct Clipboard {
    struct Content {
        static let text = "text/plain;charset=utf-8"

        /// MIME types of the images that other programs take.
        static let images: [UniformType: String] = [
            .png: "image/png", .jpeg: "image/jpeg", .gif: "image/gif", .webP: "image/webp", .tiff: "image/tiff",
        ]
        /// Bytes of an image or a text that is copied as data.
        static let dataBytes = 16 << 20

        let mimeType: String
        let bytes: [UInt8]
    }

    private enum Way {
        case program(SystemProgram, [String])
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

    func takes(_ content: Content) -> Bool { takes(content.mimeType, bytes: content.bytes.count) }

    func takes(_ mimeType: String, bytes: Int) -> Bool { way(for: mimeType, bytes) != nil }

    private func way(for mimeType: String, _ bytes: Int) -> Way? {
        if let program = program("wl-copy", needs: "WAYLAND_DISPLAY") {
            return .program(program, ["--type", mimeType])
        }
        if let program = program("xclip", needs: "DISPLAY") {
            return .program(program, ["-selection", "clipboard", "-t", mimeType, "-i"])
        }
        return hasTerminal && bytes <= Self.terminalBytes && mimeType.hasPrefix("text/plain") ? .terminal : nil
    }

    /// - Parameter variable: names the desktop for the program.
    private func program(_ name: String, needs variable: String) -> SystemProgram? {
        environment[variable]?.isEmpty == false ? SystemProgram(name, environment) : nil
    }

    /// - Throws: `CommandError` `ineligible` if no clipboard takes it, `unexpected` if its program fails.
    func copy(_ content: Content) async throws(CommandError) {
        switch way(for: content.mimeType, content.bytes.count) {
        case .program(let program, let words): try await program.run(words, input: content.bytes)
        case .terminal:
            Console.shared.result("\u{1B}]52;c;\(Data(content.bytes).base64EncodedString())\u{7}")
        case nil: throw CommandError(.ineligible, "there is no clipboard here", hint: "install wl-clipboard or xclip")
        }
    }
}
