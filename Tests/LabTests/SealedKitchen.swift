import Foundation

/// A receiver of sealed items, with handlers for images, and a sender.
struct SealedKitchen {
    let folder: String
    var host: Host
    let study: Host
    /// Where handlers of the tests write.
    let out: String

    init(_ folder: String) throws {
        (self.folder, out) = (folder, folder + "/out")
        (host, study) = (.loopback(folder + "/kitchen"), .loopback(folder + "/study"))
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        try host.setUpProtection()
    }

    /// Installs a bundle for images that gets its writable folder as `$OUT`.
    ///
    /// - Parameter keys: XML of further keys.
    func install(_ name: String, _ script: String, launch: String = "perItem", keys: String = "") throws {
        let bundle = "\(host.home)/handlers/\(name).handler"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try writeScript("#!/bin/sh\nOUT='\(out)'\n" + script + "\n", to: bundle + "/run")
        let plist = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>org.example.\(name)</string>
            <key>CFBundleName</key><string>\(name)</string>
            <key>CFBundleExecutable</key><string>run</string>
            <key>CFBundleDocumentTypes</key><array><dict>
            <key>LSItemContentTypes</key><array><string>public.image</string></array></dict></array>
            <key>WaftWritablePaths</key><array><string>\(out)</string></array>
            <key>WaftLaunch</key><string>\(launch)</string>\(keys)
            </dict></plist>
            """
        try plist.write(toFile: bundle + "/Info.plist", atomically: false, encoding: .utf8)
    }

    /// - Parameter bytes: of each item, about.
    func send(
        _ names: [String], bytes: Int = 0, waiting: Bool = true, to running: RunningReceiver
    ) async throws -> ProgramResult {
        for name in names {
            let more = Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
            try (png + Data(name.utf8) + more).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let flags = ["--json", "--to", running.address] + (waiting ? ["--wait", "opened"] : [])
        return try await study.run(arguments: ["send"] + names.map { folder + "/" + $0 } + flags)
    }

    func isSame(_ name: String) -> Bool {
        FileManager.default.contentsEqual(atPath: "\(out)/\(name)", andPath: "\(folder)/\(name)")
    }

    func lines(_ file: String = "record") -> [String] {
        let text = (try? String(contentsOfFile: out + "/" + file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}

func withSealedKitchen(_ body: @escaping @Sendable (SealedKitchen) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in try await body(SealedKitchen(folder)) }
}
