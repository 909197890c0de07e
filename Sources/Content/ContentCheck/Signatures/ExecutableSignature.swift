internal import UniformTypes

/// The start of a program. It is checked before anything else and overrides the database: a system may run or load any
/// file that starts like this.
enum ExecutableSignature: Hashable, Sendable {
    case elf
    /// `MZ`: programs and libraries of DOS and Windows.
    case windows
    case machO
    case javaClass
    /// A script that names its interpreter.
    case script(Interpreter)
    case webAssembly
    /// Dalvik bytecode.
    case dex

    init?(_ head: UnsafeRawBufferPointer) {
        func starts(_ bytes: UInt8...) -> Bool { head.starts(with: bytes) }
        if starts(0x7F, 0x45, 0x4C, 0x46) {
            self = .elf
        } else if starts(0x4D, 0x5A) {
            self = .windows
        } else if starts(0xCA, 0xFE, 0xBA, 0xBE) {
            // Two formats have one signature. The next number is the count of architectures in one format. In the other
            // it is the version, which has always been above 44.
            let following = head.count >= 8 ? head.loadUnaligned(fromByteOffset: 4, as: UInt32.self) : 0
            self = UInt32(bigEndian: following) & 0xFFFF < 45 && following != 0 ? .machO : .javaClass
        } else if starts(0xCF, 0xFA, 0xED, 0xFE) || starts(0xCE, 0xFA, 0xED, 0xFE) || starts(0xFE, 0xED, 0xFA, 0xCE)
            || starts(0xFE, 0xED, 0xFA, 0xCF) || starts(0xCA, 0xFE, 0xBA, 0xBF)
        {
            self = .machO
        } else if starts(0x00, 0x61, 0x73, 0x6D) {
            self = .webAssembly
        } else if starts(0x64, 0x65, 0x78, 0x0A) {
            self = .dex
        } else if let interpreter = Interpreter(head) {
            self = .script(interpreter)
        } else {
            return nil
        }
    }

    /// The declared type; for Dalvik's, which has none, anything that runs.
    var type: UniformType {
        switch self {
        case .elf: .elfBinary
        case .windows: .known("com.microsoft.windows-executable")
        case .machO: .known("com.apple.mach-o-binary")
        case .javaClass: .known("com.sun.java-class")
        case .script(let interpreter): interpreter.type
        case .webAssembly: .known("org.waft.wasm")
        case .dex: .executable
        }
    }

    var isScript: Bool {
        if case .script = self { true } else { false }
    }

    /// Types that are right for such content, besides its own, its supertypes and its subtypes.
    var otherTypes: [UniformType] {
        switch self {
        case .elf: [.unixExecutable, .known("public.object-code"), .known("org.waft.appimage")]
        case .windows:
            [.known("com.microsoft.windows-dynamic-link-library"), .known("org.7-zip.nsis-archive")]
        case .machO: [.unixExecutable, .known("public.object-code"), .known("com.apple.application-file")]
        // Four bytes alone cannot distinguish the two formats.
        case .javaClass: [.known("com.apple.mach-o-binary")]
        // A script's source is the program, so it may have the type of either.
        case .script: [.sourceCode, .unixExecutable]
        case .webAssembly: [.known("public.object-code")]
        case .dex: []
        }
    }
}

extension ExecutableSignature {
    /// Whether an extension without a declared type is usual for such content.
    func hasExtension(_ fileExtension: String) -> Bool {
        switch self {
        // A library's name ends in its version: `libc.so.6`.
        case .elf:
            ["so", "ko", "debug", "elf", "axf", "out", "run"].contains(fileExtension)
                || fileExtension.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
        case .windows: ["com", "scr", "sys", "ocx", "cpl", "efi", "drv", "mui", "pyd"].contains(fileExtension)
        case .dex: fileExtension == "dex"
        case .script: ["awk", "sed", "bats", "fish", "nft"].contains(fileExtension)
        case .machO, .javaClass, .webAssembly: false
        }
    }

    /// The program that a script's first line names.
    struct Interpreter: Hashable, Sendable {
        /// The type of its scripts; `public.script` if that is not known.
        let type: UniformType

        /// Taken from `#!` at the start, or after a UTF-8 byte order mark.
        ///
        /// Two formats start in the same way but do not run: `#![` is an attribute in Rust, `#!AMR` and `#!SILK` are
        /// recordings of speech.
        init?(_ head: UnsafeRawBufferPointer) {
            var line = head.prefix(Self.maximumByteCount)[...]
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            guard line.starts(with: [0x23, 0x21]) else { return nil }
            line = line.dropFirst(2)
            let harmless: [StaticString] = ["[", "AMR\n", "AMR-WB\n", "AMR_MC1.0\n", "AMR-WB_MC1.0\n", "SILK_V3"]
            for start in harmless
            where start.withUTF8Buffer({ line.starts(with: $0) }) {
                return nil
            }
            let words = line.prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
                .split { $0 == 0x20 || $0 == 0x09 }
                .map { String(decoding: $0, as: UTF8.self) }
            var programs = words[...]
            if let first = programs.first, Self.name(first) == "env" {
                programs = programs.dropFirst().drop { $0.hasPrefix("-") || $0.contains("=") }
            }
            type = programs.first.flatMap { Self.types[Self.name($0)] } ?? .script
        }

        /// The number of bytes of a first line that the kernel reads.
        private static let maximumByteCount = 256

        /// The last part of a path, without a version: `python3.11` is `python`.
        private static func name(_ path: String) -> String {
            let last = path.split(separator: "/").last ?? ""
            let letters = last.prefix { $0 != "-" && !$0.isNumber && $0 != "." }
            return String(letters)
        }

        private static let types: [String: UniformType] = [
            "sh": .shellScript, "dash": .shellScript, "ash": .shellScript,
            "bash": .known("public.bash-script"), "zsh": .known("public.zsh-script"),
            "ksh": .known("public.ksh-script"), "csh": .known("public.csh-script"),
            "tcsh": .known("public.tcsh-script"), "python": .known("public.python-script"),
            "perl": .known("public.perl-script"), "ruby": .known("public.ruby-script"),
            "php": .known("public.php-script"), "node": .known("com.netscape.javascript-source"),
            "deno": .known("com.netscape.javascript-source"), "bun": .known("com.netscape.javascript-source"),
            "swift": .known("public.swift-source"), "lua": .known("org.lua.lua-source"),
            "tclsh": .known("tk.tcl.tcl-source"), "wish": .known("tk.tcl.tcl-source"),
            "make": .known("public.make-source"), "Rscript": .known("org.r-project.r"),
            "julia": .known("org.julia.julia-script"), "osascript": .known("com.apple.applescript.text"),
            "pwsh": .known("org.sbarex.ms-powershell"),
        ]
    }
}
