internal import UniformTypes

/// Compares content with a declared type. Pure: the same question has the same answer.
///
/// The rules apply in the order of the functions that `verdict` calls; the first answer counts.
struct ContentJudge {
    let types: TypeRegistry
    let content: Content
    let declared: UniformType
    /// The declared type and all types that it conforms to.
    private let lineage: [UniformType]
    /// The forms of storage that the declared type is known to have.
    private let expected: Set<Storage>
    /// The types whose content would be recognised.
    private let recognizable: Set<UniformType>

    init(_ content: Content, declared: UniformType, types: TypeRegistry, recognizable: Set<UniformType>) {
        self.types = types
        self.content = content
        self.declared = declared
        self.recognizable = recognizable
        lineage = [declared] + types.supertypes(of: declared).map(\.type)
        expected = Storage.of(lineage)
    }

    var verdict: ContentVerdict {
        if lineage.contains(.directory) {
            return verdict(.unverified, nil, "a folder has no content of its own to look at")
        }
        if let signature = content.signature, !(content.mayBeProse && lineage.contains(.text)) {
            return verdict(for: signature)
        }
        if let verdict = verdictAsText { return verdict }
        guard let type = content.type, !content.isEmpty else {
            return content.storage == nil
                ? verdictOnUnknown : verdictOnPlainStorage ?? verdictOnDisks ?? verdictOnStrangers(nil)
        }
        return verdictByConformance(type)
            ?? verdictOnPlainStorage
            ?? verdictOnPrograms(type)
            ?? verdictOnDisks
            ?? verdictByFamily(type)
            ?? verdictByName
            ?? verdictByKind(type)
            ?? verdictOnStrangers(type)
    }
}

// MARK: - The rules

extension ContentJudge {
    /// A program is consistent with a program's type, mislabelled under one without a format, and otherwise lying.
    private func verdict(for signature: ExecutableSignature) -> ContentVerdict {
        let type = signature.type
        let isRight =
            types.conforms(type, to: declared) || lineage.contains(type)
            || signature.otherTypes.contains { lineage.contains($0) }
            || dynamicExtension.map { signature.hasExtension($0) } == true
            || signature.isScript && mayBeginWithInterpreter
        if isRight { return verdict(.consistent, type, isDeclared) }
        if saysNothing || signature.isScript && sharesNameWithSource {
            return verdict(.mislabelled, type, "the content is \(words), which runs")
        }
        return verdict(.lying, type, "declared as \(declaredWords), but the content is \(words), which runs")
    }

    /// Whether a text of the declared type may begin with `#!`: a playbook in YAML names its interpreter, and stays YAML.
    /// A text whose format prescribes another beginning may not.
    private var mayBeginWithInterpreter: Bool {
        content.text != nil && lineage.contains(.text) && !lineage.contains(where: Self.withOwnBeginning.contains)
    }

    private static let withOwnBeginning: Set<UniformType> = [
        .html, .xml, .rtf, .known("public.json"), .known("public.vcard"), .known("public.calendar-event"),
        .known("org.w3.webvtt"),
    ]

    /// Whether a file of the declared type may have the name of a program's source: `.ts` and `.mts` are TypeScript too,
    /// `.exs` is Elixir.
    private var sharesNameWithSource: Bool {
        content.text != nil && lineage.contains(where: Self.namedLikeSource.contains)
    }

    private static let namedLikeSource: Set<UniformType> = [
        .known("public.mpeg-2-transport-stream"), .known("com.apple.logic.exs"),
    ]

    /// Text under a type for texts. Only the reader can decide the kind of text: rules for JSON or Markdown do not
    /// exist.
    private var verdictAsText: ContentVerdict? {
        guard let text = content.text else { return nil }
        // Text in an old encoding is any bytes without control characters, so a format that is recognised goes first.
        let isPlain = content.type.map { isTextual($0) } ?? true
        if lineage.contains(.text), text != .eightBit || isPlain {
            return verdict(.consistent, content.isEmpty ? nil : content.type ?? .plainText, "the content is text")
        }
        if saysNothing, isPlain { return verdict(.consistent, content.type, "the content is \(words)") }
        if expected.contains(.xml), isPlain, !content.isEmpty {
            return verdict(.consistent, content.type, "the content is text, as \(declaredWords) may be")
        }
        return nil
    }

    private func isTextual(_ type: UniformType) -> Bool {
        types.conforms(type, to: .text) || Storage.of([type]).contains(.xml)
    }

    private var verdictOnUnknown: ContentVerdict {
        guard isRecognizable, !saysNothing else {
            return verdict(.consistent, "nothing speaks against \(declaredWords)")
        }
        if content.isEmpty { return verdict(.unverified, "the file is empty, which \(declaredWords) is not") }
        // Many endings have two meanings: `.key` is a presentation or a key, `.mod` is music or a module of Go.
        if content.isClearlyText, !lineage.contains(.text) {
            return verdict(
                .mislabelled, .plainText, "declared as \(declaredWords), but the content is \(words)")
        }
        let found = content.text == nil ? "is not recognised" : "is \(words)"
        return verdict(.unverified, "declared as \(declaredWords), but the content \(found)")
    }

    /// Whether the content is text in UTF-8 that no program interprets, of whatever kind the database takes it for.
    private func isPlainly(_ type: UniformType?) -> Bool {
        content.isClearlyText && content.storage == nil && type.map { types.conforms($0, to: .plainText) } == true
    }

    private func verdictByConformance(_ type: UniformType) -> ContentVerdict? {
        let candidates = [type] + content.alternatives
        let isRight = candidates.contains { candidate in
            types.conforms(candidate, to: declared) || (isSpecial(candidate) && lineage.contains(candidate))
        }
        if isRight, !hasHiddenProgram { return verdict(.consistent, type, isDeclared) }
        // An undeclared type, compared by the usual extension of its files.
        if let name = dynamicExtension, content.extensions.contains(name) {
            return verdict(.consistent, type, "the content is \(words)")
        }
        return nil
    }

    /// Whether conforming to a type says what format something has.
    private func isSpecial(_ type: UniformType) -> Bool { content.isExact && type != .data && type != .item }

    /// The container table: a form of storage is right for a type that is stored in it, and a type that names only the
    /// form of storage is right too.
    private var verdictOnPlainStorage: ContentVerdict? {
        guard let storage = content.storage else { return nil }
        if storage.plain.contains(declared) { return verdict(.consistent, content.type, isDeclared) }
        guard content.isPlainStorage || storage == .id3 else { return nil }
        let isExpected = expected.contains(storage) || (storage == .isoMedia && !expected.isDisjoint(with: Self.iso))
        guard isExpected else { return nil }
        if storage == .zip, let listing = content.listing, let family = ZipFamily.of(lineage), !family.runs {
            // The names that such an archive has are missing.
            guard listing.isComplete else {
                return verdict(
                    .unverified, content.type, "stored as \(storage.words), whose directory cannot be read to its end")
            }
            return verdict(.mislabelled, content.type, "declared as \(declaredWords), but it is a mere zip archive")
        }
        return verdict(.consistent, content.type, "stored as \(storage.words), as \(declaredWords) is")
    }

    private static let iso: Set<Storage> = [.isoMedia, .isoMovie, .isoImage, .isoAVIF]

    /// A disk image may begin with any bytes, so any content is consistent with such a type.
    private var verdictOnDisks: ContentVerdict? {
        isDisk ? verdict(.consistent, content.type, "nothing speaks against \(declaredWords)") : nil
    }

    private var isDisk: Bool { lineage.contains(.known("public.disk-image")) }

    /// Always: a program under a type that is not a program's.
    private func verdictOnPrograms(_ type: UniformType) -> ContentVerdict? {
        guard content.listing?.families.contains(where: \.runs) == true || types.conforms(type, to: .executable),
            !lineage.contains(.executable), !isOwnFamily || hasHiddenProgram
        else { return nil }
        if saysNothing { return verdict(.mislabelled, type, "the content is \(words), which runs") }
        return verdict(.lying, type, "declared as \(declaredWords), but the content is \(words), which runs")
    }

    /// Relatives: formats that are stored alike and not told apart with certainty, or by people.
    private func verdictByFamily(_ type: UniformType) -> ContentVerdict? {
        if isOwnFamily, !hasHiddenProgram { return verdict(.consistent, type, isDeclared) }
        let physical = content.storage.map {
            $0 == .isoMovie || $0 == .isoImage || $0 == .isoAVIF ? [$0, .isoMedia] : [$0]
        }
        let actual: Set<Storage> = physical.map(Set.init) ?? Storage.of(contentLineage(type)).filter(\.isToldByTypes)
        let shared = actual.intersection(expected)
        if shared.contains(where: { $0.isLoose && (Storage.of(contentLineage(type)).contains($0) || $0 == .id3) }) {
            return verdict(.consistent, type, "stored in the same form as \(declaredWords)")
        }
        if CompoundFile.areAlike(lineage, type) { return verdict(.consistent, type, isDeclared) }
        guard !content.isWeak, !shared.isEmpty || Self.isOfficeMixture(lineage, contentLineage(type)) else {
            return nil
        }
        return mislabelled(type)
    }

    private func contentLineage(_ type: UniformType) -> [UniformType] {
        [type] + types.supertypes(of: type).map(\.type)
    }

    /// Whether the names in the archive are those that the declared type's archives have.
    private var isOwnFamily: Bool {
        guard let listing = content.listing, let family = ZipFamily.of(lineage) else { return false }
        if family == .openDocument, listing.mimeType != nil { return false }
        return listing.families.contains(family)
    }

    /// A program inside content of the declared type: classes in a document, macros in a format without macros.
    private var hasHiddenProgram: Bool {
        guard let listing = content.listing, !lineage.contains(.executable), !storagePlain.contains(declared) else {
            return false
        }
        guard let own = ZipFamily.of(lineage) else { return false }
        return listing.families.contains { $0.runs && $0 != own && !own.runs }
            || (listing.markers.contains(.macros) && Self.withoutMacros.contains { lineage.contains($0) })
    }

    private var storagePlain: [UniformType] { content.storage?.plain ?? [] }

    /// Office's formats that cannot have macros: a document with some has another type.
    private static let withoutMacros: Set<UniformType> = [
        .known("org.openxmlformats.wordprocessingml.document"), .known("org.openxmlformats.wordprocessingml.template"),
        .known("org.openxmlformats.spreadsheetml.sheet"), .known("org.openxmlformats.spreadsheetml.template"),
        .known("org.openxmlformats.presentationml.presentation"),
        .known("org.openxmlformats.presentationml.slideshow"), .known("org.openxmlformats.presentationml.template"),
    ]

    /// Formats that programs write with old office extensions, and open without a warning.
    private static func isOfficeMixture(_ declared: [UniformType], _ actual: [UniformType]) -> Bool {
        let old: Set<UniformType> = [
            .known("com.microsoft.word.doc"), .known("com.microsoft.word.dot"), .known("com.microsoft.excel.xls"),
            .known("com.microsoft.excel.xlt"), .known("com.microsoft.powerpoint.ppt"),
            .known("com.microsoft.powerpoint.pps"), .known("com.microsoft.powerpoint.pot"),
        ]
        let new: Set<UniformType> = [
            .rtf, .html, .xml, .known("org.openxmlformats.openxml"), .known("com.microsoft.word.mhtml"),
            .known("com.microsoft.excel.slk"),
        ]
        return declared.contains(where: old.contains) && actual.contains(where: new.contains)
    }

    /// Two formats share an extension (a Keynote presentation and a PGP key), and it determined the declared type.
    private var verdictByName: ContentVerdict? {
        guard let type = content.type, !content.isWeak, let own = types.declaration(of: declared)?.extensions,
            content.extensions.contains(where: own.contains)
        else { return nil }
        return mislabelled(type)
    }

    /// Siblings: another picture, another film or sound, another archive.
    private func verdictByKind(_ type: UniformType) -> ContentVerdict? {
        let kinds: [UniformType] = [
            .image, .audiovisualContent, .archive, .known("public.font"), .known("public.3d-content"),
        ]
        let actual = contentLineage(type)
        guard !content.isWeak, kinds.contains(where: { lineage.contains($0) && actual.contains($0) }) else {
            return nil
        }
        return mislabelled(type)
    }

    private func mislabelled(_ type: UniformType) -> ContentVerdict {
        verdict(.mislabelled, type, "declared as \(declaredWords), but the content is \(words)")
    }

    /// All remaining content is a lie, unless too little is known of the content or of the declared type.
    private func verdictOnStrangers(_ type: UniformType?) -> ContentVerdict {
        let isGeneral = content.isPlainStorage && content.storage?.isGeneral == true
        if saysNothing || !isDeclaredBySystem {
            // A format of some program's own may be stored in any form.
            return isGeneral
                ? verdict(.consistent, type, "stored as \(words), which speaks against nothing")
                : verdict(.unverified, type, "the content is \(words), and nothing is known of \(declaredWords)")
        }
        if isPlainly(type) { return verdictOnUnknown }
        if content.isWeak || isGeneral && !isRecognizable {
            return verdict(.unverified, type, "declared as \(declaredWords), but the content may be \(words)")
        }
        return verdict(.lying, type, "declared as \(declaredWords), but the content is \(words)")
    }
}

// MARK: - Words and questions

extension ContentJudge {
    private func verdict(_ outcome: ContentVerdict.Outcome, _ explanation: String) -> ContentVerdict {
        verdict(outcome, content.isEmpty ? nil : content.type, explanation)
    }

    private func verdict(
        _ outcome: ContentVerdict.Outcome,
        _ type: UniformType?,
        _ explanation: String
    ) -> ContentVerdict {
        ContentVerdict(outcome, type, explanation)
    }

    private var words: String {
        content.signature.map { types.words(for: $0.type) } ?? content.words(types: types)
    }

    private var declaredWords: String {
        guard declared.isDynamic else { return types.words(for: declared) }
        // The identifier comes from a peer, and so does the extension in it: only plain letters are repeated.
        guard let name = dynamicExtension,
            name.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || $0 >= 0x61 && $0 <= 0x7A })
        else { return "a type that is not known here" }
        return "a .\(name) file"
    }

    private var isDeclared: String { "the content is \(words), as declared" }

    /// The extension in a dynamic type.
    private var dynamicExtension: String? {
        DynamicType(declared)?.tags.first { $0.tagClass == .filenameExtension }?.value
    }

    /// Whether the declared type claims no format: it is undeclared, or it is the type of `.bin` and `.dat`, which
    /// programs use for anything.
    private var saysNothing: Bool {
        !types.isDeclared(declared) || declared == .known("com.apple.macbinary-archive")
            || declared == .known("com.microsoft.outlook.dat")
    }

    private var isDeclaredBySystem: Bool { TypeRegistry.system.isDeclared(declared) }

    /// Whether content of the declared type would have been recognised.
    private var isRecognizable: Bool {
        !isDisk && !expected.subtracting([.xml]).isEmpty || lineage.contains { recognizable.contains($0) }
            || Self.kinds.contains(declared) || lineage.contains(.text)
    }

    /// Kinds whose members are nearly all recognised.
    private static let kinds: Set<UniformType> = [
        .image, .audio, .movie, .video, .audiovisualContent, .archive, .known("public.font"),
        .known("public.heif-standard"), .known("public.camera-raw-image"),
    ]
}

extension Storage {
    /// Whether the formats in this form are recognised without recognition of the form: the shared MIME database has
    /// rules for them, and none are built in.
    fileprivate var isToldByTypes: Bool {
        switch self {
        case .isoMovie, .isoImage, .isoAVIF, .isoMedia, .matroska, .asf, .tiff, .palmDatabase, .mpegStream, .aiff,
            .sfnt,
            .photoshop, .compoundFile:
            true
        default: false
        }
    }
}
