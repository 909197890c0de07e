import Contacts
import Control
import Endpoints
import Lines
import Settings
import Sharing

/// Which machines may see this one.
struct VisibilityCheck: DoctorCheck {
    let name = "visibility"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        let stored = VisibilityFile(path: home.visibilityPath).visibility
        let visibility = scene.status.flatMap { Visibility(rawValue: $0.visibility) } ?? stored
        let everyone = "for a while: waft visible everyone --for 10m"
        switch visibility {
        case .off:
            return [
                .problem(
                    "off: no machine can see this one or send to it",
                    hint: "waft visible contacts; or \(everyone)")
            ]
        case .contacts:
            guard let count = try? home.contactBook().snapshot().contacts.count else {
                return [.problem("contacts: but the contacts cannot be read", hint: "see: waft contacts")]
            }
            if count == 0 {
                return [
                    .warning(
                        "contacts: and there is none, so nobody can send to this machine",
                        hint: "\(everyone); for good: waft pair --accept here, waft pair NAME there")
                ]
            }
            return [.ok("contacts (\(count))")]
        case .everyone: return [.ok("everyone")]
        }
    }
}
