import Foundation

/// The service as systemd sees it.
struct ServiceStanding: Sendable {
    private let properties: [String: String]
    let scope: ServiceScope
    /// Whether the user's services go on when the user has logged out; nil if that is not known.
    let lingers: Bool?

    private static let asked = [
        "LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "StatusText", "MainPID", "NRestarts",
        "Result",
    ]

    static func read(_ scope: ServiceScope) async -> ServiceStanding {
        let wanted = "--property=" + asked.joined(separator: ",")
        let shown = await Systemctl(scope: scope).call("show", ServiceUnits.service, wanted)
        var properties: [String: String] = [:]
        for line in shown.output.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { properties[String(parts[0])] = String(parts[1]) }
        }
        var lingers: Bool?
        if scope == .user {
            let answer = await Systemctl.run("loginctl", ["show-user", "\(getuid())", "--property=Linger", "--value"])
            lingers = answer.isDone ? answer.output.hasPrefix("yes") : nil
        }
        return ServiceStanding(properties: properties, scope: scope, lingers: lingers)
    }

    private func text(_ name: String) -> String? { properties[name].flatMap { $0.isEmpty ? nil : $0 } }

    var isKnown: Bool { text("LoadState") == "loaded" }
    var isActive: Bool { ["active", "reloading"].contains(text("ActiveState") ?? "") }
    var startsByItself: Bool { ["enabled", "enabled-runtime"].contains(text("UnitFileState") ?? "") }
    /// The file of the unit.
    var path: String? { text("FragmentPath") }
    /// The line that waftd shows.
    var statusLine: String? { text("StatusText") }
    var processID: Int? { text("MainPID").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil } }
    var restarts: Int? { text("NRestarts").flatMap(Int.init) }

    /// The state in one word, with the reason of a failure.
    var state: String {
        guard isKnown else { return "not installed" }
        let (active, result) = (text("ActiveState") ?? "unknown", text("Result") ?? "success")
        return active == "failed" || result != "success" ? "\(active) (\(result))" : active
    }

    struct Fields: Encodable {
        var system: Bool
        var state: String
        var startsByItself: Bool
        var units: [String]?
        var statusLine: String?
        var processID: Int?
        var restarts: Int?
        var lingers: Bool?
    }

    /// - Parameter units: paths of files that a command has written or removed.
    func fields(units: [String]? = nil) -> Fields {
        Fields(
            system: scope == .system, state: state, startsByItself: startsByItself,
            units: units ?? path.map { [$0] }, statusLine: statusLine, processID: processID, restarts: restarts,
            lingers: lingers)
    }
}
