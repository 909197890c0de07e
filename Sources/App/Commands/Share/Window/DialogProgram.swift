import Desktop
import Lines
import Sharing

/// A program that asks and tells in windows of the desktop.
protocol DialogProgram: Sendable {
    /// - Returns: absolute paths; nil if the user closed the window.
    func chooseFiles() async throws(CommandError) -> [String]?
    /// Asks for one row.
    /// - Parameters:
    ///   - text: one line; not escaped.
    ///   - rows: as they come. If the program cannot add rows to an open window, it waits for the end of the stream.
    /// - Returns: the key of the row; nil if the user closed the window.
    func choose(_ text: String, _ rows: AsyncStream<DialogRow>) async throws(CommandError) -> String?
    /// Shows lines until the user closes the window.
    func tell(_ lines: [String], isFault: Bool) async throws(CommandError)
    /// Shows that something goes on.
    /// - Returns: true when the user wants it to end; false when the task is cancelled.
    func accompany(_ text: String) async -> Bool
    /// Whether an open window takes further rows.
    var addsRows: Bool { get }
}

/// A row of a window. The texts are one line each, escaped.
struct DialogRow: Sendable {
    let key: String
    let title: String
    let detail: String
}

extension DialogRow {
    /// Its key is the peer's id.
    init(_ peer: ShareSheet.Peer) {
        let details = [peer.person.standing, peer.person.isContact ? "" : peer.person.introduction.key ?? ""]
        self.init(
            key: peer.id.text, title: peer.person.name,
            detail: (details + [peer.protocolName]).filter { !$0.isEmpty }.joined(separator: "  "))
    }
}

/// The dialog program of this desktop.
enum Dialogs {
    /// - Returns: nil if none is installed, or there is no display.
    static var program: (any DialogProgram)? {
        guard DesktopSession.hasDisplay() else { return nil }
        if let zenity = SystemProgram("zenity") { return Zenity(program: zenity) }
        return SystemProgram("kdialog").map { KDialog(program: $0) }
    }
}
