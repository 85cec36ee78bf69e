import FileKit
import Glibc
import Registry

/// What this machine has for bundles that are to run by themselves.
enum Programs {
    /// Whether a program is in one of the folders of PATH.
    static func has(_ name: String, _ host: Host) -> Bool {
        (host.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").contains { folder in
            unsafe access("\(folder)/\(name)", X_OK) == 0
        }
    }

    /// Whether systemd runs this machine, which is told by its folder as in sd_booted(3).
    static var hasSystemd: Bool { Files.exists("/run/systemd/system") }

    /// Whether systemd runs a user's units also while the user is not logged in.
    static func lingers(_ host: Host) -> Bool {
        guard let user = host.environment["USER"] ?? host.environment["LOGNAME"] else { return false }
        return Files.exists("/var/lib/systemd/linger/\(user)")
    }
}
