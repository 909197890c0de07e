import ArgumentParser
import Contacts
import Control
import Endpoints
import Foundation
import Glibc
import Lines
import Operations
import Pairing
import Sending
import Settings
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
        let name = try contactName()
        let timeout = self.timeout?.duration
        let rendering = PairRendering(json: output.json, answers: answerFd)
        let end: PairRendering.End
        if let peer = try wantedPeer() {
            end = try await PairBeginning(peer: peer, name: name, timeout: timeout, rendering: rendering)
                .run(code: try typedCode())
        } else {
            end = try await PairAccepting(
                byCode: code, name: name?.text, seconds: (timeout ?? .seconds(600)) / .seconds(1), rendering: rendering
            ).run()
        }
        let exit = rendering.show(end)
        if exit == .done { await Daemon.tell(.lookAgain) }
        if exit != .done { throw exit.code }
    }

    private func contactName() throws(CommandError) -> ContactName? {
        do throws(WaftError) {
            return try name.map { text throws(WaftError) in try ContactName(user: text) }
        } catch {
            throw CommandError(error)
        }
    }

    /// - Returns: nil if this side waits for a peer.
    private func wantedPeer() throws(CommandError) -> PeerReference? {
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
        do {
            return try PeerReference(text)
        } catch {
            throw CommandError(.usage, TerminalText.escaped(error.description))
        }
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

    /// - Returns: nil if people compare digits.
    private func typedCode() async throws(CommandError) -> PairingCode? {
        guard code || codeFile != nil else { return nil }
        let text: String?
        if let codeFile, codeFile != "-" {
            guard let file = FileHandle(forReadingAtPath: codeFile) else {
                throw CommandError(.inputMissing, "\(TerminalText.escaped(codeFile)) cannot be read")
            }
            text = Self.line(file)
        } else if codeFile == nil, LineReader.hasTerminal {
            text = try await Self.typedLine("Code shown by the other machine: ")
        } else {
            text = Self.line(.standardInput)
        }
        guard let text, let code = PairingCode(text: text) else {
            throw CommandError(.usage, "a code has \(PairingCode.digitCount) digits, as 123-456-789")
        }
        return code
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
