import Age
import Glibc
import Protection
import SystemCalls

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
        } catch let error as VaultError {
            throw .closed(error)
        } catch {
            throw .damaged("\(error)")
        }
    }

    private static func beginning(of file: Int32, _ room: Int) throws(SealedFileError) -> [UInt8] {
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
