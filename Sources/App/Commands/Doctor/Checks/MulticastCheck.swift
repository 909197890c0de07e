import Discovery
import Endpoints
import Executors
import Settings
import Sharing

/// Whether mDNS passes this machine's own packet filters.
struct MulticastCheck: DoctorCheck {
    let name = "mdns"

    private static let listening: Duration = .milliseconds(1_200)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let links = scene.links
        guard scene.settings.discovery, !links.isEmpty else { return [] }
        let result = await BackgroundThread.run("waft-doctor") { () -> Result<Set<LocalLink>, DiscoveryError> in
            do throws(DiscoveryError) {
                return .success(try MulticastEcho.heard(on: links, within: Self.listening))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case nil: return []
        case .failure(let error):
            return [
                .problem(
                    "mDNS cannot be used: \(error.cause); another program has the port alone",
                    hint: "see which: ss -ulpn sport = :5353")
            ]
        case .success(let heard):
            return Self.findings(links, heard)
        }
    }

    static func findings(_ links: [LocalLink], _ heard: Set<LocalLink>) -> [DoctorFinding] {
        let silent = links.filter { !heard.contains($0) }.map(\.interface.name)
        let passed = links.filter(heard.contains).map(\.interface.name)
        let hint =
            "allow UDP port 5353 in the firewall, such as: ufw allow mdns; or firewall-cmd --add-service=mdns --permanent"
        var findings: [DoctorFinding] = []
        if !passed.isEmpty { findings.append(.ok("a question passes on \(passed.joined(separator: ", "))")) }
        if !silent.isEmpty {
            let words =
                "mDNS is blocked on \(silent.joined(separator: ", ")): this machine does not hear its own question"
            findings.append(passed.isEmpty ? .problem(words, hint: hint) : .warning(words, hint: hint))
        }
        return findings
    }
}
