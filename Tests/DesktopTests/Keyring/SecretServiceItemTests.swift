import DBusClient
import Foundation
import Secrets
import TestSupport
import Testing

@testable import Desktop

@Suite("The keyring of the desktop", .timeLimit(.minutes(1)))
struct SecretServiceItemTests {
    private static let secret = SecretBytes("AGE-SECRET-KEY-1EXAMPLE\nAGE-SECRET-KEY-1SECOND\n".utf8)
    private static let lookUp = "lookup xdg:schema org.waft.Protection"

    @Test("keeps a secret that others find by its schema, replaces it, and deletes it")
    func realKeyring() async throws {
        let keyring = try await RealKeyring()
        let item = SecretServiceItem(bus: keyring.address)
        await #expect(throws: KeyringError.missing) { try await item.lookUp(.silent) }
        await #expect(throws: KeyringError.missing) { try await item.delete(.silent) }
        try await item.store(Self.secret, .silent)
        #expect(try await keyring.secretTool(Self.lookUp) == "AGE-SECRET-KEY-1EXAMPLE\nAGE-SECRET-KEY-1SECOND\n 0")
        #expect(try await keyring.secretTool("search xdg:schema org.waft.Protection").contains("Waft data protection"))
        #expect(try await item.lookUp(.silent).revealed == Self.secret.revealed)
        try await item.store(SecretBytes("another".utf8), .silent)
        #expect(try await item.lookUp(.silent).revealed == Array("another".utf8))
        try await item.delete(.silent)
        await #expect(throws: KeyringError.missing) { try await item.lookUp(.silent) }
        #expect(try await keyring.secretTool(Self.lookUp) == " 1")
        await keyring.end()
    }

    @Test("gives nothing while its collection is locked, and cannot ask without a screen")
    func lockedKeyring() async throws {
        let keyring = try await RealKeyring()
        let item = SecretServiceItem(bus: keyring.address)
        try await item.store(Self.secret, .silent)
        try await keyring.lock()
        #expect(try await keyring.secretTool(Self.lookUp) == " 1")
        await #expect(throws: KeyringError.locked) { try await item.lookUp(.silent) }
        await #expect(throws: KeyringError.locked) { try await item.store(Self.secret, .silent) }
        await #expect(throws: KeyringError.locked) { try await item.delete(.silent) }
        await #expect(throws: KeyringError.dismissed) { try await item.lookUp(.asking) }
        await keyring.end()
    }

    @Test("agrees on a key: the bus does not see the secret")
    func encrypted() async throws {
        let keyring = try await RealKeyring()
        let service = try await SecretService.connect(to: keyring.address, .silent, KeyringTimeouts())
        #expect(try await service.openSession().cipher != nil)
        await keyring.end()
    }

    @Test("takes what secret-tool has stored")
    func foreignSecret() async throws {
        let keyring = try await RealKeyring()
        _ = try await keyring.secretTool("store --label=x xdg:schema org.waft.Protection </etc/hostname")
        let secret = try await SecretServiceItem(bus: keyring.address).lookUp(.silent)
        #expect(Data(secret.revealed) == (try Data(contentsOf: URL(fileURLWithPath: "/etc/hostname"))))
        await keyring.end()
    }

    @Test("is opened by a person if the command may ask; it may know no encryption")
    func answered() async throws {
        let keyring = try await FakeKeyring("answers")
        let item = SecretServiceItem(bus: keyring.address)
        await #expect(throws: KeyringError.locked) { try await item.lookUp(.silent) }
        #expect(!keyring.heard.all.contains("prompt"))
        #expect(try await item.lookUp(.asking).revealed == Array("fake".utf8))
        try await keyring.heard.first { $0 == "prompt" }
        await keyring.end()
    }

    @Test("stays closed if the person refuses, or does not answer")
    func refused() async throws {
        let refusing = try await FakeKeyring("refuses")
        await #expect(throws: KeyringError.dismissed) {
            try await SecretServiceItem(bus: refusing.address).lookUp(.asking)
        }
        await refusing.end()
        let waiting = try await FakeKeyring("waits")
        await #expect(throws: KeyringError.unanswered) {
            let timeouts = KeyringTimeouts(question: .milliseconds(1))
            _ = try await SecretServiceItem(bus: waiting.address, timeouts: timeouts).lookUp(.asking)
        }
        // The question does not stay on the screen.
        try await waiting.heard.first { $0 == "dismiss" }
        await waiting.end()
    }

    @Test("that does not answer, that answers nonsense, or that has no collection, is a clear error")
    func broken() async throws {
        let hanging = try await FakeKeyring("hangs")
        await #expect(throws: KeyringError.failed(.silent)) {
            let timeouts = KeyringTimeouts(call: .milliseconds(1))
            _ = try await SecretServiceItem(bus: hanging.address, timeouts: timeouts).lookUp(.silent)
        }
        await hanging.end()
        let wrong = try await FakeKeyring("babbles")
        await #expect(throws: KeyringError.failed(.unexpectedReply)) {
            try await SecretServiceItem(bus: wrong.address).lookUp(.silent)
        }
        await #expect(throws: KeyringError.noCollection) {
            try await SecretServiceItem(bus: wrong.address).store(Self.secret, .asking)
        }
        await wrong.end()
    }

    @Test("takes the largest secret and an empty one", arguments: [0, 15, 16, SecretServiceItem.maximumBytes])
    func sizes(_ count: Int) async throws {
        let keyring = try await RealKeyring()
        let secret = SecretBytes.random(count)
        let item = SecretServiceItem(bus: keyring.address)
        try await item.store(secret, .silent)
        #expect(try await item.lookUp(.silent).revealed == secret.revealed)
        await keyring.end()
    }

    @Test("that is not there is a clear error, and a secret that is too large is refused")
    func nothingThere() async throws {
        let folder = TemporaryFolder()
        let bus = try await TestBus()
        for address in [nil, BusAddress("unix:path=" + (folder / "none")), BusAddress.session(bus.environment)] {
            for manner in [KeyringManner.silent, .asking] {
                await #expect(throws: KeyringError.noService) {
                    try await SecretServiceItem(bus: address).lookUp(manner)
                }
            }
        }
        let large = SecretBytes(count: SecretServiceItem.maximumBytes + 1) { _ in }
        await #expect(throws: KeyringError.tooLarge) { try await SecretServiceItem(bus: nil).store(large, .silent) }
        await bus.kill()
    }

    @Test("is not waited for after the task was cancelled")
    func cancelled() async throws {
        let hanging = try await FakeKeyring("hangs")
        let waiting = Task { try await SecretServiceItem(bus: hanging.address).lookUp(.silent) }
        try await hanging.heard.first { $0 == "search" }
        waiting.cancel()
        await #expect(throws: KeyringError.failed(.disconnected)) { try await waiting.value }
        await hanging.end()
    }
}
