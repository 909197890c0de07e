import Contacts
import Endpoints
import Handlers
import Inbox
import Settings
import Sharing
import Streams

extension ReceiverParts {
    /// Lets the parts that do not ask for the settings each time use the new ones.
    func settingsChanged(_ names: [String]) async {
        let settings = plan.settings
        store.inbox.use(
            InboxRules(reserve: settings.reserve, conflict: settings.conflict, partials: settings.partials))
        if names.contains("eligibility") || names.contains(where: { $0.hasPrefix("hook") }) || names.contains("sandbox")
        {
            await handlers.refresh()
        }
        if !Set(names).isDisjoint(with: ["accept", "policy"]) { judgeAgain() }
        protection.standing.lookForKeys()
        if names.contains("skipInterfaces") { await network.directory.interfacesChanged() }
        // Programs that were missing may be there again.
        engine.handlersChanged()
        news.send(())
        door.lookAgain()
        guests.lookAgain()
    }

    /// Answers the waiting offers that the settings decide now.
    private func judgeAgain() {
        plan.consent.use(plan.settings.accept)
        for waiting in plan.consent.offers {
            let answer = door.gate.judge(waiting.offer, from: waiting.peer)
            let verdicts = answer.verdicts.compactMap(\.self)
            if verdicts.count == waiting.offer.items.count { plan.consent.answer(waiting.number, verdicts) }
        }
    }
}
