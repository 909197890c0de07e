import Control
package import Lines
import Pairing
import Sending
import Settings
package import Sharing

extension Waft {
    /// Transfers by spoken codes.
    package var codes: Codes { Codes(waft: self) }
}

/// Transfers by spoken codes: one machine shows a code, the other one gets it from a person, and neither needs to know the
/// other before or after.
package struct Codes: Sendable {
    /// A step at either side.
    package enum Step: Sendable {
        /// This side shows a code.
        case open(PairingOpenLine)
        /// It is spent by a machine that did not know it; another one follows.
        case spent(CodeSpentLine)
        /// The code was right on both sides.
        case met(PairingPeerLine)
        /// Something is happening with the transfer at the receiver.
        case moved(ArrivingLine)
        case arrived(ArrivalLine)
        case ended(ArrivedLine)
    }

    let waft: Waft

    /// Seconds for which a code is good at the most.
    package static let longest = 600.0
    /// Codes that one command shows at the most: each wrong try is a guess.
    static let renewals = 5
    /// How long a peer is looked for.
    static let finding: Duration = .seconds(10)

    /// How many words a code can have.
    package static let wordCounts = SpokenCode.wordCounts

    /// The words of codes that begin so.
    package static func words(beginningWith text: String) -> [String] { SpokenCode.completions(of: text) }

    /// A code that a person has typed.
    package struct Typed: Sendable {
        let code: SpokenCode

        /// In its normal form, with whole words.
        package var text: String { code.text }
    }

    /// - Throws: `WaftError` `usage` for a text that is no code. Nothing is spent by that.
    package static func typed(_ text: String) throws(WaftError) -> Typed {
        do {
            return Typed(code: try SpokenCode(text: text))
        } catch {
            switch error {
            case .form: throw WaftError(.usage, "a code is a number and two or three words, as 7-pumpkin-sausage")
            case .unknownWord(let word, let near):
                throw WaftError(
                    .usage, "\(word) is no word of a code", hint: near.map { "did you mean \($0)?" })
            }
        }
    }

    // MARK: - At the side that shows the code

    /// A machine that has proved to know the code.
    package struct Guest: Sendable {
        package let peer: PeerID
        /// `host:port`, at which it takes the transfer; nil if it sends.
        package let place: String?
        /// The transfer that it sends.
        let transfer: TransferID?
    }

    /// Shows a code until a machine proves to know it.
    /// - Parameters:
    ///   - transfer: the one that this side sends; nil if it receives.
    ///   - words: how many the code has, 2 or 3.
    ///   - time: how long each code is good.
    /// - Throws: `WaftError`: `notRunning`, `declined` after too many wrong tries, `noAnswer` if no peer came,
    ///   `interrupted` if the task is cancelled.
    func show(
        sending transfer: TransferID?, words: Int, for time: Duration, _ see: @escaping @Sendable (Step) -> Void
    ) async throws(WaftError) -> Guest {
        for renewal in 0...Self.renewals {
            let seconds = min(time / .seconds(1), Self.longest)
            let opening = PairingOpening(words: words, transfer: transfer?.text, seconds: seconds)
            let opened = try Self.standing(in: try await waft.receiver.ask(.pairing(.open(opening))))
            see(.open(PairingOpenLine(seconds: seconds, code: opened.code, shownKey: opened.shownKey)))
            let end = try await follow(opened)
            switch end.phase {
            case .met:
                if let peer = end.peer { see(.met(peer)) }
                return try Self.guest(end)
            default:
                let failure = end.failure ?? PairingEndError(.failed, "the receiver does not say why")
                guard failure.code != .noAnswer, end.address != nil else { throw WaftError(code: failure) }
                see(.spent(CodeSpentLine(at: end.address, reason: failure.reason)))
                guard renewal < Self.renewals else {
                    throw WaftError(
                        .declined, "not met: \(renewal + 1) codes were tried in vain; somebody may be guessing")
                }
            }
        }
        throw WaftError(.declined, "not met")
    }

    private static func guest(_ end: PairingProgress) throws(WaftError) -> Guest {
        guard let peer = end.peer.flatMap({ $0.peer.id }).flatMap({ PeerID(text: $0) }) else { throw .noAnswer }
        let place = end.port.flatMap { port in
            end.address.map { $0.contains(":") ? "[\($0)]:\(port)" : "\($0):\(port)" }
        }
        return Guest(peer: peer, place: place, transfer: end.transfer.flatMap { TransferID($0) })
    }

    private static func standing(in reply: ControlReply) throws(WaftError) -> PairingProgress {
        switch reply {
        case .pairing(let standing): return standing
        case .refused(let reason): throw WaftError(.declined, reason)
        default: throw .noAnswer
        }
    }

    /// - Returns: how it ended.
    private func follow(_ opened: PairingProgress) async throws(WaftError) -> PairingProgress {
        var standing = opened
        do throws(WaftError) {
            while !Task.isCancelled {
                let request = PairingRequest.follow(ticket: opened.ticket, seen: standing.revision)
                standing = try Self.standing(in: try await waft.receiver.ask(.pairing(request)))
                if standing.phase == .met || standing.phase == .failed { return standing }
            }
        } catch {
            guard Task.isCancelled else { throw error }
        }
        // Another task, which is not cancelled, still reaches the receiver.
        await Task { _ = try? await waft.receiver.ask(.pairing(.close(ticket: opened.ticket))) }.value
        throw WaftError(.interrupted, "interrupted")
    }

    // MARK: - At the side that has the code

    /// How a machine that shows a code is looked for.
    package struct Search: Sendable {
        let search: CodeInitiator.Search

        /// - Parameters:
        ///   - place: where it is; nil to look for it.
        ///   - key: the beginning of the key that it shows to those who ask; nil for any.
        ///   - triesAgain: whether a code that has failed here in the last hour is tried once more.
        /// - Throws: `WaftError` `usage` for a place that names no peer.
        package init(at place: String? = nil, showing key: String? = nil, triesAgain: Bool = false) throws(WaftError) {
            let place = try place.map { text throws(WaftError) in try PeerReference(typed: text) }
            search = CodeInitiator.Search(at: place, showing: key, within: Codes.finding, triesAgain: triesAgain)
        }
    }

    func initiator() throws(WaftError) -> CodeInitiator {
        CodeInitiator(
            own: try waft.ownID(), finder: try waft.finder(), contacts: waft.home.contactBook(),
            ownName: waft.settings.name, failed: waft.home.failedCodes)
    }
}

extension WaftError {
    init(code end: PairingEndError) {
        self.init(end.exit, end == .nobodyCame ? "nobody typed the code in time" : end.reason)
    }

    init(code failure: PairingStartError) {
        switch failure.code {
        case .notFound:
            self.init(
                .peerNotFound, failure.reason,
                hint: "is the command still running there? Where mDNS does not work: --at HOST")
        case .ambiguous: self.init(.usage, failure.reason)
        case .ended(let code): self.init(code: PairingEndError(code, failure.reason))
        }
    }
}
