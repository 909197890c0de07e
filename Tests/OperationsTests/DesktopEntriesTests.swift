import Foundation
import Lines
import TestSupport
import Testing

@testable import Operations

@Suite("What a user can do with the desktop entry")
struct DesktopEntriesTests {
    private let kitchen: Kitchen
    private let data = TemporaryFolder()

    init() throws { kitchen = try Kitchen(jobs: 0) }

    private func desktop() throws(WaftError) -> DesktopEntries {
        try kitchen.waft.desktop(icon: "<svg/>", ["XDG_DATA_HOME": data.path, "HOME": data.path])
    }

    @Test("an entry is installed, is current, and is removed")
    func install() async throws {
        let desktop = try desktop()
        let path = try desktop.status().path
        #expect(try desktop.status().state == "missing")
        let installed = try await desktop.install(force: false).line
        #expect(installed.state == "installed" && installed.isCurrent == true && installed.path == path)
        #expect(installed.urlSchemes == [] && installed.command?.hasSuffix(" open %u") == true)
        #expect(try desktop.status().isCurrent == true)
        // A handler has come.
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("MimeType=", with: "MimeType=x-scheme-handler/old;")
            .replacing("Exec=", with: "Exec=/other").write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try desktop.status().isCurrent == false)
        var removed = try await desktop.remove(force: false)
        #expect(removed.wasThere && removed.line.state == "missing" && access(path, F_OK) != 0)
        removed = try await desktop.remove(force: false)
        #expect(!removed.wasThere)
    }

    @Test("a file of another hand is neither replaced nor removed, unless that is forced")
    func foreign() async throws {
        let desktop = try desktop()
        let path = try desktop.status().path
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try "[Desktop Entry]\n".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try desktop.status().state == "foreign")
        let kept = await #expect(throws: WaftError.self) { try await desktop.install(force: false) }
        #expect(kept?.code == .usage && kept?.hint == "to replace it: waft desktop install --force")
        let left = await #expect(throws: WaftError.self) { try await desktop.remove(force: false) }
        #expect(left?.code == .usage && left?.hint == "to remove it: waft desktop remove --force")
        let forced = try await desktop.install(force: true)
        #expect(forced.line.state == "installed")
    }

    @Test("an entry that cannot be written or read is a failure")
    func faults() async throws {
        let desktop = try desktop()
        try "".write(toFile: data.path + "/applications", atomically: false, encoding: .utf8)
        let error = await #expect(throws: WaftError.self) { try await desktop.install(force: false) }
        #expect(error?.code == .unexpected && error?.reason.contains("cannot be") == true)
    }

    @Test("without a folder for entries there is nothing to do")
    func noFolder() {
        let error = #expect(throws: WaftError.self) { try kitchen.waft.desktop(icon: "", [:]) }
        #expect(error?.code == .usage)
    }
}
