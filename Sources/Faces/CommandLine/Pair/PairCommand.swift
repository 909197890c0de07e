import ArgumentParser
import Foundation
import Glibc
import Lines
import Operations
import Sharing

/// `waft pair`: makes a machine a contact, once it is certain that no third party is in between.
struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Make contacts of each other: compare six digits, or type a code.",
        discussion: """
            Examples:
              waft pair --accept        on kitchen, where waftd or waft receive runs
              waft pair kitchen         on study: compare the digits on both machines
              waft pair --code          on a machine without a screen: prints a code
              waft pair kitchen --code  on study: asks for the code, or reads it

            Each side stores the other's key. Exit codes: 0 paired, 10 not found, 11 connection lost, 12 declined or \
            the codes differ, 15 no answer in time, 69 no receiver is running.
            """
    )

    @Argument(
        help: ArgumentHelp("Peer to pair with: name, beginning of its id, or host[:port].", valueName: "peer"),
        completion: .peers)
    var peer: [String] = []

    @Flag(name: .long, help: "Accept pairing with one peer, for at most ten minutes.")
    var accept = false

    @Flag(
        name: .long,
        help: "Pair by a code that works once: print one; with a peer, ask for the code that the peer printed.")
    var code = false

    @Option(
        name: .long, help: ArgumentHelp("File that holds the code; - for standard input.", valueName: "file"),
        completion: .file())
    var codeFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Name of the new contact (default: the name that it claims).", valueName: "name"))
    var name: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Seconds, or a time such as 2m, to wait for a peer (default: 600), or to look for one (default: 5).",
            valueName: "seconds"), transform: Seconds.read)
    var timeout: Seconds?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Read the answer, y or n, from this open file descriptor: for programs that show the digits themselves.",
            valueName: "number"))
    var answerFd: Int32?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard let file = answerFd else { return }
        if code || codeFile != nil { throw ValidationError("--answer-fd goes with digits, not with a code.") }
        guard file >= 0, fcntl(file, F_GETFD) >= 0 else {
            throw ValidationError("--answer-fd \(file): there is no such open file.")
        }
    }

    func run() async throws {
        do {
            try await pair()
        } catch let error as WaftError {
            throw CommandError(error)
        }
    }

    private func pair() async throws {
        let name = try name.map(Pairings.name)
        let timeout = self.timeout?.duration
        let peer = try wantedPeer().map(Pairings.peer)
        let code = try await peer == nil ? nil : typedCode().map(Pairings.code)
        // A receiver that waits has read the settings itself.
        let waft = try peer == nil ? CommandContext.forgiving.waft : CommandContext().waft
        let (user, byCode) = (PairingUser(output: output, answers: answerFd).user, self.code)
        let line = try await Interruption.watching(Cancellation(), goodbye: .zero) {
            if let peer {
                return try await waft.pairing.begin(
                    with: peer, code: code, name: name, finding: timeout ?? .seconds(5), user)
            }
            return try await waft.pairing.accept(byCode: byCode, name: name, for: timeout ?? .seconds(600), user)
        }
        output.show(line)
    }

    /// - Returns: nil if this side waits for a peer.
    private func wantedPeer() throws(CommandError) -> String? {
        if peer.count > 1 {
            // Of any length: a code with a digit too few is one all the same.
            let isCode = code && peer[1].contains { $0.isNumber } && peer[1].allSatisfy { $0.isNumber || $0 == "-" }
            let hint = "leave it out: waft asks for it, or reads it from standard input or --code-file"
            throw CommandError(
                .usage, isCode ? "other users can see a code among the arguments" : "one peer at a time",
                hint: isCode ? hint : nil)
        }
        guard let text = peer.first else {
            guard accept || code, codeFile == nil else {
                throw CommandError(.usage, "give a peer, or --accept, or --code")
            }
            try needTerminal(accepting: true)
            return nil
        }
        guard !accept else { throw CommandError(.usage, "--accept takes no peer") }
        try needTerminal(accepting: false)
        return text
    }

    private func needTerminal(accepting: Bool) throws(CommandError) {
        guard !code, codeFile == nil, answerFd == nil, !LineReader.hasTerminal else { return }
        let advice = accepting ? "waft pair --code" : "run waft pair --code there, and waft pair PEER --code here"
        throw CommandError(
            .usage, "comparing digits needs a terminal", hint: "pair by a code: \(advice)")
    }

    // MARK: The code

    /// Bytes of a code's file or line.
    private static let codeBytes = 64

    /// - Returns: nil if people compare digits; empty if it cannot be read.
    private func typedCode() async throws(CommandError) -> String? {
        guard code || codeFile != nil else { return nil }
        if let codeFile, codeFile != "-" {
            guard let file = FileHandle(forReadingAtPath: codeFile) else {
                throw CommandError(.inputMissing, "\(TerminalText.escaped(codeFile)) cannot be read")
            }
            return Self.line(file) ?? ""
        }
        if codeFile == nil, LineReader.hasTerminal {
            return try await Self.typedLine("Code shown by the other machine: ") ?? ""
        }
        return Self.line(.standardInput) ?? ""
    }

    /// The line that the user types.
    /// - Throws: `interrupted` on Ctrl-C.
    private static func typedLine(_ prompt: String) async throws(CommandError) -> String? {
        let end = Cancellation()
        let line = try? await Interruption.watching(end, goodbye: .zero) {
            // Signals are watched from here on.
            Console.shared.prompt(prompt)
            return await LineReader.terminalLines().first { _ in true }
        }
        guard !end.isRequested else { throw CommandError(.interrupted, "cancelled; not paired") }
        Console.shared.answered()
        return line ?? nil
    }

    /// The first line, without surrounding blanks.
    private static func line(_ file: FileHandle) -> String? {
        var bytes = Data()
        while bytes.count <= codeBytes, !bytes.contains(UInt8(ascii: "\n")),
            let more = try? file.read(upToCount: codeBytes + 1), !more.isEmpty
        {
            bytes += more
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard line.count <= codeBytes else { return nil }
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// The user of `waft pair`, who sees the steps and compares.
private struct PairingUser: Sendable {
    let output: OutputOptions
    /// The open file that the answer comes from; nil for the terminal.
    let answers: Int32?

    var user: Pairings.User {
        Pairings.User {
            show($0)
        } says: {
            await isSame()
        }
    }

    private func show(_ step: Pairings.Step) {
        switch step {
        case .open(let line, let own):
            output.show(line)
            let name = TerminalText.shellWord(own, limit: 64)
            output.note(
                line.code == nil
                    ? "Waiting for a peer. On the other machine: waft pair \(name)"
                    : "Good for one try. On the other machine: waft pair \(name) --code")
        case .peer(let line):
            output.show(line, as: [])
            output.note("\(line.peer.line(via: nil))\(line.peer.contact == nil ? "" : " (\(line.key))") wants to pair.")
            if let warning = line.warning { output.note("  \(TerminalText.escaped(warning, limit: 400))") }
        case .compare(let line):
            output.show(line, as: [])
            output.note(
                "\n    \(line.digits.prefix(3)) \(line.digits.suffix(3))    \(line.words.joined(separator: " "))\n")
        case .confirmed: output.note("Waiting for the other side.")
        case .left: output.note("The other machine has left; waiting for a peer.")
        }
    }

    private func isSame() async -> Bool? {
        Console.shared.prompt("Does the other screen show the same? [y/n] ")
        for await line in answers.map(LineReader.lines) ?? LineReader.terminalLines() {
            Console.shared.answered()
            switch line.lowercased() {
            case "y", "yes": return true
            case "n", "no": return false
            default: Console.shared.prompt("Please answer y or n: ")
            }
        }
        return nil
    }
}

extension PairingOpenLine: WordedLine {
    var words: [String] { code.map { [$0] } ?? [] }
}

extension PairedLine: WordedLine {
    var words: [String] {
        let name = "\(TerminalText.escaped(peer.contact ?? "", limit: 80)) (\(key))"
        return [ends.map { "\(name) is a contact until \($0.local)" } ?? "paired with \(name)"]
    }
}
