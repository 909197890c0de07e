import Foundation
import Glibc

func makeFile(_ path: String, _ text: String = "") {
    _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
}

/// The number of open descriptors of this process that lead below a folder.
func openDescriptors(below path: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
        return target?.hasPrefix(path) ?? false
    }
}

/// Makes a file or folder whose name is not UTF-8.
func makeStrange(_ folder: String, nameBytes: [UInt8]) {
    (Array(folder.utf8) + Array("/".utf8) + nameBytes + [0]).withUnsafeBytes { bytes in
        guard let path = bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return }
        close(open(path, O_CREAT | O_WRONLY, 0o600))
    }
}
