import Secrets
import Sharing

@testable import Pairing

extension PeerID {
    /// A peer whose key is a number.
    static func made(_ number: UInt8) -> PeerID {
        guard let peer = PeerID(fingerprint: [UInt8](repeating: number, count: byteCount)) else {
            fatalError("no peer id for the tests")
        }
        return peer
    }

    static let alice = made(0xA1)
    static let bob = made(0xB0)
    static let mallory = made(0x33)
}

extension PairingCode {
    static func made(_ text: String) -> PairingCode {
        guard let code = PairingCode(text: text) else { fatalError("no code for the tests") }
        return code
    }
}

/// The value that TLS exports for a connection with this number.
func exported(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: PairingSession.exporterBytes) }

/// The instant from which the tests count; they never wait.
let start = ContinuousClock.now

/// The instant `seconds` later.
func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

func hex(_ text: String) -> [UInt8] {
    guard let bytes = Hexadecimal.bytes(text, count: text.utf8.count / 2) else {
        fatalError("not hexadecimal: \(text)")
    }
    return bytes
}

extension [PairingAction] {
    /// The bytes that are to be sent.
    var sent: [UInt8]? {
        for case .send(let bytes) in self { return bytes }
        return nil
    }

    var shown: ShortString? {
        for case .show(let shown) in self { return shown }
        return nil
    }

    var verified: PeerID? {
        for case .verified(let peer) in self { return peer }
        return nil
    }
}

/// The error of a call; nil if it succeeded.
func fault<Value>(of call: () throws(PairingError) -> Value) -> PairingError? {
    do throws(PairingError) {
        _ = try call()
        return nil
    } catch {
        return error
    }
}

/// A whole honest exchange between two machines: each message, and its receiver as it was before the message came.
struct Exchange {
    let binding: PairingBinding
    let method: PairingMethod
    /// In the order in which they were sent; the initiator's have even numbers.
    private(set) var messages: [[UInt8]] = []
    /// The receiver of each message, just before; the first has none yet.
    private(set) var receivers: [PairingMachine?] = []
    /// The number of the message that verified the peer, for each side.
    private(set) var verifiedAt: [Int] = []

    init(_ method: PairingMethod, binding: PairingBinding) throws {
        self.binding = binding
        self.method = method
        var (initiator, message) = try PairingMachine.initiate(binding, method)
        messages.append(message)
        receivers.append(nil)
        var responder: PairingMachine
        (responder, message) = try PairingMachine.respond(
            to: PairingMessage(message, from: .initiator), binding, method)
        var isInitiatorsTurn = true
        var next: [UInt8]? = message
        while let message = next {
            let number = messages.count
            messages.append(message)
            var machine = isInitiatorsTurn ? initiator : responder
            receivers.append(machine)
            var actions = try machine.receive(message)
            if actions.verified != nil { verifiedAt.append(number) }
            // Both users say yes as soon as they can; the responder's, before the initiator's yes has come.
            if actions.shown != nil {
                let said = try machine.confirm(true)
                actions = actions.sent == nil ? said : actions
            }
            if isInitiatorsTurn { initiator = machine } else { responder = machine }
            next = actions.sent
            isInitiatorsTurn.toggle()
        }
    }

    /// Gives `message` to the side that expected the one with this number.
    func receive(_ message: [UInt8], at number: Int) throws(PairingError) -> (PairingMachine, [PairingAction]) {
        guard var machine = receivers[number] else {
            let (machine, answer) = try PairingMachine.respond(
                to: PairingMessage(message, from: .initiator), binding, method)
            return (machine, [.send(answer)])
        }
        let actions = try machine.receive(message)
        return (machine, actions)
    }
}

extension PairingBinding {
    static let aliceAndBob = PairingBinding(initiator: .alice, responder: .bob, exporter: exported(7))
}
