import Secrets
import Testing

@testable import Age

/// The whole file of `contents`, sealed in the given pieces; without any, at once.
func sealed(_ contents: [UInt8], to recipients: [AgeRecipient], pieces: [Int] = []) throws -> [UInt8] {
    var sealer = try AgeSealer(to: recipients)
    var file = sealer.header
    var start = 0
    for piece in pieces + [contents.count] where start < contents.count {
        let end = min(start + piece, contents.count)
        contents[start..<end].withUnsafeBytes { bytes in sealer.seal(bytes) { file += $0 } }
        start = end
    }
    sealer.finish { file += $0 }
    let (size, count) = (sealer.fileBytes, sealer.contentBytes)
    #expect(size == file.count && count == contents.count)
    return file
}

/// A reader of `file`, at most `step` bytes a time.
func reader(_ file: [UInt8], step: Int = .max) -> AgeOpener.Reader {
    var position = 0
    return { room in
        let count = min(room.count, step, file.count - position)
        room.copyBytes(from: file[position..<(position + count)])
        position += count
        return count
    }
}

/// The contents that an opener gives out, and the error that it ends with.
func unsealed(
    _ file: [UInt8], with identities: [AgeIdentity], step: Int = .max
) throws -> (contents: [UInt8], fault: AgeError?) {
    var contents: [UInt8] = []
    do {
        var opener = try AgeOpener(identities: identities, read: reader(file, step: step))
        while try opener.next({ contents += $0 }) {}
        let count = opener.contentBytes
        #expect(count == contents.count)
        return (contents, nil)
    } catch let error as AgeError {
        return (contents, error)
    }
}

/// Contents that differ from chunk to chunk.
func contents(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return [UInt8](unsafeUninitializedCapacity: count) { room, initialized in
        for index in 0..<count {
            state = state &* 1_664_525 &+ 1_013_904_223
            room[index] = UInt8(truncatingIfNeeded: state >> 24)
        }
        initialized = count
    }
}

/// The error of a call; nil if it succeeded.
func fault<Value>(of call: () throws(AgeError) -> Value) -> AgeError? {
    do throws(AgeError) {
        _ = try call()
        return nil
    } catch {
        return error
    }
}

extension AgeError {
    var isUnsupported: Bool { if case .unsupported = self { true } else { false } }
    var isMalformed: Bool { if case .malformed = self { true } else { false } }
}
