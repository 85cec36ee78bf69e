import Capabilities

/// One place as a command sees it.
struct Mount: Hashable {
    /// Later ones hide earlier ones at the same place.
    enum Kind: Int {
        /// Empty, to write in, gone afterwards.
        case scratch
        case readable
        case writable
        /// Writable as before, but it cannot be renamed, nor removed with what is guarded in it.
        case fixed
        /// Not to be changed.
        case guarded
        /// Empty, not to be written in.
        case hiddenFolder
        case hiddenFile
    }

    let kind: Kind
    let path: AbsolutePath
    /// What is shown there: the same path, unless a link leads to it.
    let source: AbsolutePath

    init(_ kind: Kind, _ path: AbsolutePath, from source: AbsolutePath? = nil) {
        (self.kind, self.path, self.source) = (kind, path, source ?? path)
    }

    /// The options of bubblewrap, which obeys them in their order: the outer ones first, since a later one covers all that
    /// is beneath it.
    static func options(_ mounts: [Mount]) -> [[UInt8]] {
        let sorted = mounts.sorted {
            ($0.path.names.count, $0.kind.rawValue) < ($1.path.names.count, $1.kind.rawValue)
        }
        // What is mounted beneath a hidden folder needs a name in it first.
        let sealed = sorted.filter { $0.kind == .hiddenFolder }.flatMap { ["--remount-ro".bytes, $0.path.bytes] }
        return sorted.flatMap(\.options) + sealed
    }

    private var options: [[UInt8]] {
        switch kind {
        case .scratch: ["--perms".bytes, "1777".bytes, "--tmpfs".bytes, path.bytes]
        case .hiddenFolder: ["--tmpfs".bytes, path.bytes]
        case .readable, .guarded: ["--ro-bind".bytes, source.bytes, path.bytes]
        case .writable, .fixed: ["--bind".bytes, source.bytes, path.bytes]
        case .hiddenFile: ["--ro-bind".bytes, "/dev/null".bytes, path.bytes]
        }
    }
}

extension StringProtocol {
    var bytes: [UInt8] { Array(utf8) }
}
