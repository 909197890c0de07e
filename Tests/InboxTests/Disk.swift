import Foundation
import Glibc
import Testing

/// The entries of a folder, including hidden ones, sorted.
func listing(of path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}

/// Everything below a folder, as sorted relative paths.
func everything(below path: String) -> [String] {
    (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).sorted()
}

func contents(of path: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path).map { Array($0) }
}

/// The result of lstat(2).
func lstatus(of path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
}

/// The permission bits, including setuid and the like.
func mode(of path: String) -> mode_t? {
    lstatus(of: path).map { $0.st_mode & 0o7777 }
}

/// The umask of this process, read without a change.
let currentUmask: mode_t = {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    let digits = line?.split(separator: "\t").last.map(String.init) ?? ""
    return mode_t(digits, radix: 8) ?? 0o022
}()

func makeFile(_ path: String, _ text: String = "") {
    _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
}

/// The number of open descriptors of this process that lead below a folder.
func openDescriptors(below path: String) -> Int {
    listing(of: "/proc/self/fd").count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
        return target?.hasPrefix(path) ?? false
    }
}

/// Runs `body` with the rights for files of a user who is not root. Needs root.
func asOrdinaryUser<Result>(_ body: () throws -> Result) throws -> Result {
    let call = try #require(dlsym(dlopen(nil, RTLD_NOW), "setfsuid"), "every Linux has it")
    // Changes this thread only.
    let setfsuid = unsafeBitCast(call, to: (@convention(c) (uid_t) -> Int32).self)
    _ = setfsuid(65_534)
    defer { _ = setfsuid(0) }
    return try body()
}
