import FileKit
import JSON
import Registry

/// A settings file that is about to be changed: read, edited as text so that comments stay, and replaced as a whole.
struct SettingsFile {
    let path: String

    init(_ locations: Locations, isProject: Bool) throws {
        guard !locations.config.isEmpty || isProject else {
            throw HostError.noFile("there is no folder for settings; set HOME or MARTLET_HOME")
        }
        path = isProject ? locations.projectFile : locations.userFile
    }

    func edit(_ change: (JSONDocument) throws(JSONError) -> String) throws {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let text: String
        do {
            text = try change(try JSONDocument(parsing: try read(), name: path))
        } catch let error as JSONError {
            throw HostError.file(
                "\(error.located(in: path)); mend it first (martlet config edit), nothing was changed")
        }
        try Files.makeDirectories(folder)
        try Files.writeAtomically(Array(text.utf8), to: path)
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
