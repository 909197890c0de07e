import ItemSources
import Sharing

/// The steps of a source, in a form that can be compared.
struct Yield: Equatable {
    var steps: [String] = []
    var contents: [String: [UInt8]] = [:]
    var entries: [String: FileEntry] = [:]
    var closed: [String: Timestamp] = [:]
}

/// Reads a source to its end, with a buffer of a given size.
///
/// - Parameter pause: called after each step and each piece of a file, with the number of pieces so far.
func read(
    _ source: any ItemSource,
    bufferSize: Int = 65_536,
    pause: (ContentStep, _ pieces: Int) -> Void = { _, _ in }
) throws -> Yield {
    let reading = try source.open()
    var yield = Yield()
    var buffer = [UInt8](repeating: 0, count: bufferSize)
    while let step = try reading.next() {
        pause(step, 0)
        switch step {
        case .folder(let path):
            yield.steps.append("d \(path)")
        case .link(let path, let target):
            yield.steps.append("l \(path) -> \(target.text)")
        case .folderClosed(let path, let modified):
            yield.steps.append("c \(path?.text ?? "")")
            yield.closed[path?.text ?? ""] = modified
        case .file(let entry):
            let name = entry.path?.text ?? ""
            yield.steps.append("f \(name)")
            yield.entries[name] = entry
            var pieces = 0
            var bytes: [UInt8] = []
            while true {
                let count = try buffer.withUnsafeMutableBytes { try reading.read(into: $0) }
                if count == 0 { break }
                bytes += buffer[..<count]
                pieces += 1
                pause(step, pieces)
            }
            yield.contents[name] = bytes
        }
    }
    return yield
}

/// The fault that `body` throws; nil if it throws none.
func fault(_ body: () throws -> Void) -> SourceError? {
    do {
        try body()
        return nil
    } catch let fault as SourceError {
        return fault
    } catch {
        return SourceError(.unreadable, "not a source fault: \(error)")
    }
}

func make(_ path: String) throws -> any ItemSource { try ItemSources.make(path: path) }
