import ContentCheck
import Foundation
import Previews
import TestSupport
import Testing
import UniformTypes

/// A folder with files of the tests, and the previews of them.
struct PreviewFolder {
    let folder = TemporaryFolder()
    private let reader = PreviewReader(types: .system, checker: ContentChecker(database: .none))

    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let path = folder / name
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    func finding(_ bytes: [UInt8], _ name: String = "a", lines: Int = 40) throws -> PreviewReader.Finding {
        try finding(at: write(bytes, name), lines: lines)
    }

    func finding(at path: String, lines: Int = 40) throws -> PreviewReader.Finding {
        let file = try #require(FileHandle(forReadingAtPath: path))
        let size = try file.seekToEnd()
        let name = URL(fileURLWithPath: path).lastPathComponent
        return reader.finding(
            in: PreviewSource(descriptor: file.fileDescriptor, size: size),
            declared: TypeRegistry.system.type(forFileName: name, kind: .regularFile), lines: lines)
    }

    func text(_ bytes: [UInt8], _ name: String = "a.txt", lines: Int = 40) throws -> TextPreview? {
        guard case .text(let text)? = try finding(bytes, name, lines: lines).preview else { return nil }
        return text
    }

    func pixels(_ bytes: [UInt8], _ name: String) throws -> [UInt32]? {
        guard case .image(let size)? = try finding(bytes, name).preview else { return nil }
        return [size.width, size.height]
    }

    func listing(at path: String) throws -> ArchiveListing? {
        guard case .archive(let listing)? = try finding(at: path).preview else { return nil }
        return listing
    }

    /// Runs a program of the system in the folder.
    func run(_ program: String, _ words: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = words
        process.currentDirectoryURL = URL(fileURLWithPath: folder / "")
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
