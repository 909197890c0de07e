import DBusClient
import Desktop
import Endpoints
import Settings
import Sharing

/// The program that shows notifications on the desktop.
struct NotificationCheck: DoctorCheck {
    let name = "notifications"

    private static let answering: Duration = .seconds(2)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.settings.notifications != .off else { return [.ok("off (notifications in config.yaml)")] }
        guard DesktopSession.hasDisplay(scene.environment) else {
            return [.ok("no desktop here: offers are answered by waft offers, waft accept N")]
        }
        let hint = "offers are answered by: waft offers, waft accept N; to have none: notifications: false"
        guard let address = BusAddress.session(scene.environment) else {
            return [.warning("no session bus is known, so offers are not shown on the desktop", hint: hint)]
        }
        do {
            let bus = try await BusClient.connect(
                to: address, limits: BusLimits(messageBytes: 65_536), timeout: Self.answering)
            if try await bus.isOwned("org.freedesktop.Notifications", timeout: Self.answering) {
                return [.ok("a notification service runs")]
            }
            return [
                .warning(
                    "no notification service runs, so offers are not shown on the desktop",
                    hint: "install and start one, such as dunst or mako; \(hint)")
            ]
        } catch {
            return [.warning("the session bus cannot be reached: \(error)", hint: hint)]
        }
    }
}
