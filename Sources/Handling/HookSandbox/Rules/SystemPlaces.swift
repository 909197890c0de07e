/// The parts of the system that every hook can read, because ordinary programs need them. Users neither write them nor
/// keep files there. Missing ones are skipped.
enum SystemPlaces {
    /// Folders and files, with the reason for each.
    static let readable: [(path: String, reason: String)] = [
        ("/usr", "programs, libraries and their data"),
        ("/bin", "programs, where it is no link to /usr"),
        ("/sbin", "programs, where it is no link to /usr"),
        ("/lib", "libraries, where it is no link to /usr"),
        ("/lib32", "libraries, where it is no link to /usr"),
        ("/lib64", "libraries, where it is no link to /usr"),
        ("/libx32", "libraries, where it is no link to /usr"),
        ("/etc", "settings of programs, users' names, certificates"),
        ("/opt", "programs that came without the distribution"),
        ("/nix", "programs of NixOS and Nix"),
        ("/gnu", "programs of Guix"),
        ("/snap", "programs of snapd"),
        ("/var/lib/snapd", "libraries and fonts of snapd"),
        ("/var/lib/flatpak", "programs of Flatpak, their types and icons"),
        ("/var/lib/ca-certificates", "certificates of openSUSE"),
        ("/var/lib/dbus/machine-id", "the machine's number, read by the libraries of desktops"),
        ("/var/lib/texmf", "formats and fonts of TeX"),
        ("/var/lib/ghostscript", "fonts of Ghostscript"),
        ("/var/lib/aspell", "dictionaries"),
        ("/var/lib/dictionaries-common", "dictionaries"),
        ("/var/cache/fontconfig", "the list of fonts"),
        ("/var/cache/fonts", "fonts of TeX"),
        ("/run/current-system", "programs of NixOS and Guix"),
        ("/run/opengl-driver", "libraries of NixOS"),
        ("/run/systemd/resolve", "name servers; /etc/resolv.conf leads there"),
        ("/run/NetworkManager/resolv.conf", "name servers; /etc/resolv.conf leads there"),
        ("/run/resolvconf", "name servers; /etc/resolv.conf leads there"),
        ("/proc", "a process about itself; about others only what no debugger is needed for"),
        ("/sys/devices/system", "number and kinds of processors"),
        ("/sys/fs/cgroup", "limits of the service or container"),
        ("/sys/kernel/mm", "sizes of pages"),
    ]

    /// Devices that every hook can read and write, because they store nothing.
    static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"]
}
