import Sharing

@testable import Groups

/// A sender and its members over simulated links, with a simulated clock in microseconds.
///
/// Each machine has a rate in each direction, which its connections share. A connection holds four blocks that are under way.
/// `serve` is a stream from the sender, one member after the other.
final class GroupSimulation {
    /// What a lying member does instead of its ledger.
    enum Vice: CaseIterable {
        /// Changes each tenth block that it passes on.
        case corrupts
        /// Says that each tenth block is wrong.
        case accuses
        /// Passes nothing on.
        case stalls
        /// Dials nobody, and says nothing of it.
        case ignores
        /// Says that it has all blocks.
        case boasts
        /// Sends heartbeats without end.
        case floods
        /// Says that it cannot reach its next.
        case shuns
        /// Says that its next needs a block that it no longer has.
        case forgets
        /// Reports nothing to the one before.
        case mutes
        /// Reports to the one before that all after it have everything.
        case flatters
    }

    enum Death { case killed, silent }

    enum Event {
        case toMember(Int, SenderMessage)
        case toSender(Int, MemberMessage)
        case tickSender
        case tickMember(Int)
        case arrive(Place.Next, from: Int?)
        case dialled(Epoch, from: Int?, isOpen: Bool)
        case block(Epoch, Int, isRight: Bool)
        case report(Epoch, Report)
        /// A link's end comes to the feeding side, or to the fed one.
        case closed(Epoch, atFeeder: Bool)
        case controlClosed(Int)
        case senderClosed(Int)
        case storedAll(Int)
        case receipt(Int)
        case served(Int)
        case read(Int, Epoch)
        case call(() -> Void)
    }

    struct Host {
        /// Bytes a second.
        var up = 12.5e6
        var down = 12.5e6
        var upFree = 0
        var downFree = 0
        var death: Death?
        var vice: Vice?
        /// The link that it has accepted.
        var link: Epoch?
        /// Blocks below this one may be read.
        var readable = 0
        var nextTick = -1
        /// When it had all blocks, in microseconds.
        var doneAt: Int?
        var end: MemberEnd?
        var wasServed = false
        var stored = 0
        var held = 0
    }

    struct Connection {
        var from: Int?
        var to: Int
        /// Blocks to send.
        var queue: [Range<Int>] = []
        var underWay = 0
        /// Blocks that have come and are not read.
        var come: [(Int, Bool)] = []

        mutating func nextToSend() -> Int? {
            guard underWay < 4, let range = queue.first else { return nil }
            if range.count == 1 { queue.removeFirst() } else { queue[0] = range.dropFirst() }
            underWay += 1
            return range.lowerBound
        }
    }

    /// Microseconds from one machine to another.
    static let latency = 500
    /// Bytes of a block, times a million for microseconds.
    private static let bytes = 65_536e6
    let blocks: Int
    let limits: GroupLimits
    private let start = ContinuousClock.now
    private(set) var now = 0
    private(set) var sender: SenderLedger
    private(set) var members: [MemberLedger] = []
    var hosts: [Host]
    /// The sender's own machine.
    var senderHost = Host()
    /// Pairs of which the first cannot dial the second.
    var parted: Set<[Int]> = []
    private var events = EventQueue<Event>()
    private var connections: [Epoch: Connection] = [:]
    private var peers: [PeerID: Int] = [:]
    private var servingFree = 0
    /// Microseconds from the last block of a member to its receipt.
    var storing = 50_000
    private(set) var faults: [String] = []
    private(set) var isOver = false
    private var isSenderDead = false
    private(set) var causes: [Int: LeaveCause] = [:]
    /// Links that the sender has dialled: one for each chain that has begun, if no head ends.
    private(set) var headDials = 0
    /// Deaths at a number of blocks that the member has.
    var deaths: [(member: Int, has: Int, death: Death)] = []

    init(members count: Int, blocks: Int, limits: GroupLimits = GroupLimits()) {
        self.blocks = blocks
        self.limits = limits
        hosts = Array(repeating: Host(), count: count)
        let ids = (0..<count).map(testPeer)
        for (index, id) in ids.enumerated() { peers[id] = index }
        sender = SenderLedger(
            members: count, own: testPeer(255), tokens: CountedTokens(), limits: limits, at: start)
        let rule = DialRule(subnets: [Subnet(.v4(0x0A00_0000), prefixLength: 24)], own: [])
        members = ids.map { _ in MemberLedger(blocks: blocks, rule: rule, limits: limits, at: start) }
    }

    var time: ContinuousClock.Instant { start + .microseconds(now) }

    func at(_ time: Int, _ call: @escaping () -> Void) { events.add(.call(call), at: time) }

    private func add(_ event: Event, after delay: Int = latency) { events.add(event, at: now + delay) }

    func terms(_ member: Int) -> MemberTerms {
        MemberTerms(
            terms: 0, peer: testPeer(member), addresses: [.v4(0x0A00_0001 + UInt32(member))], port: 4_000)
    }

    /// All say yes at once.
    func allAnswer() { for member in hosts.indices { answer(member, .yes(terms(member))) } }

    func answer(_ member: Int, _ answer: MemberAnswer) {
        if case .yes = answer, members[member].stage == .waiting {
            let rule = DialRule(
                subnets: [Subnet(.v4(0x0A00_0000), prefixLength: 24)], own: [.v4(0x0A00_0001 + UInt32(member))])
            members[member] = MemberLedger(blocks: blocks, rule: rule, limits: limits, at: time)
            // Heartbeats of different members come at different times.
            hosts[member].nextTick = now + member * 37_000 % 100_000
            events.add(.tickMember(member), at: hosts[member].nextTick)
        }
        carryOut(sender.answered(member, answer, at: time))
    }

    /// Runs to the end of the group, or for a simulated minute and a half.
    func run(for limit: Int = 90_000_000) {
        add(.tickSender, after: 0)
        for index in deaths.indices where deaths[index].has == 0 {
            let death = deaths[index]
            at(now + 2 * Self.latency) { self.die(death.member, death.death) }
        }
        while let (at, event) = events.next() {
            if at > limit {
                faults.append("it waits for ever")
                break
            }
            now = at
            take(event)
        }
        for (member, host) in hosts.enumerated() where host.death == nil {
            if case .declined = sender.members[member].state { continue }
            // One that says that it has all blocks is believed.
            if isSenderDead || host.vice == .boasts { continue }
            if host.doneAt == nil { faults.append("member \(member) has \(members[member].has) blocks") }
            if host.stored > host.held + limits.ring { faults.append("member \(member) holds too much") }
        }
        if !isOver, !isSenderDead { faults.append("the sender has not ended") }
    }

    func die(_ member: Int, _ death: Death) {
        guard hosts[member].death == nil else { return }
        hosts[member].death = death
        if death == .silent { return }
        add(.controlClosed(member))
        for (link, connection) in connections.sorted(by: { $0.key < $1.key }) {
            if connection.from == member { add(.closed(link, atFeeder: false)) }
            if connection.to == member { add(.closed(link, atFeeder: true)) }
        }
    }

    /// The member's own user ends its part.
    func leave(_ member: Int) {
        let isIn = sender.members[member].state != .asked
        if isAlive(member), isIn { carryOut(members[member].leave(), member) }
    }

    /// The sender dies. Its members' control connections end, if it is killed.
    func endSender(_ death: Death) {
        isSenderDead = true
        if death == .killed { for member in members.indices { add(.senderClosed(member)) } }
    }

    private func isAlive(_ member: Int?) -> Bool { member.map { hosts[$0].death == nil } ?? !isSenderDead }

    // MARK: Events

    private func take(_ event: Event) {
        switch event {
        case .toMember(let member, let message):
            if isAlive(member) { carryOut(members[member].receive(message, at: time), member) }
        case .toSender(let member, let message):
            carryOut(sender.receive(message, from: member, at: time))
        case .tickSender:
            if isSenderDead { break }
            carryOut(sender.tick(at: time))
            if let next = sender.nextDeadline { add(.tickSender, after: max(1, micros(until: next))) }
        case .tickMember(let member):
            if isAlive(member), hosts[member].nextTick == now { tick(member) }
        case .arrive(let next, let from):
            arrive(next, from)
        case .dialled(let link, let from, let isOpen):
            guard isAlive(from) else { break }
            if let from {
                carryOut(members[from].dialled(link, isOpen: isOpen), from)
            } else {
                carryOut(sender.dialled(link, isOpen: isOpen, at: time))
            }
        case .block(let link, let block, let isRight):
            connections[link]?.come.append((block, isRight))
            if let to = connections[link]?.to { read(to, link) }
        case .report(let link, let report):
            guard let connection = connections[link], isAlive(connection.from) else { break }
            if let from = connection.from {
                carryOut(members[from].reported(report, link: link, at: time), from)
            } else {
                carryOut(sender.reported(report, link: link, at: time))
            }
        case .closed(let link, let atFeeder):
            guard let connection = connections.removeValue(forKey: link) else { break }
            if !atFeeder {
                if isAlive(connection.to) { carryOut(members[connection.to].closed(link), connection.to) }
            } else if let from = connection.from {
                if isAlive(from) { carryOut(members[from].closed(link), from) }
            } else {
                carryOut(sender.closed(link, at: time))
            }
        case .controlClosed(let member):
            carryOut(sender.closed(member: member, at: time))
        case .senderClosed(let member):
            carryOut(members[member].senderClosed(), member)
        case .storedAll(let member):
            if isAlive(member) {
                add(.receipt(member))
                carryOut(members[member].receiptSent(), member)
            }
        case .receipt(let member):
            if isAlive(member) { carryOut(sender.receipt(member, at: time)) }
        case .served(let member):
            if isAlive(member) { hosts[member].doneAt = now }
        case .read(let member, let link):
            read(member, link)
        case .call(let call):
            call()
        }
    }

    private func micros(until instant: ContinuousClock.Instant) -> Int {
        let (seconds, atto) = (instant - start).components
        return Int(seconds) * 1_000_000 + Int(atto / 1_000_000_000_000) - now
    }

    private func tick(_ member: Int) {
        carryOut(members[member].tick(at: time), member)
        guard let next = members[member].nextDeadline else { return }
        hosts[member].nextTick = now + max(1, micros(until: next))
        events.add(.tickMember(member), at: hosts[member].nextTick)
    }

    private func arrive(_ next: Place.Next, _ from: Int?) {
        guard let to = peers[next.peer], isAlive(from), connections[next.link] != nil else { return }
        if hosts[to].death == .silent { return }
        if hosts[to].death == .killed { return add(.dialled(next.link, from: from, isOpen: false)) }
        let peer = from.map(testPeer) ?? testPeer(255)
        carryOut(members[to].arrived(UInt64(next.link), from: peer, next.token, at: time), to)
    }

    // MARK: Actions

    private func dial(_ next: Place.Next, from: Int?) {
        guard let to = peers[next.peer] else { return }
        connections[next.link] = Connection(from: from, to: to)
        if let from, parted.contains([from, to]) { return }
        if from == nil, hosts[to].death == .silent {
            return add(.dialled(next.link, from: nil, isOpen: false), after: limits.dial.microseconds)
        }
        // TCP and TLS.
        add(.arrive(next, from: from), after: 4 * Self.latency)
    }

    private func hangUp(_ link: Epoch, by member: Int?) {
        guard let connection = connections[link] else { return }
        let isFeeder = connection.from == member
        connections[link]?.queue = []
        if isAlive(isFeeder ? connection.to : connection.from) {
            add(.closed(link, atFeeder: !isFeeder))
        } else {
            connections[link] = nil
        }
    }

    private func pump(_ link: Epoch) {
        while let block = connections[link]?.nextToSend() {
            guard let (from, to) = connections[link].map({ ($0.from, $0.to) }), isAlive(from) else { return }
            if from == nil, block >= sender.hashed {
                carryOut(sender.hashed(below: block + max(1, limits.ring / 16)))
            }
            let rate = from.map { hosts[$0].up } ?? senderHost.up
            let left = max(now, from.map { hosts[$0].upFree } ?? senderHost.upFree) + Int(Self.bytes / rate)
            let came = max(left, hosts[to].downFree + Int(Self.bytes / hosts[to].down))
            if let from { hosts[from].upFree = left } else { senderHost.upFree = left }
            hosts[to].downFree = came
            let isRight = from.map { hosts[$0].vice != .corrupts } ?? true || block % 10 != 3
            events.add(.block(link, block, isRight: isRight), at: came + Self.latency)
        }
    }

    /// Reads as much as the member's ledger allows.
    private func read(_ member: Int, _ link: Epoch) {
        guard isAlive(member) else { return }
        while let (block, isRight) = connections[link]?.come.first, block < hosts[member].readable {
            connections[link]?.come.removeFirst()
            connections[link]?.underWay -= 1
            let before = members[member].has
            let isAccused = hosts[member].vice == .accuses && block % 10 == 5
            carryOut(members[member].received(block, link: link, isRight: isRight && !isAccused), member)
            if !isRight, members[member].has > before { faults.append("member \(member) keeps a wrong block") }
            if isAlive(member), members[member].has > before { meetDeath(member) }
            pump(link)
        }
    }

    private func meetDeath(_ member: Int) {
        for death in deaths where death.member == member && death.has == members[member].has {
            die(member, death.death)
        }
        guard isAlive(member), members[member].has == blocks, hosts[member].doneAt == nil else { return }
        hosts[member].doneAt = now
        add(.storedAll(member), after: storing)
    }

    private func carryOut(_ actions: [SenderAction]) {
        for action in actions where !isSenderDead {
            switch action {
            case .open: carryOut(sender.start(blocks: blocks, at: time))
            case .tell(let message, let member): add(.toMember(member, message))
            case .dial(let next):
                headDials += 1
                dial(next, from: nil)
            case .hangUp(let link): hangUp(link, by: nil)
            case .pass(let range, let link):
                connections[link]?.queue.append(range)
                pump(link)
            case .serve(let member, let cause):
                causes[member] = cause
                hosts[member].wasServed = true
                if !isAlive(member) { break }
                let rate = min(senderHost.up, hosts[member].down)
                let needed = Int(Double(blocks - members[member].has) * Self.bytes / rate)
                servingFree = max(now, servingFree) + needed
                events.add(.served(member), at: servingFree)
            case .lost(let member):
                if hosts[member].death == nil, hosts[member].vice != .boasts {
                    faults.append("member \(member) is lost and lives")
                }
            case .end:
                if isOver { faults.append("it ends twice") }
                isOver = true
            }
        }
    }

    private func carryOut(_ actions: [MemberAction], _ member: Int) {
        for action in actions where isAlive(member) {
            switch action {
            case .accept(let connection, let link):
                if connection != UInt64(link) { faults.append("a link of another connection") }
                hosts[member].link = link
                add(.dialled(link, from: connections[link]?.from, isOpen: true))
            case .refuse(let connection, _):
                let link = Epoch(connection)
                if let feeder = connections[link] { add(.dialled(link, from: feeder.from, isOpen: false)) }
            case .dial(let next):
                if hosts[member].vice != .ignores { dial(next, from: member) }
                if hosts[member].vice == .shuns { add(.toSender(member, .trouble(.unreachable, link: next.link))) }
                if hosts[member].vice == .forgets { add(.toSender(member, .trouble(.gap, link: next.link))) }
            case .hangUp(let link): hangUp(link, by: member)
            case .read(let below):
                hosts[member].readable = below
                if let link = hosts[member].link { add(.read(member, link), after: 0) }
            case .store(let block):
                if block != hosts[member].stored { faults.append("member \(member) stores \(block)") }
                hosts[member].stored = block + 1
            case .forget(let below): hosts[member].held = below
            case .pass(let range, let link):
                if hosts[member].vice == .stalls { break }
                if range.lowerBound < hosts[member].held || range.upperBound > hosts[member].stored {
                    faults.append("member \(member) passes \(range) and holds \(members[member].held)")
                }
                connections[link]?.queue.append(range)
                pump(link)
            case .report(let report, let link):
                if hosts[member].vice == .mutes { break }
                let isLie = hosts[member].vice == .flatters
                add(.report(link, isLie ? Report(has: report.has, next: blocks) : report))
            case .tell(.trouble) where hosts[member].vice == .ignores: break
            case .tell(let message):
                if hosts[member].vice == .boasts, case .beat = message {
                    add(.toSender(member, .beat(has: blocks)))
                } else {
                    let copies = hosts[member].vice == .floods ? 20 : 1
                    for _ in 0..<copies { add(.toSender(member, message)) }
                }
            case .end(let end): hosts[member].end = end
            }
        }
    }
}

extension Duration {
    var microseconds: Int { Int(self / .microseconds(1)) }
}

func testPeer(_ number: Int) -> PeerID {
    guard let peer = PeerID(fingerprint: [UInt8](repeating: UInt8(number), count: PeerID.byteCount)) else {
        preconditionFailure("32 bytes make a peer id")
    }
    return peer
}

struct CountedTokens: TokenSource {
    private var count: UInt64 = 0

    mutating func makeToken() -> Token {
        count += 1
        return Token(high: 7, low: count)
    }
}
