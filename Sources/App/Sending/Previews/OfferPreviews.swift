package import Sharing
import Synchronization

/// The previews of the items that are sent. They are made once for all peers, and only if a peer gets them.
package final class OfferPreviews: Sendable {
    /// Offers of more items get none that has to be made.
    package static let maximumItems = 100
    /// How long an offer waits for all of its previews.
    package static let wait = Duration.seconds(1)
    /// Previews that are made at the same time.
    private static let parallel = 2

    private struct State {
        var ready: [Int: ItemPreview] = [:]
        var making: Task<Void, Never>?
    }

    /// The peers that get previews.
    package let rule: PreviewRule
    private let sources: [any ItemSource]
    private let maker: PreviewMaker?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - given: the preview of the first item.
    ///   - maker: makes the others; nil for none.
    package init(_ sources: [any ItemSource], given: ItemPreview? = nil, rule: PreviewRule, maker: PreviewMaker?) {
        (self.sources, self.rule, self.maker) = (sources, rule, maker)
        var state = State()
        state.ready[0] = given
        self.state = Mutex(state)
    }

    /// The offer with the previews that are ready within a second; the others are left out.
    func offer(_ offer: Offer) async -> Offer {
        let making = state.withLock { state in
            let making = state.making ?? Task { [self] in await make() }
            state.making = making
            return making
        }
        await Self.wait(for: making, within: Self.wait)
        making.cancel()
        var offer = offer
        for (number, preview) in state.withLock({ $0.ready }) where offer.items.indices.contains(number) {
            offer.items[number].preview = preview
        }
        return offer.bounded()
    }

    private func make() async {
        guard let maker, sources.count <= Self.maximumItems else { return }
        let given = state.withLock { $0.ready }
        var numbers = sources.indices.prefix(Limits.previews).filter { given[$0] == nil }[...]
        await withTaskGroup(of: Void.self) { group in
            for turn in 0... {
                if turn >= Self.parallel { await group.next() }
                guard !Task.isCancelled, let number = numbers.popFirst() else { break }
                group.addTask { [self] in
                    guard let preview = await maker.preview(of: sources[number]) else { return }
                    state.withLock { $0.ready[number] = preview }
                }
            }
        }
    }

    /// Waits for the end of a task. Unlike a task group it does not wait for a program that is slow to end.
    private static func wait(for task: Task<Void, Never>, within limit: Duration) async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let clock = Task {
            try? await Task.sleep(for: limit)
            end.finish()
        }
        Task {
            await task.value
            end.finish()
        }
        for await _ in ends {}
        clock.cancel()
    }
}
