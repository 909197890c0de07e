import Control
import Desktop
import Endpoints
import Lines
import Settings
import Sharing

/// Whether logind lets Waft keep the machine awake during transfers.
struct AwakeCheck: DoctorCheck {
    let name = "awake"
    /// Asks logind.
    var probe: @Sendable () async -> WakeRefusal? = { await WakeRefusal.probe() }

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.settings.inhibitsSleep else { return [.ok("off (inhibitSleep in config.yaml)")] }
        // The receiver may run in another session, for which logind answers otherwise.
        if let fault = scene.status?.wakeFault { return [.warning(fault, hint: Self.hint)] }
        if let refusal = await probe() { return [.warning(refusal.words, hint: Self.hint)] }
        return [.ok("nothing keeps Waft from keeping the machine awake during transfers")]
    }

    private static let hint =
        "an active session at the machine may do it; for another one, allow org.freedesktop.login1.inhibit-block-sleep "
        + "and inhibit-block-idle in polkit; to do without: waft config set inhibitSleep false"
}
