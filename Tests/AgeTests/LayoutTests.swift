import Age
import Testing

@Suite("The layout of age files")
struct LayoutTests {
    @Test("the size of a file follows from its contents, and the contents from the size")
    func sizes() {
        let header = AgeLayout.headerBytes(recipients: 1)
        #expect(header == 184)
        for (contents, chunks) in [(0, 1), (1, 1), (65_535, 1), (65_536, 1), (65_537, 2), (131_072, 2), (131_073, 3)] {
            let size = AgeLayout.sealedBytes(ofContents: contents, headerBytes: header)
            #expect(size == header + contents + 16 * chunks)
            #expect(AgeLayout.contentBytes(ofFile: size, headerBytes: header) == contents)
        }
    }

    @Test("no complete file has a size without a tag, or with an empty chunk after others")
    func impossibleSizes() {
        for size in [0, 99, 100, 115, 100 + 65_552 + 1, 100 + 65_552 + 15, 100 + 65_552 + 16, -1, .min] {
            #expect(AgeLayout.contentBytes(ofFile: size, headerBytes: 100) == nil)
        }
        #expect(AgeLayout.contentBytes(ofFile: 116, headerBytes: 100) == 0)
        #expect(AgeLayout.contentBytes(ofFile: 100 + 65_552 + 17, headerBytes: 100) == 65_537)
    }

    @Test("sizes near the largest number do not end the program")
    func largest() {
        #expect(AgeLayout.sealedBytes(ofContents: .max, headerBytes: 184) == .max)
        #expect(AgeLayout.sealedBytes(ofContents: .max - 100, headerBytes: .max) == .max)
        #expect(AgeLayout.contentBytes(ofFile: .max, headerBytes: 0) != nil)
        #expect(AgeLayout.contentBytes(ofFile: .max, headerBytes: .max) == nil)
    }
}
