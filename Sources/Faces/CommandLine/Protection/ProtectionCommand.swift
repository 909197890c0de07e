import ArgumentParser
import Lines
import Operations
import Secrets
import Sharing

extension ProtectionClass: ExpressibleByArgument {}

/// `waft protection`: what arrives is sealed on the disk.
struct ProtectionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protection",
        abstract: "Seal what arrives, so that it can be read only while unlocked.",
        discussion: """
            Example: waft protection set-up

            Waft seals each item with public keys, so that it can be received while nobody is there. The private keys are in \
            memory between waft unlock and waft lock only. Sealed items are files of age: every program for age opens them \
            with your keys.
            """,
        subcommands: [
            ProtectionStatusCommand.self, ProtectionSetUpCommand.self, ProtectionPassphraseCommand.self,
            ProtectionRotateCommand.self, ProtectionExportCommand.self,
        ],
        defaultSubcommand: ProtectionStatusCommand.self
    )
}

/// A verb of `waft protection`, `waft lock` or `waft unlock`.
protocol ProtectionVerb: AsyncParsableCommand {
    /// - Throws: `WaftError`, `CommandError`.
    func run(on protection: DataProtection) async throws
}

extension ProtectionVerb {
    func run() async throws {
        let protection = try CommandContext.forgiving.waft.protection
        do {
            try await run(on: protection)
        } catch let error as WaftError {
            throw CommandError(error)
        }
    }
}

/// `waft protection status`.
struct ProtectionStatusCommand: ProtectionVerb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how arrivals are sealed, and whether they can be read now.",
        discussion: "Example: waft protection --json"
    )

    @OptionGroup var output: OutputOptions

    func run(on protection: DataProtection) async throws {
        output.show(try await protection.status())
    }
}

/// `waft protection set-up`.
struct ProtectionSetUpCommand: ProtectionVerb {
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

    func run(on protection: DataProtection) async throws {
        let given = try protection.given(dropBox: recipient, recovery: recovery)
        try await protection.setUp(given, keeper: try await keeper())
        let change = try await output.doing(in: .unread) { waft throws(WaftError) in
            try await waft.config.set("protection", to: [self.protection.rawValue])
        }
        var line = try await protection.status()
        line.lock.protection = self.protection.rawValue
        line.warnings = warnings(change.line)
        if !output.json {
            output.show(change.line)
            change.line.warn()
        }
        output.show(line, as: words(line) + (line.lock.unlocked ? ["Unlocked now. To lock: waft lock"] : []))
    }

    private func keeper() async throws -> DataProtection.NewKeeper {
        if !recipient.isEmpty { return .elsewhere }
        if keyring { return .keyring }
        try passphrases.needSource()
        return .passphrase(try await passphrases.newPassphrase())
    }

    private func warnings(_ change: SettingChangedLine) -> [String]? {
        var warnings = change.warnings ?? []
        if let hiding = change.hiddenBy { warnings.append("\(hiding) overrides the setting") }
        return warnings.isEmpty ? nil : warnings
    }

    /// The meaning of the new keys.
    private func words(_ line: ProtectionLine) -> [String] {
        guard recipient.isEmpty else {
            return [
                "This machine is a drop box: what arrives from now on can be opened where the private key is, and never here.",
                "Handlers are not called for it.", ProtectionLine.notHidden,
            ]
        }
        let keys =
            keyring
            ? [
                "The private keys are in your keyring: Waft unlocks with the screen, and asks for nothing. Without the "
                    + "keyring nobody can open what arrives.",
                "Whatever runs as you can read them while the keyring is open, and GNOME does not close it when the screen "
                    + "locks.",
            ]
            : [
                "Your private keys are in \(TerminalText.escaped(line.passphraseFile ?? "", limit: 4_096)): keep a copy. "
                    + "Without them, or without the passphrase, nobody can open what arrives."
            ]
        return [ProtectionLine.meaning(of: protection), ProtectionLine.notHidden] + keys
    }
}

/// `waft protection passphrase`.
struct ProtectionPassphraseCommand: ProtectionVerb {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Choose another passphrase. Sealed items stay as they are.",
        discussion: """
            Example: waft protection passphrase

            An older copy of the file of the private keys still opens with the old passphrase. If others may know that, use \
            waft protection rotate too. --passphrase-fd reads two lines: the old passphrase and the new one.
            """
    )

    @OptionGroup var passphrases: PassphraseOptions

    @OptionGroup var output: OutputOptions

    func run(on protection: DataProtection) async throws {
        try protection.checkHasPassphrase()
        try passphrases.needSource()
        let old = try await passphrases.passphrase("Passphrase now: ")
        let new = try await passphrases.newPassphrase()
        output.show(
            try await protection.changePassphrase(from: old, to: new),
            as: ["the new passphrase opens the private keys now"])
    }
}

/// `waft protection rotate`.
struct ProtectionRotateCommand: ProtectionVerb {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Make new keys for what arrives from now on. The old keys still open what is there.",
        discussion: "Example: waft protection rotate"
    )

    @OptionGroup var passphrases: PassphraseOptions

    @OptionGroup var output: OutputOptions

    func run(on protection: DataProtection) async throws {
        let passphrase: SecretBytes?
        if try protection.keeper() == .keyring {
            try passphrases.checkIsUnused()
            passphrase = nil
        } else {
            try passphrases.needSource()
            passphrase = try await passphrases.passphrase()
        }
        let line = try await protection.rotate(passphrase: passphrase)
        output.show(
            line, as: ["what arrives from now on is sealed to new keys; the old ones still open what is there"])
        guard !output.json else { return }
        if !line.daemon { Console.shared.note("waft: no receiver is running; it uses them when it starts") }
        Console.shared.note("waft: renew your copy of the private keys: waft protection export")
    }
}

/// `waft protection export`.
struct ProtectionExportCommand: ProtectionVerb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Show where the keys are, and how to read a sealed item without Waft.",
        discussion: """
            Example: waft protection export

            The file of the private keys needs your passphrase. Keep a copy of it in another place. Keys in a keyring have no \
            file.
            """
    )

    @OptionGroup var output: OutputOptions

    func run(on protection: DataProtection) throws {
        output.show(try protection.export())
    }
}

/// `waft lock`.
struct LockCommand: ProtectionVerb {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock your receiver: what is sealed cannot be read until the next unlock.",
        discussion: """
            Example: swayidle lock 'waft lock'

            Wipes the private key of the classes complete and unlessOpen from memory; with --all that of untilFirstUnlock \
            too. Exit code 69 when no receiver is running.
            """
    )

    @Flag(name: .long, help: "Lock the class untilFirstUnlock too.")
    var all = false

    @OptionGroup var output: OutputOptions

    func run(on protection: DataProtection) async throws {
        output.show(try await protection.lock(all: all))
    }
}

/// `waft unlock`.
struct UnlockCommand: ProtectionVerb {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock your receiver: what is sealed can be read, and goes to its handlers.",
        discussion: """
            Example: waft unlock

            Asks for the passphrase of waft protection set-up, at most three times. Keys in the keyring need none; the \
            keyring may ask for its own. Exit code 18 if nothing was unlocked, 69 when no receiver is running.
            """
    )

    /// Passphrases that are tried.
    private static let tries = 3

    @Flag(
        name: .long,
        help: "Put your public keys back, if another program has changed them. Items that came since cannot be opened.")
    var restore = false

    @OptionGroup var passphrases: PassphraseOptions

    @OptionGroup var output: OutputOptions

    func run(on protection: DataProtection) async throws {
        if restore { return try await restore(protection) }
        let before = try await protection.lockStanding()
        // A passphrase that is given is checked all the same: 0 says that it is the right one.
        if before.unlocked, passphrases.passphraseFd == nil { return output.show(before, as: ["unlocked already"]) }
        let keys = try await keys(protection, try protection.keeper())
        try protection.check(keys)
        if before.unlocked { return output.show(before, as: ["unlocked already"]) }
        output.show(try await protection.unlock(keys))
    }

    /// Works without a receiver too: one whose public keys are missing does not start.
    private func restore(_ protection: DataProtection) async throws {
        let keeper = protection.likelyKeeper
        let line = try await protection.restore(try await keys(protection, keeper), of: keeper)
        output.show(
            line, as: ["your public keys are back" + (line.daemon ? "; \(line.lock.unlockedWords)" : "")])
        guard !line.daemon, !output.json else { return }
        Console.shared.note("waft: no receiver is running; start it, then: waft unlock")
    }

    private func keys(
        _ protection: DataProtection, _ keeper: DataProtection.Keeper
    ) async throws -> DataProtection.PrivateKeys {
        guard keeper == .passphrase else {
            try passphrases.checkIsUnused()
            return try await protection.keysOfKeyring()
        }
        try passphrases.needSource()
        return try await passphrases.passphrase(tries: Self.tries) { passphrase throws(WaftError) in
            try protection.keys(passphrase: passphrase)
        }
    }
}

extension CommandError {
    static let unlockHint = WaftError.unlockHint

    /// A sealed item cannot be opened now.
    static func locked(_ reason: String) -> CommandError {
        CommandError(WaftError(.locked, reason, hint: WaftError.unlockHint))
    }
}

extension DataProtection {
    /// - Throws: `CommandError` `usage` if data protection is not set up.
    static func checkIsSetUp() throws(CommandError) {
        let protection = try CommandContext.forgiving.waft.protection
        do throws(WaftError) { try protection.checkIsSetUp() } catch { throw CommandError(error) }
    }
}
