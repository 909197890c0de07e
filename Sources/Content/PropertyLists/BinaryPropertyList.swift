/// Reads binary property lists (`bplist00`): a table of objects that refer to each other by number, the layout of
/// CFBinaryPList.
///
/// References may form cycles and name one object any number of times, so every visit counts towards the bounds.
/// Foundation's reader is not used: it follows every reference, so that a file of 200 bytes takes hours, and some
/// damaged files crash it.
struct BinaryPropertyList {
    static let magic = Array("bplist00".utf8)

    private static let trailerBytes = 32

    private let bytes: [UInt8]
    /// Bytes of an entry in the table of offsets, and of a reference: 1...8.
    private let offsetBytes: Int
    private let referenceBytes: Int
    private var objectCount = 0
    private var tableStart: Int
    private var allowance: PropertyListAllowance

    static func read(_ bytes: [UInt8], within bounds: PropertyListBounds) throws(PropertyListError) -> PropertyList {
        var list = try BinaryPropertyList(bytes, PropertyListAllowance(bounds))
        let top = try list.number(at: bytes.count - 16, bytes: 8)
        return try list.object(top, depth: 0)
    }

    private init(_ bytes: [UInt8], _ allowance: PropertyListAllowance) throws(PropertyListError) {
        guard bytes.count >= Self.magic.count + Self.trailerBytes, bytes.starts(with: Self.magic) else {
            throw .malformed("it is cut short")
        }
        self.bytes = bytes
        self.allowance = allowance
        let trailer = bytes.count - Self.trailerBytes
        offsetBytes = Int(bytes[trailer + 6])
        referenceBytes = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes) else {
            throw .malformed("its trailer is damaged")
        }
        tableStart = trailer
        let count = try number(at: trailer + 8, bytes: 8)
        let start = try number(at: trailer + 24, bytes: 8)
        guard count > 0, start >= Self.magic.count, start <= trailer, count <= (trailer - start) / offsetBytes else {
            throw .malformed("its table of offsets does not fit")
        }
        objectCount = count
        tableStart = start
    }

    /// A big-endian number that fits an `Int`.
    private func number(at position: Int, bytes count: Int) throws(PropertyListError) -> Int {
        guard position >= 0, count <= 8, position <= bytes.count - count else { throw .malformed("it is cut short") }
        var value: UInt64 = 0
        for byte in bytes[position..<position + count] { value = value << 8 | UInt64(byte) }
        guard let number = Int(exactly: value) else { throw .malformed("a number in it is too large") }
        return number
    }

    /// - Parameter number: of the object, counted from 0.
    private mutating func object(_ number: Int, depth: Int) throws(PropertyListError) -> PropertyList {
        try allowance.takeValue(depth: depth)
        guard number < objectCount else { throw .malformed("it refers to an object that it does not have") }
        let position = try self.number(at: tableStart + number * offsetBytes, bytes: offsetBytes)
        guard position >= Self.magic.count, position < tableStart else {
            throw .malformed("an object is outside its place")
        }
        let marker = bytes[position]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08: return .boolean(false)
        case 0x0 where marker == 0x09: return .boolean(true)
        case 0x1 where low <= 4: return try integer(at: position + 1, bytes: 1 << low)
        case 0x2 where low == 2 || low == 3: return try real(at: position + 1, bytes: 1 << low)
        case 0x3 where low == 3: return .date
        case 0x0, 0x1, 0x2, 0x3, 0x8: return .other
        case 0x4:
            let (count, start) = try length(low, after: position)
            let span = try span(at: start, count: count, of: 1)
            try allowance.takeText(bytes: count)
            return .data(Array(bytes[span]))
        case 0x5, 0x6:
            let (count, start) = try length(low, after: position)
            return .string(try text(at: start, units: count, wide: marker >> 4 == 0x6))
        case 0xA:
            let (count, start) = try length(low, after: position)
            return .array(try array(at: start, count: count, depth: depth))
        case 0xD:
            let (count, start) = try length(low, after: position)
            return .dictionary(try dictionary(at: start, count: count, depth: depth))
        default: throw .malformed("it has a value of an unknown kind")
        }
    }

    /// The number of units of an object. It is in the object's marker, or in an integer after it.
    private func length(_ low: Int, after position: Int) throws(PropertyListError) -> (count: Int, start: Int) {
        guard low == 0x0F else { return (low, position + 1) }
        guard position + 1 < tableStart, bytes[position + 1] >> 4 == 0x1, bytes[position + 1] & 0x0F <= 3 else {
            throw .malformed("a length in it is damaged")
        }
        let width = 1 << Int(bytes[position + 1] & 0x0F)
        return (try number(at: position + 2, bytes: width), position + 2 + width)
    }

    /// The place of `count` units before the table of offsets.
    private func span(at start: Int, count: Int, of unitBytes: Int) throws(PropertyListError) -> Range<Int> {
        guard start <= tableStart, count <= (tableStart - start) / unitBytes else {
            throw .malformed("it is cut short")
        }
        return start..<start + count * unitBytes
    }

    private func integer(at start: Int, bytes count: Int) throws(PropertyListError) -> PropertyList {
        let span = try span(at: start, count: count, of: 1)
        var value: UInt64 = 0
        for byte in bytes[span].suffix(8) { value = value << 8 | UInt64(byte) }
        // Integers of up to four bytes are unsigned, those of eight are signed. Sixteen bytes: larger unsigned ones.
        guard count == 16 else { return .integer(Int64(bitPattern: value)) }
        return bytes[span].prefix(8).allSatisfy { $0 == 0 }
            ? Int64(exactly: value).map { .integer($0) } ?? .real(Double(value)) : .integer(Int64(bitPattern: value))
    }

    private func real(at start: Int, bytes count: Int) throws(PropertyListError) -> PropertyList {
        let span = try span(at: start, count: count, of: 1)
        var value: UInt64 = 0
        for byte in bytes[span] { value = value << 8 | UInt64(byte) }
        return .real(
            count == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: value))) : Double(bitPattern: value))
    }

    private mutating func text(at start: Int, units: Int, wide: Bool) throws(PropertyListError) -> String {
        let span = try span(at: start, count: units, of: wide ? 2 : 1)
        try allowance.takeText(bytes: span.count)
        let text: String?
        if wide {
            let halves = stride(from: span.lowerBound, to: span.upperBound, by: 2)
            let units = halves.map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            text = String(validating: units, as: UTF16.self)
        } else {
            text = String(validating: bytes[span], as: UTF8.self)
        }
        guard let text else { throw .malformed("a text in it is not Unicode") }
        return text
    }

    private mutating func array(at start: Int, count: Int, depth: Int) throws(PropertyListError) -> [PropertyList] {
        let span = try span(at: start, count: count, of: referenceBytes)
        try allowance.check(values: count)
        var elements: [PropertyList] = []
        elements.reserveCapacity(count)
        for position in stride(from: span.lowerBound, to: span.upperBound, by: referenceBytes) {
            elements.append(try object(number(at: position, bytes: referenceBytes), depth: depth + 1))
        }
        return elements
    }

    private mutating func dictionary(
        at start: Int,
        count: Int,
        depth: Int
    ) throws(PropertyListError) -> [String: PropertyList] {
        let (doubled, overflow) = count.multipliedReportingOverflow(by: 2)
        guard !overflow else { throw .malformed("it is cut short") }
        let span = try span(at: start, count: doubled, of: referenceBytes)
        var entries: [String: PropertyList] = [:]
        for position in stride(from: span.lowerBound, to: span.lowerBound + count * referenceBytes, by: referenceBytes)
        {
            let key = try object(number(at: position, bytes: referenceBytes), depth: depth + 1)
            guard case .string(let name) = key else { throw .malformed("a key in it is not text") }
            let reference = try number(at: position + count * referenceBytes, bytes: referenceBytes)
            let value = try object(reference, depth: depth + 1)
            // No writer repeats a key, and readers would choose different values.
            guard entries.updateValue(value, forKey: name) == nil else { throw .malformed("it has a key twice") }
        }
        return entries
    }
}
