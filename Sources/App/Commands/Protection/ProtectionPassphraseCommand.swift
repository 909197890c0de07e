import ArgumentParser
import Lines
import Protection

/// `waft protection passphrase`.
struct ProtectionPassphraseCommand: AsyncParsableCommand {
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

    func run() async throws {
        let place = try ProtectionPlace()
        guard try place.keeper() == .passphrase else {
            throw CommandError(
                .usage, "the private keys are in the keyring, and have no passphrase of their own",
                hint: "to make new keys: waft protection rotate")
        }
        try passphrases.needSource()
        let old = try await passphrases.passphrase("Passphrase now: ")
        let new = try await passphrases.newPassphrase()
        try CommandError.catching { () throws(VaultError) in try place.folder.changePassphrase(from: old, to: new) }
        if output.json {
            return EventLine.protection(
                ProtectionFields(place, try place.recipients(), try await place.report())
            ).print()
        }
        Console.shared.result("the new passphrase opens the private keys now")
    }
}
