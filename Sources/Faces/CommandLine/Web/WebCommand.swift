import ArgumentParser
import Lines
import Operations
import Sharing
import Synchronization

/// `waft web`: a page for guests who have only a browser.
struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Open a page for guests who have only a browser.",
        discussion: """
            Examples:
              waft web                       guests can send files to this machine
              waft web photos/ plan.pdf      and fetch these
              waft web --no-receive --once plan.pdf

            Guests scan the code, or type the address and the PIN. You are asked about everything that they send, as about any \
            stranger. The page is there at any visibility, until its time is over, or Ctrl-C. It is served by the receiver \
            that runs; without one, this command is the receiver.

            Browsers warn about the certificate, as nobody vouches for this machine: compare its fingerprint, or set \
            web.certificate. Programs such as curl find their way in the article about the page.
            """
    )

    @Argument(help: ArgumentHelp("Files and folders that guests can fetch.", valueName: "item"), completion: .file())
    var items: [String] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long, such as 15m (default: until Ctrl-C).", valueName: "duration"))
    var duration: String?

    @Flag(name: .long, help: "Let one guest in, and end after that guest's first transfer.")
    var once = false

    @Flag(inversion: .prefixedNo, help: "Whether guests can send something.")
    var receive = true

    @Flag(name: .long, help: "Let guests in by the PIN only: the address carries no secret.")
    var pin = false

    @Flag(name: .long, help: "Without encryption: others on the network can read and change everything.")
    var plain = false

    @Flag(name: .customLong("no-qr"), help: "Print no QR code.")
    var noQR = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let opening = try self.opening()
        let rendering = PageRendering(output: output, showsCode: !noQR, byPIN: pin)
        let pages = try CommandContext().waft.pages
        do {
            try await pages.withPage(opening) { try await Self.follow($0, pages, rendering) }
        } catch let failure as WaftError {
            throw CommandError(failure)
        }
    }

    private static func follow(_ page: PageProgress, _ pages: Pages, _ rendering: PageRendering) async throws {
        let end = Cancellation()
        let reason = Mutex<PageProgress.End?>(nil)
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                // Signals are watched from here on.
                rendering.opened(page)
                let over = try await watch(page, pages, rendering)
                reason.withLock { $0 = over }
            }
        } catch is CancellationError {
            // Handled below.
        } catch {
            guard end.isRequested else { throw error }
        }
        if end.isRequested {
            // The cancelled task is another one, so these requests still reach the receiver.
            await pages.close(page)
            return rendering.output.show(PageClosedLine(.interrupted, stays: page.isStanding))
        }
        switch reason.withLock({ $0 }) {
        case .time: rendering.output.show(PageClosedLine(.time))
        case .guest: rendering.output.show(PageClosedLine(.guest))
        case .command, .receiver, nil:
            rendering.output.show(PageClosedLine(.receiver))
            throw WaftExit.notRunning.code
        }
    }

    /// Shows everything that happens on the page until it is closed, and asks about offers at the terminal.
    private static func watch(
        _ page: PageProgress, _ pages: Pages, _ rendering: PageRendering
    ) async throws -> PageProgress.End? {
        let (questions, asking) = AsyncStream<OfferQuestion>.makeStream()
        return try await withThrowingTaskGroup(of: PageProgress.End?.self) { group in
            group.addTask {
                try await pages.follow(page) { event in
                    rendering.show(event)
                    switch event {
                    case .receiver(.offer(let offer)): asking.yield(.waiting(offer))
                    case .receiver(.answered(let answer)):
                        if let number = answer.offer { asking.yield(.settled(number, wasAnswered: !answer.isExpired)) }
                    default: break
                    }
                }
            }
            if page.takes, rendering.asks {
                group.addTask {
                    await ConsentPrompt.run(questions) { number, accept in
                        Task {
                            if accept {
                                _ = try? await pages.waft.offers.accept(number)
                            } else {
                                _ = try? await pages.waft.offers.decline(number)
                            }
                        }
                    }
                    // The terminal has closed, but the page stays.
                    try await Task.sleep(for: .seconds(86_400 * 365))
                    return nil
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func opening() throws(CommandError) -> PageOpening {
        var opening = PageOpening()
        (opening.takes, opening.isOnce, opening.isPlain) = (receive, once, plain)
        guard receive || !items.isEmpty else {
            throw CommandError(.usage, "with --no-receive there is nothing on the page", hint: "name files to fetch")
        }
        if let duration {
            do throws(WaftError) {
                opening.seconds = try ContactTerms.duration(duration) / .seconds(1)
            } catch {
                throw CommandError(error.at("--for"))
            }
        }
        opening.items = try paths()
        return opening
    }

    /// Absolute: the receiver has another working folder.
    private func paths() throws(CommandError) -> [String] {
        guard !items.isEmpty else { return [] }
        guard items.count <= Pages.maximumItems else {
            throw CommandError(
                .usage, "\(items.count) items are too many: a page has at most \(Pages.maximumItems)",
                hint: "share the folder that they are in: it is one item")
        }
        guard !items.contains("-") else {
            throw CommandError(
                .usage, "standard input can be read only once, and guests can fetch an item again",
                hint: "write it into a file, and share that")
        }
        var sources = SendSources(paths: items)
        sources.canLeaveOut = false
        _ = try CommandError.of { () throws(WaftError) in try sources.make() }
        return items.map { PathText.absolute($0) }
    }
}
