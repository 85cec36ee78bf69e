import FileKit
import JSON
import Registry

/// A settings file that is about to be changed: read, edited as text so that comments stay, and replaced as a whole.
struct SettingsFile {
    let path: String
    private let lockPath: String

    init(_ locations: Locations, isProject: Bool) throws {
        guard !locations.config.isEmpty || isProject else {
            throw HostError.noFile("there is no folder for settings; set HOME or MARTLET_HOME")
        }
        path = isProject ? locations.projectFile : locations.userFile
        // A project's folder belongs to others too, so that no lock is left there while there is another place.
        lockPath = (locations.config.isEmpty ? path : locations.userFile) + ".lock"
    }

    /// Keeps every other command from changing settings for as long as the lock is held.
    func lock() async throws -> FileLock {
        try Files.makeDirectories(Self.folder(of: lockPath))
        return try await FileLock.acquire(lockPath, within: .seconds(30))
    }

    /// Changes the text of the file; false where that changes nothing, and the file is left alone.
    @discardableResult
    func edit(_ change: (JSONDocument) throws(JSONError) -> String) async throws -> Bool {
        let lock = try await lock()
        let before = try read()
        let after: [UInt8]
        do {
            after = Array(try change(try JSONDocument(parsing: before, name: path)).utf8)
        } catch {
            throw HostError.file(
                "\(error.located(in: path)); mend it first (martlet config edit), nothing was changed")
        }
        if after != before {
            try Files.makeDirectories(Self.folder(of: path))
            try Files.writeAtomically(after, to: path)
            ActionContext.current?.session.lookAgain()
        }
        lock.release()
        return after != before
    }

    private static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// The file's text; one that is not there yet is empty.
    func read() throws -> [UInt8] {
        do {
            return try Files.read(path, limit: SettingsLoader.largestFile)
        } catch let error where error.kind == .notFound {
            return []
        }
    }
}
