/// The parts that hear of the events of another: in the thread of the event, one after the other, in a fixed order.
///
/// A listener has seen an event before the next thing happens, no event is lost, and none waits in memory: the order of
/// `offered`, the answer and the contents is the order in which each listener hears of them. A `Broadcast` between tasks
/// gives neither: its buffer drops events, or grows without bound behind a slow watcher. So a listener returns soon, and
/// one that does slow work keeps what it needs in a place with a bound of its own.
package struct Listeners<Event>: Sendable {
    package typealias Listener = @Sendable (Event) -> Void

    private let all: [Listener]

    /// - Parameter all: called from any thread, in this order; each returns soon.
    package init(_ all: [Listener]) { self.all = all }

    /// A single one.
    package init(_ listener: @escaping Listener) { all = [listener] }

    package func tell(_ event: Event) {
        for listener in all { listener(event) }
    }

    /// The same listeners, for the events of a part.
    /// - Parameter whole: the event that they know.
    package func hearing<Part>(_ whole: @escaping @Sendable (Part) -> Event) -> Listeners<Part> {
        Listeners<Part> { tell(whole($0)) }
    }
}
