import Lines
import Testing

@testable import CommandLine

@Suite("The texts of waft send")
struct SentTextsTests {
    private func failure(_ texts: [String], items: [String] = []) -> CommandError? {
        do throws(CommandError) {
            _ = try SentTexts.read(texts, items: items)
            return nil
        } catch {
            return error
        }
    }

    @Test("an empty text is 64, with the words to write instead")
    func emptyText() throws {
        let refused = failure(["a", ""], items: [])
        #expect(refused?.exit == .usage && refused?.message == "--text is empty")
        #expect(refused?.hint?.contains("--text 'back at six'") == true)
        #expect(failure(["-"], items: ["-"])?.exit == .usage)
        #expect(try SentTexts.read(["a", "b"], items: ["-"]) == ["a", "b"])
    }
}
