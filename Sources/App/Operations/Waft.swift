import Control
import Discovery
import Endpoints
import Executors
import Glibc
import HookSandbox
package import Journal
import Lines
package import Logging
package import Settings
package import Sharing

/// The actions of a user, by nouns: `waft.outbox.cancel(3)`. Nothing here prints or reads the words of a command line. A
/// face does both.
package struct Waft: Sendable {
    package let home: Home
    /// The settings; a receiver changes them while it runs.
    package let live: LiveSettings
    package let logger: Logger
    /// The receiver of the home, which may be running.
    package let receiver: ReceiverConnection

    /// Why the settings are not all of them the user's; nil if they are. A face may go on without them, but not call a
    /// handler: that may have to have a sandbox.
    package var settingsFault: WaftError?

    /// While a receiver writes it, and when none is running.
    package let journal: JournalReader
    /// Bytes that a sender has sent in a day.
    var amounts: any AmountReading

    /// Hears of problems beside the result of a call: one line each, not escaped.
    package var warn: @Sendable (String) -> Void = { _ in }
    var now: @Sendable () -> WallTime = { .now }

    /// Operations read and write the disk inline. A face whose threads have other work lets its calls prefer this executor.
    package static let executor = makeExecutor(threads: 16)

    /// An executor for calls that can wait for something else than the disk.
    package static func makeExecutor(threads: Int) -> any TaskExecutor { BlockingExecutor(threads: threads) }

    package init(_ home: Home, _ live: LiveSettings, logger: Logger) {
        (self.home, self.live, self.logger) = (home, live, logger)
        journal = JournalReader(folder: home.state, dialects: .known)
        amounts = journal
        receiver = ReceiverConnection(home)
    }

    /// With the settings of a user, for a face that logs nothing.
    /// - Parameter environment: names the home, and overrides settings of its file.
    /// - Throws: `WaftError` `usage` if there is no home, if another user could change it, or if a setting is invalid.
    package init(environment: [String: String]) throws(WaftError) {
        do {
            let home = try Home(environment: environment)
            try home.checkTrust()
            var settings = Settings(hostName: Self.hostName)
            try settings.read(fileOf: home)
            try settings.read(environment: environment)
            self.init(home, LiveSettings(settings), logger: Logger(label: "waft") { _ in SwiftLogNoOpLogHandler() })
        } catch {
            throw WaftError(.usage, "\(error)")
        }
    }

    package var settings: Settings { live.current }

    /// The peers that the user knows.
    package var people: KnownPeers { KnownPeers(home.contactBook()) }

    /// The id of this peer. Makes its key if there is none. Blocks on the disk.
    /// - Throws: `WaftError` for a key that cannot be read or made.
    func ownID() throws(WaftError) -> PeerID {
        do {
            try home.makeFolders()
            return try home.ownID()
        } catch {
            throw WaftError(.unexpected, "\(error)")
        }
    }

    /// Lets the running receiver see that contacts or visibility have changed. One that starts later reads everything.
    /// - Returns: whether one is running.
    @discardableResult
    func lookAgain() async -> Bool { await tell(.lookAgain) }

    /// Tells the running receiver of a change. One that starts later reads everything at its start.
    /// - Returns: whether one is running.
    @discardableResult
    func tell(_ change: ControlRequest) async -> Bool {
        do throws(WaftError) {
            return try await receiver.askIfRunning(change) != nil
        } catch {
            warn("the running receiver may not know of the change: \(error.reason)")
            return true
        }
    }

    /// The dialects that this program speaks.
    package static let dialects = DialectTable.known

    /// Whether this machine is in a network that the settings allow.
    package var isInNetwork: Bool { NetworkPresence.isAny(besides: settings.denied) }

    /// Whether a handler or a receiver has started this process. False if its descent is unknown: the receiver still checks
    /// its caller.
    package static var isBelowHandler: Bool { [.handler, .receiver].contains(ProcessDescent.of(getpid())) }
}

extension Settings {
    /// Reads the settings that the file of a home sets.
    /// - Throws: `InvalidError` with all faults of the file.
    package mutating func read(fileOf home: Home) throws(InvalidError) {
        try read(file: home.configurationFile, dialects: .known, registry: home.typeRegistry())
    }
}
