import Foundation
import Glibc
import Testing

@testable import HookSandbox

/// The warden with a caller that no sandbox holds back.
@Suite("The warden of attributes")
struct AttributeWardenTests {
    /// A program that opens a file of a tree in a mount that is attached nowhere, where it has the path of a writable
    /// place; and the same file by its name.
    private static let script = """
        import ctypes, os, sys
        tree, path = sys.argv[1:]
        mount = ctypes.CDLL(None, use_errno=True).syscall(428, -100, tree.encode(), 1)
        if mount < 0: print('none', flush=True); sys.exit()
        print(os.open(path.lstrip('/'), os.O_RDONLY, dir_fd=mount), os.open(path, os.O_RDONLY), flush=True)
        sys.stdin.read()
        """

    @Test("a file in a detached mount is in no place, even if its path there is that of a place")
    func detached() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/warden-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (place, tree) = (folder + "/place", folder + "/tree")
        for file in [place + "/own", tree + place + "/own"] {
            let parent = (file as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: file))
            #expect(chmod(file, 0o644) == 0)
        }
        let (program, output, input) = (Process(), Pipe(), Pipe())
        program.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        program.arguments = ["-c", Self.script, tree, place + "/own"]
        (program.standardOutput, program.standardInput) = (output, input)
        try program.run()
        defer {
            try? input.fileHandleForWriting.close()
            program.waitUntilExit()
        }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let files = line.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        // Only root may make such a mount.
        guard files.count == 2 else { return }
        let warden = AttributeWarden([place])
        let thread = program.processIdentifier
        func change(_ file: Int32) throws(CallError) {
            guard let call = AttributeCall("fchmod", [UInt64(file), 0o600, 0, 0, 0, 0]) else { return }
            try warden.carryOut(call, thread: thread) { true }
        }
        #expect(throws: CallError.refused) { try change(files[0]) }
        try change(files[1])
        #expect(try mode(of: tree + place + "/own") == 0o644)
        #expect(try mode(of: place + "/own") == 0o600)
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        #expect(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }
}
