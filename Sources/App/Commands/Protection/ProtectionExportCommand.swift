import ArgumentParser
import Protection
import SystemCalls

/// `waft protection export`.
struct ProtectionExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Show where the keys are, and how to read a sealed item without Waft.",
        discussion: """
            Example: waft protection export

            The file of the private keys needs your passphrase. Keep a copy of it in another place. Keys in a keyring have no \
            file.
            """
    )

    struct Fields: Encodable {
        var recipientsPath: String
        /// Nil for a drop box, and for keys in a keyring.
        var identityPath: String?
        /// A command for a shell; `FILE` stands for the item. Nil for a drop box.
        var openCommand: String?
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let place = try ProtectionPlace()
        let recipients = try place.existingRecipients()
        var fields = Fields(recipientsPath: place.folder.recipientsPath)
        if let own = recipients.own, own.keeper == .passphrase {
            fields.identityPath = place.folder.identityPath
            fields.openCommand = "age -d -i \(ShellWord.quoted(place.folder.identityPath)) FILE.age > FILE"
        }
        if recipients.own?.keeper == .keyring {
            fields.openCommand = "secret-tool lookup xdg:schema org.waft.Protection | age -d -i - FILE.age > FILE"
        }
        if output.json { return EventLine.protectionExport(fields).print() }
        var rows = [("public keys", fields.recipientsPath)]
        switch recipients.own?.keeper {
        case nil: rows.append(("private keys", "not on this machine, which is a drop box"))
        case .keyring: rows.append(("private keys", "in the keyring of the desktop, as org.waft.Protection"))
        case .passphrase, .credential: rows.append(("private keys", fields.identityPath ?? ""))
        }
        if let command = fields.openCommand { rows.append(("to read", command)) }
        for (label, value) in rows {
            let padding = String(repeating: " ", count: 14 - label.count)
            Console.shared.result(label + padding + TerminalText.escaped(value, limit: 4_096))
        }
    }
}
