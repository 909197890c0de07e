import Lines
import Testing

@testable import CommandLine

@Suite("The words of previews in offers")
struct OfferPreviewTests {
    private func failure(_ body: () throws(CommandError) -> Void) -> CommandError? {
        do throws(CommandError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("1.2 is item 2 of offer 1, 3 is the first item of offer 3, and other words are wrong")
    func numbers() throws {
        let (one, other) = (try OfferPreviewCommand.numbers("1.2"), try OfferPreviewCommand.numbers("3"))
        #expect(one.offer == 1 && one.item == 1 && other.offer == 3 && other.item == 0)
        for text in ["", ".", "1.", ".2", "1.0", "0.1", "1.2.3", "a", "1,2", "-1", "1.٢", "99999999999999999999"] {
            let failure = failure { () throws(CommandError) in _ = try OfferPreviewCommand.numbers(text) }
            #expect(failure?.exit == .usage, "\(text)")
        }
    }
}
