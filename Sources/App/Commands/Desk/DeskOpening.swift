import Foundation
import Lines
import Operations

/// Opens a window of the desk in the user's browser.
enum DeskOpening {
    /// Browsers of Chromium's family, by their desktop entries. They give a page a window of its own.
    private static let families = [
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "brave-browser", "microsoft-edge",
        "vivaldi-stable", "opera",
    ]

    /// - Parameter page: a private file that leads to the desk.
    /// - Throws: `CommandError`.
    static func open(_ page: String) async throws(CommandError) {
        do throws(WaftError) {
            if let browser = await standardBrowser() {
                let address = URL(fileURLWithPath: page).absoluteString
                return try await browser.handOver(["--app=\(address)"])
            }
            guard let opener = SystemProgram("xdg-open") else {
                throw WaftError(.inputMissing, "no program opens windows here: xdg-open is not installed")
            }
            try await opener.handOver([page])
        } catch {
            throw CommandError(
                WaftError(error.code, error.reason, hint: "waft desk --no-open prints the address for a browser"))
        }
    }

    /// The user's browser if it is one of Chromium's family.
    private static func standardBrowser() async -> SystemProgram? {
        guard let settings = SystemProgram("xdg-settings"),
            let entry = try? await settings.end(["get", "default-web-browser"]), entry.code == 0
        else { return nil }
        let name = entry.output.trimmingCharacters(in: .whitespacesAndNewlines).replacing(".desktop", with: "")
        return families.contains(name) ? SystemProgram(name) : nil
    }
}
