import Age
import ArgumentParser
import Control
import Lines
import Operations
import Protection
import Secrets
import Settings
import Sharing

extension ProtectionClass: ExpressibleByArgument {}

/// `waft protection set-up`.
struct ProtectionSetUpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-up",
        abstract: "Make the keys, and seal what arrives from now on.",
        discussion: """
            Example: waft protection set-up --recovery age1...

            Asks for a passphrase, which opens the private keys. With --recipient this machine has no private key: what \
            arrives can be opened where that key is, and never here.
            """
    )

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "untilFirstUnlock, unlessOpen or complete: what a lock stops (default: unlessOpen).",
            valueName: "protection"))
    var protection: ProtectionClass = .unlessOpen

    @Flag(name: .long, help: "Keep the private keys in the keyring of the desktop, without a passphrase of their own.")
    var keyring = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Make a drop box: only the holder of this key's private key can open what arrives. Repeatable.",
            valueName: "age1..."))
    var recipient: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A key that opens everything too, if yours are lost. Repeatable.", valueName: "age1..."))
    var recovery: [String] = []

    @OptionGroup var passphrases: PassphraseOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard protection.isSealed else {
            throw ValidationError("--class none needs no set-up; to seal nothing: waft config set protection none")
        }
        if keyring, !recipient.isEmpty { throw ValidationError("--keyring and --recipient exclude each other.") }
        if passphrases.passphraseFd != nil, keyring || !recipient.isEmpty {
            throw ValidationError("--passphrase-fd goes neither with --keyring nor with --recipient.")
        }
    }

    func run() async throws {
        let place = try ProtectionPlace()
        let dropBox = try CommandError.catching { () throws(VaultError) in try Self.keys(recipient) }
        let others = try CommandError.catching { () throws(VaultError) in try Self.keys(recovery) }
        try CommandError.catching { () throws(VaultError) in
            guard dropBox.count + others.count <= ProtectionRecipients.maximumOthers else {
                throw VaultError(
                    .unfit, "at most \(ProtectionRecipients.maximumOthers) keys can be given")
            }
            try place.folder.checkIsEmpty()
        }
        let identities = try await makeKeys(place, dropBox, others)
        _ = try await place.tell(identities, unlocks: true)
        let change = try await output.doing(in: .unread) { waft throws(WaftError) in
            try await waft.config.set("protection", to: [protection.rawValue])
        }
        let report = try await place.report()
        if output.json {
            var fields = ProtectionFields(place, try place.recipients(), report)
            fields.state.protection = protection.rawValue
            fields.keys.warnings = warnings(change.line)
            return EventLine.protection(fields).print()
        }
        output.show(change.line)
        change.line.warn()
        for line in words(place) + (report?.isUnlocked == true ? ["Unlocked now. To lock: waft lock"] : []) {
            Console.shared.result(line)
        }
    }

    /// - Returns: the private keys; nil for a drop box.
    private func makeKeys(
        _ place: ProtectionPlace, _ dropBox: [AgeRecipient], _ others: [AgeRecipient]
    ) async throws -> VaultIdentities? {
        let folder = place.folder
        if !dropBox.isEmpty {
            try CommandError.catching { () throws(VaultError) in try folder.setUp(dropBox: dropBox + others) }
            return nil
        }
        guard !keyring else {
            let keyring = ProtectionPlace.keyring
            try await keyring.checkIsEmpty()
            let identities = try CommandError.catching { () throws(VaultError) in
                try VaultIdentities.generate(recovery: others)
            }
            try await keyring.store(identities)
            try CommandError.catching { () throws(VaultError) in
                try folder.setUp(keeping: identities, by: .keyring)
            }
            return identities
        }
        try passphrases.needSource()
        let passphrase = try await passphrases.newPassphrase()
        return try CommandError.catching { () throws(VaultError) in
            try folder.setUp(passphrase: passphrase, recovery: others)
        }
    }

    private static func keys(_ texts: [String]) throws(VaultError) -> [AgeRecipient] {
        var keys: [AgeRecipient] = []
        for text in texts { keys.append(try ProtectionRecipients.read(text)) }
        return keys
    }

    private func warnings(_ change: SettingChangedLine) -> [String]? {
        var warnings = change.warnings ?? []
        if let hiding = change.hiddenBy { warnings.append("\(hiding) overrides the setting") }
        return warnings.isEmpty ? nil : warnings
    }

    /// The meaning of what was done.
    private func words(_ place: ProtectionPlace) -> [String] {
        guard recipient.isEmpty else {
            return [
                "This machine is a drop box: what arrives from now on can be opened where the private key is, and never here.",
                "Handlers are not called for it.", ProtectionText.notHidden,
            ]
        }
        var lines = [ProtectionText.meaning(of: protection), ProtectionText.notHidden]
        if keyring {
            lines += [
                "The private keys are in your keyring: Waft unlocks with the screen, and asks for nothing. Without the "
                    + "keyring nobody can open what arrives.",
                "Whatever runs as you can read them while the keyring is open, and GNOME does not close it when the screen "
                    + "locks.",
            ]
        } else {
            lines.append(
                "Your private keys are in \(TerminalText.escaped(place.folder.identityPath, limit: 4_096)): keep a copy. "
                    + "Without them, or without the passphrase, nobody can open what arrives.")
        }
        return lines
    }
}
