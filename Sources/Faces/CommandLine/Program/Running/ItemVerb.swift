import ArgumentParser

/// A verb that can have tens of thousands of items: `SendWords` takes them out of its words.
protocol ItemVerb: AsyncParsableCommand {
    var items: [String] { get set }
}

extension SendCommand: ItemVerb {}
extension ShareCommand: ItemVerb {}
