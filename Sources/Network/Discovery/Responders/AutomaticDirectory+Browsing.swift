extension AutomaticDirectory {
    nonisolated func browse(type: String) -> AsyncStream<BrowseEvent> {
        let (stream, mailbox) = BrowseMailbox.open { mailbox in
            Task { await self.endBrowse(mailbox) }
        }
        Task { await beginBrowse(type, mailbox) }
        return stream
    }

    private func beginBrowse(_ type: String, _ mailbox: BrowseMailbox) async {
        // It may have ended before it began; its end has passed then.
        guard !mailbox.isFinished else { return }
        let identifier = ObjectIdentifier(mailbox)
        browses[identifier] = Browsing(type: type, mailbox: mailbox)
        await use()
        // The choice, if it was made just now, has begun it.
        if browses[identifier]?.courier == nil { look(identifier) }
    }

    private func endBrowse(_ mailbox: BrowseMailbox) {
        guard let browse = browses.removeValue(forKey: ObjectIdentifier(mailbox)) else { return }
        browse.courier?.cancel()
        releaseIfUnused()
    }

    /// Looks on the side that was chosen, and no longer on the other one.
    func look(_ identifier: ObjectIdentifier) {
        guard let side, let browse = browses[identifier] else { return }
        browse.courier?.cancel()
        let turn = browse.turn + 1
        let events = directory(side).browse(type: browse.type)
        browses[identifier]?.turn = turn
        browses[identifier]?.ledger.beginSession()
        browses[identifier]?.courier = Task { [weak self] in
            for await event in events { await self?.pass(event, identifier, turn) }
        }
    }

    private func pass(_ event: BrowseEvent, _ identifier: ObjectIdentifier, _ turn: Int) {
        guard let browse = browses[identifier], browse.turn == turn else { return }
        let news: [BrowseEvent]
        switch event {
        case .updated(let service):
            news = browses[identifier]?.ledger.update(service).map { [$0] } ?? []
        case .removed(let instance):
            news = browses[identifier]?.ledger.remove(instance).map { [$0] } ?? []
        case .allForNow:
            news = browses[identifier]?.ledger.endOfKnown() ?? []
        case .failed:
            // A daemon that went is waited for, and stood in for then: nothing has failed yet.
            news = side == .daemon ? [] : [event]
        }
        news.forEach { browse.mailbox.post($0) }
    }
}
