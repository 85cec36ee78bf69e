import FileKit
import Registry

/// Where systemd looks for the units of a user.
struct UnitFolder {
    let path: String

    init(_ host: Host) {
        let home = host.environment["XDG_CONFIG_HOME"] ?? (host.environment["HOME"] ?? "") + "/.config"
        path = "\(home)/systemd/user"
    }

    func write(_ files: [Installation.File]) throws {
        try Files.makeDirectories(path, mode: 0o755)
        for file in files { try Files.writeAtomically(Array(file.text.utf8), to: file.name, mode: 0o644) }
    }

    /// Removes what there is of a timer and its service, and gives the names.
    func remove(_ name: String) throws -> [String] {
        var removed: [String] = []
        // The link goes first, as long as it leads to something.
        for file in ["timers.target.wants/\(name).timer", "\(name).timer", "\(name).service"] {
            let file = "\(path)/\(file)"
            guard Files.exists(file) else { continue }
            try Files.remove(file)
            removed.append(file)
        }
        return removed
    }
}
