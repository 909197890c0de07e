import Lines

extension EventLine {
    typealias Peer = PersonFields
}
