import Capabilities
import FileKit

/// The paths in a folder that rules deny to tools.
struct DeniedGlobs: Sendable {
    let reading: [PathGlob]
    let writing: [PathGlob]

    init() {
        (reading, writing) = ([], [])
    }

    init(_ denied: DeniedPaths, in places: PathGlob.Places) {
        reading = denied.reading.flatMap { Self.globs($0, in: places) }
        writing = denied.writing.flatMap { Self.globs($0, in: places) }
    }

    /// The pattern as written, and with links resolved, so that a link does not bypass the rule.
    private static func globs(_ pattern: String, in places: PathGlob.Places) -> [PathGlob] {
        let glob = PathGlob(pattern, in: places)
        do throws(FileError) {
            let start = AbsolutePath(try Files.place(glob.start.text))
            return start == glob.start ? [glob] : [glob, glob.moved(from: glob.start, to: start)]
        } catch {
            // A path that cannot be resolved is known only by its name.
            return [glob]
        }
    }

    var isEmpty: Bool { reading.isEmpty && writing.isEmpty }

    /// What may not be read may not be written either: the diff would reveal the content.
    func covers(_ path: AbsolutePath, isWriting: Bool) -> Bool {
        reading.contains { $0.covers(path) } || (isWriting && writing.contains { $0.covers(path) })
    }
}

extension Workspace {
    /// Throws if a rule denies a path, by its real location or by the requested path.
    func requireAllowed(
        _ path: EntryPath, at location: [UInt8], isWriting: Bool = false
    ) throws(WorkspaceError) {
        if denied.isEmpty { return }
        let asked = AbsolutePath(bytes: root.location + [Byte.slash] + path.bytes)
        for place in [asked, AbsolutePath(bytes: location)] where denied.covers(place, isWriting: isWriting) {
            throw WorkspaceError(denied: path, isWriting: isWriting)
        }
    }
}
