import Contacts
import Foundation
import Lines
import Operations
import Sending
import Sharing

/// Words of `waft send` that are no files, and are the names of peers: the failure says how a peer is named.
struct MistakenPeers {
    /// A person waits for the message.
    private static let looking: Duration = .seconds(1)

    let context: CommandContext
    /// Whether machines in view are looked for: if no peer is named otherwise.
    let searches: Bool

    /// - Parameters:
    ///   - failure: of the items.
    ///   - words: all of them.
    /// - Returns: the failure, with advice if one of the words names a contact, a remembered peer, or a machine in view.
    func explained(_ failure: CommandError, among words: [String]) async -> CommandError {
        guard failure.exit == .inputMissing else { return failure }
        let missing = words.prefix(Self.maximumWords).filter {
            $0 != "-" && !$0.contains("/") && !FileManager.default.fileExists(atPath: $0)
        }
        guard !missing.isEmpty, let (word, standing) = await named(missing) else { return failure }
        let (shown, typed) = (TerminalText.escaped(word, limit: 64), TerminalText.shellWord(word, limit: 64))
        return CommandError(
            failure.exit, "\(shown) is no file here, but \(standing): write \(typed): or --to \(typed)")
    }

    /// Words that are looked at: a mistyped name stands beside few files.
    private static let maximumWords = 8

    private func named(_ words: [String]) async -> (word: String, standing: String)? {
        let people = context.people
        for word in words where people.isContact(named: word) {
            return (word, "a contact")
        }
        for word in words where (try? context.home.rememberedPeers.peer(named: word)) != nil {
            return (word, "a machine that is remembered")
        }
        guard searches, let peers = try? SharePeers(context.waft) else { return nil }
        for await case .found(let peer) in peers.events(for: Self.looking) {
            guard peer.person.introduction.claims == nil else { continue }
            if let word = words.first(where: { peer.person.isNamed($0) }) {
                return (word, "a machine in view")
            }
        }
        return nil
    }
}
