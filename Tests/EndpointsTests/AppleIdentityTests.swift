import AirDropDialect
import Foundation
import Glibc
import SecureTransport
import Settings
import TestSupport
import Testing

@testable import Endpoints

/// With a made-up certificate, key and record.
@Suite("An Apple identity", .timeLimit(.minutes(1)))
struct AppleIdentityTests {
    private let folder = TemporaryFolder()

    private static let record = Array("a record of addresses".utf8)

    init() throws {
        try make("certificate.pem", "key.pem")
        try write(Self.record, "validation_record.cms")
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder / name))
    }

    private func make(_ certificate: String, _ key: String) throws {
        let openssl = Process()
        openssl.executableURL = URL(filePath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / key, "-out",
            folder / certificate, "-subj", "/CN=com.example.person", "-days", "2",
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
    }

    private func expectFault(_ words: String, _ comment: Comment? = nil) {
        let fault = #expect(throws: AppleIdentityFault.self, comment) { try AppleIdentity(folder.path) }
        #expect(fault?.description.contains(words) == true, "\(fault?.description ?? "none"): \(comment ?? "")")
        #expect(fault?.description.contains("\n") == false)
        #expect(fault?.description.contains("PRIVATE") == false && fault?.description.contains("addresses") == false)
    }

    @Test("is read where it lies and shown to peers, as soon as the setting names it; none is normal")
    func read() throws {
        var settings = Settings(hostName: "kitchen")
        let live = LiveSettings(settings)
        let side = AirDropSide(live)
        let made = try side.key()
        #expect(side.card.record.isEmpty)
        let before = try files()
        settings.airdrop.identity = folder.path
        live.use(settings)
        #expect(side.card.record == Self.record)
        let own = try AppleIdentity(folder.path).identity.peerID
        #expect(try side.key().peerID == own && side.listenerKey().peerID == own && own != made.peerID)
        #expect(try files() == before)
        settings.airdrop.identity = folder / "nowhere"
        live.use(settings)
        #expect(try side.card.record.isEmpty && side.key().peerID == made.peerID)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(
        "without one of its files is not used, and the fault names the file",
        arguments: ["certificate.pem", "key.pem", "validation_record.cms"])
    func missing(name: String) throws {
        try FileManager.default.removeItem(atPath: folder / name)
        expectFault("cannot use \(folder / name): No such file or directory")
        try write([], name)
        expectFault("\(folder / name)", "empty")
        try write(Array(repeating: 1, count: 200_000), name)
        expectFault("\(folder / name)", "garbage")
        try FileManager.default.removeItem(atPath: folder / name)
        mkfifo(folder / name, 0o600)
        expectFault("\(folder / name): it is not a regular file", "a pipe that nobody writes")
    }

    @Test("whose key is of another certificate, has a passphrase, or is for everybody to read is not used")
    func key() throws {
        chmod(folder / "key.pem", 0o604)
        expectFault("everybody can use the key in it: take these rights away with chmod o-rwx")
        chmod(folder / "key.pem", 0o600)
        try make("other.pem", "key.pem")
        expectFault("it is not of the key in \(folder / "key.pem")")
        try Data("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n".utf8)
            .write(to: URL(fileURLWithPath: folder / "key.pem"))
        expectFault("it holds no private key without a passphrase")
    }
}
