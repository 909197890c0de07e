import Age
import Glibc
import Secrets
package import SystemCalls

/// A sealed file that is open for reading, whole or only as far as it was received. One thread at a time uses it.
package final class SealedFile {
    private let file: FileDescriptor
    private var chunks: AgeChunks
    /// The bytes before the first chunk.
    private let start: UInt64
    /// Bytes of all complete chunks.
    private let payload: UInt64
    /// Bytes of contents.
    package let size: UInt64
    /// Whether its last chunk is there.
    package let isWhole: Bool
    private let room: ChunkRoom

    private init(
        _ file: consuming FileDescriptor, _ chunks: consuming AgeChunks, start: UInt64, payload: UInt64, size: UInt64,
        isWhole: Bool, _ room: ChunkRoom
    ) {
        self.file = file
        self.chunks = chunks
        (self.start, self.payload, self.size, self.isWhole, self.room) = (start, payload, size, isWhole, room)
    }

    /// Reads the header, and finds the file's key.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - isPart: whether the end may be missing. Bytes behind the last complete chunk are then ignored.
    package static func open(
        _ file: consuming FileDescriptor, _ keys: FileKeys, isPart: Bool = false
    ) throws(SealedFileError) -> SealedFile {
        let (header, nonce) = try SealedHeader.read(file.raw)
        let chunks = try SealedHeader.chunks(of: header, nonce, keys)
        return try open(file, chunks, start: UInt64(header.payloadOffset), isPart: isPart)
    }

    /// - Parameter chunkKey: its key, if that is known; otherwise its header is opened.
    static func open(
        _ file: consuming FileDescriptor, _ keys: FileKeys, chunkKey: SecretBytes?, isPart: Bool = false
    ) throws(SealedFileError) -> SealedFile {
        guard let chunkKey else { return try open(file, keys, isPart: isPart) }
        let (header, _) = try SealedHeader.read(file.raw)
        let chunks: AgeChunks
        do throws(AgeError) {
            chunks = try AgeChunks(chunkKey: chunkKey)
        } catch {
            throw SealedFileError(error)
        }
        return try open(file, chunks, start: UInt64(header.payloadOffset), isPart: isPart)
    }

    /// - Parameter start: the bytes before the first chunk.
    static func open(
        _ file: consuming FileDescriptor, _ chunks: consuming AgeChunks, start: UInt64, isPart: Bool
    ) throws(SealedFileError) -> SealedFile {
        var status = stat()
        do throws(SystemError) {
            try systemCall { fstat(file.raw, &status) }
        } catch {
            throw .system(error)
        }
        let bytes = UInt64(max(0, status.st_size))
        let payload = bytes > start ? bytes - start : 0
        let contents = AgeLayout.contentBytes(ofFile: Int(clamping: bytes), headerBytes: Int(clamping: start))
        let room = ChunkRoom()
        var isWhole = !isPart
        if isPart, contents != nil {
            let last = (payload - 1) / ChunkRoom.sealedBytes
            let sealed = try room.read(file.raw, from: start + last * ChunkRoom.sealedBytes, to: bytes)
            isWhole = chunks.open(sealed, number: last, isLast: true, into: room.contents)
        }
        if isWhole {
            guard let contents else { throw .damaged("its end is missing") }
            return SealedFile(
                file, chunks, start: start, payload: payload, size: UInt64(contents), isWhole: true, room)
        }
        let whole = payload / ChunkRoom.sealedBytes
        return SealedFile(
            file, chunks, start: start, payload: whole * ChunkRoom.sealedBytes, size: whole * ChunkRoom.contentBytes,
            isWhole: false, room)
    }

    /// Passes the contents on, from the beginning.
    ///
    /// - Parameters:
    ///   - end: the bytes to pass on; at most `size`.
    ///   - body: takes the next contents, valid during the call and at most 256 KiB.
    /// - Throws: `damaged`, `system`, or the error of `body`. All contents that were passed on are authentic.
    package func read(
        upTo end: UInt64, _ body: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        var offset: UInt64 = 0
        // The only chunk of an empty file is looked at as well.
        repeat {
            let contents = try open(at: offset / ChunkRoom.contentBytes, upTo: end)
            if !contents.isEmpty { try body(contents) }
            offset += UInt64(contents.count)
        } while offset < end
    }

    /// Up to `count` bytes from an offset on; fewer at the end.
    func bytes(at offset: UInt64, count: Int) throws(SealedFileError) -> [UInt8] {
        guard offset < size else { return [] }
        let end = offset + min(UInt64(count), size - offset)
        var bytes: [UInt8] = []
        while offset + UInt64(bytes.count) < end {
            let place = offset + UInt64(bytes.count)
            let first = place / ChunkRoom.contentBytes
            let contents = try open(at: first, upTo: end)
            bytes += contents.dropFirst(Int(place - first * ChunkRoom.contentBytes))
        }
        return bytes
    }

    /// Opens some chunks.
    ///
    /// - Parameters:
    ///   - first: the number of the first one.
    ///   - end: contents from this offset on are not returned.
    /// - Returns: the contents from the start of the first chunk on; valid until the next call.
    private func open(at first: UInt64, upTo end: UInt64) throws(SealedFileError) -> UnsafeRawBufferPointer {
        let place = first * ChunkRoom.sealedBytes
        let last = end == 0 ? 0 : (end - 1) / ChunkRoom.contentBytes
        let wanted = min(last - first + 1, ChunkRoom.run) * ChunkRoom.sealedBytes
        let sealed = try room.read(file.raw, from: start + place, to: start + min(payload, place + wanted))
        var opened = 0
        var number = first
        while opened < sealed.count {
            let count = min(Int(ChunkRoom.sealedBytes), sealed.count - opened)
            let isLast = isWhole && place + UInt64(opened + count) == payload
            let chunk = UnsafeRawBufferPointer(rebasing: sealed[opened..<(opened + count)])
            let target = room.contents + Int((number - first) * ChunkRoom.contentBytes)
            guard chunks.open(chunk, number: number, isLast: isLast, into: target) else {
                throw .damaged("the part from byte \(number * ChunkRoom.contentBytes) on is another one")
            }
            opened += count
            number += 1
        }
        let count = min(opened - Int(number - first) * AgeLayout.tagBytes, Int(end - first * ChunkRoom.contentBytes))
        return UnsafeRawBufferPointer(start: room.contents, count: count)
    }
}

/// Memory for some chunks, sealed and open.
final class ChunkRoom {
    /// Chunks that are read together.
    static let run: UInt64 = 4
    static let sealedBytes = UInt64(AgeLayout.sealedChunkBytes)
    static let contentBytes = UInt64(AgeLayout.chunkBytes)

    private let sealed = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(run * sealedBytes), alignment: 4_096)
    private let open = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(run * contentBytes), alignment: 4_096)

    /// Room for the contents of `run` chunks.
    var contents: UnsafeMutableRawPointer {
        // It was allocated with bytes.
        open.baseAddress.unsafelyUnwrapped
    }

    deinit {
        sealed.deallocate()
        open.initializeMemory(as: UInt8.self, repeating: 0)
        open.deallocate()
    }

    /// Reads a part of a file, of `run` sealed chunks at most.
    /// - Throws: `damaged` if it ends before.
    func read(_ file: Int32, from offset: UInt64, to end: UInt64) throws(SealedFileError) -> UnsafeRawBufferPointer {
        let wanted = Int(end - offset)
        var count = 0
        while count < wanted {
            do throws(SystemError) {
                let read = try systemCall {
                    pread(
                        file, sealed.baseAddress.map { $0 + count }, wanted - count, off_t(clamping: offset) + count)
                }
                if read == 0 { throw SystemError(0) }
                count += read
            } catch {
                throw error.number == 0 ? .damaged("its end is missing") : .system(error)
            }
        }
        return UnsafeRawBufferPointer(rebasing: sealed[..<wanted])
    }
}

/// The beginning of a sealed file: its header, and the nonce behind it.
enum SealedHeader {
    /// Enough for the header of any file that Waft has sealed.
    private static let usualBytes = 2_048

    static func read(_ file: Int32) throws(SealedFileError) -> (AgeHeader, nonce: [UInt8]) {
        var room = usualBytes
        while true {
            let bytes = try beginning(of: file, room)
            do throws(AgeError) {
                let header = try AgeHeader(parsing: bytes)
                guard bytes.count >= header.payloadOffset else { throw .truncated }
                return (header, Array(bytes[header.length..<header.payloadOffset]))
            } catch {
                let most = AgeHeader.maximumBytes + AgeLayout.nonceBytes
                guard error == .truncated, bytes.count == room, room < most else { throw SealedFileError(error) }
                room = most
            }
        }
    }

    static func chunks(
        of header: AgeHeader, _ nonce: [UInt8], _ keys: FileKeys
    ) throws(SealedFileError) -> AgeChunks {
        do {
            return try AgeChunks(key: try keys.key(of: header), nonce: nonce)
        } catch let error as SealedFileError {
            throw error
        } catch {
            throw .damaged("\(error)")
        }
    }

    static func beginning(of file: Int32, _ room: Int) throws(SealedFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: room)
        var count = 0
        while count < room {
            do throws(SystemError) {
                let read = try systemCall {
                    bytes.withUnsafeMutableBytes {
                        pread(file, $0.baseAddress.map { $0 + count }, room - count, off_t(count))
                    }
                }
                if read == 0 { break }
                count += read
            } catch {
                throw .system(error)
            }
        }
        return Array(bytes.prefix(count))
    }
}
