import Capabilities
import FileKit

/// What rules keep from tools in one folder.
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

    /// As it is written, and where that leads: a link on the way of a rule must not lead past it.
    private static func globs(_ pattern: String, in places: PathGlob.Places) -> [PathGlob] {
        let glob = PathGlob(pattern, in: places)
        do throws(FileError) {
            let start = AbsolutePath(try Files.place(glob.start.text))
            return start == glob.start ? [glob] : [glob, glob.moved(from: glob.start, to: start)]
        } catch {
            // What cannot be looked at is known by its name alone.
            return [glob]
        }
    }

    var isEmpty: Bool { reading.isEmpty && writing.isEmpty }

    /// What may not be read may not be written: the difference would tell what was there.
    func covers(_ path: AbsolutePath, isWriting: Bool) -> Bool {
        reading.contains { $0.covers(path) } || (isWriting && writing.contains { $0.covers(path) })
    }
}

extension Workspace {
    /// Throws where a rule keeps something from tools, by where it is or by the path that it was asked for by.
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

extension WorkspaceError {
    init(denied path: EntryPath, isWriting: Bool = false) {
        self.init(
            .denied,
            "a rule of the person keeps \(path.shown) from being \(isWriting ? "written" : "read"); do without it")
    }
}
