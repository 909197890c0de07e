import Foundation
import Testing

/// A place with applications of a test's own, beside no others.
struct ApplicationShelf: Sendable {
    let folder: String
    /// With these applications, and with this display.
    var host: Host

    /// - Parameter display: none by default.
    init(_ folder: String, display: String = "") throws {
        self.folder = folder
        host = Host.loopback(folder + "/home")
        for name in ["bin", "share/applications", "config", "out"] {
            try FileManager.default.createDirectory(
                atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        host.environment.merge([
            "XDG_DATA_HOME": folder + "/share", "XDG_DATA_DIRS": folder + "/none",
            "XDG_CONFIG_HOME": folder + "/config",
            "XDG_CURRENT_DESKTOP": "", "DISPLAY": display, "WAYLAND_DISPLAY": "", "HOME": folder,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_RUNTIME_DIR": folder,
        ]) { $1 }
    }

    /// Adds an application: a script of `/bin/sh`, whose first argument is the file.
    func add(_ identifier: String, name: String, _ script: String, types: String, _ more: String = "") async throws {
        let program = folder + "/bin/" + identifier
        try writeScript("#!/bin/sh\n\(script)\n", to: program)
        let text = "[Desktop Entry]\nType=Application\nName=\(name)\nExec='\(program)' %f\nMimeType=\(types)\n\(more)"
        try text.replacing("Exec='\(program)'", with: "Exec=\(program)").write(
            toFile: folder + "/share/applications/\(identifier).desktop", atomically: false, encoding: .utf8)
        let cache = try await host.run("/usr/bin/update-desktop-database", [folder + "/share/applications"])
        #expect(cache.exit == 0, "\(cache)")
    }

    /// Makes an application the default for a type.
    func makeDefault(_ identifier: String, for type: String) throws {
        try "[Default Applications]\n\(type)=\(identifier).desktop\n".write(
            toFile: folder + "/share/applications/mimeapps.list", atomically: false, encoding: .utf8)
    }

    /// The script of an application that writes its file and the annotation into `out/NAME`.
    func noting(_ name: String) -> String {
        let out = folder + "/out/" + name
        return "printf '%s|%s' \"$1\" \"$WAFT_ANNOTATION\" > '\(out).new'\nmv '\(out).new' '\(out)'"
    }

    func noted(_ name: String) -> String? { try? String(contentsOfFile: folder + "/out/" + name, encoding: .utf8) }

    /// Runs `waft` in the folder.
    func waft(_ words: String...) async throws -> ProgramResult { try await host.run(arguments: words, in: folder) }
}
