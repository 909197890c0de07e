import Age
import Foundation
import Protection
import Secrets
import Subprocess
import Testing

/// A host whose arrivals are sealed, and what a test needs to open them.
extension Host {
    static let passphraseOfTests = "five words drawn by lot"

    /// The private keys in clear, for the program `age`. Beside the home, where no receiver looks.
    var identityFile: String { home + "-identity" }
    private var secretFile: String { home + "-secret" }
    private var protectionFolder: String { home + "/state/protection" }

    /// Sets data protection up as `waft protection set-up` does, with a passphrase that costs no second to try.
    func setUpProtection(_ protection: String = "unlessOpen") throws {
        try FileManager.default.createDirectory(
            atPath: protectionFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let identities = try VaultIdentities.generate()
        try ProtectionFolder(path: protectionFolder).setUp(keeping: identities, by: .passphrase)
        let sealed = try AgePassphraseFile.seal(
            identities.text, passphrase: SecretBytes(Array(Self.passphraseOfTests.utf8)), workFactor: 4)
        try Data(sealed).write(to: URL(fileURLWithPath: protectionFolder + "/identity.age"))
        try Data(identities.text.revealed).write(to: URL(fileURLWithPath: identityFile))
        try (Self.passphraseOfTests + "\n").write(toFile: secretFile, atomically: false, encoding: .utf8)
        try seal(as: protection)
    }

    /// Sets the class of what arrives from the next start on.
    func seal(as protection: String) throws {
        let folder = home + "/config"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "protection: \(protection)\n".write(toFile: folder + "/config.yaml", atomically: false, encoding: .utf8)
    }

    func unlock() async throws {
        let words = ["-c", "exec \"$0\" unlock --passphrase-fd 3 3<\"$1\"", Programs.waft, secretFile]
        let outcome = try await run("/bin/sh", words)
        try #require(outcome.exit == 0, "\(outcome)")
    }

    func lock(_ flags: [String] = []) async throws {
        let outcome = try await run(arguments: ["lock"] + flags)
        try #require(outcome.exit == 0, "\(outcome)")
    }

    /// Whether the receiver here has a transfer under way.
    var isReceiving: Bool {
        get async throws {
            struct Status: Decodable { var activeTransfers: Int }
            let outcome = try await run(arguments: ["status", "--json"])
            return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8)).activeTransfers > 0
        }
    }

    /// Whether a sealed file holds these contents, by the program `age`.
    func opens(_ sealed: String, as contents: String, with identity: String? = nil) async throws -> Bool {
        let script = "/usr/bin/age -d -i \"$1\" \"$2\" | /usr/bin/cmp -s - \"$3\""
        let words = ["-c", script, "sh", identity ?? identityFile, sealed, contents]
        return try await run("/bin/sh", words).exit == 0
    }

    /// Whether a sealed tree holds these contents: each file sealed, folders as they are.
    func opensTree(_ sealed: String, as contents: String) async throws -> Bool {
        let names = try FileManager.default.subpathsOfDirectory(atPath: contents).sorted()
        var found: [String] = []
        for name in names {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: contents + "/" + name, isDirectory: &isFolder)
            found.append(isFolder.boolValue ? name : name + ".age")
            if isFolder.boolValue { continue }
            guard try await opens("\(sealed)/\(name).age", as: contents + "/" + name) else { return false }
        }
        return try FileManager.default.subpathsOfDirectory(atPath: sealed).sorted() == found.sorted()
    }

    /// The same host, whose sender stops or dies when it reads a file for the `step`th time: then the transfer is under
    /// way, and part of the file is with the receiver.
    func reading(_ file: String, _ signal: String, at step: Int) -> Host {
        var host = self
        host.prefix = [
            "/usr/bin/strace", "-D", "-f", "-qqq", "-o", "/dev/null", "-P", file, "-e", "trace=read", "-e",
            "inject=read:signal=\(signal):when=\(step)",
        ]
        return host
    }
}

extension RunningProgram {
    /// Lets a stopped program go on until something is so: the stop may come after the first signal.
    func goOn(until isSo: () async throws -> Bool) async throws {
        try await eventually {
            kill(process.value, SIGCONT)
            return try await isSo()
        }
    }
}

extension RunningReceiver {
    /// Waits until a kept part of at least so many bytes is in staging.
    func holdsPart(of bytes: Int) async throws {
        try await eventually { try partBytes() >= bytes }
    }

    /// Bytes of the largest file in staging.
    func partBytes() throws -> Int {
        let folder = URL(fileURLWithPath: inbox)
        let staging = folder.deletingLastPathComponent().path + "/.waft-staging/" + folder.lastPathComponent
        var most = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: staging) {
            var status = stat()
            if stat(staging + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                most = max(most, Int(status.st_size))
            }
        }
        return most
    }
}

/// Writes a file of random bytes.
func writeRandom(_ path: String, _ count: Int) throws {
    var random = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    try Data(bytes.prefix(count)).write(to: URL(fileURLWithPath: path))
}
