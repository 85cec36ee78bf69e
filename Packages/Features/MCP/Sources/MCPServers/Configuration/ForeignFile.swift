public import Capabilities
import FileKit
import JSON
import TOMLKit

/// A file in which another program keeps its servers: a desktop client, an editor or a coding agent. They differ in where
/// the servers are, and in a few names.
public struct ForeignFile: Sendable, Hashable {
    /// The program whose file it is.
    public let program: String
    /// The path.
    public let path: String
    /// The keys that lead to the servers.
    let keys: [String]

    static let largest = 4 << 20

    /// The files of the person's other programs that may exist on this machine.
    ///
    /// - Parameters:
    ///   - config: the folder for settings; nil for the usual one.
    ///   - codex: the folder of Codex; nil for the usual one.
    public static func known(home: String, config: String?, codex: String? = nil) -> [ForeignFile] {
        let config = config ?? "\(home)/.config"
        return [
            ForeignFile(
                program: "claude-desktop", path: "\(config)/Claude/claude_desktop_config.json", keys: ["mcpServers"]),
            ForeignFile(program: "claude-code", path: "\(home)/.claude.json", keys: ["mcpServers"]),
            ForeignFile(program: "cursor", path: "\(home)/.cursor/mcp.json", keys: ["mcpServers"]),
            ForeignFile(program: "vscode", path: "\(config)/Code/User/mcp.json", keys: ["servers"]),
            ForeignFile(program: "windsurf", path: "\(home)/.codeium/windsurf/mcp_config.json", keys: ["mcpServers"]),
            ForeignFile(program: "gemini", path: "\(home)/.gemini/settings.json", keys: ["mcpServers"]),
            ForeignFile(program: "zed", path: "\(config)/zed/settings.json", keys: ["context_servers"]),
            ForeignFile(program: "codex", path: "\(codex ?? "\(home)/.codex")/config.toml", keys: ["mcp_servers"]),
        ]
    }

    /// The files of a project that name servers and are read in place.
    public static func ofProject(_ folder: String) -> [ForeignFile] {
        [
            ForeignFile(program: "project", path: "\(folder)/.mcp.json", keys: ["mcpServers"]),
            ForeignFile(program: "vscode", path: "\(folder)/.vscode/mcp.json", keys: ["servers"]),
            ForeignFile(program: "cursor", path: "\(folder)/.cursor/mcp.json", keys: ["mcpServers"]),
        ]
    }

    /// Any file that a person names.
    public static func named(_ path: String) -> ForeignFile { ForeignFile(program: path, path: path, keys: []) }

    /// What is in it: the servers, and what cannot be used of it.
    public struct Content: Sendable, Hashable {
        /// The servers under names that this program can use.
        public var servers: ServerEntries = [:]
        /// Sentences about what was left out.
        public var problems: [String] = []
    }

    /// Reads the file; nil if there is none.
    ///
    /// - Parameter granted: the same path, as far as a caller may open it; nil for a file of the project in which the program
    ///   works, which belongs to what it looks at.
    public func read(_ granted: GrantedPath? = nil) throws -> Content? {
        let bytes: [UInt8]
        do {
            bytes = try granted?.read(limit: Self.largest) ?? Files.read(path, limit: Self.largest)
        } catch let error as FileError where error.kind == .notFound || error.kind == .notDirectory {
            return nil
        }
        return try content(of: bytes)
    }

    /// Whether it is TOML, as Codex writes it. All others have JSON with comments and trailing commas, as editors allow them.
    private var isTOML: Bool { path.hasSuffix(".toml") }

    private func document(_ bytes: [UInt8]) throws(ServerError) -> JSON {
        let shown = PlainText.escape(path)
        let problem: String
        if isTOML {
            do throws(TOMLError) { return try TOMLDocument(parsing: bytes, name: path).value } catch {
                problem = error.located(in: shown)
            }
        } else {
            do throws(JSONError) { return try JSONDocument(parsing: bytes, name: path).value } catch {
                problem = error.located(in: shown)
            }
        }
        throw ServerError(.badFile, "the file with servers cannot be read: \(problem)")
    }

    /// Reads the text of the file.
    func content(of bytes: [UInt8]) throws(ServerError) -> Content {
        let document = try document(bytes)
        var found: JSON? = document
        if keys.isEmpty {
            found =
                ["mcpServers", "servers", "context_servers", "mcp_servers"].lazy
                .compactMap { document[$0]?.unlessNull }.first
        } else {
            for key in keys { found = found?[key] }
        }
        var content = Content()
        let place = PlainText.escape(path)
        guard let members = found?.object else {
            if keys.isEmpty {
                let expected = isTOML ? "'mcp_servers'" : "'mcpServers' or 'servers'"
                throw ServerError(.badFile, "\(place) names no servers; they are expected under \(expected)")
            }
            return content
        }
        let inputs = ForeignInputs(document["inputs"])
        for (name, json) in members {
            let (plain, shown) = (ServerName.plain(name), PlainText.escape(name).quotedForMessage)
            var leftOut: [String] = []
            do throws(ValueError) {
                var entry =
                    try isTOML
                    ? ServerEntry(codex: json, leavingOut: &leftOut) : ServerEntry(foreign: json, leavingOut: &leftOut)
                for (field, name) in entry.wantedInputs { entry.inputs[name] = try inputs.input(name, in: field) }
                if content.servers.updateValue(entry, forKey: plain) != nil {
                    content.problems.append("two servers in \(place) are called \(plain); the last counts")
                }
                content.problems += leftOut.map { "of the server \(shown) in \(place), \($0)" }
            } catch {
                content.problems.append("the server \(shown) in \(place) is left out: \(error.ofEntry)")
            }
        }
        return content
    }
}

extension ServerEntry {
    /// Reads an entry as other programs write it. Members that only they understand are passed over.
    ///
    /// - Parameter leftOut: gets a sentence about each member without which the server may not work.
    init(foreign json: JSON, leavingOut leftOut: inout [String]) throws(ValueError) {
        guard json.object != nil else { throw ValueError("is not an object") }
        func text(_ names: String...) -> String? { names.lazy.compactMap { json[$0]?.string }.first { !$0.isEmpty } }
        func texts(_ name: String) -> [String: String] {
            var found: [String: String] = [:]
            for (key, value) in json[name]?.object ?? [:] {
                found[key] = value.string ?? (value.object == nil && value.array == nil ? value.text() : nil)
            }
            return found
        }
        // One editor nests the command.
        let nested = json["command"]?.object == nil ? nil : json["command"]
        let arguments = (nested?["args"] ?? json["args"] ?? []).array?.map { $0.string ?? $0.text() } ?? []
        if let command = nested?["path"]?.string ?? text("command") {
            self.init(.program(command, arguments))
        } else if let words = json["command"]?.array?.compactMap(\.string), let command = words.first {
            self.init(.program(command, words.dropFirst() + arguments))
        } else if let url = text("url", "httpUrl", "serverUrl") {
            guard url.contains("://") else { throw ValueError("has an address without '://'") }
            self.init(.address(url))
        } else {
            throw ValueError("has neither a command nor an address")
        }
        environment = texts("env").merging(nested?["env"]?.object == nil ? [:] : Self.texts(of: nested?["env"])) { $1 }
        headers = texts("headers")
        folder = text("cwd")
        if isProgram, let words = json["install"]?.array?.compactMap(\.string), words.first?.isEmpty == false {
            install = words
        }
        if json["envFile"]?.unlessNull != nil {
            leftOut.append("'envFile' is not used: put its variables into 'env', secrets as ${secret:NAME}")
        }
        isEnabled = json["enabled"]?.bool ?? !(json["disabled"]?.bool ?? false)
        for (field, template) in templates {
            if let variable = template.variables.first(where: { $0.source == .foreign }) {
                throw ValueError(
                    "wants ${\(PlainText.escape(variable.name))} in \(field), which only its own program can ask for")
            }
        }
    }

    private static func texts(of json: JSON?) -> [String: String] {
        Dictionary((json?.object ?? [:]).compactMap { key, value in value.string.map { (key, $0) } }) { $1 }
    }
}
