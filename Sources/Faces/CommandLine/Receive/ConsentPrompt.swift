import Lines
import Operations

/// Asks at the terminal, one offer after the other; the first answer, from here or elsewhere, wins.
enum ConsentPrompt {
    private enum Input: Sendable {
        case line(String, at: ContinuousClock.Instant)
        case event(OfferQuestion)
        case end
    }

    /// For this long after a question was withdrawn, an answer may be meant for it.
    private static let reaction: Duration = .seconds(2)

    /// Runs until the task is cancelled. A job in the background asks nothing: each line that is typed once it is in the
    /// foreground shows the question.
    ///
    /// - Parameter answer: gets the number of the offer, and the answer that was typed.
    static func run(
        _ events: AsyncStream<OfferQuestion>, answer: @escaping @Sendable (Int, _ accept: Bool) -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            let (inputs, feed) = AsyncStream<Input>.makeStream()
            // One event at a time: a terminal that does not read keeps no offers in memory.
            let (shown, show) = AsyncStream<Void>.makeStream()
            group.addTask {
                var shown = shown.makeAsyncIterator()
                for await event in events {
                    feed.yield(.event(event))
                    await shown.next()
                }
            }
            group.addTask {
                for await line in LineReader.timedTerminalLines() { feed.yield(.line(line.text, at: line.at)) }
                feed.yield(.end)
            }
            await ask(inputs, answer) { show.yield() }
            group.cancelAll()
        }
    }

    /// - Parameter shown: is called after each event.
    private static func ask(
        _ inputs: AsyncStream<Input>, _ answer: (Int, Bool) -> Void, shown: () -> Void
    ) async {
        var waiting: [OfferLine] = []
        var gone: (number: Int, at: ContinuousClock.Instant)?
        // Nil for a question that nobody was asked.
        var shownAt: ContinuousClock.Instant?
        for await input in inputs {
            defer { if case .event = input { shown() } }
            switch input {
            case .event(.waiting(let offer)):
                waiting.append(offer)
                if waiting.count == 1 { shownAt = show(offer) }
            case .event(.settled(let number, let wasAnswered)):
                let wasShown = waiting.first?.offer == number
                waiting.removeAll { $0.offer == number }
                guard wasShown else { continue }
                Console.shared.withdraw()
                Console.shared.note(
                    wasAnswered
                        ? "Offer \(number) was answered elsewhere."
                        : "The question about offer \(number) was withdrawn.")
                gone = (number, .now)
                if let next = waiting.first { shownAt = show(next) }
            case .line(let line, let at):
                Console.shared.answered()
                guard let offer = waiting.first, let number = offer.offer else { continue }
                guard let since = shownAt else {
                    shownAt = show(offer)
                    continue
                }
                guard at >= since else {
                    // It was meant for another question, or typed twice.
                    Console.shared.prompt(
                        "Offer \(number), which was asked after that line: [y/n] ", isNew: false)
                    continue
                }
                if let last = gone {
                    gone = nil
                    if last.at.duration(to: .now) < reaction {
                        // The line was meant for an earlier question, and must not answer one that is unread.
                        Console.shared.note("Offer \(last.number) does not wait any longer; next:")
                        shownAt = show(offer)
                        continue
                    }
                }
                switch line.lowercased() {
                case "y", "yes": answer(number, true)
                case "n", "no": answer(number, false)
                default:
                    Console.shared.prompt("Please answer y or n: ")
                    continue
                }
                // `settled` for this offer does not find it here, and prints nothing.
                waiting.removeFirst()
                if let next = waiting.first { shownAt = show(next) }
            case .end:
                return
            }
        }
    }

    /// Items of an offer that are shown above the question.
    private static let shownItems = 10

    /// - Returns: the time from which on a line is an answer; nil if the question was not asked.
    private static func show(_ offer: OfferLine) -> ContinuousClock.Instant? {
        for line in OfferText.lines(offer, items: shownItems) { Console.shared.note(line) }
        guard LineReader.hasTerminal else {
            let number = offer.offer ?? 0
            Console.shared.note("answer with: waft accept \(number), waft decline \(number)")
            return nil
        }
        return Console.shared.prompt("\(OfferText.question(offer)) [y/n] ")
    }
}
