import NIOCore

/// Reads binary property lists (`bplist00`) within bounds.
///
/// Foundation's reader is not used: objects of this form refer to each other by number, so a few bytes can describe an
/// endless value, and Foundation follows every reference. This reader counts every visit.
struct BinaryPropertyList {
    /// Maximum depth of nested values; messages have four levels.
    private static let depth = 12
    /// Maximum number of values, each counted at every reference. A question has thirteen for each file:
    /// `AirDropLimits.files` files fit. A stranger can make the reader use some 30 MB.
    private static let values = 1 << 18

    private let bytes: ByteBuffer
    private let offsets: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private var valuesLeft = Self.values
    /// Remaining bytes of texts and data: repeated references to a value must not take much memory.
    private var bytesLeft: Int

    /// - Returns: nil if the bytes are no binary property list or exceed the bounds.
    static func read(_ bytes: ByteBuffer) -> PropertyListValue? {
        guard var list = BinaryPropertyList(bytes), let top = list.topObject else { return nil }
        return list.value(top, depth: 0)
    }

    private var topObject: Int?

    private init?(_ body: ByteBuffer) {
        bytes = body.slice()
        let count = bytes.readableBytes
        guard count >= 8 + 32, bytes.getString(at: 0, length: 8) == "bplist00",
            let offsetSize = bytes.getInteger(at: count - 26, as: UInt8.self),
            let referenceSize = bytes.getInteger(at: count - 25, as: UInt8.self),
            let objects = bytes.getInteger(at: count - 24, as: UInt64.self),
            let top = bytes.getInteger(at: count - 16, as: UInt64.self),
            let table = bytes.getInteger(at: count - 8, as: UInt64.self)
        else { return nil }
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), objects >= 1, top < objects,
            table >= 9, table < UInt64(count - 32), objects <= UInt64(Self.values),
            objects * UInt64(offsetSize) <= UInt64(count - 32) - table
        else { return nil }
        self.offsets = Int(table)
        self.offsetSize = Int(offsetSize)
        self.referenceSize = Int(referenceSize)
        self.objectCount = Int(objects)
        self.topObject = Int(top)
        self.bytesLeft = count * 2
    }

    /// A big-endian number of one to eight bytes.
    private func number(at place: Int, size: Int) -> UInt64? {
        guard place >= 0, size >= 1, size <= 8, place <= offsets + objectCount * offsetSize - size else { return nil }
        return bytes.getBytes(at: place, length: size)?.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }

    private mutating func value(_ object: Int, depth: Int) -> PropertyListValue? {
        valuesLeft -= 1
        guard valuesLeft >= 0, depth <= Self.depth, object < objectCount,
            let offset = number(at: offsets + object * offsetSize, size: offsetSize), offset >= 8,
            offset < UInt64(offsets), let marker = bytes.getInteger(at: Int(offset), as: UInt8.self)
        else { return nil }
        let place = Int(offset) + 1
        switch (marker >> 4, marker & 15) {
        case (0, 8): return .bool(false)
        case (0, 9): return .bool(true)
        case (0, _): return .other
        case (1, let power) where power <= 3:
            return number(at: place, size: 1 << Int(power)).map { .integer($0) }
        case (1, 4):
            // Foundation writes unsigned numbers with this width.
            guard number(at: place, size: 8) == 0 else { return .other }
            return number(at: place + 8, size: 8).map { .integer($0) }
        case (1, _), (2, _), (3, _), (8, _): return .other
        case (4, let count): return data(count, place).map { .data($0) }
        case (5, let count):
            // ASCII is UTF-8 too.
            return data(count, place).flatMap { String(validating: $0.readableBytesView, as: UTF8.self) }
                .map { .string($0) }
        case (6, let count): return wideString(count, place).map { .string($0) }
        case (0xA, let count): return array(count, place, depth)
        case (0xD, let count): return dictionary(count, place, depth)
        default: return nil
        }
    }

    /// A count from the marker, or from the bytes after it if it is 15 or more.
    /// - Returns: the count, and the place of the first element; each element has at least `size` bytes.
    private func counted(_ nibble: UInt8, _ place: Int, size: Int) -> (count: Int, place: Int)? {
        var (count, place) = (UInt64(nibble), place)
        if nibble == 15 {
            guard let marker = bytes.getInteger(at: place, as: UInt8.self), marker >> 4 == 1, marker & 15 <= 3,
                let number = number(at: place + 1, size: 1 << Int(marker & 15))
            else { return nil }
            count = number
            place += 1 + 1 << Int(marker & 15)
        }
        guard place <= offsets, count <= UInt64((offsets - place) / size) else { return nil }
        return (Int(count), place)
    }

    private mutating func data(_ nibble: UInt8, _ place: Int) -> ByteBuffer? {
        guard let (count, place) = counted(nibble, place, size: 1) else { return nil }
        bytesLeft -= count
        return bytesLeft >= 0 ? bytes.getSlice(at: place, length: count) : nil
    }

    private mutating func wideString(_ nibble: UInt8, _ place: Int) -> String? {
        guard let (count, place) = counted(nibble, place, size: 2) else { return nil }
        bytesLeft -= 2 * count
        guard bytesLeft >= 0, let units = bytes.getBytes(at: place, length: 2 * count) else { return nil }
        let wide = stride(from: 0, to: units.count, by: 2).map { UInt16(units[$0]) << 8 | UInt16(units[$0 + 1]) }
        return String(validating: wide, as: UTF16.self)
    }

    private mutating func array(_ nibble: UInt8, _ place: Int, _ depth: Int) -> PropertyListValue? {
        guard let (count, place) = counted(nibble, place, size: referenceSize), count <= valuesLeft else { return nil }
        var values: [PropertyListValue] = []
        values.reserveCapacity(count)
        for index in 0..<count {
            guard let value = referred(place + index * referenceSize, depth) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    private mutating func dictionary(_ nibble: UInt8, _ place: Int, _ depth: Int) -> PropertyListValue? {
        guard let (count, place) = counted(nibble, place, size: 2 * referenceSize), count <= valuesLeft else {
            return nil
        }
        var values: [String: PropertyListValue] = [:]
        for index in 0..<count {
            guard case .string(let key)? = referred(place + index * referenceSize, depth),
                let value = referred(place + (count + index) * referenceSize, depth)
            else { return nil }
            // No writer repeats a key, and readers would choose different values.
            guard values.updateValue(value, forKey: key) == nil else { return nil }
        }
        return .dictionary(values)
    }

    private mutating func referred(_ place: Int, _ depth: Int) -> PropertyListValue? {
        guard let reference = number(at: place, size: referenceSize), reference < UInt64(objectCount) else {
            return nil
        }
        return value(Int(reference), depth: depth + 1)
    }
}
