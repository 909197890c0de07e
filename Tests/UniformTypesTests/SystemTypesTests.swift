import Foundation
import Testing
import UniformTypes

@Suite("The system's types")
struct SystemTypesTests {
    let registry = TypeRegistry.system

    @Test("at least 764 types of Apple's are declared, and 17 of Waft's own")
    func complete() {
        let own = registry.types.filter { $0.identifier.hasPrefix("org.waft.") }
        #expect(own.count == 17)
        #expect(registry.types.count - own.count >= 764)
    }

    @Test("each type has the supertypes that Apple's documents give it")
    func supertypes() throws {
        let facts = try TestData.facts("is")
        #expect(facts.count > 60)
        for (type, supertypes) in facts {
            #expect(registry.isDeclared(type), "\(type)")
            for other in supertypes {
                #expect(registry.conforms(type, to: try UniformType(valid: other)), "\(type) is \(other)")
            }
        }
        for (type, others) in try TestData.facts("not") {
            #expect(registry.isDeclared(type), "\(type)")
            for other in others {
                #expect(!registry.conforms(type, to: try UniformType(valid: other)), "\(type) is not \(other)")
            }
        }
    }

    @Test(
        "a file or directory has the type of its extension",
        arguments: [("file", FileKind.regularFile), ("directory", .directory)])
    func extensions(kind: String, fileKind: FileKind) throws {
        for (type, tags) in try TestData.facts(kind) {
            for tag in tags {
                #expect(registry.type(forExtension: tag, kind: fileKind) == type, "\(tag)")
                #expect(registry.type(forExtension: tag.uppercased(), kind: fileKind) == type, "\(tag)")
                #expect(registry.declaration(of: type)?.extensions.contains(tag) == true, "\(tag)")
            }
        }
    }

    @Test("each MIME type has its type, in any case")
    func mimeTypes() throws {
        for (type, tags) in try TestData.facts("mime") {
            for tag in tags {
                #expect(registry.type(forMIMEType: tag) == type, "\(tag)")
                #expect(registry.type(forMIMEType: tag.uppercased()) == type, "\(tag)")
            }
        }
    }

    @Test("the common types have the extension that people expect")
    func commonExtensions() throws {
        for (type, tags) in try TestData.facts("preferred") {
            #expect(registry.preferredExtension(for: type) == tags[0], "\(type)")
        }
    }

    @Test("a type is found in any case, and has its declared case")
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

    @Test("no type conforms to itself through another one")
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

    @Test("an extension of a type finds a type that declares the extension")
    func everyExtensionResolves() {
        for type in registry.types {
            for tag in registry.declaration(of: type)?.extensions ?? [] {
                let kind: FileKind = registry.conforms(type, to: .directory) ? .directory : .regularFile
                let found = registry.type(forExtension: tag, kind: kind)
                #expect(found.map { registry.declaration(of: $0)?.extensions.contains(tag) } == true, "\(tag)")
            }
        }
    }

    @Test("the most common extensions have the listed types")
    func topExtensions() throws {
        let top = try TestData.topExtensions()
        #expect(top.count == 145)
        for row in top {
            let expected = row.uti ?? "org.waft." + row.extension
            #expect(registry.type(forFileName: "a." + row.extension, kind: .regularFile).identifier == expected)
        }
    }

    @Test("each of Waft's own types is found by its extension, and from the dynamic type of the extension")
    func ownTypes() throws {
        for type in registry.types where type.identifier.hasPrefix("org.waft.") {
            let tag = String(type.identifier.dropFirst("org.waft.".count))
            #expect(registry.type(forExtension: tag, kind: .regularFile) == type)
            #expect(registry.preferredExtension(for: type) == tag)
            #expect(registry.description(of: type) != nil)
            #expect(!registry.parents(of: type).isEmpty)
            if let mime = registry.preferredMIMEType(for: type) { #expect(registry.type(forMIMEType: mime) == type) }
            let dynamic = try #require(DynamicType(supertypes: [.data], tags: [TypeTag(.filenameExtension, tag)]))
            #expect(registry.resolved(dynamic.type) == type)
        }
        // The dynamic identifier that an Apple system gives to a file `a.mobi`.
        #expect(registry.resolved(UniformType(literal: "dyn.ah62d4rv4ge80455cre")).identifier == "org.waft.mobi")
    }

    @Test(
        "the types that the code names are declared, in this case",
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
        "an identifier that differs a little from a declared one is not found",
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
