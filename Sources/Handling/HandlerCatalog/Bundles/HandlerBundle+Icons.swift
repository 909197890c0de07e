import Foundation
package import UniformTypes

extension HandlerBundle {
    /// The picture of a type that the bundle declares: a regular file inside the bundle, links being followed. The disk
    /// is read.
    ///
    /// - Returns: its absolute path; nil if the bundle has none.
    package func iconFile(of type: UniformType, in registry: TypeRegistry) -> String? {
        let names = documentTypes.filter { $0.types(in: registry).contains(type) }.flatMap(\.iconFiles)
        guard !names.isEmpty, let bundle = Self.real(path) else { return nil }
        for name in names {
            guard let file = Self.real(path + "/" + name), file.hasPrefix(bundle + "/") else { continue }
            var status = stat()
            if stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return file }
        }
        return nil
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
