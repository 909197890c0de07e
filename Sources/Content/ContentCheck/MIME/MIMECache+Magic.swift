private import Glibc

/// A rule of the shared MIME database that content fits.
struct MagicMatch: Hashable, Sendable {
    let mimeType: String

    /// 0 to 100 in an honest database; the higher one is right.
    let priority: Int

    /// The amount compared, in bits: 8 for a byte, fewer if a mask leaves bits out, 2 for a zero byte, which is common
    /// everywhere.
    let strength: Int

    /// The least offset at which something was found that the rule asks for.
    let offset: Int

    /// Whether the rule looks at certain offsets only, and does not search.
    let isFixed: Bool

    /// Whether so little was compared that chance may have done it: two bytes, of which formats have run out long ago.
    var isWeak: Bool { strength < 20 }
}

extension MIMECache {
    /// The rules of the highest priority that the start of some content fits, in the database's order; none of a lower
    /// priority than `least`.
    func matches(_ head: UnsafeRawBufferPointer, least: Int = 0) -> [MagicMatch] {
        bytes.withUnsafeBytes { bytes in
            var search = MagicSearch(view: CacheView(bytes: bytes), head: head)
            return search.matches(least: least)
        }
    }

    /// The MIME types that there are rules for.
    var typesWithMagic: [String] {
        bytes.withUnsafeBytes { bytes in
            let view = CacheView(bytes: bytes)
            var types: [String] = []
            for rule in MagicSearch.rules(view) {
                guard let name = view.word(at: rule + 4).flatMap({ view.name(at: $0) }) else { continue }
                types.append(String(decoding: name, as: UTF8.self))
            }
            return types
        }
    }
}

/// One search of the rules.
private struct MagicSearch {
    let view: CacheView
    let head: UnsafeRawBufferPointer
    var work = MIMECache.Limits.work

    private static let ruleSize = 16
    private static let matchletSize = 32

    init(view: CacheView, head: UnsafeRawBufferPointer) {
        self.view = view
        self.head = head
    }

    /// The offsets of the rules. The file may state more rules than it has room for; the others are ignored.
    static func rules(_ view: CacheView) -> StrideTo<Int> {
        guard let (list, count) = view.list(.magic), let first = view.word(at: list + 4), first <= view.bytes.count
        else {
            return stride(from: 0, to: 0, by: ruleSize)
        }
        let room = (view.bytes.count - first) / ruleSize
        return stride(from: first, to: first + min(count, room) * ruleSize, by: ruleSize)
    }

    mutating func matches(least: Int) -> [MagicMatch] {
        var best = least
        var found: [MagicMatch] = []
        for rule in Self.rules(view) {
            guard let priority = view.word(at: rule), priority >= best, work > 0 else { continue }
            guard let count = view.word(at: rule + 8), let first = view.word(at: rule + 12),
                let fit = matchAny(first, count: count, depth: 0),
                let name = view.word(at: rule + 4).flatMap({ view.name(at: $0) })
            else { continue }
            if priority > best {
                found.removeAll()
                best = priority
            }
            guard found.count < MIMECache.Limits.ambiguity else { continue }
            found.append(
                MagicMatch(
                    mimeType: String(decoding: name, as: UTF8.self),
                    priority: priority,
                    strength: fit.strength,
                    offset: fit.offset,
                    isFixed: fit.isFixed
                )
            )
        }
        return found
    }

    /// How a matchlet, and one of each level below it, was found.
    private struct Fit {
        var strength: Int
        var offset: Int
        var isFixed: Bool
    }

    /// The first of some matchlets that the head fits.
    private mutating func matchAny(_ first: Int, count: Int, depth: Int) -> Fit? {
        guard depth < MIMECache.Limits.depth, first < view.bytes.count else { return nil }
        let room = (view.bytes.count - first) / Self.matchletSize
        for index in 0..<min(count, room) {
            guard work > 0 else { return nil }
            work -= 1
            if let match = match(first + index * Self.matchletSize, depth: depth) { return match }
        }
        return nil
    }

    private mutating func match(_ matchlet: Int, depth: Int) -> Fit? {
        guard let fields = view.range(at: matchlet, count: Self.matchletSize) else { return nil }
        func word(_ number: Int) -> Int {
            Int(UInt32(bigEndian: fields.loadUnaligned(fromByteOffset: 4 * number, as: UInt32.self)))
        }
        let (rangeStart, rangeLength, wordSize, length) = (word(0), word(1), word(2), word(3))
        guard length > 0, let value = view.range(at: word(4), count: length) else { return nil }
        let (maskOffset, children, firstChild) = (word(5), word(6), word(7))
        if rangeLength == 1, wordSize == 1, maskOffset == 0 {
            // Most rules are about one place, and fail at its first byte.
            guard rangeStart <= head.count - length, head[rangeStart] == value[0] else { return nil }
        }
        var mask: UnsafeRawBufferPointer?
        if maskOffset != 0 {
            guard let bytes = view.range(at: maskOffset, count: length) else { return nil }
            mask = bytes
        }
        let pattern = Pattern(value: value, mask: mask, wordSize: wordSize)
        guard let position = position(of: pattern, from: rangeStart, count: rangeLength) else { return nil }
        var fit = Fit(strength: pattern.strength, offset: position, isFixed: rangeLength == 1)
        guard children > 0 else { return fit }
        guard let child = matchAny(firstChild, count: children, depth: depth + 1) else { return nil }
        fit.strength += child.strength
        fit.offset = min(fit.offset, child.offset)
        fit.isFixed = fit.isFixed && child.isFixed
        return fit
    }

    /// The first of `count` offsets from `start` on at which the head fits.
    private mutating func position(of pattern: Pattern, from start: Int, count: Int) -> Int? {
        let last = min(start + count - 1, head.count - pattern.value.count)
        guard start <= last else { return nil }
        var position = start
        while position <= last, work > 0 {
            if pattern.mask == nil, pattern.wordSize == 1, position < last {
                // Most offsets fail at the first byte.
                let remaining = last - position + 1
                guard let base = head.baseAddress, let hit = memchr(base + position, Int32(pattern.value[0]), remaining)
                else {
                    work -= remaining / 8 + 1
                    return nil
                }
                let next = UnsafeRawPointer(hit) - base
                work -= (next - position) / 8
                position = next
            }
            work -= pattern.value.count
            if pattern.fits(head, at: position) { return position }
            position += 1
        }
        return nil
    }
}

/// The pattern of a matchlet.
private struct Pattern {
    let value: UnsafeRawBufferPointer
    /// As long as the value.
    let mask: UnsafeRawBufferPointer?
    /// 2 or 4 for numbers in the order of the machine, which the file has in big-endian order; 1 for bytes.
    let wordSize: Int

    init(value: UnsafeRawBufferPointer, mask: UnsafeRawBufferPointer?, wordSize: Int) {
        self.value = value
        self.mask = mask
        let isSwapped = 1.littleEndian == 1 && (wordSize == 2 || wordSize == 4) && value.count.isMultiple(of: wordSize)
        self.wordSize = isSwapped ? wordSize : 1
    }

    /// The whole value must be inside the head at `position`.
    func fits(_ head: UnsafeRawBufferPointer, at position: Int) -> Bool {
        for index in 0..<value.count {
            let other = wordSize == 1 ? index : index / wordSize * wordSize + (wordSize - 1 - index % wordSize)
            let mask = mask?[other] ?? 0xFF
            guard head[position + index] & mask == value[other] & mask else { return false }
        }
        return true
    }

    var strength: Int {
        var strength = 0
        for index in 0..<value.count {
            let mask = mask?[index] ?? 0xFF
            strength += value[index] & mask == 0 ? min(2, mask.nonzeroBitCount) : mask.nonzeroBitCount
        }
        return strength
    }
}
