import Executors
import Foundation
import Glibc
import HandlerCatalog
import Handlers
import HookSandbox
import ItemSources
package import Logging
package import Settings
package import Sharing
import SystemCalls
package import UniformTypes

/// Makes the preview of an item: its program makes one, the desktop has one already, or a thumbnailer of the system
/// makes one in the sandbox of handlers.
package struct PreviewMaker: Sendable {
    /// Time limit of a thumbnailer.
    private static let timeLimit = Duration.seconds(5)
    /// Widths and heights that a thumbnailer is asked for, one after the other: a photo of 128 pixels can have more than
    /// 32 KiB as a PNG.
    private static let pixels = [128, 96]

    private let cache: String?
    private let thumbnailers: String
    private let program: @Sendable (Thumbnailer) -> PreviewProgram?

    /// - Parameters:
    ///   - environment: `XDG_CACHE_HOME` and `HOME` say where the desktop keeps its thumbnails.
    ///   - thumbnailers: the folder of the system's `.thumbnailer` files.
    ///   - launcher: starts the sandbox, as in `PreviewProgram`.
    package init(
        home: Home, settings: Settings, environment: [String: String] = ProcessInfo.processInfo.environment,
        thumbnailers: String = "/usr/share/thumbnailers", launcher: String = SandboxPlan.launcher, logger: Logger
    ) {
        cache = CachedThumbnail.folder(environment)
        self.thumbnailers = thumbnailers
        let isRequired = settings.requiresSandbox
        program = { thumbnailer in
            // An offer without a preview is a whole offer.
            var logger = logger
            logger.logLevel = .critical
            // The run folder is the parent of the program's temporary files.
            guard (try? home.makeFolders()) != nil else { return nil }
            return PreviewProgram(
                named: SmallFile.name(of: thumbnailer.program),
                searchPath: SmallFile.folder(of: thumbnailer.program), scratchFolder: home.run + "/preview",
                sandbox: isRequired ? .require : .strict, timeLimit: Self.timeLimit,
                forbiddenPlaces: home.handlerCatalog(settings).closed.paths, launcher: launcher, logger: logger)
        }
    }

    /// - Returns: nil if there is none.
    package func preview(of source: any ItemSource) async -> ItemPreview? {
        if let program = source as? ProgramSource {
            return await BackgroundThread.run("waft-thumbnail") { program.thumbnail() } ?? nil
        }
        guard let file = source as? FileSource else { return nil }
        if let cache, let preview = CachedThumbnail.find(of: file.path, in: cache) { return preview }
        return await made(of: file)
    }

    /// A picture that a thumbnailer of the system makes.
    ///
    /// - Parameters:
    ///   - file: open for reading; stays the caller's.
    ///   - pixels: its width and height, at most. The thumbnailer is asked to keep this.
    /// - Returns: the output of the thumbnailer, of at most `PreviewProgram.pictureBytes`; nil if it fails, or if none reads this type.
    package func picture(of file: Int32, _ type: UniformType, pixels: Int) async -> [UInt8]? {
        guard let type = TypeRegistry.system.preferredMIMEType(for: type),
            let thumbnailer = Thumbnailer.all(in: thumbnailers).first(where: { $0.types.contains(type) }),
            let program = program(thumbnailer)
        else { return nil }
        return await program.output(
            thumbnailer.arguments(pixels: pixels), input: file, limit: PreviewProgram.pictureBytes(pixels))
    }

    private func made(of source: FileSource) async -> ItemPreview? {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try FileDescriptor.opening(source.path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        } catch {
            return nil
        }
        // The pixels that an image claims are the thumbnailer's to judge: its memory is bounded.
        for pixels in Self.pixels where !Task.isCancelled {
            guard let output = await picture(of: file.raw, source.offered.type, pixels: pixels) else { break }
            if let preview = ItemPreview(output) { return preview }
        }
        return nil
    }
}
