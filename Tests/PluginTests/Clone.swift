import FileKit
import WorkspaceSupport

/// A copy of the checkout in a temporary folder, in which the plugins are run and programs are built.
actor Clone {
    /// The copy that a test of the suite works in.
    @TaskLocal static var current: Clone?

    nonisolated let workspace: Workspace
    /// Where hosts and programs are put, beside the copy.
    nonisolated let folder: String
    nonisolated let shell: Shell
    /// Finished programs by their traits.
    private var programs: [[String]: BuiltProgram] = [:]

    /// Copies what the next commit would hold, so that a file that git ignores is missing here as it is for others.
    init(of original: Workspace, in folder: String) async throws {
        let root = "\(folder)/martlet"
        workspace = Workspace(root: root)
        self.folder = folder
        shell = Shell(in: root)
        try Files.makeDirectories(root)
        try await Shell(in: original.root).run(
            "sh", "-c",
            """
            git ls-files -z --cached --others --exclude-standard --deduplicate \
            | tar --create --null --ignore-failed-read --warning=no-failed-read --files-from=- \
            | tar --extract --directory "$0"
            """, root)
    }

    /// Runs a command plugin as a person would. The objects of the plugins are kept apart from those of the programs,
    /// so that a plugin can build while SwiftPM holds the lock on its own.
    nonisolated func plugin(_ verb: String, _ words: [String]) async throws -> Shell.Outcome {
        try await shell.outcome(
            ["swift", "package", "--scratch-path", "\(folder)/plugins", "--allow-writing-to-package-directory", verb]
                + words)
    }

    /// The host with these features and no others.
    func program(_ traits: [String]) async throws -> BuiltProgram {
        if let built = programs[traits] { return built }
        let choice = traits.isEmpty ? ["--disable-default-traits"] : ["--traits", traits.joined(separator: ",")]
        // With the options of the plugin `compose`, which uses the same objects.
        try await shell.run(["swift", "build", "--product", "martlet", "--disable-index-store"] + choice)
        let path = "\(folder)/martlet-\(traits.joined(separator: "-"))"
        try await shell.run("cp", ".build/debug/martlet", path)
        let built = BuiltProgram(path: path, home: "\(folder)/home", linkage: try await Linkage(of: path))
        programs[traits] = built
        return built
    }

    /// Replaces a text that must be there.
    nonisolated func replace(_ old: String, with new: String, in path: String) throws {
        let parts = try workspace.text(path).split(separator: old, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw CloneError.noPlace(old, path) }
        try Files.writeAtomically(Array(parts.joined(separator: new).utf8), to: "\(workspace.root)/\(path)")
    }
}

enum CloneError: Error {
    case noPlace(String, String)
    case refused(String)
}
