import HandlerCatalog
import Logging
import Sharing

// A handler whose program is missing: its deliveries wait for the program.

extension DeliveryLoop {
    /// Whether the program of a handler is missing; its deliveries wait then. A resident one that runs needs no file.
    mutating func isMissing(_ handler: String, for numbers: [ArrivalNumber]) -> Bool {
        guard let desk = desks[handler], desk.program.mode != .resident || !desk.isLaunched else { return false }
        guard let reason = engine.caller.absence(of: desk.program) else {
            absent[handler] = nil
            for number in numbers { entries[number]?.isSuspended = false }
            return false
        }
        if absent.updateValue(desk.program, forKey: handler) == nil {
            engine.logger.warning(
                "items wait for a handler's program",
                metadata: ["handler": "\(handler)", "reason": "\(ShownText.escaped(reason))"])
        }
        for number in numbers { suspend(number, reason) }
        return true
    }

    /// The program of its handler is missing: an item waits until the program is there again. That is no attempt; its
    /// sender gets to know that it is not opened yet.
    private mutating func suspend(_ number: ArrivalNumber, _ reason: String) {
        if entries[number]?.asked != nil { return endAsked(number, .fault(reason)) }
        guard entries[number]?.isSuspended == false, let answered = entries[number]?.answered,
            let arrival = read(number)
        else { return }
        entries[number]?.isSuspended = true
        answered(arrival, HandlerAnswer(.later))
    }

    /// Takes up the deliveries whose programs are there again.
    mutating func lookForPrograms() {
        for (handler, program) in absent where engine.caller.absence(of: program) == nil {
            absent[handler] = nil
            for number in entries.keys.sorted()
            where entries[number]?.isSuspended == true && entries[number]?.candidate?.program.identifier == handler {
                assign(number)
            }
        }
    }
}
