import Control
import Glibc
import Lines
import Operations
import Protection
import Settings
import Sharing
import SystemCalls

/// Data protection for people.
enum ProtectionText {
    /// `waft protection`: a line for each fact.
    ///
    /// - Parameters:
    ///   - recipients: nil if it is not set up.
    ///   - report: nil if no receiver is running.
    static func lines(
        _ place: ProtectionPlace, _ recipients: ProtectionRecipients?, _ report: ProtectionReport?
    ) -> [String] {
        guard let recipients else {
            return ["not set up: what arrives is stored as it is; to seal it: waft protection set-up"]
        }
        let protection = report?.protection ?? place.protection.rawValue
        var rows = [("class", protection), ("state", state(report, isDropBox: recipients.isDropBox))]
        rows.append(("keys", keys(place, recipients)))
        if !recipients.isDropBox, !recipients.others.isEmpty {
            let count = recipients.others.count
            rows.append(("recovery", count == 1 ? "1 more key opens everything" : "\(count) more keys open everything"))
        }
        if let fault = report?.fault { rows.append(("fault", fault)) }
        return rows.map { label, value in
            label + String(repeating: " ", count: 10 - label.count) + TerminalText.escaped(value, limit: 4_096)
        }
    }

    private static func keys(_ place: ProtectionPlace, _ recipients: ProtectionRecipients) -> String {
        guard let own = recipients.own else {
            let count = recipients.others.count
            return "\(count == 1 ? "1 public key" : "\(count) public keys"); the private ones are not on this machine"
        }
        return own.keeper == .keyring
            ? "in the keyring of the desktop" : "a passphrase opens them: \(place.folder.identityPath)"
    }

    private static func state(_ report: ProtectionReport?, isDropBox: Bool) -> String {
        if isDropBox { return "a drop box: nothing can be opened here" }
        guard let report else { return "locked: no receiver is running" }
        if report.isUnlocked || report.isLocking == true { return state(report) }
        let rest = report.wasUnlocked ? "; items of the class untilFirstUnlock can be read" : ""
        return state(report) + rest + "; to unlock it: waft unlock"
    }

    /// `locked since 09:12; 3 items wait`
    static func state(_ report: ProtectionReport) -> String {
        StatusLine.protectionState(
            isDropBox: report.isDropBox, isLocking: report.isLocking == true, isUnlocked: report.isUnlocked,
            since: LineTime(milliseconds: report.since), waitingItems: report.waitingItems)
    }

    /// `unlocked; 3 items go to their handlers`
    static func unlocked(_ report: ProtectionReport) -> String {
        guard report.waitingItems > 0 else { return "unlocked" }
        return
            "unlocked; \(items(report.waitingItems)) \(report.waitingItems == 1 ? "goes to its handler" : "go to their handlers")"
    }

    /// `locked`
    static func locked(_ report: ProtectionReport) -> String {
        if report.isLocking == true { return "locking: nothing new is opened, and programs that read may end" }
        return report.wasUnlocked
            ? "locked, but for items of the class untilFirstUnlock; these too: waft lock --all" : "locked"
    }

    private static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

    // MARK: Set-up

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
