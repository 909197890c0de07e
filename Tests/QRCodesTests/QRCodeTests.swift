import QRCodes
import Testing

@Suite("QR codes")
struct QRCodeTests {
    /// The usual length of an address of a page.
    private static let address = "https://192.168.100.200:7443/g/" + String(repeating: "k", count: 26)

    @Test("The code of an address fits a terminal of 80 columns and 24 lines, with room for the address below")
    func size() throws {
        let lines = try #require(QRCode(Self.address)).lines()
        #expect(lines.count <= 21)
        #expect(lines.allSatisfy { $0.count <= 80 && $0.count == lines[0].count })
    }

    @Test("The code of the longest address of IPv6 fits a terminal of 24 lines, with a smaller margin")
    func longest() throws {
        let address = "https://[2001:db8:1234:5678:9abc:def0:1234:5678]:65535/g/" + String(repeating: "k", count: 26)
        #expect(try #require(QRCode(address)).lines().count <= 24)
    }

    @Test("The three corners are the pattern by which cameras find a code, in a light margin")
    func corners() throws {
        let code = try #require(QRCode(Self.address))
        for (x, y) in [(0, 0), (code.width - 7, 0), (0, code.width - 7)] {
            for step in 0..<7 {
                #expect(code.isDark(x + step, y) && code.isDark(x, y + step))
                #expect(code.isDark(x + 6, y + step) && code.isDark(x + step, y + 6))
            }
            #expect(!code.isDark(x + 1, y + 1) && code.isDark(x + 3, y + 3))
        }
        #expect(!code.isDark(-1, 3) && !code.isDark(3, code.width))
    }

    @Test("No code is made of nothing, or of a text that no camera would read from a screen")
    func none() {
        #expect(QRCode("") == nil)
        #expect(QRCode(String(repeating: "x", count: 501)) == nil)
    }
}
