import COpenSSL
import Foundation
import Sharing
import Testing

@testable import SecureTransport

@Suite struct IdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path + "/" + Identity.fileName }

    @Test("an identity is made on first use, and is the same ever after")
    func madeOnce() throws {
        let first = try Identity.load(orMakeIn: folder.path)
        let second = try Identity.load(orMakeIn: folder.path)
        #expect(first.peerID == second.peerID)
        #expect(first.kind == .p256)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [Identity.fileName])
    }

    @Test("two identities have different keys, ids and serial numbers")
    func different() throws {
        let one = Identities.alice
        let other = Identities.bob
        #expect(one.peerID != other.peerID)
        #expect(
            ASN1_INTEGER_cmp(X509_get0_serialNumber(one.certificate), X509_get0_serialNumber(other.certificate)) != 0
        )
    }

    @Test("the folder is made, private, if it is missing")
    func folderIsMade() throws {
        let inner = folder.path + "/state"
        _ = try Identity.load(orMakeIn: inner)
        let attributes = try FileManager.default.attributesOfItem(atPath: inner)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        let file = try FileManager.default.attributesOfItem(atPath: inner + "/" + Identity.fileName)
        #expect(file[.posixPermissions] as? Int == 0o600)
    }

    @Test("the id is the SHA-256 of the public key as the openssl program prints it")
    func peerID() throws {
        let identity = try Identity.load(orMakeIn: folder.path)
        let digest = try shell(
            "openssl x509 -in \(path) -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -r")
        let hex = identity.peerID.bytes.map { String(format: "%02x", $0) }.joined()
        #expect(digest.hasPrefix(hex))
    }

    @Test("the certificate never expires, has no name in it, and is valid")
    func certificate() throws {
        _ = try Identity.load(orMakeIn: folder.path)
        let text = try shell(
            "openssl x509 -in \(path) -noout -subject -issuer -dates && openssl verify -CAfile \(path) \(path)")
        #expect(text.contains("subject=CN = waft\n"))
        #expect(text.contains("issuer=CN = waft\n"))
        #expect(text.contains("notBefore=Jan  1 00:00:00 2000 GMT"))
        #expect(text.contains("notAfter=Dec 31 23:59:59 9999 GMT"))
        #expect(text.contains(": OK"))
    }

    @Test("many that make an identity at the same time end up with one")
    func race() async throws {
        let path = folder.path
        let ids = try await withThrowingTaskGroup(of: PeerID.self) { group in
            for _ in 0..<32 { group.addTask { try Identity.load(orMakeIn: path).peerID } }
            return try await group.reduce(into: Set<PeerID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [Identity.fileName])
    }

    @Test(
        "an identity that others can read or change is refused",
        arguments: [0o640, 0o604, 0o620, 0o660, 0o610, 0o777]
    )
    func exposed(mode: Int) throws {
        _ = try Identity.load(orMakeIn: folder.path)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try expectRefusal(.exposed)
    }

    @Test("another user's identity is refused", .enabled(if: geteuid() == 0, "needs root to give a file away"))
    func othersFile() throws {
        _ = try Identity.load(orMakeIn: folder.path)
        #expect(chown(path, 65_534, 65_534) == 0)
        try expectRefusal(.exposed)
    }

    @Test("a symbolic link, a folder and a pipe are refused")
    func notAFile() throws {
        _ = try Identity.load(orMakeIn: folder.path)
        #expect(rename(path, path + ".real") == 0)
        #expect(symlink(path + ".real", path) == 0)
        try expectRefusal(.exposed)
        #expect(unlink(path) == 0)
        #expect(mkdir(path, 0o700) == 0)
        try expectRefusal(.damaged)
        #expect(rmdir(path) == 0)
        #expect(mkfifo(path, 0o600) == 0)
        try expectRefusal(.damaged)
    }

    @Test("an empty, cut, overlong or foreign file is refused and left as it is")
    func damaged() throws {
        _ = try Identity.load(orMakeIn: folder.path)
        let whole = try Data(contentsOf: URL(filePath: path))
        for count in stride(from: 0, to: whole.count - 1, by: 61) {
            try write(whole.prefix(count))
            try expectRefusal(.damaged)
            #expect(try Data(contentsOf: URL(filePath: path)) == whole.prefix(count))
        }
        try write(Data(repeating: 0x41, count: Identity.fileBytes + 1))
        try expectRefusal(.damaged)
        try write(Data("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8))
        try expectRefusal(.damaged)
    }

    @Test("an encrypted key is refused without asking for a passphrase")
    func encrypted() throws {
        _ = try Identity.load(orMakeIn: folder.path)
        _ = try shell(
            "openssl pkcs8 -topk8 -in \(path) -passout pass:secret > \(path).new && cat \(path) >> \(path).new")
        // The encrypted key comes first; the plain one after it must not be found instead.
        _ = try shell("sed -n '/ENCRYPTED/,/END ENC/p;/BEGIN CERT/,$p' \(path).new > \(path)")
        try expectRefusal(.damaged)
    }

    @Test("a key of another kind is refused")
    func wrongKind() throws {
        _ = try Identity.load(orMakeIn: folder.path, kinds: [.rsa2048, .p256])
        try expectRefusal(.wrongKind)
        #expect(try Identity.load(orMakeIn: folder.path, kinds: [.p256, .rsa2048]).kind == .rsa2048)
    }

    @Test("a certificate of another key is refused")
    func mismatched() throws {
        let other = try TemporaryFolder()
        _ = try Identity.load(orMakeIn: folder.path)
        _ = try Identity.load(orMakeIn: other.path)
        _ = try shell(
            "openssl pkey -in \(path) > \(path).new; openssl x509 -in \(other.path)/\(Identity.fileName) >> \(path).new;"
                + " cat \(path).new > \(path)"
        )
        try expectRefusal(.mismatched)
    }

    @Test("a folder that cannot be made is an error")
    func noFolder() throws {
        #expect { try Identity.load(orMakeIn: folder.path + "/a/b") } throws: {
            ($0 as? IdentityError)?.code == .notMade
        }
    }

    @Test("an id is read from the key alone, not from the certificate around it")
    func newCertificate() throws {
        let identity = Identities.alice
        let certificate = try #require(Identity.makeSelfSignedCertificate(of: identity.key))
        EVP_PKEY_up_ref(identity.key)
        let again = try #require(Identity(owningKey: identity.key, certificate: certificate))
        #expect(again.peerID == identity.peerID)
    }

    private func expectRefusal(_ code: IdentityError.Code) throws {
        #expect { try Identity.load(orMakeIn: folder.path) } throws: { error in
            guard let error = error as? IdentityError else { return false }
            #expect(error.description.contains(path))
            #expect(!error.description.contains("\n"))
            return error.code == code
        }
    }

    private func write(_ data: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}

/// A folder that goes away with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/waft-identity-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
