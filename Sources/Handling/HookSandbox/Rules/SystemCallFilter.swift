import CLinuxShims
import Glibc

/// A rule for some system calls.
struct SystemCallRule: Sendable {
    /// The treatment of a call.
    enum Verdict: Sendable {
        /// It fails with this errno.
        case refuse(Int32)
        /// The warden carries it out, or refuses.
        case ask
        /// It is carried out if all conditions of any one list hold, and fails with the errno otherwise.
        case allow(onlyIf: [[Condition]], else: Int32)
    }

    /// A condition on the lower 32 bits of an argument.
    struct Condition: Sendable {
        /// Its index, from 0.
        let argument: UInt32
        /// Bits that count.
        var mask: UInt32 = .max
        let values: [UInt32]
        /// Whether it holds for these values, or for all others.
        var isOneOf = true
    }

    let verdict: Verdict
    /// Each with its number in both architectures; nil if an architecture lacks the call.
    let calls: [(name: String, x86_64: UInt32?, aarch64: UInt32?)]

    init(_ verdict: Verdict, _ calls: [(name: String, x86_64: UInt32?, aarch64: UInt32?)]) {
        self.verdict = verdict
        self.calls = calls
    }

    /// The numbers of the calls on this machine.
    var numbers: [UInt32] {
        #if arch(x86_64)
            calls.compactMap { $0.x86_64 }
        #elseif arch(arm64)
            calls.compactMap { $0.aarch64 }
        #else
            []
        #endif
    }
}

/// A seccomp filter made of rules. Calls that no rule names are carried out.
struct SystemCallFilter: Sendable {
    private typealias Instruction = CLinuxShims_filter_instruction

    /// The layout of `struct seccomp_data`: number, architecture, instruction pointer (8 bytes), arguments.
    private enum Offset {
        static let number: UInt32 = 0
        static let architecture: UInt32 = 4
        /// The lower half: both architectures are little-endian.
        static func argument(_ index: UInt32) -> UInt32 { 16 + 8 * index }
    }

    /// `BPF_…` and `SECCOMP_RET_…`, by their documented values.
    private enum Code {
        static let load: UInt16 = 0x20
        static let and: UInt16 = 0x54
        static let jump: UInt16 = 0x05
        static let jumpIfEqual: UInt16 = 0x15
        static let jumpIfAtLeast: UInt16 = 0x35
        static let give: UInt16 = 0x06
        static let allow: UInt32 = 0x7fff_0000
        static let ask: UInt32 = 0x7fc0_0000
        static func fail(_ error: Int32) -> UInt32 { 0x0005_0000 | UInt32(error) }
    }

    /// Whether this architecture has filters.
    static var isKnown: Bool { CLinuxShims_AUDIT_ARCH != 0 }

    let rules: [SystemCallRule]

    /// Puts the calling thread under the filter.
    ///
    /// - Returns: the descriptor on which calls with the verdict `ask` are answered; -1 if the kernel has none, or if
    ///   an earlier filter has one. Then those calls are carried out.
    func installWithListener() throws(SandboxError) -> Int32 {
        guard Self.isKnown else { return -1 }
        let program = program(asking: true)
        let listener = CLinuxShims_seccomp_install_with_listener(program, program.count)
        if listener >= 0 { return listener }
        try install()
        return -1
    }

    /// Puts the calling thread under the filter, if the kernel has one. Calls with the verdict `ask` are carried out.
    func install() throws(SandboxError) {
        guard Self.isKnown else { return }
        let program = program(asking: false)
        guard CLinuxShims_seccomp_install(program, program.count) == 0 || errno == ENOSYS || errno == EINVAL else {
            throw .notRestricted("the filter of system calls was refused: \(SandboxError.lastCause)")
        }
    }

    private func program(asking: Bool) -> [CLinuxShims_filter_instruction] {
        var program = [
            Instruction(code: Code.load, if_true: 0, if_false: 0, value: Offset.architecture),
            Instruction(code: Code.jumpIfEqual, if_true: 1, if_false: 0, value: CLinuxShims_AUDIT_ARCH),
            Self.give(Code.fail(ENOSYS)),
            Instruction(code: Code.load, if_true: 0, if_false: 0, value: Offset.number),
        ]
        #if arch(x86_64)
            // Every call has a second number in the x32 ABI, which would bypass the rules.
            program += [
                Instruction(code: Code.jumpIfAtLeast, if_true: 0, if_false: 1, value: 0x4000_0000),
                Self.give(Code.fail(ENOSYS)),
            ]
        #endif
        for rule in rules {
            let body = Self.body(rule.verdict, asking: asking)
            for number in rule.numbers {
                program.append(
                    Instruction(code: Code.jumpIfEqual, if_true: 0, if_false: UInt8(body.count), value: number))
                program += body
            }
        }
        program.append(Self.give(Code.allow))
        return program
    }

    private static func give(_ value: UInt32) -> Instruction {
        Instruction(code: Code.give, if_true: 0, if_false: 0, value: value)
    }

    /// The instructions for one call; they always give an answer.
    private static func body(_ verdict: SystemCallRule.Verdict, asking: Bool) -> [Instruction] {
        switch verdict {
        case .refuse(let error): [give(Code.fail(error))]
        case .ask: [give(asking ? Code.ask : Code.allow)]
        case .allow(let alternatives, let error): alternatives.flatMap(alternative) + [give(Code.fail(error))]
        }
    }

    /// Allows the call if all conditions hold, and continues after the last instruction otherwise.
    private static func alternative(_ conditions: [SystemCallRule.Condition]) -> [Instruction] {
        var code = [give(Code.allow)]
        for condition in conditions.reversed() {
            var test = [
                Instruction(code: Code.load, if_true: 0, if_false: 0, value: Offset.argument(condition.argument)),
                Instruction(code: Code.and, if_true: 0, if_false: 0, value: condition.mask),
            ]
            // Two jumps follow the comparisons: one if no value matches, one if a value does.
            for (index, value) in condition.values.enumerated() {
                let distance = UInt8(condition.values.count - index)
                test.append(Instruction(code: Code.jumpIfEqual, if_true: distance, if_false: 0, value: value))
            }
            let leave = UInt32(code.count)
            test.append(jump(condition.isOneOf ? leave + 1 : 1))
            test.append(jump(condition.isOneOf ? 0 : leave))
            code = test + code
        }
        return code
    }

    private static func jump(_ distance: UInt32) -> Instruction {
        Instruction(code: Code.jump, if_true: 0, if_false: 0, value: distance)
    }
}
