import Capabilities
import JSON
import Settings

/// A server as it is set up for a folder: its name, what the settings say, and who says it.
public struct ConfiguredServer: Sendable, Hashable {
    /// Who says it.
    public enum Origin: Sendable, Hashable {
        /// The person or the administrator of the machine: a settings file, a variable or an option.
        case own(String)
        /// Something that comes with the project: its settings, or a file that other programs read.
        case project(file: String)
        /// A platform that the person has set up as the server of a profile.
        case platform(profile: String)
    }

    /// The name that the person knows it by, which no other server of the folder has.
    public let name: String
    /// What the settings say.
    public let entry: ServerEntry
    /// Who says it.
    public let origin: Origin
    /// The folder of the project, where its program starts.
    public let folder: String

    /// A server of a folder.
    public init(name: String, entry: ServerEntry, origin: Origin, folder: String) {
        self.name = name
        self.entry = entry
        self.origin = origin
        self.folder = folder
    }

    /// Whether the person set it up, so that nobody need agree to it.
    public var isOwn: Bool { if case .project = origin { false } else { true } }

    /// The profile of the platform that told of it; nil for a server that has an entry in a file.
    public var platform: String? { if case .platform(let profile) = origin { profile } else { nil } }

    /// Who says it, in words.
    public var place: String {
        switch origin {
        case .own(let words): words
        case .project(let file): file
        case .platform(let profile): "platform of the profile \(profile)"
        }
    }

    /// What is started or asked, in one line.
    public var target: String {
        switch entry.way {
        case .program(let command, let arguments): ShellWords.line([command] + arguments)
        case .address(let url): url
        }
    }
}

/// A use of a variable in an entry, with the field that it goes into.
public struct VariableUse: Sendable, Hashable {
    /// What is filled in, as it is written: `GITHUB_TOKEN`, or `secret:github`.
    public let name: String
    /// Where it goes, such as `headers.Authorization`.
    public let field: String
    /// Whether its value probably is a secret.
    public let isSecret: Bool
}

extension ServerEntry {
    /// Each text that may have variables, with the name of its field.
    var templates: [(field: String, text: TextTemplate)] {
        var found: [(String, TextTemplate)] = []
        switch way {
        case .program(let command, let arguments):
            found.append(("command", TextTemplate(command)))
            for (index, argument) in arguments.enumerated() { found.append(("args.\(index)", TextTemplate(argument))) }
        case .address(let url): found.append(("url", TextTemplate(url)))
        }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            found.append(("env.\(name)", TextTemplate(value)))
        }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            found.append(("headers.\(name)", TextTemplate(value)))
        }
        if let folder { found.append(("cwd", TextTemplate(folder))) }
        for (index, word) in (install ?? []).enumerated() { found.append(("install.\(index)", TextTemplate(word))) }
        return found
    }

    /// The inputs that its texts refer to, with the fields that they go into.
    var wantedInputs: [(field: String, name: String)] {
        templates.flatMap { field, text in
            text.variables.compactMap { $0.source == .input ? (field, $0.name) : nil }
        }
    }

    /// The variables of the environment, the inputs and the secrets that it wants, with the fields that they go into.
    public var variables: [VariableUse] {
        templates.flatMap { field, text in
            text.variables.compactMap { variable in
                switch variable.source {
                case .environment:
                    VariableUse(name: variable.name, field: field, isSecret: SecretNames.isSecret(variable.name))
                case .secret: VariableUse(name: "secret:\(variable.name)", field: field, isSecret: true)
                case .input:
                    VariableUse(
                        name: "input:\(variable.name)", field: field,
                        isSecret: inputs[variable.name]?.isPassword == true)
                case .workspace, .workspaceName, .separator, .home, .foreign: nil
                }
            }
        }
    }
}
