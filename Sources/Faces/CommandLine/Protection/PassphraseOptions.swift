import ArgumentParser
import Glibc
import Lines
import Operations
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

    /// Checks that no passphrase is given for keys in the keyring.
    ///
    /// - Throws: `CommandError` `usage`.
    func checkIsUnused() throws(CommandError) {
        guard passphraseFd != nil else { return }
        throw CommandError(
            .usage, "the private keys are in the keyring, and have no passphrase: leave out --passphrase-fd")
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
        try await passphrase(prompt, tries: 1) { .success($0) }
    }

    /// The same for a passphrase that is checked: a person has several tries, a file one. Nothing that is typed is shown
    /// until the last one is checked.
    ///
    /// - Parameters:
    ///   - tries: 1 or more.
    ///   - check: its failure is that of a wrong passphrase.
    func passphrase<Value: Sendable>(
        _ prompt: String = "Passphrase: ", tries: Int,
        _ check: @escaping @Sendable (SecretBytes) throws(WaftError) -> Result<Value, WaftError>
    ) async throws(CommandError) -> Value {
        try await reading { () async throws(CommandError) -> Value in
            var left = passphraseFd == nil ? tries : 1
            while true {
                let passphrase = try await next(prompt)
                left -= 1
                switch try CommandError.of({ () throws(WaftError) in try check(passphrase) }) {
                case .success(let value): return value
                case .failure(let wrong):
                    guard left > 0 else { throw CommandError(wrong) }
                    Console.shared.note("waft: \(wrong.reason)")
                }
            }
        }
    }

    /// A new passphrase: asked for twice at a terminal, and again if it is too short or the two differ.
    ///
    /// - Throws: `CommandError` `usage` for one of a file that is too short.
    func newPassphrase(_ prompt: String = "New passphrase: ") async throws(CommandError) -> SecretBytes {
        let new = try await reading { () async throws(CommandError) -> SecretBytes in
            while true {
                let new = try await next(prompt)
                let fault: String
                if let short = DataProtection.fault(ofNew: new) {
                    fault = short
                } else if passphraseFd != nil {
                    return new
                } else {
                    let again = try await next("Once more: ")
                    if again.withBytes({ again in new.withBytes { $0.elementsEqual(again) } }) { return new }
                    fault = "the two passphrases differ"
                }
                guard passphraseFd == nil else { throw CommandError(.usage, fault) }
                Console.shared.note("waft: \(fault)")
            }
        }
        if let warning = DataProtection.warning(ofNew: new) { Console.shared.note("warning: \(warning)") }
        return new
    }

    private func reading<Result: Sendable>(
        _ body: @escaping @Sendable () async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        ProcessSecrecy.dumpNoCore()
        guard passphraseFd == nil else { return try await body() }
        return try await PassphraseReader.silently(body)
    }

    private func next(_ prompt: String) async throws(CommandError) -> SecretBytes {
        let read =
            if let passphraseFd { try PassphraseReader.line(of: passphraseFd) } else {
                try await PassphraseReader.nextTyped(prompt)
            }
        guard let read, read.count > 0 else { throw CommandError(.usage, "there is no passphrase") }
        return read
    }
}
