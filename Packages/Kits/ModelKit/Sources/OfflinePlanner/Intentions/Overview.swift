import Capabilities
import JSON

/// "summarise this repository", "what is in here?"
struct Overview: RepeatableIntention {
    private static let nouns: Set<String> = [
        "project", "repository", "repo", "codebase", "structure", "layout", "architecture", "overview", "summary",
        "tree",
        "folder", "directory", "workspace", "program", "package",
    ]

    private var path: String?

    init() {}

    init?(_ clause: Clause) {
        let asks =
            clause.verb == "what" || clause.verb == "what's" || clause.verb == "give" || clause.verb == "show"
            || clause.verb == "list" || clause.verb == "how"
        let names = clause.contains(Self.nouns) || clause.contains(["here", "files"])
        let isAlone = clause.head + 1 >= clause.tokens.count
        let isAbout =
            Vocabulary.summarise.contains(clause.verb) && (names || isAlone || clause.scope.scope.path != nil)
            || Self.nouns.contains(clause.verb) && clause.tokens.count < 6
        guard isAbout || asks && names else { return nil }
        path = clause.scope.scope.path ?? clause.places.first?.path
        if path == nil, let of = clause.index(of: ["of"]), case .path(let folder)? = clause.place(behind: of) {
            path = folder
        }
    }

    func continued(_ change: Continuation) -> Overview? {
        var other = self
        other.path = change.scope?.path ?? change.subject
        return other
    }

    var words: String { path.map { "summarise \(Markdown.code($0))" } ?? "summarise the repository" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        var (ls, glob): (JSONObject, JSONObject) = (["depth": 2], ["pattern": "**/*", "limit": 1000])
        if let path {
            ls["path"] = .string(path)
            glob["path"] = .string(path)
        }
        let answers = try desk.ask([(.list, ls), (.glob, glob)])
        for (answer, tool) in zip(answers, [Tool.list, .glob]) where answer.isError {
            throw .failed(tool, answer.content)
        }
        let tree = Listing.tree(answers[0].content)
        let files = Listing(files: answers[1].content)
        guard !files.files.isEmpty else { return desk.say("There are no files here, or only hidden and ignored ones.") }
        let readme = try introduction(tree, at: &desk)
        desk.say("## \(path.map { "What is in \(Markdown.code($0))" } ?? readme?.title ?? "What is here")")
        if let text = readme?.text { desk.say(Markdown.quote(text)) }
        desk.say(Self.facts(tree, files))
        desk.say(Self.kinds(files))
        desk.say("The top of the tree:")
        desk.say(Markdown.block(Self.outline(tree)))
        if readme != nil {
            desk.say("*The quotation is from the README; everything else is based on file names.*")
        }
    }

    /// The title and the first paragraph of the README.
    private func introduction(
        _ tree: [(depth: Int, name: String)], at desk: inout Desk
    ) throws(Stop) -> (title: String?, text: String?)? {
        let names = tree.filter { $0.depth == 0 }.map(\.name)
        guard let name = names.first(where: { $0.lowercased().hasPrefix("readme") && !$0.hasSuffix("/") }),
            desk.offers(.read)
        else { return nil }
        let file = path.map { "\($0)/\(name)" } ?? name
        let result = try desk.ask(.read, ["path": .string(file), "limit": 40])
        guard !result.isError else { return nil }
        var title: String?
        var text: [String] = []
        for line in FileLines(result.content).lines {
            let plain = line.drop(while: \.isWhitespace)
            if plain.hasPrefix("#"), text.isEmpty {
                title = title ?? String(plain.drop { $0 == "#" || $0 == " " })
            } else if plain.isEmpty || plain.hasPrefix("#") || plain.hasPrefix("```") {
                if !text.isEmpty { break }
            } else if !plain.hasPrefix("[!") && !plain.hasPrefix("![") && !plain.hasPrefix("<") {
                text.append(line)
            }
        }
        return (title, text.isEmpty ? nil : text.joined(separator: "\n"))
    }

    private static func facts(_ tree: [(depth: Int, name: String)], _ files: Listing) -> String {
        var facts = ["**\(Markdown.count(files.total, "file"))**"]
        let top = tree.filter { $0.depth == 0 }
        let folders = top.count { $0.name.hasSuffix("/") }
        facts[0] += ", with \(Markdown.count(folders, "folder")) at the top"
        let builds = top.compactMap { entry in ProjectFile.all.first { $0.name == entry.name } }
        if !builds.isEmpty {
            facts.append(
                "Built with " + builds.map { "\(Markdown.code($0.name)) (\($0.what))" }.joined(separator: ", "))
        }
        let tests = tree.filter { $0.name.hasSuffix("/") && $0.name.lowercased().contains("test") }.prefix(5)
        if !tests.isEmpty {
            facts.append("Tests in " + tests.map { Markdown.code($0.name) }.joined(separator: ", "))
        }
        return facts.map { "- \($0)" }.joined(separator: "\n")
    }

    /// A table of the kinds of files, most frequent first.
    private static func kinds(_ files: Listing) -> String {
        var counts: [String: Int] = [:]
        for path in files.files {
            let name = path.split(separator: "/").last ?? ""
            let dot = name.lastIndex(of: ".")
            let kind = dot.flatMap { $0 > name.startIndex ? name[$0...].lowercased() : nil } ?? "no extension"
            counts[kind, default: 0] += 1
        }
        let sorted = counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        var rows = ["| Kind | Files |", "|---|---:|"]
        rows += sorted.prefix(8).map { "| \(Markdown.code($0.key)) | \($0.value) |" }
        if sorted.count > 8 { rows.append("| others | \(sorted.dropFirst(8).reduce(0) { $0 + $1.value }) |") }
        if files.total > files.files.count {
            rows.append("\nCounts only the \(files.files.count) most recently changed files.")
        }
        return rows.joined(separator: "\n")
    }

    private static func outline(_ tree: [(depth: Int, name: String)]) -> String {
        var rows = tree.prefix(60).map { String(repeating: "  ", count: $0.depth) + $0.name }
        if tree.count > 60 { rows.append("… and \(tree.count - 60) more") }
        return rows.joined(separator: "\n")
    }
}
