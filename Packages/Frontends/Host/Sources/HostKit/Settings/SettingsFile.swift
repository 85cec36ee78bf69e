import Capabilities
import FileKit
import JSON
import ProcessKit
import Registry
import Settings

/// Changes a settings file: reads it, edits it as text so that comments stay, and replaces it as a whole.
struct SettingsFile {
    let path: String
    private let lockPath: String

    init(_ locations: Locations, isProject: Bool) throws {
        guard !locations.config.isEmpty || isProject else {
            throw HostError.noFile("there is no folder for settings; set HOME or MARTLET_HOME")
        }
        path = isProject ? locations.projectFile : locations.userFile
        // Other people may share the project's folder, so the lock is kept elsewhere if possible.
        lockPath = (locations.config.isEmpty ? path : locations.userFile) + ".lock"
    }

    /// Takes the lock that keeps other commands from changing settings.
    func lock() async throws -> FileLock {
        try Files.makeDirectories(PathParts(lockPath).folder)
        return try await FileLock.acquire(lockPath, within: .seconds(30))
    }

    /// Changes the text of the file. Returns false, and leaves the file alone, if nothing changes.
    @discardableResult
    func edit(_ change: (JSONDocument) throws(JSONError) -> String) async throws -> Bool {
        let lock = try await lock()
        let before = try read()
        let after: [UInt8]
        do {
            after = Array(try change(try JSONDocument(parsing: before, name: path)).utf8)
        } catch {
            throw HostError.file(
                "\(error.located(in: path)); nothing was changed; fix it first with 'martlet config edit'")
        }
        if after != before {
            try Files.makeDirectories(PathParts(path).folder)
            try Files.writeAtomically(after, to: path)
            ActionContext.current?.session.lookAgain()
        }
        lock.release()
        return after != before
    }

    /// The file's text; empty if the file does not exist.
    func read() throws -> [UInt8] {
        do {
            return try Files.read(path, limit: SettingsLoader.largestFile)
        } catch let error where error.kind == .notFound {
            return []
        }
    }
}

/// `config edit`: runs the person's editor on a copy, which replaces the file only if it is valid.
enum SettingsEditor {
    private static let starter = """
        // Settings of martlet. JSON with comments; 'martlet config show --all' lists what can be set.
        {
        }

        """

    static func edit(_ context: ActionContext, isProject: Bool) async throws -> Written {
        guard context.interaction.canAsk else {
            throw InteractionError.unanswered(id: "config.edit", prompt: "open an editor")
        }
        let file = try SettingsFile(context.host.locations, isProject: isProject)
        let before = try file.read()
        let folder = PathParts(file.path).folder
        try Files.makeDirectories(folder)
        let draft = "\(folder)/.config-draft-\(UInt32.random(in: 0 ... .max)).json5"
        let start = before.isEmpty ? Array(starter.utf8) : before
        try Files.writeAtomically(start, to: draft, mode: 0o600)
        while true {
            do {
                try await open(draft, context)
            } catch {
                // Only changes by the person are worth keeping.
                guard try Files.read(draft, limit: SettingsLoader.largestFile) != start else {
                    try Files.remove(draft)
                    throw error
                }
                throw HostError.editor("\(AnyFailure(error).message); your draft is \(draft)")
            }
            let text = try Files.read(draft, limit: SettingsLoader.largestFile)
            let problems = check(text, file.path, context.host)
            if problems.isEmpty {
                let lock = try await file.lock()
                guard try file.read() == before else {
                    throw HostError.editor(
                        "\(file.path) was changed by another command meanwhile and was not replaced; your draft is \(draft)"
                    )
                }
                try Files.writeAtomically(text, to: file.path)
                context.session.lookAgain()
                lock.release()
                try Files.remove(draft)
                return Written(file: file.path, key: "", value: nil)
            }
            for problem in problems { context.notice(problem.description) }
            let choice = try await context.interaction.choice(
                "config.edit.invalid", "The settings are not valid.",
                among: ["Edit again", "Leave the file as it was and keep the draft"])
            if choice == 1 { throw HostError.editor("nothing was changed; your draft is \(draft)") }
        }
    }

    private static func open(_ path: String, _ context: ActionContext) async throws {
        let environment = context.host.environment
        let editor = environment["VISUAL"] ?? environment["EDITOR"] ?? "vi"
        // By convention the variable may contain arguments ("code --wait"), split at spaces.
        let words = editor.split(separator: " ").map(String.init)
        guard let program = words.first else { throw HostError.editor("EDITOR is empty; set it to your editor") }
        let lent = try await context.interaction.lendTerminal(to: words + [path], environment: environment)
        let status: ChildStatus
        do {
            status =
                if let lent { .exited(lent) } else {
                    try await Launcher().runInForeground(
                        Command(
                            program, Array(words.dropFirst()) + [path], environment: CommandEnvironment(environment)))
                }
        } catch let error as any Failure {
            throw HostError.editor(
                "cannot start the editor '\(editor)': \(error.message); set EDITOR to another one")
        }
        guard status == .exited(0) else {
            throw HostError.editor("the editor '\(editor)' failed, so nothing was changed")
        }
    }

    private static func check(_ text: [UInt8], _ path: String, _ host: Host) -> [SettingsProblem] {
        do {
            let layer = try SettingsLayer(origin: .user(file: path), text: text)
            return Settings(merging: [layer], overrides: [], catalogue: host.catalogue) { _, _ in true }.problems
        } catch {
            return [error]
        }
    }
}

/// Lets features change the person's settings, as `config set` does.
final class UserSettingsWriter: SettingsWriter {
    private let locations: Locations

    init(locations: Locations) {
        self.locations = locations
    }

    func edit(_ changes: @Sendable (_ own: JSON) -> [(key: [String], value: JSON?)]) async throws -> String {
        let file = try SettingsFile(locations, isProject: false)
        try await file.edit { document throws(JSONError) in
            var (document, text) = (document, "")
            for (key, value) in changes(document.value) {
                if let value { text = try document.setting(key, to: value) } else { text = document.removing(key) }
                document = try JSONDocument(parsing: Array(text.utf8), name: file.path)
            }
            return text
        }
        return file.path
    }
}
