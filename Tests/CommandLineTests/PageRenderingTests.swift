import Lines
import Testing

@testable import CommandLine

@Suite("The page for guests at the terminal")
struct PageRenderingTests {
    private func lines(_ authorities: [String], network: String? = nil, byPIN: Bool = false) -> [String] {
        var page = PageProgress(ticket: 1, isPlain: false, takes: true, items: [], isStanding: false)
        (page.authorities, page.path, page.pin) = (authorities, "/g/secret", "123456")
        return PageRendering(output: OutputOptions(json: false), showsCode: true, byPIN: byPIN, network: { network })
            .way(to: page)
    }

    @Test("guests get a code for an address that they reach")
    func reachable() {
        let lines = lines(["10.0.0.1:7443", "[fd00::2]:7443"])
        #expect(lines.first == "It is also at  https://[fd00::2]:7443/")
        #expect(lines.count > 10, "there is no code")
        #expect(
            lines.suffix(2) == [
                "Guests scan the code, or open  https://10.0.0.1:7443/g/secret",
                "or type  https://10.0.0.1:7443/  and the PIN  123 456",
            ])
    }

    @Test("nobody gets a code for an address of loopback, and the user reads why")
    func unreachable() {
        let cable = "this machine is in no network; see: waft doctor"
        #expect(
            lines(["127.0.0.1:7443", "[::1]:7443"], network: cable) == [
                "No other machine can reach this page now: this machine is in no network; see: waft doctor.",
                "The address for guests follows here when there is one.",
                "On this machine open  https://127.0.0.1:7443/g/secret",
                "or type  https://127.0.0.1:7443/  and the PIN  123 456",
            ])
        #expect(
            lines(["127.0.0.1:7443"], byPIN: true) == [
                "No other machine can reach this page now: its addresses are link-local ones of IPv6, which browsers "
                    + "do not take; join a network that gives others.",
                "The address for guests follows here when there is one.",
                "On this machine open  https://127.0.0.1:7443/  and type the PIN  123 456",
            ])
        #expect(lines(["172.17.0.1:7443"], network: cable).first?.hasPrefix("Perhaps no other machine") == true)
    }
}
