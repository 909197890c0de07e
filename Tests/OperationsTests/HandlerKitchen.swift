import Executors
import Foundation
import Glibc
import Settings
import TestSupport

@testable import Operations

extension Kitchen {
    /// Installs a handler whose program is a script. It is not restricted, since the tests contain no launcher.
    /// - Parameter keys: of its `Info.plist`, beside its name and program.
    func handler(_ name: String, _ script: String, _ keys: [String: Any]) throws {
        let path = home.handlers + "/\(name).handler"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        TemporaryFolder.writeProgram(path + "/run", "#!/bin/sh\n\(script)\n")
        let all: [String: Any] = [
            "CFBundleIdentifier": "org.example.\(name.lowercased())", "CFBundleExecutable": "run",
            "CFBundleName": name, "WaftSandbox": "none",
        ].merging(keys) { $1 }
        let info = try PropertyListSerialization.data(fromPropertyList: all, format: .xml, options: 0)
        let file = path + "/Info.plist"
        try info.write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    }

    func text(_ name: String) throws -> String { try String(contentsOfFile: folder / name, encoding: .utf8) }

    /// Makes a pipe in the file system.
    func pipe(_ name: String) -> String {
        mkfifo(folder / name, 0o600)
        return folder / name
    }

    /// Waits until a handler writes into such a pipe.
    static func word(from pipe: String) async {
        await BackgroundThread.run("waft-test") {
            let file = open(pipe, O_RDONLY)
            var byte: UInt8 = 0
            while read(file, &byte, 1) == 1 {}
            close(file)
        }
    }
}
