package import Contacts
package import Sharing
import UniformTypes

/// A rule of the settings for offers.
package struct RuleLine: Line {
    package static let event = "rule"

    /// Its number, from 1.
    package var rule: Int
    /// `from`, `type` and `name` of the configuration.
    package var senders: [String]?
    package var types: [String]?
    package var names: [String]?
    /// Bytes of an item.
    package var sizeAtMost: UInt64?
    package var sizeAtLeast: UInt64?
    /// Bytes in 24 hours.
    package var sizePerDay: UInt64?
    /// Such as `08:00-18:00`, or `22:00-06:00 on mon, fri`.
    package var hours: String?
    /// `then` of the configuration: `accept`, `ask` or `decline`.
    package var outcome: String
    package var handler: String?
    package var folder: String?
    /// `protect` of the configuration.
    package var protection: String?

    package init(_ number: Int, _ rule: PolicyRule) {
        (self.rule, outcome) = (number, rule.outcome.rawValue)
        (handler, folder) = (rule.destination.handler, rule.destination.folder?.text)
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

/// The decision about an offered item, and its reason.
package struct PolicyDecisionLine: Line {
    package static let event = "policyDecision"

    package var path: String
    package var type: String
    /// Bytes; absent while they are unknown.
    package var size: UInt64?
    /// `accept`, `ask` or `decline`.
    package var outcome: String
    package var explanation: String
    package var handler: String?
    package var folder: String?
    package var protection: String?

    package init(_ path: String, _ item: OfferedItem, _ decision: PolicyDecision) {
        let destination = decision.destination
        (self.path, type, size) = (path, item.type.identifier, item.size)
        (outcome, explanation) = (decision.outcome.rawValue, decision.explanation)
        (handler, folder) = (destination.handler, destination.folder?.text)
        protection = destination.protection?.rawValue
    }
}
