import Capabilities
import FileKit

/// What of a folder commands in a sandbox must not see, or not write, because rules keep it from tools.
struct Shades: Sendable {
    /// Making a sandbox takes longer with each.
    static let most = 40
    /// As many entries are looked at for patterns that name several.
    static let mostEntries = 50_000

    private(set) var hidden: [String] = []
    private(set) var kept: [String] = []
    /// Why commands can reach something all the same; nil where they cannot.
    private(set) var gap: String?

    fileprivate mutating func hide(_ path: AbsolutePath) { add(path, to: \.hidden) }
    fileprivate mutating func keep(_ path: AbsolutePath) { add(path, to: \.kept) }
    fileprivate mutating func note(_ gap: String) { self.gap = self.gap ?? gap }

    private mutating func add(_ path: AbsolutePath, to list: WritableKeyPath<Shades, [String]>) {
        let isCovered = self[keyPath: list].contains { path.lies(beneath: AbsolutePath($0)) }
        if isCovered { return }
        guard hidden.count + kept.count < Self.most else {
            return note("rules keep more than \(Self.most) files from it, which a sandbox cannot")
        }
        self[keyPath: list].append(path.text)
    }
}

extension Workspace {
    /// What is there now of what rules keep from tools.
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
                    if isWriting { shades.note("a rule keeps files from being written that are not there yet") }
                } else if !isWriting {
                    shades.note("a rule keeps files from it by a pattern that is also about other folders")
                }
            }
        }
        if needsWalk { try shadeAll(&shades, top, cancellation) }
        return shades
    }

    /// Whether it has to be looked for, as it may be written in other letters.
    private func shade(
        _ place: AbsolutePath, _ isWriting: Bool, _ shades: inout Shades, _ top: AbsolutePath
    ) -> Bool {
        if top.lies(beneath: place) {
            if isWriting { shades.keep(top) } else { shades.hide(top) }
        } else if Files.exists(place.text) {
            if isWriting { shades.keep(place) } else { shades.hide(place) }
            // What a link leads to can be kept, and not the link. One that cannot be followed is none of a plain path.
            let isPlain = (try? Files.canonical(place.text)) == place.text
            if isWriting, !isPlain {
                shades.note("a rule keeps \(PlainText.escape(place.text)) from being written, which is a link")
            }
        } else if isWriting, place.lies(beneath: top) {
            // What is not there to be read needs no hiding; to be written it could be made.
            shades.note("a rule keeps \(PlainText.escape(place.text)) from being written, which is not there yet")
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
                return shades.note("a rule keeps files from it that could be anywhere in a very large folder")
            }
            let path = AbsolutePath(bytes: top.bytes + [Byte.slash] + entry.path.bytes)
            if start.denies(entry.path) {
                shades.hide(path)
            } else if start.denies(entry.path, isWriting: true) {
                shades.keep(path)
            }
        }
        if walk.problems.count > 0 { shades.note("what rules keep from it could not be looked for everywhere") }
    }
}
