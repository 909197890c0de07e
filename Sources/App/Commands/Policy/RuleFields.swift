import Contacts
import Endpoints
import ItemSources
import Sending
import Sharing
import UniformTypes

/// A rule for programs.
struct RuleFields: Encodable {
    var rule: Int
    /// `from`, `type` and `name` of the configuration.
    var senders: [String]?
    var types: [String]?
    var names: [String]?
    /// Bytes of an item.
    var sizeAtMost: UInt64?
    var sizeAtLeast: UInt64?
    /// Bytes in 24 hours.
    var sizePerDay: UInt64?
    /// Such as `08:00-18:00`, or `22:00-06:00 on mon, fri`.
    var hours: String?
    /// `then` of the configuration: `accept`, `ask` or `decline`.
    var outcome: String
    var handler: String?
    var folder: String?
    /// `protect` of the configuration.
    var protection: String?
}

extension RuleFields {
    init(_ number: Int, _ rule: PolicyRule) {
        self.rule = number
        outcome = rule.outcome.rawValue
        handler = rule.destination.handler
        folder = rule.destination.folder?.text
        protection = rule.destination.protection?.rawValue
        for condition in rule.conditions {
            switch condition {
            case .from(let parties): senders = parties.map(\.description)
            case .types(let types): self.types = types.map(\.identifier)
            case .names(let patterns): names = patterns.map(\.text)
            case .sizeAtMost(let size): sizeAtMost = size
            case .sizeAtLeast(let size): sizeAtLeast = size
            case .sizePerDay(let size): sizePerDay = size
            case .time(let window): hours = window.description
            }
        }
    }
}
