import ArgumentParser
import Lines
import Operations
import Settings
import Sharing

/// `waft receive`: a receiver in the foreground.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive in the foreground, or one transfer by a code.",
        discussion: """
            Examples:
              waft receive --accept everyone --once
              waft receive 7-pumpkin-sausage   what waft send --code shows there
              waft receive --code              show a code, for send --to-code

            Ctrl-C ends it. Without a terminal no question is asked: offers wait for waft accept.

            A code may be typed in any case, with spaces, and with words cut after a few letters. Other users of this \
            machine can see arguments: - reads the code from standard input, --enter-code asks for it, and the variable \
            WAFT_CODE can hold it. Exit codes with a code: 0 received, 10 no machine shows it, 11 connection lost, \
            12 wrong words or two machines that say to show it, 15 nobody came in time.
            """
    )

    @Argument(
        help: ArgumentHelp("Code that the sender shows; - for one from standard input.", valueName: "code"),
        completion: .spokenCode)
    var typed: [String] = []

    @Flag(name: .long, help: "Ask for the sender's code at the terminal.")
    var enterCode = false

    @OptionGroup var code: CodeOptions

    @OptionGroup var options: ReceiverOptions

    @Flag(name: .long, help: "End after the first transfer that stored something.")
    var once = false

    func run() async throws {
        let context = try CommandContext(options.apply)
        let typed = try await typedCode()
        try code.check(isTyped: typed != nil)
        if let typed { return try await receive(typed, context.waft) }
        if code.code { return try await showCode(context.waft) }
        try await receiveAll(context)
    }

    /// - Returns: nil if no code is typed.
    private func typedCode() async throws(CommandError) -> String? {
        let environment = TypedCode.ofEnvironment()
        if enterCode { return try await TypedCode.ofTerminal() }
        if typed == ["-"] { return TypedCode.ofInput() }
        return typed.isEmpty ? (code.code ? nil : environment) : typed.joined(separator: " ")
    }

    private func receive(_ text: String, _ waft: Waft) async throws {
        let typed = try CommandError.of { () throws(WaftError) in try Codes.typed(text) }
        let search = try self.code.search()
        let rendering = CodeRendering(json: options.json, isSending: false)
        rendering.looking(for: typed)
        try await Self.ending { try await waft.codes.receive(typed, search, rendering.show) }
    }

    private func showCode(_ waft: Waft) async throws {
        let rendering = CodeRendering(json: options.json, isSending: false)
        let showing = try code.showing()
        try await Self.ending { try await waft.codes.receive(showing, rendering.show) }
    }

    private static func ending(_ body: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await Interruption.watching(Cancellation(), goodbye: .zero) { try await body() }
        } catch let failure as WaftError {
            throw CommandError(failure)
        }
    }

    private func receiveAll(_ context: CommandContext) async throws {
        let end = Cancellation()
        let rendering = ReceiverRendering(json: options.json)
        let receiver = context.waft.ownReceiver(isOnce: once) { rendering.show($0) }
        let asks = [.ask, .contacts].contains(context.settings.accept)
        if asks, !LineReader.hasTerminal {
            Console.shared.note("waft: no terminal to ask at; answer with: waft offers, waft accept N, waft decline N")
        }
        if !options.json {
            NetworkNote.say(context.waft)
            ProtectionSuggestion.sayOnce(context)
        }
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await receiver.run() }
                    if asks, LineReader.isAtTerminal {
                        group.addTask {
                            await ConsentPrompt.run(receiver.questions) { receiver.answer($0, accept: $1) }
                            // The terminal has closed, but the receiver continues.
                            try await Task.sleep(for: .seconds(86_400 * 365))
                        }
                    }
                    try await group.next()
                    group.cancelAll()
                }
            }
        } catch let failure as WaftError {
            throw CommandError(failure)
        } catch is CancellationError {
            // Said below.
        }
        if end.isRequested { throw WaftExit.interrupted.code }
    }
}
