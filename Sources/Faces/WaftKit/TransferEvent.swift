import Lines
import Operations

/// A step of a sending.
public enum TransferEvent: Sendable, Hashable {
    /// The peer was found. The name is the one that it gives itself.
    case connected(name: String?)
    /// The offer is there; people may be asked there.
    case offered
    /// Number of items that the other side takes.
    case answered(accepted: Int)
    /// Bytes that are there, and of all accepted items (nil if not known). Some ten times a second at most.
    case progressed(UInt64, of: UInt64?)
    /// The other side is busy, or the connection was lost: the sending goes on. One line.
    case waiting(reason: String)
    /// An item is stored on the disk there, and its checksum is right. The name is the one that it was offered by.
    case stored(name: String)
    /// The protocol has no receipts: the other side says that it has the item.
    case sent(name: String)
    /// An item was not sent, or no handler opened it. The sending ends with the first such error.
    case failed(name: String, WaftError)

    /// Nil for a step that says nothing more.
    init?(_ step: SendStep) {
        switch step {
        case .connected(let person): self = .connected(name: person.ownName)
        case .offered: self = .offered
        case .answered(let line): self = .answered(accepted: line.acceptedCount)
        case .progressed(let line): self = .progressed(line.bytes, of: line.total)
        case .busy(let line): self = .waiting(reason: line.reason ?? "")
        case .resuming(let line): self = .waiting(reason: line.reason)
        case .remarked(let line): self = .waiting(reason: line.reason)
        case .settled, .handling, .ended, .failed: return nil
        }
    }

    init(_ line: SentLine) {
        if let exit = line.exit {
            self = .failed(name: line.name, WaftError(exit, line.reason ?? line.text))
        } else {
            self = line.outcome == .sent ? .sent(name: line.name) : .stored(name: line.name)
        }
    }
}
