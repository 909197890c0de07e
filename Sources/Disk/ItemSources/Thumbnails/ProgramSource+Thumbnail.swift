package import Sharing

extension ProgramSource {
    /// Asks the program for its thumbnail, which blocks no longer than the task runs.
    ///
    /// - Parameter limit: maximum time.
    /// - Returns: nil if its placeholder promises none, and if its output is no preview. A fault of a thumbnail is no
    ///   fault of the item.
    package func thumbnail(within limit: Duration = .seconds(5)) -> ItemPreview? {
        guard hasThumbnail,
            let program = try? Self.start(
                origin, path, ["thumbnail", "256x256"], ["WAFT_ACTIVITY": activity], grace: .zero)
        else { return nil }
        let end = ContinuousClock.now + limit
        let isOver = { ContinuousClock.now >= end || Task.isCancelled }
        guard let output = try? program.output(upTo: Limits.previewBytes, isOver: isOver),
            output.count <= Limits.previewBytes, program.wait(isOver: isOver) == .code(0)
        else { return nil }
        return ItemPreview(output)
    }
}
