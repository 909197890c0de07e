import ItemSources
import Sharing
import SystemCalls
import UniformTypes

/// Creates the item sources of a job.
enum OutboxSources {
    /// - Parameter items: indices of the wanted items.
    /// - Throws: `OutboxJobError`, final: the queued file or folder is missing, or is another one.
    static func make(
        _ job: OutboxJob, _ items: [Int], in store: OutboxStore
    ) throws(OutboxJobError) -> [any ItemSource] {
        var sources: [any ItemSource] = []
        for number in items { sources.append(try source(job.items[number], job.number, store)) }
        return sources
    }

    private static func source(
        _ item: OutboxItem, _ number: JobNumber, _ store: OutboxStore
    ) throws(OutboxJobError) -> any ItemSource {
        guard let name = try? SafeName(item.name), let type = UniformType(item.type) else {
            throw OutboxJobError(.unexpected, "job \(number) of the outbox is damaged: a name in it", isFinal: true)
        }
        do throws(SourceError) {
            switch item.content {
            case .text(let text):
                return TextSource(text, name: name, type: type)
            case .url(let url):
                return try URLSource(url, name: name, type: type)
            case .spooled(let copy):
                return try ItemSources.make(
                    path: store.path(ofCopy: copy, in: number), name: name, type: type)
            case .path(let path):
                let source = try ItemSources.make(path: path, name: name, type: type)
                try check(item, source, path)
                return source
            }
        } catch {
            throw OutboxJobError(error)
        }
    }

    /// Checked after the offered size was taken; the reading notices later changes.
    private static func check(_ item: OutboxItem, _ source: any ItemSource, _ path: String) throws(SourceError) {
        let now: SourceStamp
        do {
            now = try SourceStamp(of: path)
        } catch {
            throw SourceError(.missing, "\(path): cannot be read any more (\(error))")
        }
        guard item.stamp == nil || item.stamp == now, source.offered.kind == item.kind else {
            throw SourceError(
                .changed,
                "\(path) has changed since it was queued; queue it again (--snapshot copies it when it is queued)"
            )
        }
    }
}

extension OutboxJobError {
    init(_ fault: SourceError) {
        self.init(fault.code == .changed ? .changed : .inputMissing, fault.message, isFinal: true)
    }
}
