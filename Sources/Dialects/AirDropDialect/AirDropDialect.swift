import Sharing

/// The facts of AirDrop that both sides share, as independent implementations and Apple's devices were seen to have them.
package enum AirDropDialect {
    /// The DNS-SD service type.
    package static let serviceType = "_airdrop._tcp"
    /// Where Apple's receivers listen: ours too where it is free.
    package static let defaultPort: UInt16 = 8_770
    /// The largest member of an odc archive: eleven octal digits.
    package static let largestFile: UInt64 = (8 << 30) - 1

    /// The only key of the TXT record.
    private static let flagsKey = "flags"

    /// The whole TXT record of a receiver.
    package static func txt(_ flags: AirDropFlags) -> [String: String] { [flagsKey: String(flags.rawValue)] }

    /// What a receiver's TXT record says; what says nothing answers discovery and no more.
    package static func flags(txt: [String: String]) -> AirDropFlags {
        txt[flagsKey].flatMap { UInt64($0) }.map { AirDropFlags(rawValue: $0) } ?? .standard
    }

    /// An instance name, which is the sender's id too: twelve hexadecimal digits, new at each start (security rule 14).
    package static func makeInstance() -> String {
        let digits = String(UInt64.random(in: 0..<(1 << 48)), radix: 16)
        return String(repeating: "0", count: 12 - digits.count) + digits
    }

    static let userAgent = "AirDrop/1.0"
    static let propertyListType = "application/octet-stream"

    /// The forms of a body of contents, by their media types.
    enum ArchiveType {
        static let cpio = "application/x-cpio"
        static let dvzip = "application/x-dvzip"

        /// Whether a body with this type is looked into: what it is, it says itself.
        static func isKnown(_ mediaType: String?) -> Bool {
            guard let mediaType else { return true }
            let bare = mediaType.split(separator: ";").first.map { $0.trimmingSpaces().lowercased() } ?? ""
            return [cpio, dvzip, "application/octet-stream", "application/gzip", "application/x-gzip"].contains(bare)
        }
    }

    /// The resources.
    enum Resource: String {
        case root = "/"
        case discover = "/Discover"
        case ask = "/Ask"
        case upload = "/Upload"
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        var rest = drop { $0 == " " }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}

/// What a receiver can do, as its TXT record says.
package struct AirDropFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Takes links in the question itself.
    package static let links = AirDropFlags(rawValue: 0x01)
    /// Takes dvzip bodies.
    package static let dvzip = AirDropFlags(rawValue: 0x02)
    /// Takes contents before it has answered. Never ours: nothing is on the disk before consent.
    package static let pipelining = AirDropFlags(rawValue: 0x04)
    /// Takes different kinds in one transfer.
    package static let mixedTypes = AirDropFlags(rawValue: 0x08)
    /// Answers discovery.
    package static let discover = AirDropFlags(rawValue: 0x80)

    /// The same receiver, to be sent the other form of a body.
    package var inOtherForm: AirDropFlags { symmetricDifference(.dvzip) }

    /// Of a receiver that says nothing.
    package static let standard: AirDropFlags = [.discover]
    /// Ours.
    package static let own: AirDropFlags = [.links, .dvzip, .mixedTypes, .discover]
}

/// What a receiver, or sender, of AirDrop calls itself.
package struct AirDropCard: Hashable, Sendable {
    /// Shown to people.
    package var name: String
    /// Such as `MacBookPro18,3`; decides which picture a peer shows.
    package var model: String
    /// Whether the receiver says that it is one of Waft.
    package var isWaft: Bool

    package init(name: String, model: String, isWaft: Bool = false) {
        self.name = name
        self.model = model
        self.isWaft = isWaft
    }
}

/// What a stranger may make this dialect hold, besides `Limits` (security rule 6).
enum AirDropLimits {
    /// Bytes of a question, most of them a preview.
    static let askBytes = 8 << 20
    /// Files that this side asks about at once: as many as it would take itself.
    static let files = Limits.items
    /// Names in the path at which an announced item comes.
    static let announcedDepth = 8
    /// Bytes of any other message.
    static let messageBytes = 1 << 20
    /// Bytes of an identifier that is only compared.
    static let identifierBytes = 128

    /// What a block of dvzip may hold.
    static let blockBytes = 128 << 10
    /// What a body may inflate to in any case, and how often its own size beyond that. What was offered with its size may
    /// come however small it was packed.
    static let inflatedBytes: UInt64 = 64 << 20
    static let inflationRatio: UInt64 = 100
    /// Bytes around the contents of one member: its header, name and padding.
    static let memberOverhead: UInt64 = 4 << 10
    /// Bytes that may come between the contents of one member and those of the next, a link's target among them.
    static let headerBytes = 2 << 20
    /// Members that say they have several names: the archive library keeps a list of them.
    static let linkedMembers = 32_768
    /// Bytes of the paths of one tree's folders that are remembered.
    static let folderPathBytes = 32 << 20
    /// Bytes of members that are not kept: sidecars.
    static let ignoredBytes: UInt64 = 256 << 20
}
