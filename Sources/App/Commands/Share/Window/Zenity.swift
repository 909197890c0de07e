import Sharing
import SystemCalls

/// Windows by `zenity`.
struct Zenity: DialogProgram {
    let program: SystemProgram
    let addsRows = true

    func chooseFiles() async throws(CommandError) -> [String]? {
        let end = try await program.end(
            ["--file-selection", "--multiple", "--separator=\n", "--title=Share with Waft"])
        return end.code == 0 ? end.output.split(separator: "\n").map(String.init) : nil
    }

    func choose(_ text: String, _ rows: AsyncStream<DialogRow>) async throws(CommandError) -> String? {
        let words = [
            "--list", "--title=Share with Waft", "--text=\(Self.markup(text))", "--column=", "--column=Share with",
            "--column=", "--hide-column=1", "--print-column=1", "--width=420", "--height=420",
        ]
        let lines = rows.map { "\($0.key)\n\($0.title)\n\($0.detail)\n" }
        let end = try await program.end(words, lines: lines)
        let key = end.output.split(whereSeparator: \.isNewline).first.map(String.init)
        return end.code == 0 ? key : nil
    }

    func tell(_ lines: [String], isFault: Bool) async throws(CommandError) {
        _ = try await program.end([
            isFault ? "--error" : "--info", "--no-markup", "--no-wrap", "--title=Waft",
            "--text=\(lines.joined(separator: "\n"))",
        ])
    }

    func accompany(_ text: String) async -> Bool {
        // Its input stays open: the end of the input would be the end of the work.
        let (lines, inlet) = AsyncStream<String>.makeStream()
        defer { inlet.finish() }
        let words = [
            "--progress", "--pulsate", "--title=Sharing", "--text=\(Self.markup(text))", "--auto-close", "--width=420",
        ]
        let end = try? await program.end(words, lines: lines)
        return !Task.isCancelled && end?.code == 1
    }

    /// Text of a label that reads Pango markup.
    private static func markup(_ text: String) -> String {
        TerminalText.escaped(text, limit: 400)
            .replacing(scalar: "&", with: "&amp;").replacing(scalar: "<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
