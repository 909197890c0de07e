import Glibc

extension SystemCallFilter {
    private typealias Condition = SystemCallRule.Condition

    /// Refuses a hook the calls for which Landlock has no rule.
    static func hook(_ plan: SandboxPlan) -> SystemCallFilter {
        SystemCallFilter(
            rules: common + [sockets(plan), socketPairs(plan)] + arguments + [changesOfAttributes])
    }

    /// Refuses a hook's warden the calls that it never makes.
    static let warden = SystemCallFilter(
        rules: common + [
            SystemCallRule(
                .refuse(EPERM),
                [
                    ("execve", 59, 221), ("execveat", 322, 281), ("socket", 41, 198), ("socketpair", 53, 199),
                    ("connect", 42, 203), ("bind", 49, 200), ("clone", 56, 220), ("fork", 57, nil), ("vfork", 58, nil),
                    ("unshare", 272, 97),
                ])
        ])

    private static let common = [otherProcesses, machine, mounts, sharedMemory, withoutChecks]

    /// Calls that look into other processes or change them. Signals are left to Landlock.
    private static let otherProcesses = SystemCallRule(
        .refuse(EPERM),
        [
            ("ptrace", 101, 117), ("process_vm_readv", 310, 270), ("process_vm_writev", 311, 271),
            ("pidfd_getfd", 438, 438), ("kcmp", 312, 272), ("process_madvise", 440, 440),
            ("process_mrelease", 448, 448), ("move_pages", 279, 239), ("migrate_pages", 256, 238),
            ("perf_event_open", 298, 241),
        ])

    /// Parts of the kernel that no hook needs: keys, programs in the kernel, the machine's own settings. io_uring's
    /// requests would bypass this filter.
    private static let machine = SystemCallRule(
        .refuse(EPERM),
        [
            ("io_uring_setup", 425, 425), ("io_uring_enter", 426, 426), ("io_uring_register", 427, 427),
            ("bpf", 321, 280), ("userfaultfd", 323, 282), ("keyctl", 250, 219), ("add_key", 248, 217),
            ("request_key", 249, 218), ("init_module", 175, 105), ("finit_module", 313, 273),
            ("delete_module", 176, 106), ("kexec_load", 246, 104), ("kexec_file_load", 320, 294),
            ("reboot", 169, 142), ("swapon", 167, 224), ("swapoff", 168, 225), ("acct", 163, 89),
            ("quotactl", 179, 60), ("quotactl_fd", 443, 443), ("syslog", 103, 116), ("iopl", 172, nil),
            ("ioperm", 173, nil), ("settimeofday", 164, 170), ("clock_settime", 227, 112), ("adjtimex", 159, 171),
            ("clock_adjtime", 305, 266), ("sethostname", 170, 161), ("setdomainname", 171, 162),
            ("fanotify_init", 300, 262), ("open_by_handle_at", 304, 265),
        ])

    /// Calls that change what paths mean.
    private static let mounts = SystemCallRule(
        .refuse(EPERM),
        [
            ("mount", 165, 40), ("umount2", 166, 39), ("pivot_root", 155, 41), ("chroot", 161, 51),
            ("setns", 308, 268), ("move_mount", 429, 429), ("open_tree", 428, 428), ("open_tree_attr", 467, 467),
            ("fsopen", 430, 430), ("fsconfig", 431, 431), ("fsmount", 432, 432), ("fspick", 433, 433),
            ("mount_setattr", 442, 442),
        ])

    /// Memory, semaphores and messages that all programs of the user share by number or name.
    private static let sharedMemory = SystemCallRule(
        .refuse(EACCES),
        [
            ("shmget", 29, 194), ("shmat", 30, 196), ("shmctl", 31, 195), ("semget", 64, 190), ("semop", 65, 193),
            ("semtimedop", 220, 192), ("semctl", 66, 191), ("msgget", 68, 186), ("msgsnd", 69, 189),
            ("msgrcv", 70, 188), ("msgctl", 71, 187), ("mq_open", 240, 180), ("mq_unlink", 241, 181),
        ])

    /// Newer forms of other calls. Their arguments are in memory, which no filter sees. Programs use the older form if
    /// the kernel lacks the newer one. openat2(2) is not among them, because the warden needs it.
    private static let withoutChecks = SystemCallRule(
        .refuse(ENOSYS),
        [("clone3", 435, 435), ("setxattrat", 463, 463), ("removexattrat", 466, 466), ("file_setattr", 469, 469)])

    /// The domains of sockets, and their types in the lower four bits.
    private static func sockets(_ plan: SandboxPlan) -> SystemCallRule {
        var allowed: [[Condition]] = []
        if plan.allowsNetwork {
            allowed.append([
                Condition(argument: 0, values: [UInt32(AF_INET), UInt32(AF_INET6)]),
                // Streams and datagrams: no raw packets.
                Condition(argument: 1, mask: 0xf, values: [1, 2]),
            ])
            // NETLINK_ROUTE: the C library asks it for the machine's own addresses.
            allowed.append([
                Condition(argument: 0, values: [UInt32(AF_NETLINK)]), Condition(argument: 2, values: [0]),
            ])
        }
        if plan.allowsSockets { allowed.append([Condition(argument: 0, values: [UInt32(AF_UNIX)])]) }
        return SystemCallRule(.allow(onlyIf: allowed, else: EACCES), [("socket", 41, 198)])
    }

    /// Pairs of sockets, which programs use between their own processes. A datagram socket of a pair could be connected
    /// to another program's socket.
    private static func socketPairs(_ plan: SandboxPlan) -> SystemCallRule {
        let types: [UInt32] = plan.allowsSockets ? [1, 2, 5] : [1, 5]
        return SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 1, mask: 0xf, values: types)]], else: EACCES),
            [("socketpair", 53, 199)])
    }

    /// S_ISUID | S_ISGID.
    private static let setID: UInt32 = 0o6000
    /// CLONE_NEW…, all but CLONE_NEWTIME, whose bit is part of the signal in clone(2).
    private static let newNamespaces: UInt32 = 0x7e02_0000

    /// Calls that are refused for some arguments.
    private static let arguments = [
        // The argument structure of openat2(2) is in memory; see `withoutChecks`.
        SystemCallRule(.refuse(ENOSYS), [("openat2", 437, 437)]),
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 0, mask: newNamespaces, values: [0])]], else: EPERM),
            [("clone", 56, 220)]),
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 0, mask: newNamespaces | 0x80, values: [0])]], else: EPERM),
            [("unshare", 272, 97)]),
        // Refuses to make a file that runs with its owner's rights.
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 2, mask: setID, values: [0])]], else: EPERM),
            [("open", 2, nil), ("mknodat", 259, 33)]),
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 3, mask: setID, values: [0])]], else: EPERM), [("openat", 257, 56)]),
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 1, mask: setID, values: [0])]], else: EPERM),
            [("creat", 85, nil), ("mknod", 133, nil)]),
        // Only its own limits, priority and processors: Landlock does not protect those of the user's other processes.
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 0, values: [0])]], else: EPERM),
            [
                ("prlimit64", 302, 261), ("sched_setaffinity", 203, 122), ("sched_setscheduler", 144, 119),
                ("sched_setparam", 142, 118), ("sched_setattr", 314, 274),
            ]),
        SystemCallRule(
            // PRIO_PROCESS, the process itself.
            .allow(onlyIf: [[Condition(argument: 0, values: [0]), Condition(argument: 1, values: [0])]], else: EPERM),
            [("setpriority", 141, 140)]),
        SystemCallRule(
            // IOPRIO_WHO_PROCESS, the process itself.
            .allow(onlyIf: [[Condition(argument: 0, values: [1]), Condition(argument: 1, values: [0])]], else: EPERM),
            [("ioprio_set", 251, 30)]),
        SystemCallRule(
            .allow(onlyIf: [[Condition(argument: 1, values: refusedControls, isOneOf: false)]], else: EPERM),
            [("ioctl", 16, 29)]),
    ]

    /// FS_IOC_SETFLAGS (and its 32-bit form), FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY:
    /// they need no file that is open for writing. TIOCSTI, TIOCLINUX: they fake input of the terminal's user.
    private static let refusedControls: [UInt32] = [
        0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4080_6685, 0x800c_6613, 0x5412, 0x541c,
    ]

    /// Calls that change modes, owners, times and labels, for which Landlock has no right; `AttributeCall` reads them.
    private static let changesOfAttributes = SystemCallRule(
        .ask,
        [
            ("chmod", 90, nil), ("fchmod", 91, 52), ("fchmodat", 268, 53), ("fchmodat2", 452, 452),
            ("chown", 92, nil), ("fchown", 93, 55), ("lchown", 94, nil), ("fchownat", 260, 54), ("utime", 132, nil),
            ("utimes", 235, nil), ("futimesat", 261, nil), ("utimensat", 280, 88), ("setxattr", 188, 5),
            ("lsetxattr", 189, 6), ("fsetxattr", 190, 7), ("removexattr", 197, 14), ("lremovexattr", 198, 15),
            ("fremovexattr", 199, 16),
        ])

    /// Names of the calls that change attributes, by their numbers on this machine.
    static let attributeCallNames: [Int32: String] = {
        var names: [Int32: String] = [:]
        for call in changesOfAttributes.calls {
            let rule = SystemCallRule(.ask, [call])
            for number in rule.numbers { names[Int32(number)] = call.name }
        }
        return names
    }()
}
