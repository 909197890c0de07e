internal import UniformTypes

/// The format of an OLE2 compound file: the class of its root storage ([MS-CFB] 2.2 and 2.6.1).
enum CompoundFile {
    /// nil if the class is missing, unknown, or beyond the end.
    static func type(
        of source: some ByteSource,
        head: UnsafeRawBufferPointer
    ) throws(ReadError) -> UniformType? {
        // Sectors have 512 or 4096 bytes; the first directory sector begins with the root.
        guard let shift = head.short(at: 30), shift == 9 || shift == 12, let sector = head.long(at: 48) else {
            return nil
        }
        let root = try source.read(at: (UInt64(sector) + 1) << UInt64(shift), count: 96)
        guard root.count == 96 else { return nil }
        return classes[Array(root[80...])]
    }

    /// Whether files of both types have the same class, such as a spreadsheet and its template. The first type is given
    /// with its supertypes.
    static func areAlike(_ lineage: some Sequence<UniformType>, _ other: UniformType) -> Bool {
        guard let family = families.first(where: { $0.contains(other) }) else { return false }
        return lineage.contains { family.contains($0) }
    }

    private static let families: [Set<UniformType>] = [
        [.known("com.microsoft.word.doc"), .known("com.microsoft.word.dot")],
        [
            .known("com.microsoft.excel.xls"), .known("com.microsoft.excel.xla"), .known("com.microsoft.excel.xlb"),
            .known("com.microsoft.excel.xld"), .known("com.microsoft.excel.xlm"), .known("com.microsoft.excel.xlt"),
            .known("com.microsoft.excel.xlw"),
        ],
        [
            .known("com.microsoft.powerpoint.ppt"), .known("com.microsoft.powerpoint.pps"),
            .known("com.microsoft.powerpoint.pot"), .known("com.microsoft.powerpoint.ppa"),
        ],
        [.known("org.waft.msg"), .known("com.microsoft.outlook.template")],
    ]

    /// By the class identifier as it is written: its first three parts are little-endian.
    private static let classes: [[UInt8]: UniformType] = {
        let office: [UInt8] = [0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46]
        return [
            // Packages, patches and transforms of Windows Installer: 000C1084, 000C1086, 000C1082.
            [0x84, 0x10, 0x0C, 0x00] + office: .known("org.waft.msi"),
            [0x86, 0x10, 0x0C, 0x00] + office: .known("org.waft.msi"),
            [0x82, 0x10, 0x0C, 0x00] + office: .known("org.waft.msi"),
            // Word 6 and 97: 00020900, 00020906.
            [0x00, 0x09, 0x02, 0x00] + office: .known("com.microsoft.word.doc"),
            [0x06, 0x09, 0x02, 0x00] + office: .known("com.microsoft.word.doc"),
            // Excel 5 and 97: 00020810, 00020820.
            [0x10, 0x08, 0x02, 0x00] + office: .known("com.microsoft.excel.xls"),
            [0x20, 0x08, 0x02, 0x00] + office: .known("com.microsoft.excel.xls"),
            // Outlook: 00020D0B.
            [0x0B, 0x0D, 0x02, 0x00] + office: .known("org.waft.msg"),
            // PowerPoint 97: 64818D10-4F9B-11CF-86EA-00AA00B929E8.
            [0x10, 0x8D, 0x81, 0x64, 0x9B, 0x4F, 0xCF, 0x11, 0x86, 0xEA, 0x00, 0xAA, 0x00, 0xB9, 0x29, 0xE8]:
                .known("com.microsoft.powerpoint.ppt"),
        ]
    }()
}
