import HandlerCatalog
import Handlers
import Settings
import Sharing

/// The handlers that apply now, by the catalog and by the settings that count now.
struct CurrentHandlers: ItemEligibility {
    let catalog: CatalogWatch
    private let live: LiveSettings
    private let programs: CurrentPrograms
    private let opener = SystemOpener()?.program

    init(_ catalog: CatalogWatch, _ plan: ReceiverPlan) {
        (self.catalog, live, programs) = (catalog, plan.live, plan.programs)
    }

    var choice: HandlerChoice {
        let settings = live.current
        return HandlerChoice(
            catalog: { [catalog] in catalog.current },
            hook: programs.current.hook,
            openedSchemes: Set(settings.openReceivedURLs),
            opener: opener,
            defaultTimeLimit: settings.hookTimeout,
            requiresSandbox: settings.requiresSandbox
        )
    }

    func refusal(of item: OfferedItem) -> String? { choice.refusal(of: item) }

    /// The facts of an arrival on which the choice depends.
    func subject(_ arrival: Arrival, _ copies: ClearCopies) -> HandlerChoice.Subject {
        let opensURLs = !live.current.openReceivedURLs.isEmpty
        let link = opensURLs && arrival.item.kind == .url ? copies.link(in: arrival) : nil
        return HandlerChoice.Subject(
            type: arrival.type, kind: arrival.item.kind, link: link, chosen: arrival.destination.handler,
            protection: arrival.protection)
    }
}
