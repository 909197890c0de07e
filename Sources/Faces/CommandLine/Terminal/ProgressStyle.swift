import ArgumentParser

/// How a command shows its progress to people.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable {
    /// One line that changes, on a terminal only.
    case bar
    /// A line at each tenth, which stays: for logs, and for screen readers, which would read a changing line again and again.
    case lines
    case none
}
