import Foundation
import Lines
import Sharing

extension LockLine: WordedLine {
    var words: [String] { [unlocked ? unlockedWords : lockedWords] }

    /// `locked since 09:12; 3 items wait`
    var state: String {
        if isDropBox { return "a drop box: nothing can be opened here" }
        let word = locking == true ? "locking" : unlocked ? "unlocked" : "locked"
        let since = protectionSince.map { " since \(Self.moment($0))" } ?? ""
        let count = waitingItems ?? 0
        let waiting = count == 0 ? "" : "; \(Self.items(count)) \(count == 1 ? "waits" : "wait")"
        return word + since + waiting
    }

    /// The line of `waft status`; nil if data protection is not in use.
    var statusLine: String? {
        guard isSetUp || protection != ProtectionClass.none.rawValue else { return nil }
        return [protection, state, protectionFault].compactMap(\.self).joined(separator: ", ")
    }

    /// `unlocked; 3 items go to their handlers`
    var unlockedWords: String {
        guard let waitingItems, waitingItems > 0 else { return "unlocked" }
        let go = waitingItems == 1 ? "goes to its handler" : "go to their handlers"
        return "unlocked; \(Self.items(waitingItems)) \(go)"
    }

    private var lockedWords: String {
        if locking == true { return "locking: nothing new is opened, and programs that read may end" }
        return unlockedOnce
            ? "locked, but for items of the class untilFirstUnlock; these too: waft lock --all" : "locked"
    }

    private static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

    /// `09:12`, or with the day if that is another one.
    private static func moment(_ time: LineTime) -> String {
        let date = time.date
        let format = Date.ISO8601FormatStyle(timeZone: .current).time(includingFractionalSeconds: false)
        let clock = String(date.formatted(format).prefix(5))
        if Calendar.current.isDateInToday(date) { return clock }
        return date.formatted(Date.ISO8601FormatStyle(timeZone: .current).year().month().day()) + " " + clock
    }
}

extension ProtectionLine: WordedLine {
    /// A line for each fact.
    var words: [String] {
        guard setUp else {
            return ["not set up: what arrives is stored as it is; to seal it: waft protection set-up"]
        }
        var rows = [("class", lock.protection), ("state", state), ("keys", keys)]
        let count = recoveryRecipients.count
        if !dropBox, count > 0 {
            rows.append(("recovery", count == 1 ? "1 more key opens everything" : "\(count) more keys open everything"))
        }
        if let fault = lock.protectionFault { rows.append(("fault", fault)) }
        return rows.map { label, value in
            label + String(repeating: " ", count: 10 - label.count) + TerminalText.escaped(value, limit: 4_096)
        }
    }

    private var keys: String {
        guard !dropBox else {
            let count = recoveryRecipients.count
            return "\(count == 1 ? "1 public key" : "\(count) public keys"); the private ones are not on this machine"
        }
        return passphraseFile.map { "a passphrase opens them: \($0)" } ?? "in the keyring of the desktop"
    }

    private var state: String {
        if dropBox { return "a drop box: nothing can be opened here" }
        guard daemon else { return "locked: no receiver is running" }
        if lock.unlocked || lock.locking == true { return lock.state }
        let rest = lock.unlockedOnce ? "; items of the class untilFirstUnlock can be read" : ""
        return lock.state + rest + "; to unlock it: waft unlock"
    }

    /// The meaning of a class, after a set-up.
    static func meaning(of protection: ProtectionClass) -> String {
        switch protection {
        case .none: "What arrives is stored as it is."
        case .untilFirstUnlock:
            "What arrives from now on is sealed on the disk. It can be read after the first unlock, until the receiver ends."
        case .unlessOpen:
            "What arrives from now on is sealed on the disk. While locked it can be received, and not be read."
        case .complete:
            "What arrives from now on is sealed on the disk. While locked nothing can be received, and nothing be read."
        }
    }

    static let notHidden =
        "Not hidden: that something came, when and from whom; its name, its type, its size. What is in the Inbox already "
        + "stays as it is."
}

extension ProtectionExportLine: WordedLine {
    var words: [String] {
        let privateKeys =
            identityPath
            ?? (openCommand == nil
                ? "not on this machine, which is a drop box" : "in the keyring of the desktop, as org.waft.Protection")
        let rows = [("public keys", recipientsPath), ("private keys", privateKeys)]
        return (rows + (openCommand.map { [("to read", $0)] } ?? [])).map { label, value in
            label + String(repeating: " ", count: 14 - label.count) + TerminalText.escaped(value, limit: 4_096)
        }
    }
}
