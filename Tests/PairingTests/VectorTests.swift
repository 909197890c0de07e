import Foundation
import Secrets
import Sharing
import Testing

@testable import Pairing

/// The vectors of the specification, read out of it.
private struct SpecifiedVectors {
    private var values: [String: String] = [:]

    init() throws {
        let document = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/Domain/Pairing/Pairing.docc/Pairing.md")
        for line in try String(contentsOf: document, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: " = ", maxSplits: 1)
            if parts.count == 2 { values[parts[0].trimmingCharacters(in: .whitespaces)] = String(parts[1]) }
        }
    }

    func text(_ name: String) throws -> String { try #require(values[name], "\(name)") }

    func bytes(_ name: String) throws -> [UInt8] { hex(try text(name)) }

    func binding(_ purpose: PairingPurpose = .contact) throws -> PairingBinding {
        PairingBinding(
            initiator: try #require(PeerID(fingerprint: try bytes("initiator"))),
            responder: try #require(PeerID(fingerprint: try bytes("responder"))),
            exporter: try bytes("exporter"), purpose: purpose)
    }
}

@Suite("The vectors of the specification")
struct VectorTests {
    @Test("are what comparing derives")
    func comparing() throws {
        let vectors = try SpecifiedVectors()
        let binding = try vectors.binding()
        let nonce = try vectors.bytes("initiator-nonce")
        #expect(Hexadecimal.text(try binding.commitment(to: nonce)) == (try vectors.text("commitment")))
        let comparison = try binding.comparison(
            initiatorNonce: nonce, responderNonce: try vectors.bytes("responder-nonce"))
        #expect(comparison.shown.digits == (try vectors.text("digits")))
        #expect(comparison.shown.words.joined(separator: " ") == (try vectors.text("words")))
        #expect(Hexadecimal.text(comparison.agreement) == (try vectors.text("agreement")))
        #expect(Hexadecimal.text(comparison.initiatorConfirmation) == (try vectors.text("initiator-confirmation")))
        #expect(Hexadecimal.text(comparison.responderConfirmation) == (try vectors.text("responder-confirmation")))
    }

    @Test("are the values derived from a code")
    func code() throws {
        let vectors = try SpecifiedVectors()
        let binding = try vectors.binding()
        let code = try #require(PairingCode(text: try vectors.text("code")))
        let w = try binding.scalar(of: code)
        #expect(Hexadecimal.text(w.revealed) == (try vectors.text("w")))
        let initiator = try SPAKE2(.a, w: w, secret: SecretBytes(try vectors.bytes("x")))
        let responder = try SPAKE2(.b, w: w, secret: SecretBytes(try vectors.bytes("y")))
        #expect(Hexadecimal.text(initiator.share) == (try vectors.text("initiator-share")))
        #expect(Hexadecimal.text(responder.share) == (try vectors.text("responder-share")))
        for (side, share) in [(initiator, responder.share), (responder, initiator.share)] {
            let proofs = try binding.proofs(side, share: share)
            #expect(Hexadecimal.text(proofs.a) == (try vectors.text("initiator-proof")))
            #expect(Hexadecimal.text(proofs.b) == (try vectors.text("responder-proof")))
        }
    }

    @Test("are the values derived from a spoken code, for each direction", arguments: [true, false])
    func spoken(isSender: Bool) throws {
        let vectors = try SpecifiedVectors()
        let code = PairingCode(
            try SpokenCode(text: try vectors.text("spoken-code")), shownBySender: isSender)
        let binding = try vectors.binding(code.purpose)
        let name = isSender ? "send" : "receive"
        let w = try binding.scalar(of: code)
        #expect(Hexadecimal.text(w.revealed) == (try vectors.text("\(name)-w")))
        let initiator = try SPAKE2(.a, w: w, secret: SecretBytes(try vectors.bytes("x")))
        let responder = try SPAKE2(.b, w: w, secret: SecretBytes(try vectors.bytes("y")))
        let proofs = try binding.proofs(initiator, share: responder.share)
        #expect(Hexadecimal.text(proofs.a) == (try vectors.text("\(name)-initiator-proof")))
        #expect(Hexadecimal.text(proofs.b) == (try vectors.text("\(name)-responder-proof")))
    }
}
