package import Sharing

extension Offer {
    /// The offer of the sources' items.
    package init(of sources: [MemorySource], transfer: TransferID = TransferID(), annotation: [String: String] = [:]) {
        self.init(
            transfer: transfer, items: sources.map(\.offered), annotation: annotation, senderName: "a test")
    }

    /// An offer of files that do not exist, all of one size.
    package static func sample(items: Int = 1, size: UInt64? = 5, transfer: TransferID = TransferID()) -> Offer {
        Offer(
            transfer: transfer,
            items: (0..<items).map { number in
                OfferedItem(kind: .file, name: safe("file-\(number)"), type: uniform("public.data"), size: size)
            },
            senderName: "a test"
        )
    }
}
