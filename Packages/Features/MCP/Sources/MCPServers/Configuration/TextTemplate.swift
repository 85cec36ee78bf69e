import Capabilities

/// A text of a settings file with variables: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${secret:NAME}`,
/// `${input:NAME}`, the folders `${workspaceFolder}` and `${userHome}`, and what editors have besides.
struct TextTemplate: Hashable {
    /// Something to be filled in.
    struct Variable: Hashable {
        enum Source: Hashable {
            /// A variable of the environment.
            case environment
            /// A secret of the person.
            case secret
            /// What the person is asked for.
            case input
            /// The folder of the project.
            case workspace
            /// The last part of its path.
            case workspaceName
            /// What separates the parts of a path.
            case separator
            /// The home folder of the person.
            case home
            /// Something that only another program knows.
            case foreign
        }

        let source: Source
        let name: String
        let defaultValue: String?
    }

    private enum Piece: Hashable {
        case text(String)
        case variable(Variable)
    }

    private let pieces: [Piece]

    init(_ text: String) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            if start.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<start.lowerBound]))) }
            pieces.append(.variable(Self.variable(rest[start.upperBound..<end])))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        self.pieces = pieces
    }

    private static func variable(_ words: Substring) -> Variable {
        let parts = words.firstRange(of: ":-").map { (words[..<$0.lowerBound], String(words[$0.upperBound...])) }
        let (name, defaultValue) = parts ?? (words, nil)
        switch String(name) {
        case "workspaceFolder", "CLAUDE_PROJECT_DIR":
            return Variable(source: .workspace, name: String(name), defaultValue: nil)
        case "workspaceFolderBasename":
            return Variable(source: .workspaceName, name: String(name), defaultValue: nil)
        case "pathSeparator", "/": return Variable(source: .separator, name: String(name), defaultValue: nil)
        case "userHome": return Variable(source: .home, name: String(name), defaultValue: nil)
        default: break
        }
        guard let colon = name.firstIndex(of: ":") else {
            return Variable(source: .environment, name: String(name), defaultValue: defaultValue)
        }
        let rest = String(name[name.index(after: colon)...])
        switch name[..<colon] {
        case "env": return Variable(source: .environment, name: rest, defaultValue: defaultValue)
        case "input": return Variable(source: .input, name: rest, defaultValue: nil)
        case "secret": return Variable(source: .secret, name: rest, defaultValue: nil)
        default: return Variable(source: .foreign, name: String(name), defaultValue: nil)
        }
    }

    /// What has to be filled in, in the order of the text.
    var variables: [Variable] {
        pieces.compactMap { if case .variable(let variable) = $0 { variable } else { nil } }
    }

    /// The text with what is known of the folder alone; nil if something else is to be filled in.
    func filled(in folder: String) -> String? {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let plain): text += plain
            case .variable(let variable):
                switch variable.source {
                case .workspace: text += folder
                case .workspaceName: text += folder.split(separator: "/").last ?? ""
                case .separator: text += "/"
                case .environment, .secret, .input, .home, .foreign: return nil
                }
            }
        }
        return text
    }

    /// The text with everything filled in.
    func filled(_ value: (Variable) async throws -> String) async throws -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let plain): text += plain
            case .variable(let variable): text += try await value(variable)
            }
        }
        return text
    }
}
