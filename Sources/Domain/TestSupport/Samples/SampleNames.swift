/// Names that are difficult for programs, for the tests of every dialect and output.
package enum SampleNames {
    /// Names that begin with a combining character: Swift's strings join it with a slash before it, and find no slash.
    package static let joining = [
        "\u{301}acute", "\u{200D}joiner.txt", "\u{FE0F}variation", "\u{1F3FD}skin", "\u{E31}thai", "\u{E33}.txt",
        "\u{20DD}", "\u{93E}vowel", ".\u{301}hidden", "\u{301}\u{301}",
    ]
}
