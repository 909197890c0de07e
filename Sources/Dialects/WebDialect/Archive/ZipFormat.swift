import Glibc
import NIOCore
import Sharing

/// The records of a ZIP (APPNOTE.TXT 6.3.10).
enum ZipFormat {
    static let most32: UInt64 = 0xFFFF_FFFF
    static let most16 = 0xFFFF

    static let localBytes = 30
    static let directoryBytes = 46
    static let endBytes: UInt64 = 22
    static let largeEndBytes: UInt64 = 56 + 20
    /// Of the two fields for a time, and of that for sizes of 64 bits in front of the contents.
    static let shortTimeBytes = 9
    static let longTimeBytes = 36
    static let sizesBytes = 20

    /// The checksum follows the contents; names are UTF-8.
    private static let flagsOfFile: UInt16 = 1 << 3 | 1 << 11
    private static let flagsOfOther: UInt16 = 1 << 11
    private static let version: UInt16 = 20
    private static let largeVersion: UInt16 = 45
    private static let unix: UInt16 = 3 << 8

    /// Whether the end of a ZIP needs 64 bits.
    static func isLarge(entries: Int, directory: UInt64, at offset: UInt64) -> Bool {
        entries >= most16 || directory >= most32 || offset >= most32
    }

    /// Writes what stands before the contents.
    /// - Parameter checksum: of contents that are no file's.
    static func writeLocal(_ entry: ZipEntry, _ checksum: UInt32, into buffer: inout ByteBuffer) {
        buffer.write(0x0403_4b50 as UInt32)
        writeCommon(entry, checksum, sizes: !entry.isFile, into: &buffer)
        buffer.write(UInt16(entry.name.utf8.count))
        buffer.write(UInt16(entry.timeBytes + (entry.isLarge ? sizesBytes : 0)))
        buffer.writeString(entry.name)
        writeTime(entry.modified, into: &buffer)
        guard entry.isLarge else { return }
        buffer.write(1 as UInt16)
        buffer.write(16 as UInt16)
        buffer.write(entry.size)
        buffer.write(entry.packedSize)
    }

    /// Writes what stands after the contents of a file.
    static func writeDescriptor(_ entry: ZipEntry, _ checksum: UInt32, into buffer: inout ByteBuffer) {
        buffer.write(0x0807_4b50 as UInt32)
        buffer.write(checksum)
        if entry.isLarge {
            buffer.write(entry.packedSize)
            buffer.write(entry.size)
        } else {
            buffer.write(UInt32(entry.packedSize))
            buffer.write(UInt32(entry.size))
        }
    }

    /// Writes the line of the directory.
    static func writeDirectory(
        _ entry: ZipEntry, _ checksum: UInt32, at offset: UInt64, into buffer: inout ByteBuffer
    ) {
        let isFar = offset >= most32
        let wide = (entry.isLarge ? 16 : 0) + (isFar ? 8 : 0)
        buffer.write(0x0201_4b50 as UInt32)
        buffer.write(unix | largeVersion)
        writeCommon(entry, checksum, sizes: true, into: &buffer)
        buffer.write(UInt16(entry.name.utf8.count))
        buffer.write(UInt16(entry.timeBytes + (wide > 0 ? 4 + wide : 0)))
        buffer.write(0 as UInt16)  // No comment.
        buffer.write(0 as UInt16)  // The first disk.
        buffer.write(0 as UInt16)
        buffer.write(entry.mode << 16 | (entry.kind == .folder ? 0x10 : 0))
        buffer.write(isFar ? UInt32.max : UInt32(offset))
        buffer.writeString(entry.name)
        writeTime(entry.modified, into: &buffer)
        guard wide > 0 else { return }
        buffer.write(1 as UInt16)
        buffer.write(UInt16(wide))
        if entry.isLarge {
            buffer.write(entry.size)
            buffer.write(entry.packedSize)
        }
        if isFar { buffer.write(offset) }
    }

    /// Writes the end.
    /// - Parameters:
    ///   - directory: the bytes of the directory.
    ///   - offset: where it begins.
    static func writeEnd(entries: Int, directory: UInt64, at offset: UInt64, into buffer: inout ByteBuffer) {
        if isLarge(entries: entries, directory: directory, at: offset) {
            buffer.write(0x0606_4b50 as UInt32)
            buffer.write(44 as UInt64)
            buffer.write(unix | largeVersion)
            buffer.write(largeVersion)
            buffer.write(0 as UInt64)  // This disk, and that of the directory.
            buffer.write(UInt64(entries))
            buffer.write(UInt64(entries))
            buffer.write(directory)
            buffer.write(offset)
            buffer.write(0x0706_4b50 as UInt32)
            buffer.write(0 as UInt32)
            buffer.write(offset + directory)
            buffer.write(1 as UInt32)
        }
        buffer.write(0x0605_4b50 as UInt32)
        buffer.write(0 as UInt32)
        buffer.write(UInt16(clamping: entries))
        buffer.write(UInt16(clamping: entries))
        buffer.write(UInt32(clamping: directory))
        buffer.write(UInt32(clamping: offset))
        buffer.write(0 as UInt16)
    }

    private static func writeCommon(
        _ entry: ZipEntry, _ checksum: UInt32, sizes: Bool, into buffer: inout ByteBuffer
    ) {
        buffer.write(entry.isLarge ? largeVersion : version)
        buffer.write(entry.isFile ? flagsOfFile : flagsOfOther)
        buffer.write((entry.isFile ? 8 : 0) as UInt16)
        let (time, date) = dosTime(entry.modified)
        buffer.write(time)
        buffer.write(date)
        buffer.write(sizes ? checksum : 0)
        let isKnown = sizes || entry.isLarge
        buffer.write(isKnown ? UInt32(clamping: entry.isLarge ? .max : entry.packedSize) : 0)
        buffer.write(isKnown ? UInt32(clamping: entry.isLarge ? .max : entry.size) : 0)
    }

    /// Whether all programs read a time in seconds since 1970 in the same way: to some, 32 bits have a sign.
    static func isShort(_ time: Timestamp) -> Bool { (0...Int64(Int32.max)).contains(time.seconds) }

    /// The time of the last change: in seconds since 1970, or else as NTFS has it (APPNOTE.TXT, 4.5.5), in units of 100 ns
    /// since 1601. Programs that do not know NTFS's take that of DOS.
    private static func writeTime(_ time: Timestamp, into buffer: inout ByteBuffer) {
        if isShort(time) {
            buffer.write(0x5455 as UInt16)
            buffer.write(5 as UInt16)
            buffer.writeInteger(1 as UInt8)
            buffer.write(UInt32(time.seconds))
            return
        }
        buffer.write(0x000A as UInt16)
        buffer.write(32 as UInt16)
        buffer.write(0 as UInt32)
        buffer.write(1 as UInt16)
        buffer.write(24 as UInt16)
        // Of the last change, the last access and the creation.
        for _ in 0..<3 { buffer.write(ntfsTime(time)) }
    }

    private static func ntfsTime(_ time: Timestamp) -> UInt64 {
        let (seconds, isFar) = time.seconds.addingReportingOverflow(11_644_473_600)
        let (units, isFarther) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 10_000_000)
        return isFar || isFarther ? .max : units + (seconds < 0 ? 0 : UInt64(time.nanoseconds / 100))
    }

    /// In local time, in steps of two seconds, from 1980 to 2107.
    private static func dosTime(_ time: Timestamp) -> (time: UInt16, date: UInt16) {
        var (seconds, parts) = (time_t(time.seconds), tm())
        localtime_r(&seconds, &parts)
        let year = Int(parts.tm_year) + 1_900
        guard year >= 1_980 else { return (0, 1 << 5 | 1) }
        guard year <= 2_107 else { return (0, UInt16(127 << 9 | 12 << 5 | 31)) }
        return (
            UInt16(parts.tm_hour << 11 | parts.tm_min << 5 | min(parts.tm_sec, 59) / 2),
            UInt16((year - 1_980) << 9 | (Int(parts.tm_mon) + 1) << 5 | Int(parts.tm_mday))
        )
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ number: some FixedWidthInteger) { writeInteger(number, endianness: .little) }
}
