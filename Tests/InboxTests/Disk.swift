import Foundation
import Glibc
import Testing

/// What lies in a folder, hidden things too, in order.
func listing(of path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}

/// Everything below a folder, as relative paths, in order.
func everything(below path: String) -> [String] {
    (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).sorted()
}

func contents(of path: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path).map { Array($0) }
}

/// What lstat(2) says.
func lstatus(of path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
}

/// The permission bits, setuid and the like included.
func mode(of path: String) -> mode_t? {
    lstatus(of: path).map { $0.st_mode & 0o7777 }
}

/// The umask of this process, read without changing it.
let currentUmask: mode_t = {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    let digits = line?.split(separator: "\t").last.map(String.init) ?? ""
    return mode_t(digits, radix: 8) ?? 0o022
}()

func makeFile(_ path: String, _ text: String = "") {
    _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
}

/// How many descriptors this process has open that lead below a folder.
func openDescriptors(below path: String) -> Int {
    listing(of: "/proc/self/fd").count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
        return target?.hasPrefix(path) ?? false
    }
}

/// Does with files what `body` does with the rights of a user who is not root. Needs root.
func asOrdinaryUser<Result>(_ body: () throws -> Result) throws -> Result {
    let call = try #require(dlsym(dlopen(nil, RTLD_NOW), "setfsuid"), "every Linux has it")
    // Of this thread alone.
    let setfsuid = unsafeBitCast(call, to: (@convention(c) (uid_t) -> Int32).self)
    _ = setfsuid(65_534)
    defer { _ = setfsuid(0) }
    return try body()
}
