// Sends a text, accepts the first offer that waits, and shows what has arrived, over the library WaftKit.
//
//     send-and-answer send HOME PEER TEXT   →  a line for each step
//     send-and-answer accept HOME           →  the offer, and the item that arrives
//     send-and-answer list HOME             →  a line for each item in the Inbox
//
// HOME is the folder of WAFT_HOME. A receiver runs there for accept: WAFT_HOME=HOME waftd.
import WaftKit

@main
struct SendAndAnswer {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 2 else { throw WaftError(code: .usage, reason: "see the first lines of the source") }
        let waft = try Waft(home: words[2])
        switch (words[1], words.count) {
        case ("send", 5):
            for try await event in waft.send([.text(words[4])], to: words[3]) { print(event) }
        case ("accept", 3): try await accept(waft)
        case ("list", 3):
            for item in try await waft.inbox() { print(item.name) }
        default: throw WaftError(code: .usage, reason: "no such words")
        }
    }

    /// Watches before it answers: the item can be there at once.
    private static func accept(_ waft: Waft) async throws {
        async let arrival = waft.arrivals().first { _ in true }
        for try await offers in waft.offers() {
            guard let offer = offers.first else { continue }
            print("\(offer.count) from \(offer.from.name)")
            try await waft.answer(offer, .accept)
            break
        }
        if let item = try await arrival { print(item.name) }
    }
}
