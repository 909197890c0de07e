import Foundation
import TestSupport
import Testing

@testable import SecureTransport

@Suite("Identities with names, for browsers")
struct NamedIdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let names = CertificateNames(
        hosts: ["kitchen", "kitchen.local"], addresses: ["192.168.1.20", "fd00::20"])

    private func load(_ names: CertificateNames = names) throws -> Identity {
        try Identity.load(orMakeIn: folder.path, named: "web.pem", for: names)
    }

    @Test("the certificate has the names and addresses, for less time than browsers refuse")
    func names() throws {
        _ = try load()
        let text = try shell("openssl x509 -in \(folder.path)/web.pem -noout -ext subjectAltName -checkend 33000000")
        for name in ["DNS:kitchen,", "DNS:kitchen.local", "192.168.1.20", "FD00:0:0:0:0:0:0:20"] {
            #expect(text.contains(name), "\(text)")
        }
        #expect(text.contains("will not expire"))
        let late = try shell("openssl x509 -in \(folder.path)/web.pem -noout -checkend 34400000")
        #expect(late.contains("will expire"))
    }

    @Test("the certificate stays the same while its names do, and the key always")
    func stable() throws {
        let first = try load()
        #expect(try load().certificateFingerprint == first.certificateFingerprint)
        let moved = try load(CertificateNames(hosts: ["kitchen"], addresses: ["10.0.0.9"]))
        #expect(moved.certificateFingerprint != first.certificateFingerprint)
        #expect(moved.peerID == first.peerID)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/web.pem")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["web.pem"])
    }

    @Test("names that are none, and addresses with a scope, are left out")
    func strangeNames() {
        let names = CertificateNames(
            hosts: ["a,DNS:evil.example", "k\u{FC}che", "", "ok"], addresses: ["fe80::1%eth0", "x"])
        #expect(names.hosts == ["ok"] && names.addresses.isEmpty)
    }

    @Test("a certificate of the user's own, of any kind and with a chain, is used", arguments: ["rsa:3072", "ec"])
    func own(_ kind: String) throws {
        let path = folder.path
        let key = kind == "ec" ? "ec -pkeyopt ec_paramgen_curve:P-384" : kind
        _ = try shell(
            """
            cd \(path) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
            -subj /CN=ca && openssl req -newkey \(key) -nodes -keyout key.pem -out request -subj /CN=home && \
            openssl x509 -req -in request -CA ca.pem -CAkey ca.key -out certificate.pem && cat ca.pem >> certificate.pem
            """)
        _ = try shell("chmod 640 \(path)/key.pem")
        let identity = try Identity.load(certificate: path + "/certificate.pem", key: path + "/key.pem")
        #expect(identity.chain.count == 1)
        let fingerprint = try shell("openssl x509 -in \(path)/certificate.pem -noout -fingerprint -sha256")
        #expect(fingerprint.replacing(":", with: "").contains(identity.certificateFingerprint.text))
    }

    @Test(
        "a key that everybody can read, a key of another certificate, and a file without one are refused in a line",
        arguments: ["exposed", "other", "empty", "missing"])
    func refused(_ fault: String) throws {
        let path = folder.path
        for name in ["a", "b"] {
            _ = try shell(
                "openssl req -x509 -newkey rsa:2048 -nodes -keyout \(path)/\(name).key -out \(path)/\(name).pem -subj /CN=x"
            )
        }
        switch fault {
        case "exposed": _ = try shell("chmod 644 \(path)/a.key")
        case "other": _ = try shell("mv \(path)/b.key \(path)/a.key")
        case "empty": _ = try shell(": > \(path)/a.pem")
        default: _ = try shell("rm \(path)/a.key")
        }
        #expect {
            try Identity.load(certificate: path + "/a.pem", key: path + "/a.key")
        } throws: { error in
            let text = "\(error)"
            return error is IdentityError && text.contains(path) && !text.contains("\n")
        }
    }
}
