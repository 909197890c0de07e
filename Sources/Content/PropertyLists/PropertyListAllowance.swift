/// The values and texts that a property list may still contain: a small file can refer to one value very often.
struct PropertyListAllowance {
    private let bounds: PropertyListBounds
    private var values: Int
    private var textBytes: Int

    init(_ bounds: PropertyListBounds) {
        self.bounds = bounds
        values = bounds.values
        textBytes = bounds.textBytes
    }

    /// Takes one value.
    /// - Parameter depth: the number of lists and dictionaries that contain the value.
    mutating func takeValue(depth: Int) throws(PropertyListError) {
        guard depth <= bounds.depth else { throw .tooDeep(bounds) }
        try check(values: 1)
        values -= 1
    }

    /// Checks that `count` more values fit, before memory is reserved for them.
    func check(values count: Int) throws(PropertyListError) {
        guard count <= values else { throw .tooManyValues(bounds) }
    }

    /// Takes the bytes of a text, or of data.
    mutating func takeText(bytes: Int) throws(PropertyListError) {
        guard bytes <= textBytes else { throw .tooManyValues(bounds) }
        textBytes -= bytes
    }
}
