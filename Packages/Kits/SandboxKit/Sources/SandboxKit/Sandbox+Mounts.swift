import Capabilities
import FileKit

extension Sandbox {
    /// What a command sees, and how: all else is not there, whatever is mounted or made later.
    ///
    /// - Parameter folder: nil for a view without any.
    func mounts(around folder: AbsolutePath?) throws(SandboxError) -> [Mount] {
        let home = home.flatMap(Self.place)
        if let folder { try Self.check(folder, home) }
        var mounts = [Mount(.scratch, AbsolutePath("/tmp")), Mount(.scratch, AbsolutePath("/var/tmp"))]
        for path in Self.system {
            switch Self.kind(path) {
            case .folder, .file: mounts.append(Mount(.readable, AbsolutePath(path)))
            case .link, nil: continue
            }
        }
        // What says where names are looked up often lies in /run.
        let names = hasNetwork ? ["/etc/resolv.conf"].compactMap(Self.place) : []
        let emptied = emptied.compactMap(Self.place)
        mounts += ([home].compactMap(\.self) + emptied).map { Mount(.scratch, $0) }
        mounts += names.map { Mount(.readable, $0) } + shown.compactMap { Self.mount(.readable, $0, in: emptied) }
        if let folder {
            // It shows what is in it, the home too.
            mounts.removeAll { $0.path.lies(beneath: folder) }
            mounts.append(Mount(.writable, folder))
        }
        mounts += written.compactMap { Self.mount(.writable, $0, in: emptied) }
        if let folder {
            for path in (kept + self.hidden).map({ AbsolutePath($0) }) {
                guard let names = path.names(beneath: folder), !names.isEmpty else { continue }
                // None of the folders above can be renamed, which would take it out of the rule.
                var above = folder
                for name in names.dropLast() {
                    above = AbsolutePath(bytes: above.bytes + "/".bytes + name)
                    mounts.append(Mount(.fixed, above))
                }
            }
            mounts += kept.compactMap(Self.place).map { Mount(.guarded, $0) }
        }
        let seen = mounts.filter { $0.kind != .scratch }.map(\.path)
        for hidden in hiddenPlaces {
            guard seen.contains(where: hidden.lies) else { continue }
            let isFolder = if case .folder = Self.kind(hidden.text) { true } else { false }
            mounts.append(Mount(isFolder ? .hiddenFolder : .hiddenFile, hidden))
        }
        return mounts
    }

    /// Refuses a folder around which none is made.
    func check(_ folder: AbsolutePath) throws(SandboxError) { try Self.check(folder, home.flatMap(Self.place)) }

    /// Whether a place is hidden, or lies in something that is.
    func hides(_ path: AbsolutePath) -> Bool { hiddenPlaces.contains(where: path.lies) }

    private var hiddenPlaces: [AbsolutePath] {
        let secrets = home.flatMap(Self.place).map { home in Self.homeSecrets.map { home.appending($0).text } } ?? []
        return (hidden + secrets + Self.systemSecrets + Self.hostKeys()).compactMap(Self.place)
    }

    /// The links among the folders of the system, with where they lead.
    static func systemLinks() -> [(path: String, target: String)] {
        system.compactMap { path in
            if case .link(let target)? = kind(path) { (path, target) } else { nil }
        }
    }

    /// Refuses folders whose files run or decide whatever a person does.
    private static func check(_ folder: AbsolutePath, _ home: AbsolutePath?) throws(SandboxError) {
        if home?.lies(beneath: folder) == true {
            throw SandboxError(
                .folder,
                "commands are not run in \(PlainText.escape(folder.text)): it is or holds your home, whose files other"
                    + " programs run; use a folder in it")
        }
        let closed = ["/proc", "/sys", "/dev", "/boot", "/etc", "/run"].map { AbsolutePath($0) }
        guard folder.names.isEmpty || closed.contains(where: folder.lies) else { return }
        throw SandboxError(
            .folder,
            "commands are not run in \(PlainText.escape(folder.text)): no sandbox can be made around the system")
    }

    private enum Kind {
        case file, folder
        case link(String)
    }

    private static func kind(_ path: String) -> Kind? {
        // What is not there, or cannot be looked at, is not shown.
        guard let info = try? Files.info(path, followLinks: false) else { return nil }
        switch info.kind {
        case .directory: return .folder
        case .symbolicLink: return (try? Files.canonical(path)).map(Kind.link)
        default: return .file
        }
    }

    /// Where a path leads, since bubblewrap mounts on nothing else; nil for what is not there, and for the root.
    private static func place(_ path: String) -> AbsolutePath? {
        guard AbsolutePath.isAbsolute(path), let canonical = try? Files.canonical(path), canonical != "/" else {
            return nil
        }
        return AbsolutePath(canonical)
    }

    /// Shows a path where it leads. A link in a folder that is empty inside is not there to be followed, so that what it
    /// leads to is shown in its place.
    private static func mount(_ kind: Mount.Kind, _ path: String, in emptied: [AbsolutePath]) -> Mount? {
        guard let source = place(path) else { return nil }
        let link = AbsolutePath(path)
        if let name = link.names.last, let folder = place(link.folder.text), emptied.contains(where: folder.lies) {
            return Mount(kind, folder.appending(String(decoding: name, as: UTF8.self)), from: source)
        }
        return Mount(kind, source)
    }

    /// The keys by which this machine shows itself to others.
    private static func hostKeys() -> [String] {
        // Without a server of ssh there is no such folder.
        guard let entries = try? Files.list("/etc/ssh") else { return [] }
        return entries.map(\.name).filter { $0.hasPrefix("ssh_host_") && $0.hasSuffix("_key") }.map { "/etc/ssh/\($0)" }
    }
}
