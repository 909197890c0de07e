import Discovery
import Endpoints
import Settings
import Sharing

/// The network interfaces on which this machine is announced.
struct InterfacesCheck: DoctorCheck {
    let name = "network"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let links = LocalLink.current(port: Endpoints.defaultPort)
        return [Self.finding(links, unplugged: LocalLink.unplugged().map(\.name), scene.settings)]
    }

    /// - Parameter unplugged: names of the interfaces that lack a carrier alone.
    static func finding(_ links: [LocalLink], unplugged: [String] = [], _ settings: Settings) -> DoctorFinding {
        guard settings.discovery else {
            return .warning(
                "discovery is off: other machines reach this one by its address only",
                hint: "set discovery to true in config.yaml, and unset WAFT_DISCOVERY")
        }
        let out = unplugged.filter { !settings.denied.contains($0) }.joined(separator: ", ")
        guard !links.isEmpty || !out.isEmpty else {
            return .problem(
                "no network interface is up that can multicast", hint: "connect this machine to a network; see: ip link"
            )
        }
        let (skipped, used) = (
            links.filter { settings.denied.contains($0.interface.name) },
            links.filter { !settings.denied.contains($0.interface.name) }
        )
        let names = { (links: [LocalLink]) in links.map(\.interface.name).joined(separator: ", ") }
        let patterns = settings.skipInterfaces.joined(separator: ", ")
        guard !used.isEmpty || out.isEmpty else {
            return .problem(
                "no carrier on \(out)", hint: "plug in the cable, or join a Wi-Fi network; see: ip link")
        }
        guard !used.isEmpty else {
            return .problem(
                "no network interface is left: skipInterfaces (\(patterns)) leaves out \(names(skipped))",
                hint: "take the interface of your network out of skipInterfaces")
        }
        let addressed = used.filter { !$0.addresses.isEmpty }
        guard !addressed.isEmpty else {
            return .problem("no address on \(names(used))", hint: "see: ip address; does DHCP work?")
        }
        let without = [
            out.isEmpty ? "" : ", without \(out) (no carrier)",
            skipped.isEmpty ? "" : ", without \(names(skipped)) (skipInterfaces)",
        ]
        return .ok(names(addressed) + without.joined())
    }
}

extension DoctorScene {
    /// The links that discovery uses.
    var links: [LocalLink] {
        LocalLink.current(port: Endpoints.defaultPort).filter {
            !settings.denied.contains($0.interface.name) && !$0.addresses.isEmpty
        }
    }
}
