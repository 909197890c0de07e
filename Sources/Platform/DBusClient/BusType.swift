/// Type codes of the D-Bus Specification. The header defines them as macros with a cast, which Swift cannot import.
enum BusType {
    static let array = code("a")
    static let boolean = code("b")
    static let byte = code("y")
    static let descriptor = code("h")
    static let dictionaryEntry = code("e")
    static let int32 = code("i")
    /// The end of the arguments.
    static let none: Int32 = 0
    static let objectPath = code("o")
    static let string = code("s")
    static let structure = code("r")
    static let uint32 = code("u")
    static let variant = code("v")

    private static func code(_ scalar: Unicode.Scalar) -> Int32 { Int32(scalar.value) }
}
