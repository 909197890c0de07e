import CGioShims

/// libgio, loaded when it is first used.
enum GioLibrary {
    /// The name of the library's interface, unchanged since 2002.
    private static let name = "libgio-2.0.so.0"

    /// Nil without the library, or if it is older than 2.58.
    static let functions: CGioShims_Functions? = withUnsafeTemporaryAllocation(
        of: CGioShims_Functions.self, capacity: 1
    ) { room in
        guard let functions = room.baseAddress, CGioShims_load(name, functions) == nil else { return nil }
        return functions.pointee
    }
}
