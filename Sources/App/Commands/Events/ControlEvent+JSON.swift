import Control
import Lines
import Sharing

extension ControlEvent {
    /// The events of `waft offers --watch --json`: those of `waft receive --json`, with fields for the answer.
    var json: String {
        let line: any Line
        switch self {
        case .ready(let ready): line = ready
        case .offer(let offer): line = offer
        case .answered(let answer): line = answer
        case .progress(let progress): line = progress
        case .arrival(let arrival): line = arrival
        case .ended(let end): line = end
        case .settings(let settings): line = settings
        case .visibility(let visibility): line = visibility.counted(at: .now)
        case .contacts: line = ContactsLine()
        case .protection(let lock): line = lock
        }
        return TerminalText.escaped(json: line.json)
    }
}
