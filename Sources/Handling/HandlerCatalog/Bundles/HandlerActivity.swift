package import UniformTypes

/// An activity that a handler brings for the share sheet: an element of `WaftActivities`.
package struct HandlerActivity: Hashable, Sendable {
    /// The place of an activity in the sheet.
    package enum Category: String, Hashable, Sendable, CaseIterable {
        /// The items go to somebody.
        case share
        /// Something is done with them here.
        case action
    }

    /// The beginning of the types of Waft's own activities, which no handler may take.
    package static let reservedPrefix = "org.waft.activity."

    /// `WaftActivityType`, such as `org.example.resize`.
    package let type: String
    /// A few words for people; safe to show.
    package let title: String
    /// The activity takes items that conform to one of these; not empty.
    package let itemTypes: [UniformType]
    /// The number of items that it takes at once; nil for any.
    package let maximumItems: Int?
    package let category: Category
    /// Whether the program is asked with `can-perform` before the activity is offered (`CanPerform`).
    package let isAsked: Bool

    package init(
        type: String, title: String, itemTypes: [UniformType], maximumItems: Int? = nil, category: Category = .action,
        isAsked: Bool = false
    ) {
        (self.type, self.title, self.itemTypes) = (type, title, itemTypes)
        (self.maximumItems, self.category, self.isAsked) = (maximumItems, category, isAsked)
    }

    /// Whether it takes items of these types, all together.
    package func takes(_ types: [UniformType], _ registry: TypeRegistry) -> Bool {
        types.count <= maximumItems ?? .max
            && types.allSatisfy { type in itemTypes.contains { registry.conforms(type, to: $0) } }
    }
}
