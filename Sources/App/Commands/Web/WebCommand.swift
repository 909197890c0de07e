import ArgumentParser
import Contacts
import Control
import Lines
import Operations
import Sharing

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
        let rendering = PageRendering(json: output.json, showsCode: !noQR, byPIN: pin)
        try await PageHost(opening: opening, rendering: rendering).run()
    }

    private func opening() throws(CommandError) -> PageOpening {
        var opening = PageOpening()
        (opening.takes, opening.isOnce, opening.isPlain) = (receive, once, plain)
        guard receive || !items.isEmpty else {
            throw CommandError(.usage, "with --no-receive there is nothing on the page", hint: "name files to fetch")
        }
        if let duration {
            do throws(ContactError) {
                opening.seconds = try DurationText.read(duration) / .seconds(1)
            } catch {
                throw CommandError(error, at: "--for")
            }
        }
        opening.items = try paths()
        return opening
    }

    /// Absolute: the receiver has another working folder.
    private func paths() throws(CommandError) -> [String] {
        guard !items.isEmpty else { return [] }
        guard items.count <= PageHost.maximumItems else {
            throw CommandError(
                .usage, "\(items.count) items are too many: a page has at most \(PageHost.maximumItems)",
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
