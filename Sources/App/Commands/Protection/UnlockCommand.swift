import ArgumentParser
import Control
import Lines
import Protection
import Secrets

/// `waft unlock`.
struct UnlockCommand: AsyncParsableCommand {
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

    func run() async throws {
        let place = try ProtectionPlace()
        if restore { return try await restore(place) }
        guard case .protection(let before) = try await Daemon.ask(.protection(.status)) else {
            throw CommandError(.unexpected, "the receiver gave no answer about data protection")
        }
        // A passphrase that is given is checked all the same: 0 says that it is the right one.
        if before.isUnlocked, passphrases.passphraseFd == nil { return show(before, "unlocked already") }
        let identities = try await identities(place, try place.keeper())
        try CommandError.catching { () throws(VaultError) in try place.folder.check(identities) }
        if before.isUnlocked { return show(before, "unlocked already") }
        let report = try await place.unlock(identities)
        show(report, ProtectionText.unlocked(report))
    }

    /// Works without a receiver too: one whose public keys are missing does not start.
    private func restore(_ place: ProtectionPlace) async throws {
        let keeper: VaultMode = place.folder.hasIdentities ? .passphrase : .keyring
        let identities = try await identities(place, keeper)
        try CommandError.catching { () throws(VaultError) in
            try place.folder.restore(identities, keeper: keeper)
        }
        let report = try await place.tell(identities, unlocks: true)
        if output.json {
            return EventLine.protection(ProtectionFields(place, try place.recipients(), report)).print()
        }
        Console.shared.result("your public keys are back" + (report.map { "; \(ProtectionText.unlocked($0))" } ?? ""))
        if report == nil { Console.shared.note("waft: no receiver is running; start it, then: waft unlock") }
    }

    private func show(_ report: ProtectionReport, _ words: String) {
        if output.json { return EventLine.unlocked(ProtectionFields.State(report)).print() }
        Console.shared.result(words)
    }

    private func identities(_ place: ProtectionPlace, _ keeper: VaultMode) async throws -> VaultIdentities {
        if keeper == .keyring {
            guard passphrases.passphraseFd == nil else {
                throw CommandError(
                    .usage, "the private keys are in the keyring, and have no passphrase: leave out --passphrase-fd")
            }
            return try await ProtectionPlace.keyring.fetch()
        }
        try passphrases.needSource()
        return try await passphrases.passphrase(tries: Self.tries) { passphrase throws(VaultError) in
            try place.folder.identities(passphrase: passphrase)
        }
    }
}
