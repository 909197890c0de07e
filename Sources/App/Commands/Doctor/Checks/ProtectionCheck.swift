import Control
import Lines
import Operations
import Settings
import Sharing

/// Whether what arrives is sealed. A remark: neither answer is a fault.
struct ProtectionCheck: DoctorCheck {
    let name = "protection"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        guard ProtectionSuggestion.isSetUp(home) else {
            return [.ok("not set up: " + ProtectionSuggestion.lines.joined(separator: "; "))]
        }
        return [.ok(scene.status?.protectionWords ?? "set up")]
    }
}
