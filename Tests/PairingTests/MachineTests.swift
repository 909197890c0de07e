import Sharing
import Testing

@testable import Pairing

/// How many messages an exchange has, by comparing and by a code.
private let methods: [(PairingMethod, Int)] = [(.compare, 6), (.code(.made("123456789")), 4)]

@Suite("A pairing's reaction to messages")
struct MachineTests {
    @Test("an honest exchange verifies both sides with its last messages, the responder first", arguments: [0, 1])
    func honest(_ index: Int) throws {
        let (method, count) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        #expect(exchange.messages.count == count)
        #expect(exchange.verifiedAt == [count - 2, count - 1])
    }

    @Test("any other message of the same pairing, of either side, ends it at every step", arguments: [0, 1])
    func otherMessages(_ index: Int) throws {
        let (method, _) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        for number in exchange.messages.indices {
            for (other, message) in exchange.messages.enumerated() where other != number {
                #expect(
                    fault { () throws(PairingError) in try exchange.receive(message, at: number) } != nil,
                    "message \(other) in place of \(number)")
            }
        }
    }

    @Test("a message that has been taken is refused the second time, and the pairing is over", arguments: [0, 1])
    func doubled(_ index: Int) throws {
        let (method, count) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        for number in 0..<count {
            var (machine, actions) = try exchange.receive(exchange.messages[number], at: number)
            let isVerified = actions.verified != nil
            let again = fault { () throws(PairingError) in try machine.receive(exchange.messages[number]) }
            #expect(again?.code == .outOfOrder, "message \(number)")
            #expect(machine.isOver)
            guard !isVerified else { continue }
            // The right message now comes too late.
            if number + 2 < count {
                let late = fault { () throws(PairingError) in try machine.receive(exchange.messages[number + 2]) }
                #expect(late == again)
            }
        }
    }

    @Test("a message cut anywhere ends the pairing", arguments: [0, 1])
    func truncated(_ index: Int) throws {
        let (method, _) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        for (number, message) in exchange.messages.enumerated() {
            for count in message.indices {
                let fault = fault { () throws(PairingError) in
                    try exchange.receive(Array(message.prefix(count)), at: number)
                }
                #expect(fault?.code == .malformed)
            }
        }
    }

    @Test("a commitment, a revelation, a proof or a yes with any bit changed ends the pairing", arguments: [0, 1])
    func changed(_ index: Int) throws {
        let (method, count) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        for number in 1..<count {
            let sender: PairingRole = number.isMultiple(of: 2) ? .initiator : .responder
            let message = try PairingMessage(exchange.messages[number], from: sender)
            for bit in 0..<256 {
                let forged = message.flipping(bit).encoded(from: sender)
                do throws(PairingError) {
                    // A changed nonce or share is as good as another one: the messages after it do not fit.
                    var (machine, _) = try exchange.receive(forged, at: number)
                    #expect(number == 1)
                    let fault = fault { () throws(PairingError) in try machine.receive(exchange.messages[number + 2]) }
                    #expect(fault?.code == (index == 0 ? .mismatch : .wrongCode))
                } catch {
                    #expect([.mismatch, .wrongCode, .malformed].contains(error.code))
                }
            }
        }
    }

    @Test("a commitment with any bit changed is not opened by the revelation")
    func changedCommitment() throws {
        let exchange = try Exchange(.compare, binding: .aliceAndBob)
        let message = try PairingMessage(exchange.messages[0], from: .initiator)
        for bit in 0..<256 {
            let forged = message.flipping(bit).encoded(from: .initiator)
            var (machine, _) = try exchange.receive(forged, at: 0)
            let fault = fault { () throws(PairingError) in try machine.receive(exchange.messages[2]) }
            #expect(fault?.code == .mismatch)
        }
    }

    @Test("messages of another pairing between the same two peers verify neither", arguments: [0, 1])
    func otherPairings(_ index: Int) throws {
        let (method, count) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        let others = [
            try Exchange(method, binding: .aliceAndBob),
            try Exchange(
                method, binding: PairingBinding(initiator: .alice, responder: .bob, exporter: exported(8))),
            try Exchange(
                method, binding: PairingBinding(initiator: .alice, responder: .mallory, exporter: exported(7))),
        ]
        for other in others {
            for number in 2..<count {
                let fault = fault { () throws(PairingError) in
                    try exchange.receive(other.messages[number], at: number)
                }
                #expect(fault?.code == (index == 0 ? .mismatch : .wrongCode))
            }
            for number in 0..<2 {
                var (machine, _) = try exchange.receive(other.messages[number], at: number)
                let fault = fault { () throws(PairingError) in try machine.receive(exchange.messages[number + 2]) }
                #expect(fault?.code == (index == 0 ? .mismatch : .wrongCode))
            }
        }
    }

    @Test("sides with different exporters, keys or roles do not verify each other")
    func bindings() throws {
        let right = PairingBinding.aliceAndBob
        let wrong = [
            PairingBinding(initiator: .alice, responder: .bob, exporter: exported(8)),
            PairingBinding(initiator: .mallory, responder: .bob, exporter: exported(7)),
            PairingBinding(initiator: .alice, responder: .mallory, exporter: exported(7)),
            PairingBinding(initiator: .bob, responder: .alice, exporter: exported(7)),
        ]
        for wrong in wrong {
            for (method, _) in methods {
                var (initiator, first) = try PairingMachine.initiate(right, method)
                var (responder, second) = try PairingMachine.respond(
                    to: PairingMessage(first, from: .initiator), wrong, method)
                let third = try #require(try initiator.receive(second).sent)
                let fault = fault { () throws(PairingError) in try responder.receive(third) }
                #expect([.mismatch, .wrongCode].contains(fault?.code))
            }
        }
    }

    @Test("a peer's refusal ends the pairing at every step, with its reason", arguments: [0, 1])
    func refusals(_ index: Int) throws {
        let (method, count) = methods[index]
        let exchange = try Exchange(method, binding: .aliceAndBob)
        for number in 1..<count {
            let fault = fault { () throws(PairingError) in
                try exchange.receive(PairingError.declined.reply, at: number)
            }
            #expect(fault?.code == .refusedByPeer)
            #expect(fault?.refusal == .declined)
            #expect(fault?.description == "the peer ended the pairing: its user said no")
        }
        let unknown = Array(#"{"v":1,"step":"refused","reason":"\u001b[31mowned"}"#.utf8)
        let fault = fault { () throws(PairingError) in try exchange.receive(unknown, at: 1) }
        #expect(fault?.refusal == .failed)
    }

    @Test("nothing that comes after the end takes a verified peer back")
    func finality() throws {
        for (method, count) in methods {
            let exchange = try Exchange(method, binding: .aliceAndBob)
            var (machine, actions) = try exchange.receive(exchange.messages[count - 1], at: count - 1)
            #expect(actions == [.verified(.bob)])
            #expect(throws: PairingError.self) { try machine.receive(PairingError.declined.reply) }
            #expect(throws: PairingError.self) { try machine.confirm(false) }
            machine.end(by: .cancelled)
            let fault = fault { () throws(PairingError) in try machine.receive([]) }
            #expect(fault?.code == .outOfOrder)
        }
    }
}

extension PairingMessage {
    /// The same with one bit of its value changed.
    func flipping(_ bit: Int) -> PairingMessage {
        func flip(_ bytes: [UInt8]) -> [UInt8] {
            var bytes = bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            return bytes
        }
        switch self {
        case .commit(let value): return .commit(flip(value))
        case .nonce(let value): return .nonce(flip(value))
        case .reveal(let value): return .reveal(flip(value))
        case .agree(let value): return .agree(flip(value))
        case .confirm(let value): return .confirm(flip(value))
        case .share(let value, let purpose): return .share(flip(value), purpose)
        case .prove(let value): return .prove(flip(value))
        case .ready, .refused: return self
        }
    }
}
