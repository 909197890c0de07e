import ArgumentParser
import Glibc
import Protection
import Secrets

/// Where a passphrase comes from: never from an argument or the environment, which other programs can see.
struct PassphraseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Read the passphrase from this open file descriptor: a line for each passphrase that would be asked for.",
            valueName: "number"))
    var passphraseFd: Int32?

    func validate() throws {
        guard let file = passphraseFd else { return }
        guard file >= 0, fcntl(file, F_GETFD) >= 0 else {
            throw ValidationError("--passphrase-fd \(file): there is no such open file.")
        }
        guard isatty(file) == 0 else {
            throw ValidationError(
                "--passphrase-fd \(file) is a terminal, which would show it. Leave it out: waft asks.")
        }
    }

    /// Checks that a passphrase can be asked for.
    ///
    /// - Throws: `CommandError` `usage`.
    func needSource() throws(CommandError) {
        guard passphraseFd == nil, !LineReader.hasTerminal else { return }
        throw CommandError(
            .usage, "a passphrase is needed, and there is no terminal to ask for it",
            hint: "give it with: --passphrase-fd 3 3<FILE")
    }

    /// A passphrase that is there already.
    ///
    /// - Throws: `CommandError` `interrupted`; `usage` at the end of the file or the terminal.
    func passphrase(_ prompt: String = "Passphrase: ") async throws(CommandError) -> SecretBytes {
        let read = try await read(prompt)
        guard let read, read.count > 0 else { throw CommandError(.usage, "there is no passphrase") }
        return read
    }

    /// A new passphrase: asked for twice at a terminal.
    ///
    /// - Throws: `CommandError` `usage` for one that is too short, or if the two differ.
    func newPassphrase(_ prompt: String = "New passphrase: ") async throws(CommandError) -> SecretBytes {
        let new = try await passphrase(prompt)
        let count = ProtectionFolder.characters(of: new)
        guard count >= ProtectionFolder.passphraseCharacters else {
            throw CommandError(
                .usage,
                "a passphrase has at least \(ProtectionFolder.passphraseCharacters) characters, and this one has \(count)"
            )
        }
        if passphraseFd == nil {
            let again = try await passphrase("Once more: ")
            guard again.withBytes({ again in new.withBytes { $0.elementsEqual(again) } }) else {
                throw CommandError(.usage, "the two passphrases differ")
            }
        }
        if count < ProtectionFolder.goodPassphraseCharacters {
            Console.shared.note(
                "warning: a passphrase of \(count) characters can be guessed by whoever has the disk; "
                    + "\(ProtectionFolder.goodPassphraseCharacters) or more are better, such as five words")
        }
        return new
    }

    private func read(_ prompt: String) async throws(CommandError) -> SecretBytes? {
        ProcessSecrecy.dumpNoCore()
        if let passphraseFd { return try PassphraseReader.line(of: passphraseFd) }
        return try await PassphraseReader.typed(prompt)
    }
}
