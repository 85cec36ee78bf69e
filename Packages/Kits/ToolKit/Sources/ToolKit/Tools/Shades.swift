import Capabilities
import FileKit

/// Denied paths that a sandbox must hide from commands, or make read-only.
struct Shades: Sendable {
    /// A limit, because each one adds to the time for creating a sandbox.
    static let most = 40
    /// The maximum number of entries that are checked for patterns.
    static let mostEntries = 50_000

    private(set) var hidden: [String] = []
    private(set) var kept: [String] = []
    /// Why commands can still reach a denied path; nil if they cannot.
    private(set) var gap: String?

    fileprivate mutating func hide(_ path: AbsolutePath) { add(path, to: \.hidden) }
    fileprivate mutating func keep(_ path: AbsolutePath) { add(path, to: \.kept) }
    fileprivate mutating func note(_ gap: String) { self.gap = self.gap ?? gap }

    private mutating func add(_ path: AbsolutePath, to list: WritableKeyPath<Shades, [String]>) {
        let isCovered = self[keyPath: list].contains { path.lies(beneath: AbsolutePath($0)) }
        if isCovered { return }
        guard hidden.count + kept.count < Self.most else {
            return note("rules deny more than \(Self.most) files, and the sandbox cannot hide them all")
        }
        self[keyPath: list].append(path.text)
    }
}

extension Workspace {
    /// The existing paths that rules deny to tools.
    func shades(_ cancellation: Cancellation) throws -> Shades {
        var shades = Shades()
        if denied.isEmpty { return shades }
        let top = AbsolutePath(bytes: root.location)
        var needsWalk = false
        for (globs, isWriting) in [(denied.reading, false), (denied.writing, true)] {
            for glob in globs {
                if let place = glob.place {
                    needsWalk = shade(place, isWriting, &shades, top) || needsWalk
                } else if glob.start.lies(beneath: top) {
                    needsWalk = true
                    if isWriting {
                        shades.note("the sandbox cannot enforce a rule against writing files that do not exist yet")
                    }
                } else if !isWriting {
                    shades.note("the sandbox cannot enforce a rule whose pattern also covers other folders")
                }
            }
        }
        if needsWalk { try shadeAll(&shades, top, cancellation) }
        return shades
    }

    /// Whether a walk must search for it, because its name may have another case.
    private func shade(
        _ place: AbsolutePath, _ isWriting: Bool, _ shades: inout Shades, _ top: AbsolutePath
    ) -> Bool {
        if top.lies(beneath: place) {
            if isWriting { shades.keep(top) } else { shades.hide(top) }
        } else if Files.exists(place.text) {
            if isWriting { shades.keep(place) } else { shades.hide(place) }
            // The target of a link can be protected, but not the link. A path that cannot be resolved is not plain.
            let isPlain = (try? Files.canonical(place.text)) == place.text
            if isWriting, !isPlain {
                shades.note(
                    "the sandbox cannot enforce the rule against writing \(PlainText.escape(place.text)), because it is a link"
                )
            }
        } else if isWriting, place.lies(beneath: top) {
            // A missing file needs no hiding, but the command could create it.
            shades.note(
                "the sandbox cannot enforce the rule against writing \(PlainText.escape(place.text)), because it does not exist yet"
            )
        } else {
            return place.lies(beneath: top)
        }
        return false
    }

    private func shadeAll(_ shades: inout Shades, _ top: AbsolutePath, _ cancellation: Cancellation) throws {
        let start = try WalkStart(.here, in: self)
        var walk = try TreeWalk(start, WalkRules(hidden: true, ignored: true, denied: true), cancellation)
        var count = 0
        while let entry = try walk.next() {
            count += 1
            guard count <= Shades.mostEntries, shades.gap == nil else {
                return shades.note(
                    "the sandbox cannot enforce a rule whose files could be anywhere in a very large folder")
            }
            let path = AbsolutePath(bytes: top.bytes + [Byte.slash] + entry.path.bytes)
            if start.denies(entry.path) {
                shades.hide(path)
            } else if start.denies(entry.path, isWriting: true) {
                shades.keep(path)
            }
        }
        if walk.problems.count > 0 {
            shades.note("some folders could not be searched for denied files, so the command may reach them")
        }
    }
}
