import Digests
import Sharing

/// The files that a receiver wants, by items: LocalSend accepts single files, and the offer has whole items.
struct Wishes {
    let verdict: Verdict
    /// The indices of the files that are to be sent.
    let files: [Int]

    private let plan: LocalSendPlan
    private let wanted: Set<Int>

    init(_ plan: LocalSendPlan, _ session: LocalSendSession) {
        let wanted = Set(session.files.keys.compactMap(plan.index(of:)))
        var items = plan.ranges.map { range in
            range.contains(where: wanted.contains)
                ? ItemVerdict.accepted : ItemVerdict(.declined, reason: "it is not wanted")
        }
        // All or nothing, unless the user wants a part.
        if !plan.offer.takesPart, wanted.count < plan.files.count {
            for (number, range) in plan.ranges.enumerated() where items[number].answer == .accepted {
                let count = range.count(where: wanted.contains)
                items[number] =
                    count == range.count
                    ? .leftOut
                    : ItemVerdict(
                        .declined, reason: "only \(count) of its \(range.count) files are wanted; --partial sends them")
            }
        }
        verdict = Verdict(items: items)
        files = verdict.acceptsAnything ? wanted.sorted() : []
        (self.plan, self.wanted) = (plan, wanted)
    }

    /// The result of each item, and whether all accepted files have arrived.
    func result(_ board: UploadBoard) -> (items: SendResult, isWhole: Bool) {
        let (ends, stop, _) = board.results
        let items = plan.ranges.indices.map { number in
            verdict.items[number].answer == .accepted
                ? end(of: number, ends, stop) : SendResult.Item.notAccepted(verdict.items[number])
        }
        let isWhole = files.allSatisfy { file in
            if case .stored = ends[file] { true } else { false }
        }
        return (SendResult(items: items), isWhole)
    }

    private func end(of item: Int, _ ends: [Int: UploadBoard.End], _ stop: TransferError?) -> SendResult.Item {
        let range = plan.ranges[item]
        var digests: [Digest] = []
        var fault: (file: Int, why: TransferError)?
        for file in range where wanted.contains(file) {
            switch ends[file] {
            case .stored(let digest): digests.append(digest)
            case .unread(let why): return .unread(why)
            case .failed(let why): fault = fault ?? (file, why)
            case nil: fault = fault ?? (file, stop ?? TransferError(.unexpected, "it was not sent"))
            }
        }
        if let (file, why) = fault { return .lost(described(why, file, of: range, arrived: digests.count)) }
        guard digests.count == range.count else {
            return .lost(
                TransferError(.notAccepted, "the other side wanted only \(digests.count) of its \(range.count) files"))
        }
        let size = range.reduce(0) { $0 + plan.files[$1].announced.size }
        let path = plan.files[range.lowerBound].announced.fileName
        let name = plan.isMessage ? plan.offer.items[item].name.text : String(path.prefix { $0 != "/" })
        return .acknowledged(
            ItemReceipt(.stored(name: name, size: size, digest: digest(of: range, digests))), sent: nil)
    }

    private func described(_ fault: TransferError, _ file: Int, of range: Range<Int>, arrived: Int) -> TransferError {
        guard let path = plan.files[file].path else { return fault }
        return TransferError(
            fault.code,
            "\(arrived) of its \(range.count) files have arrived; \(PathText.printable(path.text)): \(fault.message)")
    }

    /// Of the folder as it has arrived: without modes, links and empty folders.
    private func digest(of range: Range<Int>, _ digests: [Digest]) -> Digest {
        guard plan.files[range.lowerBound].path != nil else { return digests[0] }
        var listing = TreeListing(.xxh3_128)
        var folders: Set<SafeRelativePath> = []
        for (file, digest) in zip(range, digests) {
            guard let path = plan.files[file].path else { continue }
            var missing: [SafeRelativePath] = []
            var next = path.parent
            while let folder = next, folders.insert(folder).inserted {
                missing.append(folder)
                next = folder.parent
            }
            for folder in missing.reversed() { listing.folder(folder) }
            listing.file(path, executable: false, digest: digest)
        }
        return listing.finalize()
    }
}
