import HandlerCatalog
import HookSandbox

/// Permissions of a handler in its sandbox: rows for people, one JSON object for programs.
struct HandlerPermissions: Encodable {
    /// Absolute paths that it may read besides the system's folders, its bundle, the Inbox and `writes`.
    var reads: [String]
    /// Absolute paths that it may write besides the temporary folder of each call; the data folder is the first.
    var writes: [String]
    var network: Bool
    /// Whether it may connect to Unix sockets.
    var sockets: Bool
    /// Names of variables of the receiver's environment that its bundle names.
    var environment: [String]
    /// Whether it may signal processes that it did not start.
    var signals = false
    /// Describes which of these rules the kernel can enforce.
    var kernel: String

    private let dataFolder: String?

    private enum CodingKeys: String, CodingKey {
        case reads, writes, network, sockets, environment, signals, kernel
    }

    /// - Returns: nil for a handler without a sandbox, and for a built-in one.
    init?(_ bundle: HandlerBundle, _ support: HookSandbox.Support) {
        let rules = bundle.launch
        guard bundle.executable != nil, rules.sandbox == .strict else { return nil }
        dataFolder = bundle.dataFolder
        reads = rules.readablePaths
        writes = [bundle.dataFolder].compactMap(\.self) + rules.writablePaths
        network = rules.allowsNetwork
        sockets = rules.allowsSockets
        environment = rules.environment
        kernel = support.description
    }

    /// Rows for a table; the values are escaped.
    var rows: [(label: String, values: [String])] {
        let paths = writes.filter { $0 != dataFolder }
        var rows: [(label: String, values: [String])] = [
            (
                "reads",
                ["the system's folders, its bundle, the Inbox, and the folders it writes to"]
                    + reads.map(HandlerText.path)
            ),
            (
                "writes",
                [dataFolder.map { "its data folder \(HandlerText.path($0))" }, "a temporary folder for each call"]
                    .compactMap(\.self) + paths.map(HandlerText.path)
            ),
            ("Inbox", ["deletes items and moves them out; changes none"]),
            ("network", [network ? "yes" : "no"]),
            ("sockets", [sockets ? "yes: it can connect to your other programs by Unix sockets" : "no"]),
        ]
        if !environment.isEmpty {
            rows.append(("variables", ["\(environment.joined(separator: ", ")) of the receiver's environment"]))
        }
        rows += [
            ("signals", ["only to its own processes"]),
            ("kernel", [TerminalText.escaped(kernel, limit: 400)]),
        ]
        return rows
    }
}
