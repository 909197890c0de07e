import Foundation
import Testing
import UniformTypes

@Suite("The system's types")
struct SystemTypesTests {
    let registry = TypeRegistry.system

    @Test("all 764 types of the data and the 17 stand-ins are declared, and no others")
    func complete() throws {
        let types = try TestData.types()
        let gaps = try TestData.gaps()
        #expect(types.count == 764)
        #expect(gaps.count == 17)
        let expected = types.map(\.identifier) + gaps.map { "org.waft." + $0.extension }
        #expect(Set(registry.types.map(\.identifier)) == Set(expected))
        #expect(registry.types.count == expected.count)
    }

    @Test("every type says what the data says of it")
    func declarations() throws {
        for expected in try TestData.types() {
            let type = try UniformType(valid: expected.identifier)
            let declaration = try #require(registry.declaration(of: type), "\(type)")
            #expect(declaration.type.identifier == expected.identifier)
            #expect(declaration.parents.map(\.identifier) == expected.conformsTo)
            #expect(declaration.extensions == expected.extensions)
            #expect(declaration.mimeTypes == expected.mimeTypes)
            let description = expected.description.trimmingCharacters(in: .whitespaces)
            #expect(declaration.description == (description.isEmpty ? nil : description))
            #expect(registry.preferredExtension(for: type) == expected.extensions.first)
            #expect(registry.preferredMIMEType(for: type)?.lowercased() == expected.mimeTypes.first?.lowercased())
        }
    }

    @Test("every type is found in any case, in its declared case")
    func anyCase() throws {
        for type in registry.types {
            for identifier in [type.identifier.uppercased(), type.identifier.lowercased()] {
                let other = try UniformType(valid: identifier)
                #expect(registry.declaration(of: other)?.type.identifier == type.identifier)
            }
        }
    }

    @Test("no type is declared twice")
    func noDuplicates() {
        #expect(Set(registry.types).count == registry.types.count)
    }

    @Test("the parents of every type are declared, and named in their declared case")
    func parentsAreDeclared() {
        for type in registry.types {
            for parent in registry.parents(of: type) {
                #expect(registry.declaration(of: parent)?.type.identifier == parent.identifier, "\(type)")
            }
        }
    }

    @Test("no type conforms to itself by way of another")
    func noCycles() {
        for type in registry.types {
            for parent in registry.parents(of: type) { #expect(!registry.conforms(parent, to: type), "\(type)") }
        }
    }

    @Test("every type with an extension is data or a directory")
    func physical() {
        for type in registry.types where registry.preferredExtension(for: type) != nil {
            #expect(registry.conforms(type, to: .data) || registry.conforms(type, to: .directory), "\(type)")
        }
    }

    @Test("every preferred type of the data is chosen, for files and for directories")
    func preferredExtensions() throws {
        for (tag, kinds) in try TestData.preferred().extension {
            #expect(registry.type(forExtension: tag, kind: .regularFile)?.identifier == kinds.file, "\(tag)")
            #expect(registry.type(forExtension: tag, kind: .directory)?.identifier == kinds.directory, "\(tag)")
            #expect(registry.type(forExtension: tag.uppercased(), kind: .regularFile)?.identifier == kinds.file)
        }
    }

    @Test("every preferred type of the data is chosen for its MIME type")
    func preferredMIMETypes() throws {
        for (mime, identifier) in try TestData.preferred().mime {
            #expect(registry.type(forMIMEType: mime)?.identifier == identifier, "\(mime)")
            #expect(registry.type(forMIMEType: mime.uppercased())?.identifier == identifier, "\(mime)")
        }
    }

    @Test("every extension of every type is one that the type or another may be found by")
    func everyExtensionResolves() {
        for type in registry.types {
            for tag in registry.declaration(of: type)?.extensions ?? [] {
                let kind: FileKind = registry.conforms(type, to: .directory) ? .directory : .regularFile
                let found = registry.type(forExtension: tag, kind: kind)
                #expect(found.map { registry.declaration(of: $0)?.extensions.contains(tag) } == true, "\(tag)")
            }
        }
    }

    @Test("the extensions that people share most are resolved as listed")
    func topExtensions() throws {
        let top = try TestData.topExtensions()
        #expect(top.count == 145)
        for row in top {
            let expected = row.uti ?? "org.waft." + row.extension
            #expect(registry.type(forFileName: "a." + row.extension, kind: .regularFile).identifier == expected)
        }
    }

    @Test("Waft's stand-ins conform to what is proposed for them, and Apple's dynamic answer leads to them")
    func gaps() throws {
        for gap in try TestData.gaps() {
            let type = try #require(registry.type(forExtension: gap.extension, kind: .regularFile))
            #expect(type.identifier == "org.waft." + gap.extension)
            #expect(registry.parents(of: type).map(\.identifier) == gap.proposedImportParents)
            #expect(registry.preferredMIMEType(for: type) ?? "" == gap.mime)
            #expect(registry.description(of: type) != nil)
            #expect(registry.resolved(try UniformType(valid: gap.appleAnswer)) == type)
            if !gap.mime.isEmpty { #expect(registry.type(forMIMEType: gap.mime) == type) }
        }
    }

    @Test(
        "the types that the code speaks of are declared in this case",
        arguments: [
            UniformType.item, .content, .compositeContent, .data, .directory, .folder, .package, .bundle, .symbolicLink,
            .executable, .archive, .text, .plainText, .utf8PlainText, .rtf, .html, .xml, .json, .sourceCode, .script,
            .shellScript, .vCard, .calendar, .url, .fileURL, .internetLocation, .internetShortcut, .image, .jpeg, .png,
            .gif, .tiff, .heic, .webP, .svg, .audiovisualContent, .audio, .mp3, .movie, .video, .mpeg4Movie,
            .quickTimeMovie, .pdf, .epub, .zip, .gzip, .tar, .unixExecutable, .elfBinary, .application,
            .applicationBundle,
        ]
    )
    func common(type: UniformType) {
        #expect(registry.declaration(of: type)?.type.identifier == type.identifier)
    }

    @Test(
        "what is beside a declared identifier in the table is not found by it",
        arguments: [
            "public.jpe", "public.jpeg-", "public.jpega", "a", "z", "public", "zzzz.zzzz", "ca.mcgill.mni.bic.mn",
        ]
    )
    func absent(identifier: String) throws {
        let type = try UniformType(valid: identifier)
        #expect(registry.declaration(of: type) == nil)
        #expect(!registry.isDeclared(type))
        #expect(registry.supertypes(of: type).isEmpty)
        #expect(registry.conforms(type, to: type))
        #expect(!registry.conforms(type, to: .item))
        #expect(registry.preferredExtension(for: type) == nil)
        #expect(registry.preferredMIMEType(for: type) == nil)
        #expect(registry.description(of: type) == nil)
    }
}
