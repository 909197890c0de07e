/// Windows by `kdialog`.
struct KDialog: DialogProgram {
    let program: SystemProgram
    let addsRows = false

    func chooseFiles() async throws(CommandError) -> [String]? {
        let end = try await program.end([
            "--title", "Share with Waft", "--multiple", "--separate-output", "--getopenfilename", ".",
        ])
        return end.code == 0 ? end.output.split(separator: "\n").map(String.init) : nil
    }

    func choose(_ text: String, _ rows: AsyncStream<DialogRow>) async throws(CommandError) -> String? {
        var words = ["--title", "Share with Waft", "--menu", Self.value(TerminalText.escaped(text, limit: 400))]
        for await row in rows {
            words += [row.key, Self.value(row.detail.isEmpty ? row.title : "\(row.title) (\(row.detail))")]
        }
        let end = try await program.end(words)
        let key = end.output.split(whereSeparator: \.isNewline).first.map(String.init)
        return end.code == 0 ? key : nil
    }

    func tell(_ lines: [String], isFault: Bool) async throws(CommandError) {
        _ = try await program.end([
            "--title", "Waft", isFault ? "--error" : "--msgbox", Self.value(lines.joined(separator: "\n")),
        ])
    }

    /// A text of a stranger that is never taken for an option.
    private static func value(_ text: String) -> String { text.hasPrefix("-") ? " " + text : text }

    func accompany(_ text: String) async -> Bool {
        // Its progress window is a service of the session bus that outlives this program.
        try? await Task.sleep(for: .seconds(86_400))
        return false
    }
}
