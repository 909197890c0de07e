import PropertyLists
package import Sharing

/// AirDrop's facts that both sides share, as observed in independent implementations and in Apple's devices.
package enum AirDropDialect {
    /// The DNS-SD service type.
    package static let serviceType = "_airdrop._tcp"
    /// The port of Apple's receivers. Waft uses it too if it is free.
    package static let defaultPort: UInt16 = 8_770
    /// Maximum bytes of a file: a member's size in an odc archive has eleven octal digits.
    package static let largestFile: UInt64 = (8 << 30) - 1

    /// The only key of the TXT record.
    private static let flagsKey = "flags"

    /// The whole TXT record of a receiver.
    package static func txt(_ flags: AirDropFlags) -> [String: String] { [flagsKey: String(flags.rawValue)] }

    /// Reads the flags in a receiver's TXT record. Without flags the receiver answers only discovery.
    package static func flags(txt: [String: String]) -> AirDropFlags {
        txt[flagsKey].flatMap { UInt64($0) }.map { AirDropFlags(rawValue: $0) } ?? .standard
    }

    /// An instance name: twelve hexadecimal digits, new at each start (security rule 14). It is the sender's id too.
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

        /// Whether the receiver reads a body with this type. The body itself shows which form it has.
        static func isKnown(_ mediaType: String?) -> Bool {
            guard let mediaType else { return true }
            let bare = mediaType.split(separator: ";").first.map { $0.trimmingSpaces().lowercased() } ?? ""
            return [cpio, dvzip, "application/octet-stream", "application/gzip", "application/x-gzip"].contains(bare)
        }
    }

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

/// The abilities of a receiver, from its TXT record.
package struct AirDropFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Takes links in the question itself.
    package static let links = AirDropFlags(rawValue: 0x01)
    /// Takes dvzip bodies.
    package static let dvzip = AirDropFlags(rawValue: 0x02)
    /// Takes contents before it has answered. Waft never sets it: it stores nothing before consent.
    package static let pipelining = AirDropFlags(rawValue: 0x04)
    /// Takes items of different kinds in one transfer.
    package static let mixedTypes = AirDropFlags(rawValue: 0x08)
    /// Answers discovery.
    package static let discover = AirDropFlags(rawValue: 0x80)

    /// The flags that make a sender choose the other form of a body.
    package var inOtherForm: AirDropFlags { symmetricDifference(.dvzip) }

    /// The flags of a receiver whose record has none.
    package static let standard: AirDropFlags = [.discover]
    /// The flags of Waft's receiver.
    package static let own: AirDropFlags = [.links, .dvzip, .mixedTypes, .discover]
}

/// The name and the model that a receiver or sender of AirDrop shows.
package struct AirDropCard: Hashable, Sendable {
    /// Shown to users.
    package var name: String
    /// A model such as `MacBookPro18,3`; decides which picture a peer shows.
    package var model: String
    /// Whether the receiver states that it is Waft.
    package var isWaft: Bool
    /// Apple's record that vouches for this user to contacts; empty for none.
    package var record: [UInt8]

    package init(name: String, model: String, isWaft: Bool = false, record: [UInt8] = []) {
        self.name = name
        self.model = model
        self.isWaft = isWaft
        self.record = record
    }
}

/// Bounds on the memory and disk that a stranger can use through this dialect, besides `Limits` (security rule 6).
enum AirDropLimits {
    /// Maximum bytes of a question; a preview takes most of them.
    static let askBytes = 8 << 20
    /// Maximum number of files in a question that this side sends: as many as it accepts.
    static let files = Limits.items
    /// Maximum number of names in the path of an announced item.
    static let announcedDepth = 8
    /// Maximum bytes of any other message.
    static let messageBytes = 1 << 20
    /// The bounds on a message. It has four levels, and a question thirteen values for each file: `files` files fit.
    ///
    /// Writers may store equal texts once, and a text counts for each reference. So the bytes of texts have a bound of
    /// their own: two names and the keys and types of `files` files, besides a preview. A stranger can make the reader
    /// use some 60 MB.
    static let propertyList = PropertyListBounds(
        documentBytes: askBytes, depth: 12, values: 1 << 18, textBytes: 3 * askBytes)
    /// Maximum bytes of an identifier that is only compared.
    static let identifierBytes = 128

    /// Maximum bytes of a block of dvzip.
    static let blockBytes = 128 << 10
    /// Bytes to which any body may inflate, and the factor of its own size that it may use beyond that. Contents that
    /// were offered with a size may reach that size at any ratio.
    static let inflatedBytes: UInt64 = 64 << 20
    static let inflationRatio: UInt64 = 100
    /// Bytes around the contents of one member: its header, name and padding.
    static let memberOverhead: UInt64 = 4 << 10
    /// Maximum bytes between the contents of two members, including a link's target.
    static let headerBytes = 2 << 20
    /// Maximum number of members that claim several names: libarchive keeps a list of them.
    static let linkedMembers = 32_768
    /// Maximum bytes of the remembered paths of one tree's folders.
    static let folderPathBytes = 32 << 20
    /// Maximum bytes of members that are not kept, such as sidecars.
    static let ignoredBytes: UInt64 = 256 << 20
}

extension Dialect {
    /// AirDrop: no key is proved, nothing resumes, and the receiver says only that it has everything.
    package static let airdrop = Dialect(
        name: "airdrop", title: "AirDrop", proof: .never, givesReceipts: false, resumes: false)
}
