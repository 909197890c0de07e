package import UniformTypes

/// Compares received content with its declared type.
///
/// A stateless value that any number of tasks can use at once. It keeps the shared MIME database as it was read; make
/// another one to see a newer database or other types.
package struct ContentChecker: Sendable {
    private let types: TypeRegistry
    private let recognizer: ContentRecognizer
    private let recognizable: Set<UniformType>

    /// - Parameters:
    ///   - types: the system's types and those that handlers declare.
    ///   - database: `.none` to use only the built-in signatures.
    package init(types: TypeRegistry = .system, database: MagicDatabase = .installed()) {
        self.types = types
        recognizer = ContentRecognizer(database: database)
        recognizable = database.recognizable.union(FormatSignature.recognizable)
    }

    /// Checks the content of an open file. Blocks while it reads at most 0.5 MB, anywhere in the file. The position of
    /// the descriptor does not move, and the caller keeps the descriptor.
    ///
    /// Not for folders, whose files have names and types of their own: anything that cannot be read, a folder's
    /// descriptor included, is `unverified`, and so is a declared type for folders.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading.
    ///   - declared: the declared type of the item.
    ///   - size: of the file, in bytes.
    package func check(descriptor: Int32, declared: UniformType, size: UInt64) -> ContentVerdict {
        check(DescriptorBytes(descriptor: descriptor, size: size), declared: declared)
    }

    /// Checks content that is in memory as a whole.
    package func check(bytes: [UInt8], declared: UniformType) -> ContentVerdict {
        check(MemoryBytes(bytes: bytes), declared: declared)
    }

    /// Checks the content of an open file with the caller's own judgement. Otherwise like the other `check`.
    ///
    /// - Parameters:
    ///   - startBytes: number of leading bytes that `judging` needs.
    ///   - judging: receives the recognised content, and at most `startBytes` leading bytes.
    package func check(
        descriptor: Int32, size: UInt64, startBytes: Int, judging: (Content, _ start: [UInt8]) -> ContentVerdict
    ) -> ContentVerdict {
        check(DescriptorBytes(descriptor: descriptor, size: size), startBytes: startBytes, judging)
    }

    /// The same for content that is not in the clear in any file.
    ///
    /// - Parameter reading: up to so many bytes from an offset on, fewer at the end; nil if it cannot be read.
    package func check(
        size: UInt64, reading: @escaping (UInt64, Int) -> [UInt8]?, startBytes: Int,
        judging: (Content, _ start: [UInt8]) -> ContentVerdict
    ) -> ContentVerdict {
        check(CallerBytes(size: size, reading: reading), startBytes: startBytes, judging)
    }

    /// The same for content that is in memory as a whole.
    package func check(
        bytes: [UInt8], startBytes: Int, judging: (Content, _ start: [UInt8]) -> ContentVerdict
    ) -> ContentVerdict {
        check(MemoryBytes(bytes: bytes), startBytes: startBytes, judging)
    }

    private func check(_ source: some ByteSource, declared: UniformType) -> ContentVerdict {
        check(source, startBytes: 0) { content, _ in verdict(on: content, declared: declared) }
    }

    private func check(
        _ source: some ByteSource, startBytes: Int, _ judging: (Content, [UInt8]) -> ContentVerdict
    ) -> ContentVerdict {
        do throws(ReadError) {
            return judging(
                try recognizer.content(of: source), try source.read(at: 0, count: startBytes))
        } catch {
            return ContentVerdict(.unverified, nil, "the content could not be read: \(error)")
        }
    }

    /// The verdict on content that has been recognised before. Reads nothing.
    package func verdict(on content: Content, declared: UniformType) -> ContentVerdict {
        ContentJudge(content, declared: declared, types: types, recognizable: recognizable).verdict
    }

    /// The verdict on content that was sent as a text. A script is a text too, because a received text is never run.
    package func verdict(onText content: Content, declared: UniformType) -> ContentVerdict {
        guard content.text != nil else {
            return ContentVerdict(.lying, content.type, "sent as a text, but the content is \(words(for: content))")
        }
        if case .script? = content.signature {
            return ContentVerdict(.consistent, content.type, "the content is text")
        }
        return verdict(on: content, declared: declared)
    }

    /// Whether content has a type. If the content cannot be verified, true only for types that the system does not
    /// declare.
    package func isContent(_ content: Content, of type: UniformType) -> Bool {
        // Every content has these types.
        if [.item, .data, .content].contains(type) { return true }
        return switch verdict(on: content, declared: type).outcome {
        case .consistent: true
        // Only a handler declares such a type, so no signature of it is known.
        case .unverified: !TypeRegistry.system.isDeclared(type)
        case .mislabelled, .lying: false
        }
    }

    /// A short description of content, for people.
    package func words(for content: Content) -> String { content.words(types: types) }

    /// Recognises the content of an open file by its bytes alone; nil if it cannot be read. Otherwise like `check`.
    package func content(descriptor: Int32, size: UInt64) -> Content? {
        try? recognizer.content(of: DescriptorBytes(descriptor: descriptor, size: size))
    }

    /// Recognises content that is in memory as a whole.
    package func content(bytes: [UInt8]) -> Content {
        (try? recognizer.content(of: MemoryBytes(bytes: bytes))) ?? Content()
    }

    /// Describes the content of an open file in a few words for people: `PNG image (public.png)`.
    package func description(descriptor: Int32, size: UInt64) -> String {
        content(descriptor: descriptor, size: size)?.words(types: types) ?? "nothing that can be read"
    }
}
