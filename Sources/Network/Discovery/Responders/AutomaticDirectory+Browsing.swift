extension AutomaticDirectory {
    nonisolated func browse(type: String) -> AsyncStream<BrowseEvent> {
        let (stream, mailbox) = BrowseMailbox.open { mailbox in
            Task { await self.endBrowse(mailbox) }
        }
        Task { await beginBrowse(type, mailbox) }
        return stream
    }

    private func beginBrowse(_ type: String, _ mailbox: BrowseMailbox) async {
        // The browse may have ended before it began; `endBrowse` has run then.
        guard !mailbox.isFinished else { return }
        let identifier = ObjectIdentifier(mailbox)
        browses[identifier] = Browsing(type: type, mailbox: mailbox)
        await use()
        // If the side was chosen just now, that has started the browse.
        if browses[identifier]?.courier == nil { look(identifier) }
    }

    private func endBrowse(_ mailbox: BrowseMailbox) {
        guard let browse = browses.removeValue(forKey: ObjectIdentifier(mailbox)) else { return }
        browse.courier?.cancel()
        releaseIfUnused()
    }

    /// Browses on the chosen side, and stops on the other.
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
            // The directory waits for a daemon that went, and then replaces it: nothing has failed yet.
            news = side == .daemon ? [] : [event]
        }
        news.forEach { browse.mailbox.post($0) }
    }
}
