import Lines
import Operations
import Sharing

/// A file, folder, text or URL that is offered, or has arrived.
public struct Item: Sendable, Hashable {
    /// Something to send.
    public enum Source: Sendable, Hashable {
        /// The path of a file or folder. A relative one begins in the working folder.
        case file(String)
        case text(String)
        case url(String)
    }

    /// In an offer: as the sender calls it. In the Inbox: as it is called there.
    public let name: String
    /// Uniform type identifier.
    public let type: String
    /// Bytes; nil if it is not known before it has arrived.
    public let size: UInt64?
    /// The sender.
    public let from: Peer
    /// The number under which it arrived; nil in an offer.
    public let arrival: Int64?
    /// The absolute path; nil in an offer.
    public let path: String?

    init(_ fields: ItemFields, _ from: Peer) {
        (name, type, size, self.from) = (fields.name, fields.type, fields.size, from)
        (arrival, path) = (nil, nil)
    }

    init(_ line: ArrivalLine) {
        (name, type, size, from) = (line.stored, line.type, line.size, Peer(line.from))
        (arrival, path) = (line.arrival, line.path)
    }

    /// Nil for an entry that another program made.
    init?(_ line: EntryLine) {
        guard let arrival = line.arrival, let type = line.type, let from = line.from else { return nil }
        (name, self.type, size, self.from) = (line.stored, type, line.bytes, Peer(from))
        (self.arrival, path) = (arrival, line.path)
    }
}

extension SendSources {
    init(_ items: [Item.Source]) {
        self.init(paths: [])
        canLeaveOut = false
        for item in items {
            switch item {
            // The name `-` is that of a file here, and not standard input.
            case .file(let path): paths.append(PathText.absolute(path))
            case .text(let text): texts.append(text)
            case .url(let url): urls.append(url)
            }
        }
    }
}
