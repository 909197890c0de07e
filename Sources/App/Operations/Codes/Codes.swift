import Contacts
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
        /// This side wants to remember the other machine, which is a contact now for a time; nil because its user does not
        /// want that.
        case remembered(PairedLine?)
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
    /// Machines that one code can be for.
    package static let peopleLimit = PairingOpening.peopleLimit
    /// How long a peer is looked for.
    static let finding: Duration = .seconds(10)

    /// The numbers with which codes begin.
    package static let numbers = SpokenCode.nameplates

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
        /// The transfer that this side or that machine sends.
        let transfer: TransferID
    }

    /// The code that this side shows.
    package struct Showing: Sendable {
        /// 2 or 3.
        var words: Int
        /// How long each code is good.
        var time: Duration
        /// How many machines may prove to know it, one after the other.
        var people: Int
        /// How long each of them is a contact afterwards, if its user wants that too.
        var remembering: Duration?

        /// - Parameter words: 2 or 3; nil for as many as it needs.
        /// - Throws: `WaftError` `usage`.
        package init(
            words: Int?, for time: Duration, people: Int = 1, remembering: Duration? = nil
        ) throws(WaftError) {
            let needed = people > 1 || remembering != nil ? Codes.wordCounts.upperBound : Codes.wordCounts.lowerBound
            (self.words, self.time, self.people, self.remembering) = (words ?? needed, time, people, remembering)
            guard Codes.wordCounts.contains(self.words) else { throw WaftError(.usage, "a code has 2 or 3 words") }
            guard (1...Codes.peopleLimit).contains(people) else {
                throw WaftError(.usage, "a code is for 1 to \(Codes.peopleLimit) people")
            }
            guard self.words >= needed else {
                throw WaftError(
                    .usage,
                    "two words are too few for several people, or to remember a machine by: leave out --code-words"
                )
            }
        }
    }

    /// Shows a code until so many machines have proved to know it.
    /// - Parameters:
    ///   - method: whether this side sends.
    ///   - meet: is called for each machine.
    /// - Throws: `WaftError`: `notRunning`, `declined` after too many wrong tries, `noAnswer` if a machine did not come,
    ///   `interrupted` if the task is cancelled.
    func show(
        _ showing: Showing, _ method: PairingOpening.Method, _ see: @escaping @Sendable (Step) -> Void,
        meet: (Guest) throws(WaftError) -> Void
    ) async throws(WaftError) {
        let isForSeveral = showing.people > 1
        let ownKey = isForSeveral ? try waft.ownID().short : nil
        var missing = showing.people
        for _ in 0...Self.renewals {
            let seconds = min(showing.time / .seconds(1), Self.longest)
            let opening = PairingOpening(
                method, words: showing.words, people: missing,
                remembering: showing.remembering.map { $0 / .seconds(1) },
                seconds: seconds)
            let reply = try await waft.receiver.ask(.pairing(.open(opening)))
            if case .refused(let reason) = reply {
                throw WaftError(
                    .declined, reason, hint: "a machine shows one code at a time: wait until that command ends")
            }
            let opened = try Self.standing(in: reply)
            see(
                .open(
                    PairingOpenLine(
                        seconds: seconds, code: opened.code, shownKey: opened.shownKey,
                        people: isForSeveral ? missing : nil, ownKey: ownKey)))
            let end = try await follow(opened) { (guest) throws(WaftError) in
                missing -= 1
                see(.met(guest.peer))
                if showing.remembering != nil { see(.remembered(guest.paired)) }
                try meet(try Self.guest(guest))
            }
            if end.phase == .met { return }
            let failure = end.failure ?? PairingEndError(.failed, "the receiver does not say why")
            guard end.address != nil else {
                guard missing < showing.people, failure == .nobodyCame else { throw WaftError(code: failure) }
                throw WaftError(
                    .noAnswer, "only \(showing.people - missing) of \(showing.people) typed the code in time")
            }
            see(.spent(CodeSpentLine(at: end.address, reason: failure.reason)))
        }
        throw WaftError(
            .declined, "not met: \(Self.renewals + 1) codes were tried in vain; somebody may be guessing")
    }

    private static func guest(_ guest: CodeGuest) throws(WaftError) -> Guest {
        guard let peer = guest.peer.peer.id.flatMap({ PeerID(text: $0) }), let transfer = TransferID(guest.transfer)
        else { throw .noAnswer }
        let place = guest.port.flatMap { port in
            guest.address.map { $0.contains(":") ? "[\($0)]:\(port)" : "\($0):\(port)" }
        }
        return Guest(peer: peer, place: place, transfer: transfer)
    }

    private static func standing(in reply: ControlReply) throws(WaftError) -> PairingProgress {
        switch reply {
        case .pairing(let standing): return standing
        case .refused(let reason): throw WaftError(.declined, reason)
        default: throw .noAnswer
        }
    }

    /// - Parameter meet: is called for each machine that has proved to know the code.
    /// - Returns: how it ended.
    private func follow(
        _ opened: PairingProgress, meet: (CodeGuest) throws(WaftError) -> Void
    ) async throws(WaftError) -> PairingProgress {
        var standing = opened
        do throws(WaftError) {
            while !Task.isCancelled {
                let request = PairingRequest.follow(ticket: opened.ticket, seen: standing.revision)
                let known = standing.guests.count
                standing = try Self.standing(in: try await waft.receiver.ask(.pairing(request)))
                for guest in standing.guests.dropFirst(known) { try meet(guest) }
                if standing.phase == .met || standing.phase == .failed { return standing }
            }
        } catch {
            guard Task.isCancelled else { throw error }
        }
        // Another task, which is not cancelled, still reaches the receiver.
        await Task { _ = try? await waft.receiver.ask(.pairing(.close(ticket: opened.ticket))) }.value
        throw WaftError.interrupted
    }

    // MARK: - At the side that has the code

    /// How a machine that shows a code is looked for.
    package struct Search: Sendable {
        let search: CodeInitiator.Search

        /// - Parameters:
        ///   - place: where it is; nil to look for it.
        ///   - key: the beginning of the key that it shows to those who ask; nil for any.
        ///   - triesAgain: whether a code that has failed here in the last hour is tried once more.
        ///   - time: how long it is a contact afterwards, if its user wants that too.
        /// - Throws: `WaftError` `usage` for a place that names no peer.
        package init(
            at place: String? = nil, showing key: String? = nil, triesAgain: Bool = false,
            remembering time: Duration? = nil
        ) throws(WaftError) {
            let place = try place.map { text throws(WaftError) in try PeerReference(typed: text) }
            search = CodeInitiator.Search(
                at: place, showing: key, within: Codes.finding, triesAgain: triesAgain, remembering: time)
        }
    }

    /// - Throws: `WaftError` `usage` for a code that is too short to remember a machine by.
    func check(_ typed: Typed, for search: Search) throws(WaftError) {
        guard search.search.remembering == nil || typed.code.words.count == Self.wordCounts.upperBound else {
            throw WaftError(
                .usage, "two words are too few to remember a machine by",
                hint: "let the other side say --remember too: its code has three words then")
        }
    }

    /// Tells of the machine that shows the code.
    func see(_ meeting: CodeInitiator.Meeting, _ search: Search, _ see: (Step) -> Void) {
        let shown = meeting.introduction
        see(
            .met(
                PairingPeerLine(
                    meeting.peer, named: shown.name, isContact: shown.isContact, warning: shown.warning)))
        guard search.search.remembering != nil else { return }
        see(.remembered(meeting.contact.map { PairedLine($0.id, contact: $0.name.text, until: $0.ends) }))
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
        codeFault = failure.fault
    }
}
