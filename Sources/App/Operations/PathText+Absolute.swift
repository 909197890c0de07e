import Foundation
package import Sharing

extension PathText {
    /// A path that the user has named, for a program with another working folder. Links stay as they are.
    package static func absolute(_ path: String) -> String {
        isAbsolute(path) ? path : joined(FileManager.default.currentDirectoryPath, path)
    }
}
