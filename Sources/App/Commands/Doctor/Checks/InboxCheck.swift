import Control
import Endpoints
import Glibc
import Inbox
import Journal
import Lines
import Settings
import Sharing
import SystemCalls

/// The folder of the Inbox: whether it is the known one, and can be written.
struct InboxCheck: DoctorCheck {
    let name = "inbox"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard let home = scene.home else { return [] }
        do {
            try home.checkInboxTrust()
        } catch {
            return [.problem(error.description, hint: "nothing is stored where others could change it")]
        }
        let known =
            scene.isTrusted ? try? JournalReader(folder: home.state, dialects: .known).knownInbox(at: home.inbox) : nil
        if let known, InboxLook.isAnother(at: home.inbox, than: known) {
            return [
                .problem(
                    "\(home.inbox) is not the Inbox that was there before; is its disk mounted?",
                    hint: "mount the disk; or, to use the folder that is there now: waft inbox adopt")
            ]
        }
        // Waft works in the folder above the Inbox too, and makes missing folders.
        for path in [home.inbox, SmallFile.folder(of: home.inbox)] where access(path, F_OK) == 0 {
            if let fault = InboxLook.writeFault(at: path) {
                return [
                    .problem(
                        "\(path) cannot be written: \(fault)",
                        hint: fault.number == EROFS
                            ? "mount its disk for writing; a fault of the disk may have made it read-only: see dmesg"
                            : "give yourself the right: chmod u+rwx \(ShellWord.quoted(path))")
                ]
            }
        }
        if let fault = scene.status?.inboxFault {
            return [.problem("the receiver cannot use \(home.inbox): \(fault)", hint: "see: waft status")]
        }
        return [Self.finding(DiskAbilities.ofInbox(at: home.inbox), inbox: home.inbox)]
    }

    /// One line: the abilities that the disk of the Inbox lacks, and the consequences.
    static func finding(_ abilities: DiskAbilities, inbox: String) -> DoctorFinding {
        let remarks = abilities.remarks
        guard !abilities.refusing.isEmpty else {
            return .ok(inbox + (remarks.isEmpty ? "" : "; its disk " + remarks.joined(separator: ", ")))
        }
        let lacks = abilities.refusing.joined(separator: ", ")
        return .warning(
            "the disk of \(inbox) \(lacks): what needs that is refused"
                + (remarks.isEmpty ? "" : "; it " + remarks.joined(separator: ", ")),
            hint: "let senders rename such items or pack them (zip, tar), or have the Inbox on another disk")
    }
}
