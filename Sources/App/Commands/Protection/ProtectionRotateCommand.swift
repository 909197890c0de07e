import ArgumentParser
import Lines
import Protection

/// `waft protection rotate`.
struct ProtectionRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Make new keys for what arrives from now on. The old keys still open what is there.",
        discussion: "Example: waft protection rotate"
    )

    @OptionGroup var passphrases: PassphraseOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let place = try ProtectionPlace()
        let identities: VaultIdentities
        switch try place.keeper() {
        case .keyring:
            guard passphrases.passphraseFd == nil else {
                throw CommandError(
                    .usage, "the private keys are in the keyring, and have no passphrase: leave out --passphrase-fd")
            }
            let keyring = ProtectionPlace.keyring
            let old = try await keyring.fetch()
            identities = try CommandError.catching { () throws(VaultError) in
                try place.folder.check(old)
                return try old.rotated()
            }
            try await keyring.store(identities)
            try CommandError.catching { () throws(VaultError) in
                try place.folder.restore(identities, keeper: .keyring)
            }
        case .passphrase, .credential:
            try passphrases.needSource()
            let passphrase = try await passphrases.passphrase()
            identities = try CommandError.catching { () throws(VaultError) in
                try place.folder.rotate(passphrase: passphrase)
            }
        }
        let report = try await place.tell(identities, unlocks: false)
        if output.json {
            return EventLine.protection(ProtectionFields(place, try place.recipients(), report)).print()
        }
        Console.shared.result("what arrives from now on is sealed to new keys; the old ones still open what is there")
        if report == nil { Console.shared.note("waft: no receiver is running; it uses them when it starts") }
        Console.shared.note("waft: renew your copy of the private keys: waft protection export")
    }
}
