import Receiving

/// The programs of the installed handlers.
struct HandlersCheck: DoctorCheck {
    let name = "handlers"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        return SettingsJudge(home).handlerFaults(scene.settings).map {
            .problem($0, hint: "bring it back, or remove the handler; see: waft handlers")
        }
    }
}
