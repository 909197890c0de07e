import Endpoints
import Lines
import Sharing

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
    init?(_ event: SendEvent) {
        switch event {
        case .connected(_, let name): self = .connected(name: name)
        case .offered: self = .offered
        case .answered(let verdict): self = .answered(accepted: verdict.items.count { $0.answer == .accepted })
        case .progressed(let bytes, let total, _): self = .progressed(bytes, of: total)
        case .busy(let reason, _), .resuming(let reason), .remarked(let reason): self = .waiting(reason: reason)
        case .settled, .handling: return nil
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
