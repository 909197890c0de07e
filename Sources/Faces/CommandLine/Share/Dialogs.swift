import Lines
import Operations
import Sharing
import SystemCalls

/// A program that asks and tells in windows of the desktop.
protocol DialogProgram: Sendable {
    /// - Returns: absolute paths; nil if the user closed the window.
    func chooseFiles() async throws(WaftError) -> [String]?
    /// Asks for one row.
    /// - Parameters:
    ///   - text: one line; not escaped.
    ///   - rows: as they come. If the program cannot add rows to an open window, it waits for the end of the stream.
    /// - Returns: the key of the row; nil if the user closed the window.
    func choose(_ text: String, _ rows: AsyncStream<DialogRow>) async throws(WaftError) -> String?
    /// Shows lines until the user closes the window.
    func tell(_ lines: [String], isFault: Bool) async throws(WaftError)
    /// Shows the steps of the work, one after the other.
    /// - Returns: true when the user wants it to end; false when the task is cancelled.
    func accompany(_ steps: AsyncStream<DialogStep>) async -> Bool
    /// Whether an open window takes further rows.
    var addsRows: Bool { get }
}

/// A row of a window. The texts are one line each, escaped.
struct DialogRow: Sendable {
    let key: String
    let title: String
    let detail: String
}

/// A step of the work, for a window.
struct DialogStep: Sendable, Equatable {
    /// One line, escaped.
    let text: String
    /// How much of it is done; nil if that is unknown.
    var percent: Int?
}

extension DialogRow {
    /// Its key is the peer's id.
    init(_ peer: SharePeers.Peer) {
        let details = [peer.person.standing, peer.person.isContact ? "" : peer.person.introduction.key ?? ""]
        self.init(
            key: peer.id.text, title: peer.person.name,
            detail: (details + [TerminalText.escaped(peer.protocolName)]).filter { !$0.isEmpty }.joined(separator: "  ")
        )
    }
}

/// The dialog program of this desktop.
enum Dialogs {
    /// - Returns: nil if none is installed, or there is no display.
    static var program: (any DialogProgram)? {
        guard Face.hasDisplay else { return nil }
        if let zenity = SystemProgram("zenity") { return Zenity(program: zenity) }
        return SystemProgram("kdialog").map { KDialog(program: $0) }
    }
}

/// Windows by `zenity`.
struct Zenity: DialogProgram {
    let program: SystemProgram
    let addsRows = true

    func chooseFiles() async throws(WaftError) -> [String]? {
        let end = try await program.end(
            ["--file-selection", "--multiple", "--separator=\n", "--title=Share with Waft"])
        return end.code == 0 ? end.output.split(separator: "\n").map(String.init) : nil
    }

    func choose(_ text: String, _ rows: AsyncStream<DialogRow>) async throws(WaftError) -> String? {
        let words = [
            "--list", "--title=Share with Waft", "--text=\(Self.markup(text))", "--column=", "--column=Share with",
            "--column=", "--hide-column=1", "--print-column=1", "--width=420", "--height=420",
        ]
        let lines = rows.map { "\($0.key)\n\($0.title)\n\($0.detail)\n" }
        let end = try await program.end(words, lines: lines)
        let key = end.output.split(whereSeparator: \.isNewline).first.map(String.init)
        return end.code == 0 ? key : nil
    }

    func tell(_ lines: [String], isFault: Bool) async throws(WaftError) {
        _ = try await program.end([
            isFault ? "--error" : "--info", "--no-markup", "--no-wrap", "--title=Waft",
            "--text=\(lines.joined(separator: "\n"))",
        ])
    }

    func accompany(_ steps: AsyncStream<DialogStep>) async -> Bool {
        let words = ["--progress", "--pulsate", "--title=Sharing", "--text=", "--auto-close", "--width=520"]
        let end = try? await program.end(words, lines: steps.map(Self.lines))
        return !Task.isCancelled && end?.code == 1
    }

    /// A line that begins with # is a plain text, in which a backslash begins the name of a character. The window closes
    /// itself at 100.
    private static func lines(_ step: DialogStep) -> String {
        let amount = step.percent.map { "pulsate:false\n\(min($0, 99))" } ?? "pulsate:true"
        return "\(amount)\n# \(step.text.replacing("\\", with: "\\\\"))\n"
    }

    /// Text of a label that reads Pango markup.
    private static func markup(_ text: String) -> String {
        TerminalText.escaped(text, limit: 400)
            .replacing(scalar: "&", with: "&amp;").replacing(scalar: "<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}

/// Windows by `kdialog`.
struct KDialog: DialogProgram {
    let program: SystemProgram
    let addsRows = false

    func chooseFiles() async throws(WaftError) -> [String]? {
        let end = try await program.end([
            "--title", "Share with Waft", "--multiple", "--separate-output", "--getopenfilename", ".",
        ])
        return end.code == 0 ? end.output.split(separator: "\n").map(String.init) : nil
    }

    func choose(_ text: String, _ rows: AsyncStream<DialogRow>) async throws(WaftError) -> String? {
        var words = ["--title", "Share with Waft", "--menu", Self.value(TerminalText.escaped(text, limit: 400))]
        for await row in rows {
            words += [row.key, Self.value(row.detail.isEmpty ? row.title : "\(row.title) (\(row.detail))")]
        }
        let end = try await program.end(words)
        let key = end.output.split(whereSeparator: \.isNewline).first.map(String.init)
        return end.code == 0 ? key : nil
    }

    func tell(_ lines: [String], isFault: Bool) async throws(WaftError) {
        _ = try await program.end([
            "--title", "Waft", isFault ? "--error" : "--msgbox", Self.value(lines.joined(separator: "\n")),
        ])
    }

    /// A text of a stranger that is never taken for an option.
    private static func value(_ text: String) -> String { text.hasPrefix("-") ? " " + text : text }

    func accompany(_ steps: AsyncStream<DialogStep>) async -> Bool {
        // Its progress window is a service of the session bus that outlives this program: a note stays for a while instead.
        var shown = ""
        for await step in steps where step.percent == nil && step.text != shown {
            shown = step.text
            _ = try? await program.end(["--title", "Waft", "--passivepopup", Self.value(shown), Self.noteSeconds])
        }
        // The end of the steps is the end of the work.
        return false
    }

    private static let noteSeconds = "5"
}
