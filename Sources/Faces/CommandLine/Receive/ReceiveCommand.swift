import ArgumentParser
import Lines
import Operations
import Settings
import Sharing

/// `waft receive`: a receiver in the foreground.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive in the foreground, asking at the terminal.",
        discussion: """
            Example: waft receive --accept everyone --once

            Ctrl-C ends it. Without a terminal no question is asked: offers wait for waft accept.
            """
    )

    @OptionGroup var options: ReceiverOptions

    @Flag(name: .long, help: "End after the first transfer that stored something.")
    var once = false

    func run() async throws {
        let context = try CommandContext(options.apply)
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
