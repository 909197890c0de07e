import Foundation

/// Two scripts of one size with the same XXH3-128, as an enemy makes them. One prints `good`, the other one `EVIL`.
package enum ForgedPair {
    package static let genuine = contents("genuine.sh")
    package static let forged = contents("forged.sh")

    private static func contents(_ name: String, file: String = #filePath) -> [UInt8] {
        var folder = URL(fileURLWithPath: file)
        for _ in 0..<5 { folder.deleteLastPathComponent() }
        let path = folder.appending(path: "Tests/DigestsTests/Vectors/\(name)")
        guard let data = try? Data(contentsOf: path) else { preconditionFailure("\(path) cannot be read") }
        return Array(data)
    }
}
