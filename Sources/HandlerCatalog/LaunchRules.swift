/// How a handler is to be run: the `Waft…` keys of its bundle.
package struct LaunchRules: Hashable, Sendable {
    /// When it is started (`WaftLaunch`).
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Once for each item.
        case perItem
        /// Once for all items of a transfer.
        case perTransfer
        /// Once; it stays, and is told of one item a line.
        case resident
    }

    /// A question that it wants to be asked before the first URL (`WaftLaunchCalls`).
    package enum Call: String, Hashable, Sendable, CaseIterable {
        case willFinishLaunching = "will-finish-launching"
        case didFinishLaunching = "did-finish-launching"
    }

    /// What it may do (`WaftSandbox`).
    package enum Sandbox: String, Hashable, Sendable, CaseIterable {
        case strict
        case none
    }

    package var mode: Mode
    package var calls: Set<Call>
    package var sandbox: Sandbox
    /// Where it may write besides its own folder (`WaftWritablePaths`): absolute, `~/` resolved.
    package var writablePaths: [String]
    /// After how long it is ended (`WaftTimeout`, in seconds), more than 0; nil where the bundle leaves that open.
    package var timeout: Duration?

    package init(
        mode: Mode = .perItem,
        calls: Set<Call> = [],
        sandbox: Sandbox = .strict,
        writablePaths: [String] = [],
        timeout: Duration? = nil
    ) {
        self.mode = mode
        self.calls = calls
        self.sandbox = sandbox
        self.writablePaths = writablePaths
        self.timeout = timeout
    }
}
