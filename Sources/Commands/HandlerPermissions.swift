import HandlerCatalog
import HookSandbox

/// What a handler may do in its sandbox: one table for people, one object for programs.
struct HandlerPermissions: Encodable {
    /// Absolute paths that it may read besides the system's folders, its bundle, the Inbox and where it writes.
    var reads: [String]
    /// Absolute paths that it may write besides the temporary folder of each call, its data folder among them.
    var writes: [String]
    var network: Bool
    /// Unix sockets.
    var sockets: Bool
    /// Whether it may signal processes that it did not start.
    var signals = false
    /// What the kernel enforces, and what it does not.
    var kernel: String

    private let dataFolder: String?

    private enum CodingKeys: String, CodingKey {
        case reads, writes, network, sockets, signals, kernel
    }

    /// - Returns: nil for one without a sandbox, and for what is built in.
    init?(_ bundle: HandlerBundle, _ support: HookSandbox.Support) {
        let rules = bundle.launch
        guard bundle.executable != nil, rules.sandbox == .strict else { return nil }
        dataFolder = bundle.dataFolder
        reads = rules.readablePaths
        writes = [bundle.dataFolder].compactMap(\.self) + rules.writablePaths
        network = rules.allowsNetwork
        sockets = rules.allowsSockets
        kernel = support.description
    }

    /// Escaped.
    var rows: [(label: String, values: [String])] {
        let paths = writes.filter { $0 != dataFolder }
        return [
            ("reads", ["the system's folders, its bundle, the Inbox, where it writes"] + reads.map(HandlerText.path)),
            (
                "writes",
                [dataFolder.map { "its data folder \(HandlerText.path($0))" }, "a temporary folder of each call"]
                    .compactMap(\.self) + paths.map(HandlerText.path)
            ),
            ("Inbox", ["removes and moves out what is there; changes nothing"]),
            ("network", [network ? "yes" : "no"]),
            ("sockets", [sockets ? "yes: it can ask other programs of yours, by Unix sockets" : "no"]),
            ("signals", ["to its own processes alone"]),
            ("kernel", [TerminalText.escaped(kernel, limit: 400)]),
        ]
    }
}
