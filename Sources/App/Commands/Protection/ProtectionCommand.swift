import ArgumentParser

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
