import Endpoints
import Lines
import Operations
import Sending
import Settings
import Sharing

/// `waft history --sent`: the transfers from here and their outcomes.
enum SentHistory {
    static func show(latest count: Int, json: Bool) throws(CommandError) {
        let context = try CommandContext.forgiving
        let (entries, people) = (context.home.sentLog.entries(latest: count), context.people)
        if entries.isEmpty, !json { return Console.shared.note("nothing was sent yet") }
        for entry in entries {
            Console.shared.result(
                json ? EventLine.transfer(SentFields(entry, people)).text : line(entry, people))
        }
    }

    /// One transfer; foreign text is escaped.
    static func line(_ entry: SentLog.Entry, _ people: Acquaintances) -> String {
        let time = JournalText.time(WallTime(milliseconds: entry.time))
        let first = entry.items.first.map { TerminalText.escaped($0.name) } ?? "nothing"
        let rest = entry.count > 1 ? " and \(entry.count - 1) more" : ""
        return "\(time)  \(first)\(rest) \(Glyph.arrow) \(entry.person(people).line): \(outcome(entry))"
    }

    private static func outcome(_ entry: SentLog.Entry) -> String {
        // The first fault is shown before the number of successes.
        let bad = entry.items.first { !["stored", "alreadyThere", "taken"].contains($0.state) }
        let moved = entry.moved > 0 ? ", \(ByteCount.text(entry.moved)) moved" : ""
        if entry.arrived == entry.count {
            let isOld = entry.items.allSatisfy { $0.state == "alreadyThere" }
            let isTaken = entry.items.contains { $0.state == "taken" }
            return (isTaken ? "the other side says it has it" : isOld ? "already there" : "stored") + moved
        }
        let reason = bad?.reason.map { ": \(TerminalText.escaped($0, limit: 200))" } ?? ""
        let state = bad.map { TerminalText.escaped(OutcomeWords.of($0.state), limit: 32) } ?? "not all stored"
        return entry.count == 1 ? state + reason : "\(entry.arrived) of \(entry.count) stored, \(state)\(reason)"
    }
}

extension SentLog.Entry {
    /// An older Waft wrote ids without check digits.
    var id: PeerID? { peer.flatMap { PeerID(text: $0) ?? PeerID(bareText: $0) } }

    /// Its receiver, as the user knows it now.
    func person(_ people: Acquaintances) -> Person {
        people.person(id ?? .unproven(DialectTable.known[dialect], seed: []), callingItself: name)
    }
}
