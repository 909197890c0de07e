/// A script or style as it is served: without indentation, without empty lines, and without lines that are comments only.
package enum PageFile {
    /// No text of the file may go over the end of a line.
    package static func lean(_ file: [UInt8]) -> [UInt8] {
        var served: [UInt8] = []
        served.reserveCapacity(file.count)
        for line in file.split(separator: newline) {
            let text = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard !text.isEmpty, !isComment(text) else { continue }
            served += text
            served.append(newline)
        }
        return served
    }

    private static let newline = UInt8(ascii: "\n")

    private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
        if line.starts(with: "//".utf8) { return true }
        // A comment that ends with its line, and not before.
        let text = String(decoding: line, as: UTF8.self)
        return text.hasPrefix("/*") && text.dropFirst(2).firstRange(of: "*/")?.upperBound == text.endIndex
    }
}
